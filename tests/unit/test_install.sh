#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# make install puts all parts of all tools where they belong, the unit of schedz
# collect is one that systemd takes, and make uninstall leaves nothing.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd -P)
build=${TRACERIG_BUILD:-$top/build}
failed=0

wrong() {
	echo "wrong: $1"
	failed=1
}

run() { # TARGET
	make --no-print-directory -C "$top/tools" BUILD="$build" DESTDIR="$PWD/root" \
		prefix=/opt/rig plugindir=/opt/rig/lib/traceevent/plugins "$1" >out 2>&1 ||
		wrong "make $1 fails: $(tail -n 5 out)"
}

run install
for file in bin/schedz bin/ctlchart bin/pathdiff bin/lbrtime share/man/man1/schedz.1 \
	share/man/man1/lbrtime.1 share/bash-completion/completions/lbrtime \
	share/bash-completion/completions/schedz lib/traceevent/plugins/plugin_schedz.so \
	lib/systemd/system/schedz-collect.service; do
	[ -s "root/opt/rig/$file" ] || wrong "$file was not installed"
done
unit=root/opt/rig/lib/systemd/system/schedz-collect.service
[ -x root/opt/rig/bin/schedz ] || wrong "schedz cannot be run"
grep -q '^ExecStart=/opt/rig/bin/schedz collect ' $unit || wrong "the unit does not run what was installed"
if command -v systemd-analyze >/dev/null; then
	# The program has to be there
	sed "s|=/opt|=$PWD/root/opt|" $unit >schedz-collect.service
	systemd-analyze verify --man=no ./schedz-collect.service >out 2>&1 ||
		wrong "systemd refuses the unit: $(cat out)"
	! grep schedz-collect out || wrong "systemd complains of the unit"
fi
# Its options are those of the program
options=$(sed -n 's/^#\tSCHEDZ_COLLECT="\(.*\)"$/\1/p' $unit)
# shellcheck disable=SC2086 # several options
root/opt/rig/bin/schedz collect $options --output "$PWD/traces" >out 2>&1
grep -q 'cannot listen on 192.0.2.1' out || wrong "schedz does not take the unit's example: $(cat out)"
run uninstall
left=$(find root -type f)
[ -z "$left" ] || wrong "uninstall leaves $left"
exit $failed
