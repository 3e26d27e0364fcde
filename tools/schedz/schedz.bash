# bash completion for schedz(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

_schedz() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split command=${COMP_WORDS[1]-} formats="" options=""
	_init_completion -s || return

	if [ "$cword" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "expand decode stat --help --usage --version" -- "$cur")
		return
	fi
	case $command in
	expand) options="-o --output=" ;;
	decode) options="-o --output= --format=" formats="ftrace json dat chrome" ;;
	stat) options="-o --output= --format=" formats="text json" ;;
	*) return ;;
	esac
	case $prev in
	--format)
		mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
		return
		;;
	-o | --output)
		_filedir
		return
		;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	_filedir dat
} && complete -F _schedz schedz
