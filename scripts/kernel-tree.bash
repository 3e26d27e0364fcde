# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# For scripts/kernel: the patched source in build/linux. Sourced; top, build, tree and state
# are those of scripts/kernel.
#
# How the series gets into the tree: quilt applies it to a side tree of pristine
# copies of just the files it touches.  Only files whose content differs are then
# copied to build/linux, so that make rebuilds no more than the patches change.  The
# side tree is complete before the first file is copied, and is removed after the
# last one: a run that finds a side tree completes the copying.
#
# In $state are: source, the source that was unpacked; files, the hashes of its files;
# manifest, those of the files that the series touches, as patched; applied and id, the
# series, its patches and the source then.
# shellcheck disable=SC2154

next=$tree/.tracerig-next	# a complete side tree that is being copied
patches=$top/patches

# ---------------------------------------------------------------------------
# Source

# Sets src and its id: path, size and time for a tarball, path for a directory.
find_source() {
	src=${KSRC-}
	if [ -z "$src" ]; then
		src=/usr/src/linux-source-6.12.tar.xz
		[ -e "$src" ] || die "$src is missing" \
			"install the package linux-source-6.12 (scripts/deps does), or name a source with KSRC="
	fi
	[ -e "$src" ] || die "KSRC=$src: no such file or directory"
	src=$(realpath "$src")
	if [ -d "$src" ]; then
		source_id="$src $(stat -c %Y "$src/Makefile" 2>/dev/null || true)"
	else
		source_id="$src $(stat -c '%s %Y' "$src")"
	fi
}

# check_version MAKEFILE: fails unless it is Linux 6.12's.
check_version() {
	local version
	grep -qs '^PATCHLEVEL = ' "$1" ||
		die "$src: not a Linux kernel source (no kernel Makefile at its top)"
	version=$(sed -n 's/^VERSION = *//p' "$1").$(sed -n 's/^PATCHLEVEL = *//p' "$1")
	[ "$version" = 6.12 ] ||
		die "$src: this is Linux $version; the series is for Linux 6.12"
}

# unpack_tar DIR: unpack into DIR, with progress lines: tar counts records of 10 KiB, and
# xz --list shows their number.  xz -T0 unpacks the blocks of a large file in parallel.
unpack_tar() {
	local records=0 line
	[[ $src != *.xz ]] ||
		records=$(xz --robot --list "$src" | awk '$1 == "file" { printf "%.0f", $5 / 10240 }')
	{ XZ_DEFAULTS=-T0 tar -C "$1" --strip-components=1 --checkpoint=1000 \
		--checkpoint-action=echo='progress %u' -xf "$src" 2>&1 || echo failed; } |
		while IFS= read -r line; do
			case $line in
			"tar: progress "*)
				[ "${records:-0}" -eq 0 ] ||
					echo "progress: $((75 * ${line##* } / records))"
				;;
			failed) exit 1 ;;
			*) printf '%s\n' "$line" >&2 ;;
			esac
		done
}

# fill DIR: put the source into DIR, and the hashes of its files into build/linux.files.
fill() {
	local tmp=$1
	if [ -d "$src" ]; then
		check_version "$src/Makefile"
		if [ -e "$src/.config" ] || [ -d "$src/include/config" ]; then
			die "$src: a kernel was built in this directory; run make mrproper there first"
		fi
		[ ! -d "$src/.pc" ] ||
			die "$src: quilt patches are applied here; name a pristine source"
		say "copying $src"
		tar -C "$src" --exclude=./.git -cf - . | tar -C "$tmp" -xf -
	else
		say "unpacking $src"
		unpack_tar "$tmp" ||
			die "$src: cannot be unpacked (see above)"
		check_version "$tmp/Makefile"
	fi
	echo 'progress: 75 100 5'
	(cd "$tmp" && find . -type f -printf '%P\0' | xargs -0 sha1sum) >"$build/linux.files"
}

# The tree appears in one step, when it is complete.
unpack() {
	local tmp=$build/linux.tmp
	rm -rf "$tmp"
	mkdir -p "$tmp"
	fill "$tmp" | "$top/scripts/progress" unpacking
	mkdir "$tmp/.tracerig"
	mv "$build/linux.files" "$tmp/.tracerig/files"
	echo "$source_id" >"$tmp/.tracerig/source"
	: >"$tmp/.tracerig/manifest"
	ln -s "$patches" "$tmp/patches"
	touch "$tmp/.tracerig/unpacked"
	mv "$tmp" "$tree"
}

