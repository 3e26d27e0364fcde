#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# needs: vm, kernel, tools
# A guest panics while a collector on this host receives its trace: the records that were not
# sent by then arrive, or the ledger reports them as missing.
. "$TRACERIG_TOP/tests/house/lib.sh"

panics 'sysrq triggered crash' 700
"$schedz" stat collected/*.0.dat >out
has out 'ledger of records, state panic'
