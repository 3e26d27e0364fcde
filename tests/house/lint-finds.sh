#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# Each check of scripts/lint passes what is right and finds what is wrong, in a
# small tree made for it.
. "$TRACERIG_TOP/tests/house/lib.sh"
linux=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/linux
[ -d "$linux" ] || { echo "there is no build/linux"; exit 77; }

mkdir -p repo/scripts repo/patches/topic repo/tools/{lib,good} repo/qemu repo/tests build/linux/kernel/trace/topic
export TRACERIG_BUILD=$PWD/build
cp "$TRACERIG_TOP"/scripts/{kernel,lint,quiltrc,checkpatch-allow} repo/scripts
cp "$TRACERIG_TOP"/.clang-format "$TRACERIG_TOP"/.shellcheckrc repo
for name in "$linux"/*; do
	[ -e "build/linux/${name##*/}" ] || ln -s "$name" build/linux/
done
cd repo
git init -q .

cat >patches/topic/good.patch <<'END'
From: A Person <person@example.org>
Subject: [PATCH] topic: add a file
Date: Sat, 21 Nov 2026 12:00:00 +0000
Forwarded: no

Why it is there, in a sentence that says more than the code.

Signed-off-by: A Person <person@example.org>
---
--- /dev/null
+++ b/kernel/trace/topic/good.c
@@ -0,0 +1,12 @@
+// SPDX-License-Identifier: GPL-2.0
+/*
+ * A file.
+ */
+#include <linux/kernel.h>
+
+int topic_good(int n);
+
+int topic_good(int n)
+{
+	return n + 1;
+}
END
echo topic/good.patch >patches/series
printf '// SPDX-License-Identifier: GPL-2.0\nint good(int n)\n{\n\treturn n + 1;\n}\n' |
	tee tools/lib/good.c tools/good/good.c >../build/linux/kernel/trace/topic/good.c
printf '.TH GOOD 1\n.SH NAME\ngood \\- is good\n' >tools/good/good.1
printf '# shellcheck shell=bash\ncomplete -W "--help" good\n' >tools/good/good.bash
printf '#!/bin/sh\necho "$1"\n' >scripts/good
printf 'int main(void)\n{\n\treturn 0;\n}\n' >qemu/init.c

checks=(headers series checkpatch kernel-doc shared shellcheck clang-format cppcheck man paths)
lint() {
	scripts/lint "$@" >../out 2>&1
}
lint "${checks[@]}" || { cat ../out; die "lint does not pass what is right"; }
same ${#checks[@]} "$(grep -c '^ok lint' ../out)" "checks that passed"

# finds CHECK PATTERN: the check fails, and says so; then the tree is as before.
git add -A
git -c user.name=a -c user.email=a@example.org commit -qm good
finds() {
	! lint "$1" || die "lint $1 does not find: $2"
	grep -q "^not ok lint $1" ../out || { cat ../out; die "lint $1 does not say so"; }
	grep -qE "^# .*$2" ../out || { cat ../out; die "lint $1 does not say: $2"; }
	git reset -q --hard
	git clean -qfd
	lint "$1" || { cat ../out; die "lint $1 does not recover"; }
}

sed -i /^Forwarded/d patches/topic/good.patch
finds headers 'topic/good.patch has no Forwarded'
sed -i 's/^Date:.*/Date: the other day/' patches/topic/good.patch
finds headers 'invalid date'
sed -i 's/^From:.*/From: nobody/' patches/topic/good.patch
finds headers 'not NAME <ADDRESS>'
cp patches/topic/good.patch patches/topic/stray.patch
finds series 'there but not listed: patches/topic/stray.patch'
echo topic/none.patch >>patches/series
finds series 'listed but not there: patches/topic/none.patch'
sed -i 's/^+	return n/+        return n/' patches/topic/good.patch
finds checkpatch 'CODE_INDENT'
sed -i 's/topic_good(int n);$/topic_good( int n );/' patches/topic/good.patch
finds checkpatch 'SPACING'
printf '/**\n * good - no parameter\n */\nint good(int n)\n{\n\treturn n;\n}\n' >../build/linux/kernel/trace/topic/doc.c
! lint kernel-doc || die "lint kernel-doc does not find a missing parameter"
has ../out "parameter.*'n' not described"
rm ../build/linux/kernel/trace/topic/doc.c
echo '/* more */' >>tools/lib/good.c
finds shared 'tools/lib/good.c'
printf '#!/bin/sh\necho $1\n' >scripts/bad
finds shellcheck SC2086
printf 'echo $1\n' >>tools/good/good.bash
finds shellcheck SC2086
printf 'int  bad( void );\n' >tools/lib/bad.c
finds clang-format 'tools/lib/bad.c.*Wclang-format'
printf 'int bad(void)\n{\n\tint a[2];\n\n\treturn a[2];\n}\n' >tools/lib/bad.c
finds cppcheck 'arrayIndexOutOfBounds|out of bounds'
printf '.TH GOOD 1\n.SH NAME\ngood \\- is good\n.XX\n' >tools/good/good.1
finds man "XX"
rm tools/good/good.1
finds man 'tools/good has no man page'
echo "# see $(dirname "$PWD")/elsewhere" >>scripts/good
finds paths 'scripts/good'
