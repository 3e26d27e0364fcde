# bash completion for tracerig(1)				-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

_tracerig() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split command=${COMP_WORDS[1]-} options=""
	_init_completion -s -n : || return

	if [ "$cword" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "doctor watch list explain open pack verify --help --usage --version" -- "$cur")
		return
	fi
	case $command in
	doctor) options="--format= --dir= --tracefs=" ;;
	watch)
		options="-e -f --event= --filter= --dir= --for= --stop-after= --keep= --buffer= --on-alarm= --interval= --metrics= --limits= --save-limits= --paths --print"
		;;
	list) options="--causes --format= --dir= --timeout=" ;;
	explain) options="--format= --dir= --timeout=" ;;
	open) options="-o --output= --dir= --timeout=" ;;
	pack) options="-o --output= --dir=" ;;
	verify) options="--dir=" ;;
	*) return ;;
	esac
	case $prev in
	--format)
		mapfile -t COMPREPLY < <(compgen -W "text json" -- "$cur")
		return
		;;
	--dir | --tracefs)
		_filedir -d
		return
		;;
	-o | --output | --metrics | --limits | --save-limits)
		_filedir
		return
		;;
	--on-alarm)
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		return
		;;
	-e | --event | -f | --filter | --for | --stop-after | --keep | --buffer | --interval | --timeout) return ;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	case $command in
	watch)
		mapfile -t COMPREPLY < <(compgen -W "disk wakeup syscall: function: uprobe: request:" -- "$cur")
		[[ ${COMPREPLY-} == *: ]] && compopt -o nospace
		__ltrim_colon_completions "$cur"
		;;
	explain | open | pack | verify) _filedir -d ;;
	esac
} && complete -F _tracerig tracerig
