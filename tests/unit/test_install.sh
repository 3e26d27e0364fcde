#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# make install brings each part that the tree has and nothing else, all of it works
# from where it is installed, and make uninstall removes it and nothing else.
# What is to be there is read from the tree, so that a new tool needs no line here:
# each directory of tools/ with a main is a tool, with a man page and a completion
# of its name, each C file of plugins/ is a plugin, each .service a unit.
set -u

top=$(realpath "$(dirname "$0")/../..")
build=${TRACERIG_BUILD:-$top/build}
# shellcheck source=tests/unit/cli.bash
. "$top/tests/unit/cli.bash"

run() { # TARGET
	make --no-print-directory -C "$top/tools" BUILD="$build" DESTDIR="$PWD/root" \
		prefix=/opt/rig plugindir=/opt/rig/lib/traceevent/plugins "$1" >out 2>&1 ||
		wrong "make $1 fails: $(tail -n 5 out)"
}

cd_files() { # DIRECTORY
	(cd "$1" && find . ! -type d | sed 's|^\./||' | sort)
}

# The tools' own main functions, not the Makefile's list of tools
tools=$(grep -lE '^int main\(' "$top"/tools/*/*.c | xargs -n 1 dirname | xargs -n 1 basename | sort -u)
[ -n "$tools" ] || wrong "the tree has no tool"
for tool in $tools; do
	echo "755 bin/$tool"
	echo "644 share/man/man1/$tool.1"
	echo "644 share/bash-completion/completions/$tool"
done >modes
for plugin in "$top"/tools/plugins/*.c; do
	echo "644 lib/traceevent/plugins/$(basename "$plugin" .c).so"
done >>modes
for file in "$top"/tools/*/*.service; do
	echo "644 lib/systemd/system/$(basename "$file")"
done >>modes
sort -k 2 -o modes modes
cut -d ' ' -f 2 modes >wanted

# Files of others beside ours are to stay
while IFS= read -r file; do
	mkdir -p "root/opt/rig/$(dirname "$file")"
	echo "of others" >"root/opt/rig/$file.orig"
done <wanted
cp -a root others

run install
cd_files root/opt/rig | grep -v '\.orig$' >found
diff wanted found >out || {
	wrong "not in the tree (>) or not installed (<): $(grep '^[<>]' out)"
	exit 1
}
outside=$(cd_files root | grep -v '^opt/rig/')
[ -z "$outside" ] || wrong "installed outside of prefix: $outside"
while read -r mode file; do
	[ "$(stat -c %a "root/opt/rig/$file")" = "$mode" ] || wrong "$file does not have mode $mode"
	[ -s "root/opt/rig/$file" ] || wrong "$file is empty"
done <modes

for tool in $tools; do
	program=root/opt/rig/bin/$tool
	$program --version >out 2>&1 || wrong "$tool --version fails: $(cat out)"
	grep -q "^$tool (tracerig) " out || wrong "$tool --version says $(cat out)"
	$program --help >out 2>&1 || wrong "$tool --help fails: $(cat out)"
	grep -q "^Usage: $tool" out || wrong "$tool --help does not begin with its usage"
	page=$(man -M "$PWD/root/opt/rig/share/man" -w "$tool" 2>out)
	[ "$page" = "$PWD/root/opt/rig/share/man/man1/$tool.1" ] || wrong "man does not find the page of $tool: $page$(cat out)"
	bash -c '. "$1" && complete -p "$2"' - "root/opt/rig/share/bash-completion/completions/$tool" "$tool" >out 2>&1 ||
		wrong "there is no completion of $tool after its file: $(cat out)"
done
TRACEEVENT_PLUGIN_DIR=$PWD/root/opt/rig/lib/traceevent/plugins trace-cmd list -P >plugins 2>&1
for plugin in root/opt/rig/lib/traceevent/plugins/*.so; do
	grep -qF "$(basename "$plugin")" plugins || wrong "trace-cmd does not load $plugin: $(cat plugins)"
done
! grep -rl '@[a-z]*@' root/opt/rig/lib/systemd || wrong "a unit has a name that was to be replaced"
unit=root/opt/rig/lib/systemd/system/schedz-collect.service

grep -q '^ExecStart=/opt/rig/bin/schedz collect ' $unit || wrong "the unit does not run what was installed"
if command -v systemd-analyze >/dev/null; then
	for file in root/opt/rig/lib/systemd/system/*.service; do
		# The program has to be there; of a template, an instance is verified
		name=$(basename "$file" .service)
		case $name in *@) name=${name}disk ;; esac
		sed "s|=/opt|=$PWD/root/opt|" "$file" >"$name.service"
		systemd-analyze verify --man=no "./$name.service" >out 2>&1 ||
			wrong "systemd refuses $name: $(cat out)"
		! grep "$name" out || wrong "systemd complains of $name"
	done
fi
# Its options are those of the program
options=$(sed -n 's/^#\tSCHEDZ_COLLECT="\(.*\)"$/\1/p' $unit)
# shellcheck disable=SC2086 # several options
root/opt/rig/bin/schedz collect $options --output "$PWD/traces" >out 2>&1
grep -q 'cannot listen on 192.0.2.1' out || wrong "schedz does not take the unit's example: $(cat out)"
run uninstall
diff -r others root >out || wrong "uninstall leaves these, or removes what others have: $(cat out)"

# Paths that make or the kernel's makefiles cannot handle are refused with a message
mkdir 'a folder'
cp "$TRACERIG_TOP/Makefile" 'a folder'
make -C 'a folder' help >out 2>&1 && wrong "make does not refuse a path with a space"
grep -q 'There is a space or colon in .*/a folder: move ' out || wrong "make does not say what it cannot do: $(cat out)"
exit $failed
