# bash completion for schedz(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

_schedz() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split command=${COMP_WORDS[1]-} formats="" options=""
	_init_completion -s || return

	if [ "$cword" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "expand decode stat collect --help --usage --version" -- "$cur")
		return
	fi
	case $command in
	expand) options="-o --instance= --output=" ;;
	decode) options="-o --instance= --output= --format=" formats="ftrace json dat chrome" ;;
	stat) options="-o --instance= --output= --format=" formats="text json" ;;
	collect) options="-o --output= --listen= --allow= --key-file= --rotate=" ;;
	*) return ;;
	esac
	case $prev in
	--format)
		mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
		return
		;;
	-o | --output)
		if [ "$command" = collect ]; then
			_filedir -d
		else
			_filedir
		fi
		return
		;;
	--key-file)
		_filedir
		return
		;;
	--listen | --allow)
		_ip_addresses -a
		return
		;;
	--rotate | --instance) return ;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	[ "$command" = collect ] || _filedir dat
} && complete -F _schedz schedz
