# bash completion for lbrtime(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

_lbrtime() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split
	_init_completion -s || return

	case $prev in
	--format)
		mapfile -t COMPREPLY < <(compgen -W "text json csv folded speedscope chrome brstack html" -- "$cur")
		return
		;;
	--method)
		mapfile -t COMPREPLY < <(compgen -W "sample equal share ratio cycles fit" -- "$cur")
		return
		;;
	-o | --output | --vmlinux | --kallsyms)
		_filedir
		return
		;;
	--symfs)
		_filedir -d
		return
		;;
	--top | --around | --request | --ghz | --instance) return ;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-o --around= --format= --ghz= --instance= --kallsyms= --method= --no-demangle --output= --request= --symfs= --top= --visits --vmlinux= --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	_filedir
} && complete -F _lbrtime lbrtime
