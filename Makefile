# SPDX-License-Identifier: Apache-2.0
# The front door: one verb for each thing a person wants.  Meson and ninja do the building.

BUILD = build
PREFIX = /usr/local
NINJA = $(shell command -v ninja || echo ninja)

.DEFAULT_GOAL = build/airlock
.PHONY: build/airlock deps check-deps test-deps demo recording test test-matrix check attack soak asan tsan fuzz lint size format bench bench-economy install dist test-dist release clean help

build/airlock: $(BUILD)/build.ninja ## build the program (the default)
	@$(NINJA) -C $(BUILD) airlock
	@$(BUILD)/airlock --version | grep '^built without' || true
	@echo 'built: $(BUILD)/airlock   next: make demo'

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: run 'make deps' first" >&2; exit 1; }
	@echo 'configuring $(BUILD) (once)'
	@meson setup $(BUILD) --prefix $(PREFIX) >/dev/null || \
	    { grep ' ERROR: ' $(BUILD)/meson-logs/meson-log.txt; echo "next: make deps, which installs what is missing" >&2; exit 1; }

deps: ## install what building needs and this machine lacks (Debian, Ubuntu)
	@tools/deps.sh build

check-deps: ## the same for make check, attack, soak and bench
	@tools/deps.sh check
	@python3 tools/run-tests.py configure

test-deps: ## the same for all that make test needs
	@tools/deps.sh test

demo: deps ## watch an agent use airlock in a scratch repository
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) airlock
	@python3 tools/demo.py $(BUILD)/airlock

recording: build/airlock ## draw the picture of the README from the demo anew
	@python3 tools/recording.py $(BUILD)/airlock docs/demo.svg

test: test-deps ## everything: gcc and clang, all tests, again under ASan and UBSan, lint
	@python3 tools/run-tests.py all

check: check-deps ## what to run before each commit: unit and table tests, quick lint
	@python3 tools/run-tests.py quick

attack: check-deps ## the attacks alone, each beside plain git where that can fall for it
	@python3 tools/run-tests.py attack

soak: check-deps build/airlock ## the long proofs: SOAK_SEEDS (20), SOAK_CALLS (10000) random calls, agents side by side
	@$(NINJA) -C $(BUILD) --quiet tests/attack/meanwhile tests/e2e/step
	@AIRLOCK_EVERY_STEP=1 python3 tests/e2e/test_pull_meanwhile.py $(BUILD)/airlock $(BUILD)/tests/e2e/step
	@AIRLOCK_EVERY_STEP=1 python3 tests/e2e/test_commit_meanwhile.py $(BUILD)/airlock $(BUILD)/tests/e2e/step
	@python3 tests/attack/test_saves_meanwhile.py $(BUILD)/airlock $(BUILD)/tests/attack/meanwhile $(or $(SOAK_SEEDS),20)
	@AIRLOCK_RANDOM=$(or $(SOAK_CALLS),10000) python3 tests/e2e/test_rollback_model.py $(BUILD)/airlock
	@AIRLOCK_RANDOM=$(or $(SOAK_CALLS),10000) python3 tests/e2e/test_effect_table.py $(BUILD)/airlock
	@AIRLOCK_RANDOM=1000 AIRLOCK_NESTED=1 python3 tests/e2e/test_hook_random.py $(BUILD)/airlock
	@CHORES=$(or $(SOAK_CHORES),5000) CHORES_SECONDS=1e6 python3 tests/e2e/test_everyday_chores.py $(BUILD)/airlock
	@python3 tests/e2e/side_by_side.py $(BUILD)/airlock --seconds 120 --seed 2

test-matrix: build/airlock ## the core of the tests against each git from 2.38 on, in chroots that debootstrap makes and that are kept (root)
	@python3 tools/matrix.py $(BUILD)/airlock

asan: check-deps ## all tests under the address and undefined-behaviour sanitizers
	@python3 tools/run-tests.py asan

tsan: check-deps ## all tests under the thread sanitizer
	@python3 tools/run-tests.py tsan

fuzz: ## run each fuzz target for FUZZ_SECONDS (60) with clang, ASan and UBSan
	@tools/fuzz.sh

lint: ## every static check, clang-tidy included
	@tools/lint.sh full

size: ## code lines by room, against their ceilings and budgets
	@tools/check-rooms.sh

format: ## put the sources in the one format
	@tools/format.sh

bench: check-deps ## measure against bare git (BENCH_REPO=DIR: a big repository of yours)
	@$(NINJA) -C $(BUILD) airlock bench/bench bench/checkpoint
	@bench/run.sh $(BUILD)

bench-economy: build/airlock ## calls and bytes of a day's tasks, beside other git MCP servers from npm
	@python3 bench/economy/economy.py $(BUILD)/airlock $(BUILD)/bench-economy

install: build/airlock ## install below PREFIX (DESTDIR is honoured)
	@grep -qF '"name": "prefix", "value": "$(PREFIX)"' $(BUILD)/meson-info/intro-buildoptions.json || \
	    { meson configure $(BUILD) --prefix $(PREFIX) && $(NINJA) -C $(BUILD) airlock >/dev/null; }
	@meson install -C $(BUILD) --no-rebuild --quiet
	@echo 'installed below $(DESTDIR)$(PREFIX)   next: cd your/project && airlock install claude-code'

dist: ## make every package of the last commit into dist/ (SIGN_KEY=FILE signs the list of sums)
	@tools/deps.sh dist
	@python3 packaging/dist.py dist build-dist

test-dist: ## try what is in dist/ as its users would get it, and make it again elsewhere to compare
	@tools/deps.sh dist
	@python3 packaging/test_dist.py dist

release: ## check that VERSION=1.2.3 can be released, and make it
	@packaging/release.sh '$(VERSION)'

clean: ## remove everything that was built
	rm -rf build build-asan build-clang build-dist build-fuzz build-release build-tsan dist

help: ## this list
	@awk -F ':.*## ' '/^[$$()a-zA-Z\/-]+:.*## / { sub("build/airlock", "", $$1); printf "  make %-14s %s\n", $$1, $$2 }' Makefile
