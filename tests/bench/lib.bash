# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For the programs of make bench, on the host and in guests: sourced.

# shellcheck source=tests/lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"
# shellcheck disable=SC2034 # for die()
me=bench