do_source() {
	find_source
	if [ -d "$tree" ]; then
		[[ -f $state/source && -f $state/files ]] ||
			die "$tree was not made by this version of scripts/kernel; move it away"
		[ "$(cat "$state/source")" != "$source_id" ] || return 0
		# Another source replaces this tree, unless the tree has edits.
		# The series may apply to the new source only.
		local other
		roll_forward
		(make_side_tree) >/dev/null 2>&1 || : >"$build/linux.side/manifest"
		refuse_edits "$build/linux.side"
		other=$(edited_elsewhere new)
		[ -z "$other" ] || die "the source changed, and build/linux has files that are in no patch:" \
			"${other//$'\n'/$'\n'kernel: }" "put them into a patch, or remove build/linux"
		say "the source changed: unpacking again"
		mv "$tree" "$build/linux.old"
	fi
	rm -rf "$build/linux.old"
	unpack
}

# Files made or changed since the source was unpacked that no patch touches.
changed_elsewhere() {
	(cd "$tree" && find . \( -name .pc -o -name '.tracerig*' -o -name patches \) -prune -o \
		-type f -newer .tracerig/unpacked -print) | sed 's|^\./||' | sort |
		comm -23 - <({ sed 's/^[^ ]* *//' "$state/manifest"; quilt_files "$tree"; } | sort -u)
}

# The edits among them: files of the source that differ from it now; with an argument,
# new files as well.
edited_elsewhere() {
	local changed
	changed=$(changed_elsewhere)
	[ -n "$changed" ] || return 0
	hashes "$tree" <<<"$changed" | awk -v new="${1-}" '
		{ file = substr($0, index($0, " ") + 2) }
		NR == FNR { hash[file] = $1; next }
		(file in hash && hash[file] != $1) || (new && !(file in hash)) { print file }' "$state/files" -
}

# restore FILE DIR: copy FILE from the source to DIR.
restore() {
	if [ -d "$src" ]; then
		cp "$src/$1" "$2/$1"
	else
		tar -C "$2" --strip-components=1 --wildcards --no-wildcards-match-slash \
			-xf "$src" "*/$1"
	fi
}

# ---------------------------------------------------------------------------
# Series

# The patches of patches/series, in order, without comments.
series() {
	sed -e 's/[[:space:]]*#.*//' -e 's/[[:space:]].*//' -e '/^$/d' "$patches/series" |
		sed -n "1,${PREFIX:-\$}p"
}

topics() {
	series | sed -n 's|/.*||p' | sort -u
}

# quilt_files DIR: the files that the applied patches touch, of which quilt keeps copies in
# DIR/.pc.
quilt_files() {
	[ -s "$1/.pc/applied-patches" ] || return 0
	local patch
	while read -r patch; do
		[ ! -d "$1/.pc/$patch" ] ||
			(cd "$1/.pc/$patch" && find . -type f ! -name .timestamp)
	done <"$1/.pc/applied-patches" | sed 's|^\./||' | sort -u
}

# The files that the patches of the series touch, read from the patches.
series_files() {
	local patch
	series | while read -r patch; do
		[ ! -f "$patches/$patch" ] || cat "$patches/$patch"
	done | sed -n -E 's,^(---|\+\+\+) [ab]/([^\t]*).*,\2,p' | sort -u
}

# hashes DIR <files: lines "hash  file"; the hash of a missing file is a dash.
hashes() {
	local file hash
	while IFS= read -r file; do
		hash=-
		[ ! -f "$1/$file" ] || hash=$(sha1sum <"$1/$file")
		echo "${hash%% *}  $file"
	done
}

# A hash of the source, the series and its patches.
series_id() {
	{
		cat "$state/source"
		series
		(cd "$patches" && series | xargs -r sha1sum) 2>&1
	} | sha1sum
}

# pristine FILE TO: copy FILE as it was before any patch; no copy if it did not exist.
pristine() {
	local patch from=$tree/$1
	if [ -s "$tree/.pc/applied-patches" ]; then
		while read -r patch; do
			[ -e "$tree/.pc/$patch/$1" ] || continue
			# quilt keeps an empty file for one that did not exist.
			[ -s "$tree/.pc/$patch/$1" ] || return 0
			from=$tree/.pc/$patch/$1
			break
		done <"$tree/.pc/applied-patches"
	fi
	[ -e "$from" ] || return 0
	mkdir -p "$(dirname "$2")"
	cp -p "$from" "$2"
}

quilt_in() {
	local dir=$1
	shift
	(cd "$dir" && env -u QUILT_PATCHES -u QUILT_SERIES -u QUILT_PC \
		quilt --quiltrc "$top/scripts/quiltrc" "$@")
}

