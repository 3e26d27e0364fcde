# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Work without end for tests that stop bash at random instructions.
trap : USR1
while :; do
	x=()
	for i in {1..50}; do x+=("$i"); [[ $i =~ 1(.) ]] || :; done
	printf -v y %s "${x[*]//1/2}"
	kill -USR1 $$
	# shellcheck disable=SC2034 # a child process is what matters
	z=$(echo "$y" | tr 1 2)
done
