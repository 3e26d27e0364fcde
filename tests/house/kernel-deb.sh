#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# scripts/kernel deb, on a made-up source whose Makefile configures and packs at once: which
# configurations it accepts, what it changes in them, and where packages are put.
. "$TRACERIG_TOP/tests/house/lib.sh"
unset KSRC TRACERIG_BUILD PREFIX DEBUG_INFO

mkdir -p repo/scripts repo/patches/topic repo/configs source/scripts/kconfig
cp "$TRACERIG_TOP"/scripts/{kernel,kernel-*.bash,progress,quiltrc} repo/scripts
kernel=$PWD/repo/scripts/kernel
deb=$PWD/repo/build/deb
export KSRC=$PWD/source

# What depends on BASE is lost without it, as olddefconfig has it.
cat >source/Makefile <<'END'
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 5
olddefconfig:
	sed -n '/^CONFIG_/p' $(O)/.config | awk -F= '{ is[$$1] = $$0 } END { \
		if (!("CONFIG_BASE" in is)) delete is["CONFIG_TOPIC"]; \
		for (o in is) if (is[o] !~ /=n$$/) print is[o] }' >$(O)/.config.new
	mv $(O)/.config.new $(O)/.config
bindeb-pkg:
	cp $(O)/.config $(O)/../linux-image-6.12.5-tracerig_$(KDEB_PKGVERSION)_amd64.deb
	cp $(O)/.config $(O)/../linux-libc-dev_$(KDEB_PKGVERSION)_amd64.deb
	echo $(KBUILD_BUILD_TIMESTAMP) >$(O)/../linux-upstream_$(KDEB_PKGVERSION)_amd64.changes
END
cat >source/scripts/kconfig/merge_config.sh <<'END'
#!/bin/sh
# -m -O DIRECTORY FILE...
directory=$3
shift 3
cat "$@" >"$directory/.config"
END
chmod +x source/scripts/kconfig/merge_config.sh
printf 'From: A <a@example.org>\nSubject: new\n\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n' >repo/patches/topic/new.patch
echo topic/new.patch >repo/patches/series
echo CONFIG_TOPIC=y >repo/configs/topic.config

# --- Configurations that are refused, before the source is unpacked

expect 1 "$kernel" deb
has err 'missing configuration'
expect 1 "$kernel" deb none
has err '^kernel: none: no such configuration'
echo 'not one' >text
expect 1 "$kernel" deb text
has err '^kernel: text: this is not a kernel configuration'
echo CONFIG_ARM64=y >arm64
expect 1 "$kernel" deb arm64
has err '^kernel: arm64: .* for x86_64'
echo CONFIG_X86_64=y >torn
xz torn
truncate -s -8 torn.xz
expect 1 "$kernel" deb torn.xz
has err '^kernel: torn.xz: cannot be read'
[ ! -e repo/build/linux ] || die "the source was unpacked for nothing"

printf 'CONFIG_X86_64=y\n# CONFIG_BASE is not set\n' >lost
expect 1 "$kernel" deb lost
has err 'CONFIG_TOPIC=y was asked for and is n'

# --- Configurations that are accepted, and their packages

cat >distribution <<'END'
CONFIG_X86_64=y
CONFIG_BASE=y
CONFIG_LOCALVERSION="-theirs"
CONFIG_SYSTEM_TRUSTED_KEYS="debian/certs/debian.pem"
CONFIG_DEBUG_INFO=y
CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y
END
xz -k distribution
gzip -k distribution
mkdir -p "$deb"
echo old >"$deb/linux-image-old_1_amd64.deb"
echo tools >"$deb/tracerig-tools_1_amd64.deb"
for file in distribution distribution.gz distribution.xz; do
	expect 0 "$kernel" deb $file
	has out "$deb/linux-image-6.12.5-tracerig_6.12.5-[0-9]{14}_amd64.deb\$"
	same "linux-image-6.12.5-tracerig tracerig-tools" \
		"$(find "$deb" -type f -printf '%f\n' | sed 's/_.*//' | sort | xargs)" "packages of $file"
done
same 0 "$(find repo/build -maxdepth 1 -type f ! -name '.*' | wc -l)" "left in build/"
package=$(echo "$deb"/linux-image-*)
has "$package" '^CONFIG_TOPIC=y'
has "$package" '^CONFIG_LOCALVERSION="-tracerig"'
has "$package" '^CONFIG_SYSTEM_TRUSTED_KEYS=""'
has "$package" '^CONFIG_DEBUG_INFO_NONE=y'
! grep DWARF "$package" || die "debugging information was left on"

# Each build has a later version than the previous one, for apt
sleep 1	# A version contains the second
expect 0 "$kernel" deb distribution
[ ! -e "$package" ] || die "two builds have the same version"

expect 0 env DEBUG_INFO=1 "$kernel" deb distribution
has "$(echo "$deb"/linux-image-*)" '^CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT=y'
