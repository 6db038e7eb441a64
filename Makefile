# SPDX-License-Identifier: MIT
# Each target installs what it needs if it may, builds in build/, and reports what it did. `make help` lists the targets.
# CMake does the build; you do not need this file to embed or package sandbench.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := quick
.NOTPARALLEL:
.PHONY: quick demo test build check night check-bare vm-shell asan tsan clang tidy fuzz bench install accept clean help

# The generator of a new build folder; an existing folder keeps its own.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja),Ninja,Unix Makefiles)
clangxx   := $(firstword $(foreach name,clang++ clang++-14,$(shell command -v $(name))))

# $(call configured,FOLDER,OPTIONS): configures FOLDER once; starts again if the first try did not finish.
configured = if ! test -e $(1)/build.ninja && ! test -e $(1)/Makefile; then \
	rm -rf $(1)/CMakeCache.txt $(1)/CMakeFiles; cmake -S . -B $(1) $(2); fi
# $(call built,FOLDER,TARGETS): without ninja CMake runs make, which must not take itself for a child of this make.
built = env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS cmake --build $(1) --parallel $(JOBS) $(if $(2),--target $(2))
# tests that a variant skips: the slow ones, and those that only `make night` runs there
not_run := --label-exclude '^(slow$(if $(NIGHT),,|night))$$'
# $(call tested,FOLDER,OPTIONS)
tested = ctest --test-dir $(1) $(2) --output-on-failure --no-tests=error --timeout 300 --parallel $(JOBS)
# $(call preset,NAME,OPTIONS): a preset of CMakePresets.json, in a folder of its own under build/
preset = $(call configured,build/$(1),--preset $(1) $(2)) && $(call built,build/$(1))

quick: with-tests ## configure, build, run the fast tests
	@$(call tested,$(BUILD),--label-exclude slow)

demo: build ## the main use, on a sample program with a planted weakness
	@$(MAKE) --no-print-directory -f recipes/demo.mk BIN=$(abspath $(BUILD))/bin

test: with-tests ## build everything, run all tests
	@$(call tested,$(BUILD),$(if $(LEAVE_OUT),--exclude-regex '$(LEAVE_OUT)'))

build: ## build the tools, in build/bin/
	@scripts/dependencies build
	@$(call configured,$(BUILD),-DSB_BUILD_TESTS=OFF)
	@$(call built,$(BUILD),sb_product)

.PHONY: with-tests
with-tests:
	@scripts/dependencies build test
	@$(call configured,$(BUILD))
	@grep -q '^SB_BUILD_TESTS:BOOL=ON' $(BUILD)/CMakeCache.txt || cmake -B $(BUILD) -DSB_BUILD_TESTS=ON
	@$(call built,$(BUILD))

check: ## run all of CI; skip what this machine lacks, and say so
	@.ci/run

night: ## the same, with the long form of each suite (hours)
	@NIGHT=1 .ci/run

check-bare: ## test `make demo` and `make test` on a bare Debian in a folder (root)
	@scripts/dependencies build check
	@tests/bare/run.sh

vm-shell: with-tests ## open a shell in a virtual machine with Debian's kernel, on the built tree
	@scripts/dependencies vm
	@tests/vm/run.sh --build $(BUILD) --shell

# Each variant has a build target of its own, so that .ci/run can build it beside suites that wait.
.PHONY: build-asan build-tsan build-clang build-fuzz
build-asan:
	@scripts/dependencies build test
	@$(call preset,asan)

asan: build-asan ## run the tests under the address and undefined-behaviour sanitizers
	@$(call tested,build/asan,$(not_run))

build-tsan:
	@scripts/dependencies build test
	@$(call configured,build/tsan,--preset tsan) && $(call built,build/tsan,core_test json_test track_test sb-rank)

tsan: build-tsan ## run the tests of threaded code under the thread sanitizer
	@$(call tested,build/tsan,--tests-regex '^(core|json|track)$$|^case/sb-rank/')

build-clang:
	@scripts/dependencies build test clang
	@$(call preset,clang,-DCMAKE_CXX_COMPILER=$(or $(clangxx),clang++)) && $(call built,build/clang,all_verify_interface_header_sets)

clang: build-clang ## build everything with clang++ and every header alone, run the tests
	@$(call tested,build/clang,$(not_run))

tidy: ## run clang-tidy on the tools and the headers that they use
	@scripts/dependencies build clang tidy
	@$(call configured,build/tidy,--preset tidy -DCMAKE_CXX_COMPILER=$(or $(clangxx),clang++)) && $(call built,build/tidy)

build-fuzz:
	@scripts/dependencies build clang
	@$(call preset,fuzz,-DCMAKE_CXX_COMPILER=$(or $(clangxx),clang++))

fuzz: build-fuzz ## run each fuzz target for FUZZ_SECONDS=60
	@scripts/fuzz build/fuzz $(FUZZ_SECONDS)

bench: ## measure our tools and their peers, print a table
	@scripts/dependencies build bench
	@$(call configured,$(BUILD),-DSB_BUILD_TESTS=OFF)
	@cmake -B $(BUILD) -DSB_BUILD_BENCH=ON >/dev/null
	@$(call built,$(BUILD),all)
	@bench/run.sh $(abspath $(BUILD))

install: build ## install under PREFIX=/usr/local (DESTDIR= stages it)
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD) --prefix '$(PREFIX)'

accept: build ## rewrite the expected output of a golden case: CASE=sb-rank/some-case
	@test -n '$(CASE)' || { echo 'make accept: name a case of tests/cases/: CASE=tool/case' >&2; exit 2; }
	@BIN=$(abspath $(BUILD))/bin tests/run_case.sh --accept 'tests/cases/$(CASE)'
	@git --no-pager diff --stat -- 'tests/cases/$(CASE)'

clean: ## remove build/
	@rm -rf build $(BUILD)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile
