#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
#
# Unprivileged programs that try to be expensive, or to look like another program: files and
# sockets that are used in turn by the same task and by others; objects whose .eh_frame or notes
# cost more than their size allows, that belong to many users, or whose tables take much memory;
# objects that are mapped so that they cannot be read; tables that are built for programs that
# have ended; events that they have perf count; requests to io_uring that never end; mounts upon
# mounts; threads that walk while others fork.
. "$TRACERIG_TOP/tests/guest/functions"

[ -e "$tracing/events/iosys/io_stack" ] || die "this kernel has no io_stack"
gcc -O2 -Wall -Wextra -o hostile "$TRACERIG_TOP/tests/guest/hostile.c" -luring
chmod 755 .. . hostile
echo "some text" >data
chmod 644 data
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
# mapped COMMAND...: run it with the files mapped, until unmap
mapped() {
	: >mapped
	"$@" >mapped & mapper=$!
	while_alive $mapper grep -q mapped mapped || die "the files are not mapped"
}
unmap() { kill $mapper; wait $mapper || true; }

# To count an event would switch it on, for all
events=()
for e in "$tracing"/events/iosys/io_*/; do events+=("iosys/$(basename "$e")"); done
python3 "$TRACERIG_TOP/tests/guest/perf_open.py" "${events[@]}"
[ "$(field memory call_slots) $(field memory request_slots)" = "0 0" ] || die "an event stays on" "$(cat "$tracing/iosys")"

# Requests: when one user has half of the slots, others still get theirs
refused() { sed -n 's/^refused: //p' "$tracing/iosys"; }
all_completed() { grep -q '^requests: .* unfinished 0$' "$tracing/iosys"; }
# polling COMMAND...: run it until kill
polling() {
	: >polls
	"$@" >polls & poller=$!
	while_alive $poller grep -q waiting polls || die "no requests were made"
}
echo 1 >"$tracing/events/iosys/io_request/enable"
had=$(refused)
polling "${nobody[@]}" ./hostile polls 12000
first=$poller
# Counts of a user may be wrong by 3 for each CPU
unfinished=$(field requests unfinished)
((unfinished >= 4096 && unfinished <= 4096 + 3 * $(nproc))) ||
	die "$unfinished requests are in flight" "$(cat "$tracing/iosys")"
same $((had + 12000 - unfinished)) "$(refused)" "refused requests"
had=$(refused)
polling ./hostile polls 1000
kill "$first" "$poller"
wait "$first" "$poller" || true
# A slot has one of 32 places
[ "$(refused)" -lt $((had + 10)) ] || die "root's requests were refused" "$(cat "$tracing/iosys")"
until_true 60 all_completed
had=$(refused)
polling "${nobody[@]}" ./hostile polls 2000
kill "$poller"
wait "$poller" || true
same "$had" "$(refused)" "refused requests, when the others have ended"
echo 0 >"$tracing/events/iosys/io_request/enable"

