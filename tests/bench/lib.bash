# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For the programs of make bench, on the host and in guests: sourced.

# die MESSAGE...: end the program
die() {
	echo "bench: $*" >&2
	exit 1
}