# make_pristine_tree [--discard]: copy pristine files into the side tree. A file whose pristine
# copy is not that of the source was edited, which is an error; with --discard the source's file
# is used.
make_pristine_tree() {
	local side=$build/linux.side file edits
	rm -rf "$side"
	mkdir -p "$side/tree"
	{ sed 's/^[^ ]* *//' "$state/manifest"; quilt_files "$tree"; series_files; } |
		sort -u >"$side/files"
	while IFS= read -r file; do
		pristine "$file" "$side/tree/$file"
	done <"$side/files"
	# The hashes that the source had
	awk '	NR == FNR { want[$0] = "-"; next }
		{ file = substr($0, index($0, " ") + 2) }
		file in want { want[file] = $1 }
		END { for (file in want) print want[file] "  " file }' \
		"$side/files" "$state/files" >"$side/pristine"
	edits=$(hashes "$side/tree" <"$side/files" | grep -vxFf "$side/pristine" | sed 's/^[^ ]* *//' || true)
	if [ -n "$edits" ] && [ "${1-}" != --discard ]; then
		refuse_files "$edits"
	fi
	for file in $edits; do
		rm -f "$side/tree/$file"
		! grep -qxF -- "-  $file" "$side/pristine" || continue
		restore "$file" "$side/tree"
	done
}

# make_side_tree [--discard]: the same, with the series applied.
make_side_tree() {
	local side=$build/linux.side
	make_pristine_tree "$@"
	ln -s "$patches" "$side/tree/patches"
	if [ -n "$(series)" ]; then
		quilt_in "$side/tree" push --fuzz=0 "$(series | tail -n 1)" >"$side/log" 2>&1 || {
			sed 's/^/  /' "$side/log" | tail -n 20 >&2
			die "the series does not apply to $(kernel_version) at fuzz 0 (see above)"
		}
	fi
	[ -d "$side/tree/.pc" ] || mkdir "$side/tree/.pc"
	hashes "$side/tree" <"$side/files" >"$side/manifest"
	series_id >"$side/id"
}

kernel_version() {
	sed -n -e 's/^VERSION = */Linux /p' -e 's/^PATCHLEVEL = */./p' -e 's/^SUBLEVEL = */./p' \
		"$tree/Makefile" | tr -d '\n'
}

# edited SIDE: the edited files: of the files that patches touch, the ones in the tree that
# are neither as the last push left them, nor as the side tree has them, nor pristine; and
# edits of files that no patch touches.
edited() {
	{ hashes "$tree" <"$1/files" |
		grep -vxF -f "$state/manifest" -f "$1/manifest" -f "$1/pristine" | sed 's/^[^ ]* *//'
	  edited_elsewhere | comm -23 - "$1/files"; } | sort -u
}

# True if the patches applied now are neither the whole series nor those of the last push:
# the user is working with quilt.
halfway() {
	local applied
	applied=$(cat "$tree/.pc/applied-patches" 2>/dev/null || true)
	[ "$applied" != "$(series)" ] &&
		[ "$applied" != "$(cat "$state/applied" 2>/dev/null || true)" ]
}

refuse_files() {
	die "build/linux has edits that are in no patch:" \
		"${1//$'\n'/$'\n'kernel: }" \
		"put them into one (scripts/kernel quilt refresh), or build the tree as it is (scripts/kernel build --as-is)," \
		"or drop them (scripts/kernel patch --discard keeps a diff)"
}

# refuse_edits SIDE: fails if the tree has edits, or the user is working with quilt.
refuse_edits() {
	local files
	if halfway; then
		die "build/linux has $(grep -c . "$tree/.pc/applied-patches" || true) patches applied by quilt, and the series has $(series | grep -c . || true)" \
			"push the rest (scripts/kernel quilt push -a), or build it as it is (scripts/kernel build --as-is)," \
			"or go back to the series (scripts/kernel patch --discard keeps a diff)"
	fi
	files=$(edited "$1" || true)
	[ -z "$files" ] || refuse_files "$files"
}

# Copy the complete side tree in $next to the tree: the files that differ, then quilt's
# state, then ours.  Every step can be repeated.
roll_forward() {
	local file
	[ -d "$next" ] || return 0
	[ ! -d "$next/tree" ] || while IFS= read -r file; do
		if [ ! -e "$next/tree/$file" ]; then
			rm -f "$tree/$file"
			rmdir -p --ignore-fail-on-non-empty "$tree/$(dirname "$file")" 2>/dev/null || true
		elif ! cmp -s "$next/tree/$file" "$tree/$file"; then
			mkdir -p "$tree/$(dirname "$file")"
			cp "$next/tree/$file" "$tree/.tracerig-file"
			mv "$tree/.tracerig-file" "$tree/$file"
		fi
	done <"$next/files"
	if [ -d "$next/tree/.pc" ]; then
		rm -rf "$tree/.pc"
		mv "$next/tree/.pc" "$tree/.pc"
	fi
	cp "$tree/.pc/applied-patches" "$state/applied" 2>/dev/null || : >"$state/applied"
	cp "$next/manifest" "$state/manifest"
	cp "$next/id" "$state/id"
	rm -rf "$next.done"
	mv "$next" "$next.done"
	rm -rf "$next.done"
}

