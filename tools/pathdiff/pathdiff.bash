# bash completion for pathdiff(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

# Functions that the running kernel can trace, which are likely those of the trace
_pathdiff_functions() {
	cut -d ' ' -f 1 /sys/kernel/tracing/available_filter_functions 2>/dev/null
}

_pathdiff() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split
	_init_completion -s || return

	case $prev in
	--entry)
		mapfile -t COMPREPLY < <(compgen -W "$(_pathdiff_functions)" -- "$cur")
		return
		;;
	--baseline)
		_filedir dat
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "text json csv folded chrome html" -- "$cur")
		return
		;;
	--sleep-time)
		mapfile -t COMPREPLY < <(compgen -W "auto on off" -- "$cur")
		return
		;;
	-o | --output)
		_filedir
		return
		;;
	--limit | --floor | --common | --top | --jobs | --instance)
		return
		;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-o --entry= --baseline= --limit= --floor= --common= --instance= --sleep-time=
			--scheduler --format= --top= --brief --output= --jobs= --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	_filedir dat
} && complete -F _pathdiff pathdiff
