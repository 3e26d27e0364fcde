# bash completion for ctlchart(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

# Events of the running kernel, which are likely those of the trace as well
_ctlchart_events() {
	cat /sys/kernel/tracing/available_events 2>/dev/null
}

_ctlchart_instances() {
	ls /sys/kernel/tracing/instances 2>/dev/null
}

# _ctlchart_options COMMAND
_ctlchart_options() {
	local options
	case $1 in
	sim) options="-e -f -o --event= --filter= --grid= --instance= --format= --output=" ;;
	save) options="-e -f -o --event= --filter= --chart= --instance= --tracefs= --output=" ;;
	load) options="-n --chart= --instance= --tracefs= --keep-filter --dry-run" ;;
	*) options="-e -f -o --event= --filter= --instance= --chart= --format= --worst=
		--around= --linear --output=" ;;
	esac
	printf '%s\n' "$options --help --usage --version"
}

_ctlchart() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split command=report formats="text csv json svg html"
	_init_completion -s -n : || return

	case ${words[1]-} in
	sim | save | load) [ "$cword" -eq 1 ] || command=${words[1]} ;;
	esac
	[ "$command" != sim ] || formats="text csv json"

	case $prev in
	-e | --event)
		mapfile -t COMPREPLY < <(compgen -W "$(_ctlchart_events)" -- "$cur")
		__ltrim_colon_completions "$cur"
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
		return
		;;
	-o | --output)
		_filedir
		return
		;;
	--tracefs)
		_filedir -d
		return
		;;
	--instance)
		mapfile -t COMPREPLY < <(compgen -W "$(_ctlchart_instances)" -- "$cur")
		return
		;;
	--grid)
		mapfile -t COMPREPLY < <(compgen -W "limit= scale= learn= samples= group= ucl=
			dup= size= stale= overdue= rate= rules= relearn= by= charts=" -- "$cur")
		compopt -o nospace
		return
		;;
	-f | --filter | --chart | --worst | --around)
		return
		;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ctlchart_options "$command")" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	if [ "$command" = load ]; then
		_filedir
		return
	fi
	_filedir dat
	if [ "$cword" -eq 1 ]; then
		local commands
		mapfile -t commands < <(compgen -W "report sim save load" -- "$cur")
		COMPREPLY+=("${commands[@]}")
	fi
} && complete -F _ctlchart ctlchart
