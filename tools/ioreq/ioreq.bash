# bash completion for ioreq(1)					-*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

_ioreq() {
	# shellcheck disable=SC2034 # _init_completion sets them all
	local cur prev words cword split
	_init_completion -s || return

	case $prev in
	--format)
		mapfile -t COMPREPLY < <(compgen -W "text json csv chrome otlp folded html" -- "$cur")
		return
		;;
	-o | --output | --iosys-stacks)
		[[ $prev != --iosys-stacks ]] || cur=${cur#*=}
		_filedir
		return
		;;
	--by)
		# The last of a list
		local begun=
		[[ $cur != *,* ]] || begun=${cur%,*},
		mapfile -t COMPREPLY < <(compgen -P "$begun" -W "host comm process call object size client" -- "${cur##*,}")
		return
		;;
	--symfs | --perf-maps)
		_filedir -d
		return
		;;
	--top | --epoch | --max-drift | --longer | --instance) return ;;
	esac
	$split && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-o --by= --format= --requests --paths --reads --stacks --longer= --no-demangle --iosys-stacks= --symfs= --perf-maps= --instance= --clocks --max-drift= --top= --epoch= --output= --help --usage --version" -- "$cur")
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
	fi
	# HOST=FILE, but not a directory with = in its name
	[[ $cur != *=* || ${cur%%=*} == */* ]] || cur=${cur#*=}
	_filedir dat
} && complete -F _ioreq ioreq
