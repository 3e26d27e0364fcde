#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# The entry points work in odd environments: with CDPATH, which makes cd print where it
# went, and with decimal commas.
. "$TRACERIG_TOP/tests/house/lib.sh"
unset MAKEFLAGS
out=$PWD
cd "$TRACERIG_TOP"

# in_both COMMAND...: it prints the same with and without CDPATH
in_both() {
	env -u CDPATH "$@" >"$out/without" 2>&1 || die "$1 fails: $(cat "$out/without")"
	[ -s "$out/without" ] || die "$1 prints nothing"
	CDPATH=.:.. "$@" >"$out/with" 2>&1 || die "$1 fails with CDPATH: $(cat "$out/with")"
	cmp "$out/without" "$out/with" || die "$1 prints something else with CDPATH: $(cat "$out/with")"
}
in_both make help
in_both scripts/kernel series
in_both scripts/deps --print
in_both scripts/lint --list
in_both tests/run --list
in_both tests/bench/run --list
in_both qemu/vm --help
# The others find their folder in the same way, which does not depend on CDPATH
same "" "$(grep -rlE '[$][(]cd "?[$]([(]dirname|here)' .ci scripts qemu tests | tr '\n' ' ')" \
	"scripts that find their folder by cd"

# Four pieces of work for each CPU take four times as long as one piece, with a
# decimal comma or point
mkdir "$out/bin" "$out/locale"
printf '#!/bin/sh\necho %d\n' $((4 * $(nproc))) >"$out/bin/nproc"
chmod +x "$out/bin/nproc"
if ! localedef -i de_DE -f UTF-8 "$out/locale/de_DE.UTF-8" >"$out/log" 2>&1; then
	echo "no locale with decimal commas: the package locales is missing"
	exit 77
fi
export LOCPATH=$out/locale
same 0,5 "$(LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 0,5')" "decimal point"
speed=$(LC_ALL=de_DE.UTF-8 PATH=$out/bin:$PATH tests/speed)
[ "$speed" -ge 4 ] || die "tests/speed says $speed with decimal commas"
