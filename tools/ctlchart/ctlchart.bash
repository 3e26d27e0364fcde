# bash completion for ctlchart(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

# Events of the running kernel, which are likely those of the trace as well
_ctlchart_events() {
	cat /sys/kernel/tracing/available_events 2>/dev/null
}

_ctlchart() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split
	_init_completion -s -n : || return

	case $prev in
	-e | --event)
		mapfile -t COMPREPLY < <(compgen -W "$(_ctlchart_events)" -- "$cur")
		__ltrim_colon_completions "$cur"
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "text csv json svg" -- "$cur")
		return
		;;
	-o | --output)
		_filedir
		return
		;;
	-f | --filter | --instance | --chart | --worst)
		return
		;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-e -f -o --event= --filter=
			--instance= --chart= --format= --worst= --linear
			--output= --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	_filedir dat
} && complete -F _ctlchart ctlchart