# keep_edits SIDE: print a diff of the edits that --discard is about to drop.
keep_edits() {
	local file
	while IFS= read -r file; do
		diff -uN --label "a/$file" --label "b/$file" "$1/tree/$file" "$tree/$file" || true
	done <"$1/files"
	mkdir -p "$1/pristine.d"
	edited_elsewhere | comm -23 - "$1/files" | while IFS= read -r file; do
		mkdir -p "$(dirname "$1/pristine.d/$file")"
		restore "$file" "$1/pristine.d"
		diff -u --label "a/$file" --label "b/$file" "$1/pristine.d/$file" "$tree/$file" || true
	done
}

do_patch() {
	local side=$build/linux.side file
	if [ -d "$next" ]; then
		# A run was interrupted while it copied; files may have been edited since
		local files
		files=$([ ! -d "$next/tree" ] || edited "$next" || true)
		[ -z "$files" ] || [ "${1-}" = --discard ] ||
			die "build/linux was edited after an interrupted run: $files" \
				"save the edits and run scripts/kernel patch --discard"
		roll_forward
	fi
	if [ "${1-}" != --discard ] && [ "$(cat "$state/id" 2>/dev/null)" = "$(series_id)" ] && ! halfway &&
	   sed 's/^[^ ]* *//' "$state/manifest" | hashes "$tree" | cmp -s - "$state/manifest" &&
	   [ -z "$(edited_elsewhere)" ]; then
		return 0
	fi
	make_side_tree "${1-}"
	if [ "${1-}" = --discard ]; then
		keep_edits "$side" >"$build/discarded.diff.new"
		if [ -s "$build/discarded.diff.new" ]; then
			file=$build/discarded-$(date +%Y%m%d-%H%M%S).diff
			mv "$build/discarded.diff.new" "$file"
			say "the edits are kept in $file"
		else
			rm "$build/discarded.diff.new"
		fi
		edited_elsewhere | while IFS= read -r file; do
			restore "$file" "$tree"
		done
	else
		refuse_edits "$side"
	fi
	mv "$side" "$next"
	roll_forward
	say "$(kernel_version) with $(series | grep -c . || true) patches in build/linux"
}

do_quilt() {
	[ -d "$tree" ] || die "there is no build/linux yet; run scripts/kernel patch"
	quilt_in "$tree" "$@"
}

# files_of PATCH: the files that it changes, in its order, without their first directory
files_of() {
	awk '{ sub(/\t.*/, "") }
		/^\+\+\+ / && last ~ /^--- / { name(last); name($0) }
		{ last = $0 }
		function name(line) {
			sub(/^... /, "", line)
			if (line != "/dev/null" && sub(/^[^\/]*\//, "", line) && !seen[line]++)
				print line
		}' "$1"
}

# refreshed PATCH TREE OLD: apply PATCH to TREE, and print it as quilt refresh would write
# it, which takes a second or more for each patch. OLD: a directory for the files before.
refreshed() {
	local patch=$1 in=$2 old=$3 file
	local -a files from_to
	sed -En '/^(---|\*\*\*|Index:)[ \t][^ \t]/q; /^diff -/q; p' "$patch"
	mapfile -t files < <(files_of "$patch")
	rm -rf "$old"
	mkdir "$old" && old=$(realpath "$old") || return 1
	for file in "${files[@]}"; do
		[ ! -e "$in/$file" ] || (cd "$in" && cp --parents "$file" "$old") || return 1
	done
	patch -d "$in" -p1 -E -f -s --fuzz=0 --no-backup-if-mismatch <"$patch" >&2 || return 1
	for file in "${files[@]}"; do
		from_to=(--label "a/$file" --label "b/$file")
		[ -e "$old/$file" ] || from_to[1]=/dev/null
		[ -e "$in/$file" ] || from_to[3]=/dev/null
		[ "${from_to[1]}" != "${from_to[3]}" ] || continue
		diff -Nup "${from_to[@]}" "$old/$file" "$in/$file"
		[ $? -le 1 ] || return 1
	done
	[ ${#files[@]} -gt 0 ]
}

# Refresh in a side tree, so that build/linux stays as it is; with --check only show what
# would change.
do_refresh() {
	local side=$build/linux.side patch status=0
	[ -n "$(series)" ] || return 0
	make_pristine_tree
	while read -r patch; do
		refreshed "$patches/$patch" "$side/tree" "$side/old" >"$side/patch" 2>"$side/log" ||
			{ cat "$side/log" >&2; die "$patch cannot be refreshed"; }
		cmp -s "$side/patch" "$patches/$patch" && continue
		if [ "${1-}" = --check ]; then
			diff -u --label "a/$patch" --label "b/$patch" "$patches/$patch" "$side/patch" || status=1
		else
			say "refreshed $patch"
			cp "$side/patch" "$patches/$patch"
		fi
	done < <(series)
	return "$status"
}
