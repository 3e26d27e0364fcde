#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# scripts/kernel's handling of source and series, on a made-up source of a few files: what it
# refuses, changes and protects, and that it recovers after being killed.
. "$TRACERIG_TOP/tests/house/lib.sh"
unset KSRC TRACERIG_BUILD PREFIX

mkdir -p repo/scripts repo/patches/topic source/dir
cp "$TRACERIG_TOP"/scripts/{kernel,kernel-*.bash,progress,quiltrc} repo/scripts
kernel=$PWD/repo/scripts/kernel
linux=$PWD/repo/build/linux

printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 5\n' >source/Makefile
for file in a b c d; do
	seq -f "$file %g" 20 >source/dir/$file
done
export KSRC=$PWD/source

# make_patch NAME FILE LINE TEXT: make a patch that replaces one line.
make_patch() {
	mkdir -p work/a/dir work/b/dir
	cp source/dir/"$2" work/a/dir/
	sed "$3s/.*/$4/" source/dir/"$2" >work/b/dir/"$2"
	(cd work && diff -u --label "a/dir/$2" --label "b/dir/$2" "a/dir/$2" "b/dir/$2") >work/diff || true
	{ printf 'From: A <a@example.org>\nSubject: %s\n\n' "$1"; cat work/diff; } >repo/patches/topic/"$1".patch
	rm -r work
}
make_patch one a 5 changed
make_patch two b 7 changed
cat >repo/patches/topic/new.patch <<'END'
From: A <a@example.org>
Subject: new

--- /dev/null
+++ b/sub/new
@@ -0,0 +1 @@
+a new file
END
printf '# comment\ntopic/one.patch\ntopic/two.patch # why\ntopic/new.patch\n' >repo/patches/series

# --- Sources that are refused

expect 1 env KSRC="$PWD/none" "$kernel" source
has err 'none: no such file'
mkdir empty
expect 1 env KSRC="$PWD/empty" "$kernel" source
has err 'not a Linux kernel source'
cp -r source old
sed -i 's/12/6/' old/Makefile
expect 1 env KSRC="$PWD/old" "$kernel" source
has err 'this is Linux 6.6; the series is for Linux 6.12'
cp -r source built
touch built/.config
expect 1 env KSRC="$PWD/built" "$kernel" source
has err 'mrproper'
echo no tar >broken.tar
expect 1 env KSRC="$PWD/broken.tar" "$kernel" source
has err 'cannot be unpacked'
[ ! -e "$linux" ] || die "a refused source left a tree"

# --- The series is applied, and nothing is done twice

expect 0 "$kernel" patch
has "$linux/dir/a" '^changed$'
has "$linux/dir/b" '^changed$'
same "a new file" "$(cat "$linux/sub/new")" "a new file"
touch -d 2020-01-01 "$linux"/dir/* "$linux/sub/new"
expect 0 "$kernel" patch
[ ! -s out ] || die "a second run did something: $(cat out)"
same 5 "$(find "$linux/dir" "$linux/sub" -type f ! -newermt 2020-01-02 | wc -l)" "untouched files"

# A changed patch changes the times of its files only.
make_patch two b 8 different
expect 0 "$kernel" patch
same "b" "$(cd "$linux/dir" && find . -type f -newermt 2020-01-02 -printf '%P')" "touched files"
has "$linux/dir/b" '^different$'
! grep -q '^changed$' "$linux/dir/b" || die "the old change stayed"

# A patch that is removed from the series removes its new file.
sed -i /new.patch/d repo/patches/series
expect 0 "$kernel" patch
[ ! -e "$linux/sub" ] || die "the new file stayed"
echo topic/new.patch >>repo/patches/series
expect 0 "$kernel" patch

# A prefix of the series, and back.
expect 0 env PREFIX=1 "$kernel" patch
cmp "$linux/dir/b" source/dir/b
expect 0 "$kernel" patch
has "$linux/dir/b" '^different$'

# Fuzz is refused, and the tree stays as it was.
cp repo/patches/topic/one.patch good
sed -i 's/^ a 2$/ a 2222/' repo/patches/topic/one.patch
cp -a "$linux" before
expect 1 "$kernel" patch
has err 'does not apply to Linux 6.12.5 at fuzz 0'
diff -r before "$linux" || die "a patch that does not apply changed the tree"
mv good repo/patches/topic/one.patch
expect 0 "$kernel" patch

# --- quilt in the tree

has <("$kernel" quilt applied) '^topic/new.patch$'
expect 0 "$kernel" refresh
! grep -rl '^Index' repo/patches || die "refreshed with an index"
cp -a repo/patches refreshed
expect 0 "$kernel" refresh
! grep -q ' refreshed ' out || die "a second refresh changed something: $(cat out)"
diff -r refreshed repo/patches || die "a second refresh changed the patches"
expect 0 "$kernel" refresh --check
sed -i 's/^ b 10$/ b 10/; s/^@@.*/& context/' repo/patches/topic/two.patch
expect 1 "$kernel" refresh --check
expect 0 "$kernel" refresh
expect 0 "$kernel" refresh --check

