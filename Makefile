# SPDX-License-Identifier: GPL-2.0
# The entry points.  `make` alone prints them; scripts/, qemu/ and tests/ do the work.

.DEFAULT_GOAL := help

# Neither make nor the kernel's makefiles can write rules for such paths
ifneq ($(words $(subst :, ,$(CURDIR))),1)
$(error There is a space or colon in $(CURDIR): move this folder to a path without)
endif

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: ## Reproduce a performance failure in a guest, and show what is caught and why
	@tests/demo/run

check: ## What CI runs: lint, unit, KUnit, selftests, guest ... (ONLY=STAGE,...: only these)
	@tests/run $(ONLY)

check-full: ## check, and every prefix, debug kernel, storm, fuzzing, 32 bits ... (ONLY= likewise)
	@tests/run --full $(ONLY)

check-arm: ## Build for 32 and 64 bits of ARM, boot the former with 64 MiB, compare its trace
	@tests/run arm

bench: ## What each part costs, beside its peers (ONLY=PART,...: only these)
	@tests/bench/run $(ONLY)

tools: deps ## Build the analyzers and plugins in build/tools (SAN=1: with ASan and UBSan)
	@$(MAKE) --no-print-directory -C tools

kernel: deps ## Fetch, patch, configure and build the guest's kernel (KSRC=: from that source)
	@scripts/kernel build

kernel-deb: deps ## Debian packages of the patched kernel for a real rig (KCONFIG=/boot/config-...)
	@scripts/deps deb
	@scripts/kernel deb "$(KCONFIG)"

# Without the rest of deps: a machine that only builds the tools needs few packages.
tools-deb: ## Debian package of tools, man pages, completions, plugins and units
	@scripts/deps tools-deb
	@scripts/tools-deb

refresh: deps ## Refresh all patches of the series
	@scripts/kernel refresh

lint: kernel ## Check patches, scripts and C sources; every new warning fails
	@scripts/deps lint
	@scripts/lint

unit: ## Run the tools' unit tests, plain and with sanitizers
	@tests/run unit

kunit: ## Run the kernel code's KUnit suites in a guest
	@tests/run kunit

guest: ## Run the guest tests and ftrace selftests (TESTS=: only those)
	@tests/run selftests guest

install: tools ## Install tools, man pages, completions, plugins and units (DESTDIR=, prefix=)
	@$(MAKE) --no-print-directory -C tools install

uninstall: ## Remove what install installed
	@$(MAKE) --no-print-directory -C tools uninstall

clean: ## Remove everything built but the kernel
	rm -rf build/tools build/tools-san build/tests build/vm build/init build/demo build/demo-san build/bench

distclean: ## Remove build/ altogether (a tree with edits in it is kept)
	@scripts/kernel clean

# What is missing is installed before anything else is built.
deps:
	@scripts/deps

.PHONY: help demo check check-full check-arm bench tools kernel kernel-deb tools-deb refresh lint unit \
	kunit guest install uninstall clean distclean deps
