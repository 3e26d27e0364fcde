#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 60
# Each command of scripts/ and qemu/, tests/run and tests/bench/run print their usage with
# --help, refuse an option that they do not have, and do nothing else in either case.
. "$TRACERIG_TOP/tests/house/lib.sh"
export TRACERIG_BUILD=$PWD/build TRACERIG_NO_DEPS=1

cd "$TRACERIG_TOP"
commands=(tests/run tests/bench/run)
for file in scripts/* qemu/*; do
	# A filter without options
	[ "$file" != scripts/progress ] || continue
	[ ! -f "$file" ] || [ ! -x "$file" ] || commands+=("$file")
done
[ ${#commands[@]} -ge 8 ] || die "only these commands: ${commands[*]}"
cd - >/dev/null
for command in "${commands[@]}"; do
	expect 0 "$TRACERIG_TOP/$command" --help
	same "usage: $command" "$(head -n 1 out | cut -d ' ' -f 1,2)" "first line of $command --help"
	[ ! -s err ] || die "$command --help: $(cat err)"
	expect 2 "$TRACERIG_TOP/$command" --nosuch
	[ -s err ] || die "$command --nosuch: no message"
	[ ! -e build ] || die "$command built something: $(ls build)"
done
