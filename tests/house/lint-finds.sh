#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# needs: kernel
# Each check of scripts/lint passes what is right and finds what is wrong, in a small tree made
# for this test.
. "$TRACERIG_TOP/tests/house/lib.sh"
linux=${TRACERIG_BUILD:-$TRACERIG_TOP/build}/linux
[ -d "$linux" ] || { echo "there is no build/linux"; exit 77; }

mkdir -p repo/scripts repo/patches/topic repo/tools/{kernel,lib,good} repo/qemu repo/tests build/linux/kernel/trace/topic
export TRACERIG_BUILD=$PWD/build
cp "$TRACERIG_TOP"/scripts/{kernel,kernel-*.bash,lint,quiltrc,checkpatch-allow} repo/scripts
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
printf '// SPDX-License-Identifier: GPL-2.0\nint topic(int n)\n{\n\treturn n + 1;\n}\n' |
	tee tools/kernel/good.c >../build/linux/kernel/trace/topic/good.c
printf '// SPDX-License-Identifier: GPL-2.0\nint good(int n)\n{\n\treturn n + 1;\n}\n' >tools/good/good.c
printf 'int good(int n);\n\nint main(void)\n{\n\treturn good(-1);\n}\n' >tools/good/main.c
printf '.TH GOOD 1\n.SH NAME\ngood \\- is good\n' >tools/good/good.1
printf '# shellcheck shell=bash\ncomplete -W "--help" good\n' >tools/good/good.bash
printf 'function text(s) { document.title = s; }\n' >tools/lib/page.js
printf 'text("good");\n' >tools/good/page.js
printf '#!/bin/sh\necho "$1"\n' >scripts/good
printf 'int main(void)\n{\n\treturn 0;\n}\n' >qemu/init.c
mkdir docs
printf 'check: # all\n' >Makefile
printf '# A part\n\nRun `make check`, or `scripts/good --help`.\n' >docs/good.md
printf '# Documentation\n\n[good](good.md), [a part of it](good.md#a-part)\n' >docs/README.md
printf '# Good\n\n| [good](docs/good.md) | tool |\n\n[docs](docs/README.md)\n' >README.md

checks=(headers series checkpatch kernel-doc shared shellcheck negations python javascript clang-format cppcheck names lines words
	man docs paths)
