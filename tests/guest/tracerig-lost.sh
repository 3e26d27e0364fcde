#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# tracerig's cases when their writer is killed, and when the machine is lost: whatever the
# moment, a case is whole or absent, and numbers go on. The file system is ext4, which
# forgets what was not synchronized when it is asked to stop.
. "$TRACERIG_TOP/tests/guest/functions"

gen=$TRACERIG_TOP/build/tests/unit/gen_cases
tracerig=$TRACERIG_TOP/build/tools/bin/tracerig

null_disk rig memory_backed=1 size=128
mkfs.ext4 -q "$disk"
mkdir rig
trap 'umount rig 2>/dev/null || :; remove_disks' EXIT
mount "$disk" rig
PYTHONUNBUFFERED=1 python3 "$TRACERIG_TOP/tests/guest/tracerig_lost.py" "$gen" "$tracerig" rig "$disk"
