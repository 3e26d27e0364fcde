#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# needs: vm, kernel
# What qemu/vm guarantees to a command: its directory, its environment, and that its output and
# status are returned completely.
. "$TRACERIG_TOP/tests/house/lib.sh"
here=$PWD
mkdir "$here/output"

expect 0 "$vm" --output "$here/output" --timeout $((60 * scale)) -- true
[ ! -s out ] || die "a command without output has some: $(cat out)"
[ ! -s err ] || die "a command without errors has some: $(cat err)"

cat >"$here/output/job" <<'END'
echo "arguments $# $1|$2"
echo "cwd $(pwd)"
echo "uid $(id -u)"
echo "cpus $(nproc)"
echo "tmp $(ls -A /tmp)"
echo "mine $MINE"
echo "home $HOME"
touch /usr/x 2>/dev/null && echo "/usr is writable"
for file in /sys/kernel/tracing/trace /sys/kernel/debug/tracing/trace /sys/fs/cgroup/cgroup.procs; do
	[ -e $file ] || echo "no $file"
done
echo kept >"$TRACERIG_OUTPUT/kept"
read -r line || echo "stdin is empty"
# A virtio port can be opened only once; this must not be one.
echo "to stderr" >/dev/stderr
# A process that is left, and holds stdout, must not keep the guest running.
sleep 1000 &
seq 200000
exit 7
END
cd "$TRACERIG_TOP/tests"
export TRACERIG_TEST=passed
got=0
"$vm" --cpus 3 --output "$here/output" --env MINE='a "b" $c' --timeout $((60 * scale)) -- \
	bash "$here/output/job" "one  'quoted'" '$two'\\ >"$here/out" 2>"$here/err" || got=$?
cd "$here"
same 7 "$got" "exit status"
has out "^arguments 2 one  'quoted'\|[\$]two[\\]$"
has out "^cwd $TRACERIG_TOP/tests$"
has out '^uid 0$'
has out '^cpus 3$'
has out '^mine a "b" \$c$'
has out '^home /tmp/home$'
has out '^stdin is empty$'
! grep -E '^(no |/usr is writable)' out || exit 1
same kept "$(cat output/kept)" "a file written in the guest"
same "to stderr" "$(cat err)" "stderr"
seq 200000 | cmp - <(grep -E '^[0-9]+$' out) || die "output was lost"

expect 137 "$vm" --timeout $((60 * scale)) -- sh -c 'kill -9 $$'
expect 127 "$vm" --timeout $((60 * scale)) -- /no/such/command