lint() {
	scripts/lint "$@" >../out 2>&1
}
lint "${checks[@]}" || { cat ../out; die "lint does not pass what is right"; }
same ${#checks[@]} "$(grep -c '^ok lint' ../out)" "checks that passed"

# finds CHECK PATTERN: the check fails, with a line that matches; then restore the tree.
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
sed -i 's/^+	return n/+	return n \/* See tracerig *\//' patches/topic/good.patch
finds headers 'topic/good.patch:[0-9]*:.*See tracerig'
cp patches/topic/good.patch patches/topic/stray.patch
finds series 'there but not listed: patches/topic/stray.patch'
echo topic/none.patch >>patches/series
finds series 'listed but not there: patches/topic/none.patch'
sed -i '1i #### other: none of these' patches/series
finds series 'topic/good.patch: below the heading of other:'
sed -i 's/^+	return n/+        return n/' patches/topic/good.patch
finds checkpatch 'CODE_INDENT'
sed -i 's/topic_good(int n);$/topic_good( int n );/' patches/topic/good.patch
finds checkpatch 'SPACING'
printf '/**\n * good - no parameter\n */\nint good(int n)\n{\n\treturn n;\n}\n' >../build/linux/kernel/trace/topic/doc.c
! lint kernel-doc || die "lint kernel-doc does not find a missing parameter"
has ../out "parameter.*'n' not described"
rm ../build/linux/kernel/trace/topic/doc.c
echo '/* more */' >>tools/kernel/good.c
finds shared 'tools/kernel/good.c differs from kernel/trace/topic/good.c'
cp tools/kernel/good.c tools/kernel/stray.c
finds shared 'tools/kernel/stray.c is in no topic'
printf '#!/bin/sh\necho $1\n' >scripts/bad
finds shellcheck SC2086
printf 'echo $1\n' >>tools/good/good.bash
finds shellcheck SC2086
printf '#!/bin/sh\nset -e\n! false ||\n\texit 1\nf() {\n\t! false\n}\n! f && echo no\n! f\n' >scripts/negates
lint negations || die "lint negations finds what can fail" "$(cat ../out)"
printf '! true | cat\necho done\n' >>scripts/negates
finds negations 'scripts/negates:9: .*cannot fail'
printf '#!/bin/sh\nset -e\n! true | cat\necho done\n' >scripts/negates
finds negations 'scripts/negates:3: .*cannot fail'
printf 'import os\n' >scripts/bad.py
finds python "scripts/bad.py:1.*'os' imported but unused"
printf '#!/usr/bin/python3\nprint(missing)\n' >scripts/bad
finds python "scripts/bad:2.*undefined name 'missing'"
# not lines that lint finds here
printf '#!/bin/sh\n%s - "$1" <<'"'END'"' || exit 1\nprint(1)\nEND\n' python3 >scripts/bad
finds python 'scripts/bad:2: Python in a here-document'
printf '#!/bin/sh\n%s -B <<'"'END'"'\nprint(1)\nEND\n' python3 >scripts/bad
finds python 'scripts/bad:2: Python in a here-document'
printf '#!/bin/sh\ncat >%s <<'"'END'"'\nprint(1)\nEND\n' good.py >scripts/bad
finds python 'scripts/bad:2: Python in a here-document'
for quote in \' \"; do
	printf '# shellcheck shell=bash\nx=$(%s -B -c %s\nprint(1)%s)\n' python3 "$quote" "$quote" >scripts/bad
	finds python 'scripts/bad:2: Python of several lines'
done
mkdir -p tests
echo 'console.log(require("fs").sync(mode));' >tests/good.js
finds javascript "tests/good.js:1:32: 'mode' is not defined"
echo 'txet("bad");' >>tools/good/page.js
finds javascript "tools/good/page.js:2:1: 'txet' is not defined"
echo 'const n = 1;' >>tools/good/page.js
finds javascript "tools/good/page.js:2:.*'n' is assigned a value but never used"
echo 'text(n' >>tools/lib/page.js
finds javascript 'tools/good/page.js:1:.*Parsing error'
mkdir tools/other
printf 'function unused() { }\n' >>tools/lib/page.js
printf 'unused();\n' >tools/other/page.js
printf 'unused(text);\n' >>tools/good/page.js
lint javascript || die "lint javascript finds what is right" "$(cat ../out)"
printf 'text();\n' | tee tools/other/page.js >tools/good/page.js
finds javascript "tools/lib/page.js:2:.*'unused' is defined but never used"
mkdir tools/other
printf 'int good(int n)\n{\n\treturn n;\n}\n' >tools/other/other.c
finds names 'tools/other/other.c:1: good\(\) is also in tools/good/good.c:2'
printf 'static int other(int n);\n\nstatic int\nraise(int n)\n{\n\treturn n;\n}\n' >>tools/good/good.c
finds names 'tools/good/good.c:9: raise\(\) has the name of a function of the C library'
printf 'int used_by_itself(int n)\n{\n\treturn n ? used_by_itself(n - 1) : 0;\n}\n' >>tools/good/good.c
finds names 'tools/good/good.c:6: used_by_itself\(\) is used in this file only'
mkdir -p tests/unit
printf '// SPDX-License-Identifier: GPL-2.0\n\nstatic inline int take_more(int n)\n{\n\treturn n;\n}\n' >tests/unit/more.h
finds names 'tests/unit/more.h:3: take_more\(\): name what it does'
printf 'int take_more(int n);\n/* take_more() */\nint take_more(int n)\n{\n\treturn n;\n}\n' >>tools/kernel/good.c
lint names || die "lint names finds what is the kernel's" "$(cat ../out)"
printf '\nstatic int take_more(int n)\n{\n\treturn n;\n}\n' >>tools/good/good.c
finds names 'tools/good/good.c:7: take_more\(\): name what it does'
mkdir -p tests/unit
seq 850 | sed 's|.*|int n;|' | tee tests/unit/long.c >tools/kernel/good.c
echo 'int n;' >>tools/kernel/good.c
lint lines || die "lint lines finds what is allowed" "$(cat ../out)"
echo 'int n;' >>tests/unit/long.c
finds lines 'tests/unit/long.c: more than 850 lines'
echo '/* Whoever reads this has to read it twice */' >>tools/good/good.c
finds words 'tools/good/good.c:6: .* Whoever reads'
echo 'Nobody knows.' >>docs/good.md
finds words 'docs/good.md:4: Nobody knows'
printf 'int  bad( void );\n' >tools/good/bad.c
finds clang-format 'tools/good/bad.c.*Wclang-format'
printf 'int bad(void)\n{\n\tint a[2];\n\n\treturn a[2];\n}\n' >tools/good/bad.c
finds cppcheck 'arrayIndexOutOfBounds|out of bounds'
printf '.TH GOOD 1\n.SH NAME\ngood \\- is good\n.XX\n' >tools/good/good.1
finds man "XX"
rm tools/good/good.1
finds man 'tools/good has no man page'
echo '[none](none.md)' >>docs/good.md
finds docs 'docs/good.md: the link none.md leads nowhere'
echo '[there](docs/good.md#not-there)' >>README.md
finds docs "docs/good.md has no heading 'not-there'"
echo '`make nothing`' >>README.md
finds docs "README.md: the Makefile has no target 'nothing'"
echo 'See `tests/none`.' >>docs/good.md
finds docs 'docs/good.md: there is no tests/none'
echo '    good --hlep' >>docs/good.md
finds docs 'docs/good.md: no man page or usage has the option --hlep'
echo '# Another' >docs/other.md
finds docs 'docs/README.md has no link to docs/other.md'
sed -i '/| tool |/d' README.md
finds docs 'README.md has no row for good'
echo "# see $(dirname "$PWD")/elsewhere" >>scripts/good
finds paths 'scripts/good'