# Edits that are in no patch are protected: in a file of a patch,
cp "$linux/dir/b" saved
echo edit >>"$linux/dir/b"
make_patch two b 9 third
expect 1 "$kernel" patch
has err '^kernel: dir/b$'
has "$linux/dir/b" '^edit$'
cp saved "$linux/dir/b"
expect 0 "$kernel" patch
has "$linux/dir/b" '^third$'

# in one that a patch is about to touch,
echo edit >>"$linux/dir/c"
make_patch three c 2 changed
echo topic/three.patch >>repo/patches/series
expect 1 "$kernel" patch
has err '^kernel: dir/c$'
has "$linux/dir/c" '^edit$'
expect 0 "$kernel" patch --discard
! grep -q '^edit$' "$linux/dir/c" || die "--discard kept an edit"
has <(cat repo/build/discarded-*.diff) '^\+edit$'
rm repo/build/discarded-*.diff

# and in one that no patch touches.
echo edit >>"$linux/dir/d"
expect 1 "$kernel" patch
has err '^kernel: dir/d$'
expect 0 "$kernel" patch --discard
cmp "$linux/dir/d" source/dir/d
has <(cat repo/build/discarded-*.diff) '^\+edit$'

# An edit and a refresh, as a developer makes them: nothing is refused or done.
sed -i 's/^c 10$/ten/' "$linux/dir/c"
expect 1 "$kernel" patch
expect 0 "$kernel" quilt refresh
has repo/patches/topic/three.patch '^\+ten$'
touch -d 2020-01-01 "$linux/dir/c"
expect 0 "$kernel" patch
has "$linux/dir/c" '^ten$'
[ ! "$linux/dir/c" -nt source/dir/c ] || die "a refreshed edit was written again"

# Popped patches are unfinished work.
expect 0 "$kernel" quilt pop
expect 1 "$kernel" patch
has err 'applied by quilt'
expect 0 "$kernel" patch --discard
has "$linux/dir/c" '^ten$'

# Another source replaces the tree, even when the series is for that source
# only; but not when it has work in it.
mv source source.old
cp -r source.old source
sed -i 's/^b 8$/b eight/' source/dir/b
make_patch two b 9 fourth
mv source newer
mv source.old source
echo new >"$linux/dir/mine"
expect 1 env KSRC="$PWD/newer" "$kernel" patch
has err '^kernel: dir/mine$'
rm "$linux/dir/mine"
echo edit >>"$linux/dir/b"
expect 1 env KSRC="$PWD/newer" "$kernel" patch
has err '^kernel: dir/b$'
sed -i /edit/d "$linux/dir/b"
expect 0 env KSRC="$PWD/newer" "$kernel" patch
has "$linux/dir/b" '^fourth$'
make_patch two b 9 third
expect 0 "$kernel" patch
has "$linux/dir/b" '^third$'

# --- Killed before any of its steps, the next run comes to the same end

mkdir steps
cat >steps/step <<'END'
#!/bin/sh
read -r parent </proc/$PPID/cmdline
case $parent in
*scripts/kernel*)	# Not those of quilt
	read -r count <"$STEPS"
	count=$((count + 1))
	echo $count >"$STEPS"
	# The step itself must not continue while the test goes on
	if [ $count -eq "$KILL_AT" ]; then
		kill -KILL $PPID
		exit 1
	fi
	;;
esac
exec /bin/"${0##*/}" "$@"
END
chmod +x steps/step
for command in cp mv rm; do
	ln -s step steps/$command
done
export STEPS=$PWD/count

# One step in eight in each run, other ones in the next run; all with TRACERIG_FULL
stride=8
[ -z "${TRACERIG_FULL-}" ] || stride=1

# killed_at N COMMAND...: run COMMAND and kill it at step N; false if it has fewer steps.
killed_at() {
	echo 0 >"$STEPS"
	# The shell reports the killed process on its own stderr.
	{ KILL_AT=$1 PATH=$PWD/steps:$PATH "${@:2}" >out 2>&1 || true; } 2>/dev/null
	[ "$(cat "$STEPS")" -ge "$1" ]
}

mv "$linux" want
for ((i = 1 + RANDOM % stride; ; i += stride)); do
	rm -rf repo/build
	killed_at $i "$kernel" patch || break
	expect 0 "$kernel" patch
	diff -r --exclude='.tracerig*' --exclude=.pc want "$linux" || die "killed at step $i: the tree differs"
done
[ $i -gt 10 ] || die "only $i steps were tried"

for ((i = 1 + RANDOM % stride; ; i += stride)); do
	make_patch two b 5 "round $i"
	killed_at $i "$kernel" patch || break
	# The series may have changed since the interrupted run.
	make_patch one a 9 "round $i"
	expect 0 "$kernel" patch
	same "round $i" "$(grep round "$linux/dir/a")" "killed at step $i: change in a"
	same "round $i" "$(grep round "$linux/dir/b")" "killed at step $i: change in b"
done
[ $i -gt 10 ] || die "only $i steps were tried"

# Edits made after the kill are still protected.
until [ -d "$linux/.tracerig-next" ]; do
	i=$((i - 1))
	[ $i -gt 0 ] || die "never interrupted while copying"
	make_patch two b 5 "later $i"
	killed_at $i "$kernel" patch || true
done
echo edit >>"$linux/dir/b"
expect 1 "$kernel" patch
has err 'edited after an interrupted run'
has "$linux/dir/b" '^edit$'