# Files and sockets: each record has the name and the type of the object used
echo 1 >"$tracing/events/iosys/io_syscall/enable"
"${nobody[@]}" ./hostile files "$PWD/data" 2000 & first=$!
"${nobody[@]}" ./hostile sockets 2000
wait $first
echo 0 >"$tracing/events/iosys/io_syscall/enable"
awk -v data="$PWD/data" '
/ io_syscall: pread64=1 / { files++; if (!/ type=file / || !index($0, " name=" data " ")) bad = bad $0 "\n" }
/ io_syscall: sendto=1 / { sockets++; if (!/ type=socket / || / name=\//) bad = bad $0 "\n" }
END { if (bad != "" || !files || !sockets) { printf "%d files, %d sockets\n%s", files, sockets, bad; exit 1 } }' \
	"$tracing/trace" >wrong || die "records of files and sockets are wrong" "$(head wrong)"

# A name below a hundred mounts, which write nothing into it, is left out
mkdir stacked
: >stacked/file
echo >"$tracing/trace"
echo 1 >"$tracing/events/iosys/io_syscall/enable"
unshare -m bash -c 'for i in {1..100}; do mount --bind stacked stacked; done; : <stacked/file'
echo 0 >"$tracing/events/iosys/io_syscall/enable"
grep ' io_syscall: openat=3 ' "$tracing/trace" | grep " id=$(stat -c %i stacked/file) " >opened || die "the file was not opened"
grep ' flags=name_cut ' opened | grep -q ' name= fd2' || die "the name of a file below many mounts is not left out" "$(cat opened)"

# Objects: one that needs as many steps as it has bytes, and an ordinary one
for e in io_stack io_map; do echo 1 >"$tracing/events/iosys/$e/enable"; done
built
failed=$(field tables failed)
./hostile elf expensive 3000
./hostile elf ordinary 1
chmod 644 expensive ordinary
mapped "${nobody[@]}" ./hostile map "$PWD/expensive" "$PWD/ordinary"
built
unmap
same $((failed + 1)) "$(field tables failed)" "objects without a table"
grep -A 1 "path=$PWD/expensive\$" "$tracing/iosys_stacks" | grep -qx '# no table: it costs too much for its size' ||
	die "the expensive object is not left out" "$(grep -A 1 "path=$PWD" "$tracing/iosys_stacks")"
grep "path=$PWD/ordinary\$" "$tracing/iosys_stacks" | grep -q 'rows=[1-9]' ||
	die "the ordinary object has no table" "$(grep -A 1 "path=$PWD" "$tracing/iosys_stacks")"
# While a thread forks, the stacks of others are not known; but their code is mapped
outside() { grep -c ' end=no_map guessed=0 frames=0+[^,]*$' "$tracing/iosys_stacks" || true; }
echo 1 >"$tracing/events/iosys/io_syscall/enable"
had=$(outside)
unready=$(field walks unready)
./hostile forks 30
echo 0 >"$tracing/events/iosys/io_syscall/enable"
[ "$(field walks unready)" -gt "$unready" ] || die "no stack was walked during a fork" "$(cat "$tracing/iosys")"
same "$had" "$(outside)" "stacks in no mapping"
# When another program maps it, its table is not built again
mapped "${nobody[@]}" ./hostile map "$PWD/expensive"
unmap
mapped ./hostile map "$PWD/expensive"
built
unmap
same $((failed + 1)) "$(field tables failed)" "objects without a table, after another mapping"

# Notes that take long to look through: mmap() does not wait for that
no_table() { grep -A 1 "path=$PWD/$1\$" "$tracing/iosys_stacks" | sed -n 's/^# no table: //p'; }
./hostile notes notes256 256
./hostile notes notes60 60
chmod 644 notes256 notes60
mapped "${nobody[@]}" ./hostile map "$PWD/notes256" "$PWD/notes60"
[ "$(sed 's/[^0-9]//g' mapped)" -lt 1000 ] || die "mmap() of an object looks through its notes" "$(cat mapped)"
built
unmap
same "its program headers are wrong" "$(no_table notes256)" "object with 256 segments of notes"
same "it costs too much for its size" "$(no_table notes60)" "object with 60 segments of notes"
rm notes256 notes60

# Who maps an object first with O_DIRECT does not take its table from all others
null_disk direct memory_backed=1 size=64
mkfs.ext4 -q "$disk"
mkdir mnt
mount "$disk" mnt
trap 'umount mnt || true; remove_disks' EXIT
./hostile elf mnt/library 1
chmod 644 mnt/library
mapped "${nobody[@]}" ./hostile direct "$PWD/mnt/library"
built
grep "path=$PWD/mnt/library\$" "$tracing/iosys_stacks" | grep -q 'rows=[1-9]' ||
	die "an object that was mapped with O_DIRECT has no table" "$(no_table mnt/library)"
unmap

# One user's many tables must not take all the time for builds: after some, root's comes first.
# A user with subordinate ids has files of many users. However fast the machine is, some are
# deferred: 64 of a user may wait, and each of the others would have ended after 16 million
# steps, which are four seconds of the user's share. All may wait together: it is not for all
# builds that there is no room.
had=$(field tables deferred)
tee more.{1..180} <expensive >/dev/null
# More steps cost more: most of the file is a hole
truncate -s 128M more.{1..180}
python3 -c 'import os; [os.chown(f"more.{i}", 100000 + i, -1) for i in range(1, 181)]'
# With places for objects full, as after another test, few of them get one at a time
many=
map_many() {
	[ -z "$many" ] || unmap
	mapped "${nobody[@]}" ./hostile map "$PWD"/more.*
	many=$mapper
	[ "$(field tables deferred)" -gt "$had" ]
}
until_true 60 map_many
./hostile elf root 1
mapped ./hostile map "$PWD/root"
root_has_rows() { grep "path=$PWD/root\$" "$tracing/iosys_stacks" | grep -q 'rows=[1-9]'; }
until_true 120 root_has_rows
[ "$(field tables deferred)" -gt "$had" ] || die "one user has all builds" "$(cat "$tracing/iosys")"

# Disabled: builds end, and queued ones do not begin. All builds together would take a minute.
unmap
mapper=$many
unmap
built
# Builds of objects with a GiB of code, of which 16 MiB are for its pages: together they hold
# no more than one user may
for i in $(seq 16); do
	cp expensive "wide.$i"
	# The size of the executable segment
	printf '\0\0\0\x40' | dd of="wide.$i" bs=1 seek=96 conv=notrunc status=none
	truncate -s 1G "wide.$i"
	chown 65533 "wide.$i"
done
had=$(field tables cancelled)
most=0
mapped setpriv --reuid 65533 --regid 65533 --clear-groups ./hostile map "$PWD"/wide.*
until none_queued; do
	holds=$(field memory unwind_builds)
	[ "$holds" -le "$most" ] || most=$holds
done
unmap
((most >= 16 << 20 && most <= 48 << 20)) || die "builds hold $most bytes" "$(cat "$tracing/iosys")"
[ "$(field tables cancelled)" -gt "$had" ] || die "builds of many large objects all go on"
same 0 "$(field memory unwind_builds)" "bytes that builds hold after their end"

for i in $(seq 32); do
	cp expensive "long.$i"
	truncate -s 128M "long.$i"
done
had=$(field tables failed)
mapped ./hostile map "$PWD"/long.*
for e in io_stack io_map; do echo 0 >"$tracing/events/iosys/$e/enable"; done
built
unmap
[ "$(field tables cancelled)" -gt 0 ] || die "no build was cancelled" "$(cat "$tracing/iosys")"
[ "$(field tables failed)" -lt $((had + 32)) ] || die "all builds went on" "$(cat "$tracing/iosys")"
