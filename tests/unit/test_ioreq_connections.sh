#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that are older than the recording, or that have no plain requests.
set -u

ioreq=$TOOLS/ioreq
program=$ioreq
# shellcheck source=tests/unit/cli.bash
. "$(dirname "$0")/cli.bash"

# --- which end is the server
"$UNIT/gen_connections" roles.dat roles || exit 1
for format in json text csv html; do
	[ $format = html ] && what= || what=--requests
	# shellcheck disable=SC2086 # none or one
	"$ioreq" --format=$format $what roles.dat >roles.$format 2>err || wrong "$format fails"
	[ ! -s err ] || wrong "messages about roles in $format: $(cat err)"
done
python3 "$TRACERIG_TOP/tests/unit/ioreq_roles.py" || wrong "the wrong end is the server"
[ "$(grep -c '^  1 connection whose server is a guess, since none of its ends was seen to connect or accept$' roles.text)" = 3 ] ||
	wrong "text does not say that the server is a guess: $(cat roles.text)"
[ "$(sed -n '2,$s/.*,//p' roles.csv | sort | tr -d '\n')" = 0000111 ] || wrong "CSV does not say that the server is a guess"
grep -q '"guessed": *1' roles.html || wrong "the page does not say that the server is a guess"
exit $failed
