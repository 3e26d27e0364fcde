# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For scripts/kernel: how much of a kernel's build is done. Sourced; build, out, arch and
# fresh are those of scripts/kernel.
# shellcheck disable=SC2154

# The number of steps of the first build of the guest's kernel, that is, of make's lines
# like "  CC      file".  tests/house/kernel-progress.sh fails when it is wrong by more than
# a tenth.
first_steps=2240

# The file with the steps of the last whole build, in order.  A first build for x86 uses
# those of the guest's kernel.
steps_file() {
	local file
	for file in "$out/.tracerig-steps" "$build/kernel/.tracerig-steps"; do
		[ ! -s "$file" ] || [[ $file != "$out"/* && $arch != x86_64 ]] || {
			echo "$file"
			return
		}
	done
}

# step LINE: sets step to the step that the LINE of make's output reports; fails if it reports none.
step() {
	[[ $1 =~ ^\ \ [A-Z][A-Z0-9_]*\ .*[^\ ] ]] || return 1
	step=${BASH_REMATCH[0]}
}

# Turn make's output into progress lines: the number of steps done of all steps.  A step
# that the last whole build had counts by its place there, since make skips most steps
# before it.  Warnings and errors are passed on.
as_progress() {
	local line step steps total=0 done=0 percent shown=-1
	local -A place=()
	steps=$(steps_file)
	if [ -n "$steps" ]; then
		while IFS= read -r line; do
			place[$line]=$((++total))
		done <"$steps"
	elif [ -n "${fresh-}" ]; then
		total=$first_steps
	fi
	while IFS= read -r line; do
		if [[ $line =~ warning:|error:|\*\*\* ]]; then
			printf '%s\n' "$line"
		elif step "$line"; then
			done=$((done + 1))
			[ "${place[$step]:-0}" -le "$done" ] || done=${place[$step]}
			[ "$total" -gt 0 ] || continue
			percent=$((1000 * done / total))
			[ "$percent" -le "$shown" ] || {
				shown=$percent
				printf 'progress: %d.%d\n' $((shown / 10)) $((shown % 10))
			}
		fi
	done
}

# Keep the steps of this build if it was a whole one, or nearly.
keep_steps() {
	local line step steps=0
	[ ! -s "$out/.tracerig-steps" ] || steps=$(wc -l <"$out/.tracerig-steps")
	while IFS= read -r line; do
		! step "$line" || printf '%s\n' "$step"
	done <"$out/build.log" >"$out/.tracerig-steps.new"
	if [ $((10 * $(wc -l <"$out/.tracerig-steps.new"))) -ge $((9 * steps)) ]; then
		mv "$out/.tracerig-steps.new" "$out/.tracerig-steps"
	else
		rm "$out/.tracerig-steps.new"
	fi
}
