# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests of a libtraceevent plugin by stock trace-cmd; the test sets $plugin to
# its name.

export TRACEEVENT_PLUGIN_DIR=$TOOLS/../plugins
preload=
if ldd "$TRACEEVENT_PLUGIN_DIR/${plugin:?}.so" | grep -q libasan; then
	preload=$(gcc -print-file-name=libasan.so)
	export ASAN_OPTIONS=detect_leaks=0
fi

report() {
	LD_PRELOAD=$preload trace-cmd report "$@"
}

# survives FILE COUNT: COUNT damaged copies, and no read beyond a record that a
# sanitizer would find in the plugin
survives() {
	local seed
	for seed in $(seq "$2"); do
		"$UNIT/gen_damage" "$1" damaged.dat "$seed"
		report damaged.dat >out 2>messages || true
		if grep -A 3 'ERROR: AddressSanitizer' messages out | grep "$plugin"; then
			cat messages
			return 1
		fi
	done
}
