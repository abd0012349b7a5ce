# `make run` starts the service on this machine, `make test` runs every test. Both first install their tools into the
# checkout, unless they are there already.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

CARGO ?= cargo
PYTHON ?= python3
# Where cargo builds, for the shell: its name may have a space.
BUILT := "$$(local/target-dir)"
LOCAL := $(BUILT)/debug/local
INSTALL_LOG := .local/install.log

.PHONY: help run test try clients lint-openapi check ci fuzz soak bench load openapi tables operator tools installed binaries everything check-tools browser build deploy rollback smoke doctor prove-account sam-tools sam-local sam-test desk invoke sbom

.DEFAULT_GOAL := help

help: ## Lists the commands
	@sed -n 's/^\([a-z][a-z -]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name does; do \
	printf '  make %-16s %s\n' "$$name" "$$does"; done

# What is loaded comes while the compiler runs.
run: check-tools ## Starts the service on this machine, and takes up edited code
	@$(MAKE) --no-print-directory --jobs=3 tools binaries
	@exec $(LOCAL) run

test: installed clients binaries ## Runs every test
	@CARGO="$(CARGO)" tests/run

# `make try TEST=update_sale` runs the end-to-end tests with this in their names, `make try PAGE=studio` a file of the
# pages' or the clients' tests. `STOP=yes` stops the stack, which else ends half an hour after its last use.
try: tools $(if $(STOP),,binaries) $(if $(TEST),tests/.venv/.installed) $(if $(PAGE),tests/page/node_modules/.installed clients browser) ## Runs one file of tests on a stack that stays up (TEST, PAGE, STOP)
	@CARGO="$(CARGO)" TEST="$(TEST)" PAGE="$(PAGE)" tests/try $(if $(STOP),--stop)

# The clients, built from openapi.json, and packed for the service to hand out; `make clients lint-openapi` after a change of
# the contract.
clients: tests/clients/node_modules/.installed tests/clients/.venv/.installed clients/typescript/node_modules/.installed ## Builds the clients from openapi.json
	@npm --prefix clients/typescript run --silent build
	@tests/clients/.venv/bin/python clients/python/generate.py
	@rm -rf .local/packed && mkdir -p .local/packed && \
	npm --prefix clients/typescript pack --silent --ignore-scripts --pack-destination .local/packed ./clients/typescript >/dev/null && \
	mv .local/packed/moments-client-*.tgz .local/packed/moments-client.tgz && \
	tests/clients/.venv/bin/python -m build --wheel --no-isolation --outdir .local/packed clients/python >$(INSTALL_LOG) 2>&1 && \
	for package in .local/packed/*; do cmp -s $$package clients/packed/$${package##*/} || cp $$package clients/packed/; done

# The validator and the linters; `make test` asks the running service for the same.
lint-openapi: tests/clients/node_modules/.installed tests/clients/.venv/.installed ## Asks a validator and two linters about openapi.json
	@tests/clients/.venv/bin/openapi-spec-validator openapi.json
	@REDOCLY_TELEMETRY=off tests/clients/node_modules/.bin/redocly lint --config tests/clients/redocly.yaml openapi.json
	@tests/clients/node_modules/.bin/spectral lint --ruleset tests/clients/.spectral.yaml --fail-severity hint openapi.json

# The inner loop: what needs no compiler, lints, unit tests of what changed.
check: ## Checks format, lints and the unit tests of what changed
	@.ci/check

# All checks of the last commit, on a clone: .local/green then names its tree.
ci: ## Runs all checks of the last commit on a clone of its own
	@.ci/green

# Fuzzes the service against its contract, for FUZZ_SECONDS (default 1800) from FUZZ_SEED (default random).
fuzz: tools tests/fuzz/.venv/.installed binaries ## Holds the service to its contract (FUZZ_SECONDS, FUZZ_SEED)
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-1800} FUZZ_SEED=$${FUZZ_SEED:-$$RANDOM} $(LOCAL) test $(CARGO) test --workspace --test fuzz -- --nocapture

# Runs the relay's processes through every kind of fault: TRANSACTIONS (default 1000) of each of SEEDS (default 1 to 20). Then
# kills those of endpoints, too, while artists write over HTTP: WRITES (default 300) of each seed. Then a thousand people sign
# in within ten seconds, and one client attacks what holds a function longest: what others get counts, and no time. Tests
# that are shorter elsewhere are run as long as LONG has it, from SEED (default random), which property tests take, too. Last,
# pages are looked at in every theme and width.
SHORT := LATENCY=free ATTACK_RATE=150 ATTACK_SECONDS=2 QUIET_SECONDS=2 OUTAGE_SECONDS=2 \
	ROUTES=/timeline,/events,/artists/search,/artists/me/export,/oauth/code,/oauth/login,/moment/collect
LONG := ROUNDS=8 TOKENS=1000 COLLECTIONS=12000 TRIES=1000 COUNT=1000 READS_AT_SCALE=1000 DECODER_SECONDS=10 PAIRS=200
# Those that are longer with these, those that only run here, and those that take their course from a seed.
LONG_TESTS := test(index_equals_a_fresh_one) + test(one_event_is_split) + test(cost_of_a_poll) + \
	test(forged_links_find_nothing) + test(random_proposals_match) + test(random_pairs) + \
	test(page_cost_does_not_depend) + test(bombs_are_refused) + \
	test(gigabyte_costs) + test(of_ten_thousand_events) + test(killed_a_hundred_times) + \
	test(reads_match_the_chain_s_logs) + test(killed_processes_leave) + binary(ranking) + \
	(kind(lib) - test(a_listed_receiver))
soak: tools tests/.venv/.installed tests/page/node_modules/.installed browser clients binaries ## Runs the relay through every kind of fault (TRANSACTIONS, SEEDS)
	@$(CARGO) test --workspace --test chaos --no-run --quiet
	@for seed in $${SEEDS:-$$(seq 1 20)}; do \
	SEED=$$seed TRANSACTIONS=$${TRANSACTIONS:-1000} $(CARGO) test --workspace --quiet --test chaos -- --nocapture; done
	@$(LOCAL) test bash -euo pipefail -c 'for seed in $${SEEDS:-$$(seq 1 20)}; do \
	SEED=$$seed WRITES=$${WRITES:-300} $(CARGO) test --workspace --quiet --test killed -- --nocapture; done'
	@PEOPLE=1000 $(LOCAL) test $(CARGO) test --workspace --quiet --test end_to_end -- everybody_at_once --nocapture
	@seed=$${SEED:-$$RANDOM}; echo "SEED=$$seed"; \
	SEED=$$seed PROPTEST_RNG_SEED=$$seed $(LONG) \
	$(LOCAL) test tests/run --chosen '$(LONG_TESTS)' --run-ignored all --profile long
	@$(CARGO) build --workspace --bin load-bench --quiet
	@$(SHORT) $(LOCAL) load $(BUILT)/debug/load-bench short
	@LOOKS=all $(LOCAL) test node --test --test-concurrency=2 --test-timeout=7200000 $(wildcard tests/page/*.test.mjs)

# Separate from the tests: absolute figures depend on the machine, ratios hardly do.
BENCHES := index-bench scale-bench
MEASURE := $(BUILT)/measure
bench: tools binaries benches/peers/ponder/node_modules/.installed ## Measures speed
	@$(CARGO) build --quiet --profile measure --package benches --package local --bins
	@for bench in $(BENCHES); do echo "== $$bench"; $(MEASURE)/$$bench; done
	@$(CARGO) build --quiet --release --bins
	@echo "== write-bench"; $(MEASURE)/local bench $(MEASURE)/write-bench
	@echo "== freshness-bench"; KEEP_SCHEDULE=1 $(MEASURE)/local bench $(MEASURE)/freshness-bench
	@echo "== webhook-bench"; KEEP_SCHEDULE=1 $(MEASURE)/local bench $(MEASURE)/webhook-bench
	@echo "== function-bench"; $(MEASURE)/local bench $(MEASURE)/function-bench

# Production's limits under load: one client at ATTACK_RATE requests a second (default 500) on each route in turn, or on ROUTES,
# beside honest users; all functions' processes killed; then a day's mix that rises until it breaks, and half of it for
# SOAK_SECONDS (default 3600).
load: tools ## Loads a stack that has production's limits
	@$(CARGO) build --quiet --profile measure --bins
	@$(CARGO) build --quiet --profile measure --package benches --package local --bins
	@FUNCTIONS_PROFILE=measure $(MEASURE)/local load $(MEASURE)/load-bench attack
	@FUNCTIONS_PROFILE=measure $(MEASURE)/local load $(MEASURE)/load-bench outage
	@FUNCTIONS_PROFILE=measure $(MEASURE)/local load $(MEASURE)/load-bench mix

# Builds the deployed functions: for arm64, linked by zig against an old C library. One call of cargo builds all of them in
# parallel; `sam build`, which builds one after another, then finds them built.
SAM := SAM_CLI_TELEMETRY=0 PATH="$(CURDIR)/.tools/sam/bin:$$PATH"
build: sam-tools clients ## Builds the deployed functions
	@$(SAM) cargo-lambda lambda build --release --arm64 --locked \
	$$(sed -n 's/.*BuildProperties: { Binary: \([a-z-]*\) }.*/--bin \1/p' template.yaml)
	@mkdir -p .aws-sam && { $(SAM) sam build >.aws-sam/build.log 2>&1 || { tail -20 .aws-sam/build.log >&2; exit 1; }; }
	@local/sam/weigh .aws-sam/build

# `make deploy STAGE=production`; samconfig.toml has the stages. WATCH is for how many minutes alarms take it back.
STAGE ?= staging
deploy: sam-tools ## Builds and deploys (STAGE, WATCH)
	@.tools/sam/bin/python local/sam/doctor $(STAGE) --before-deployment
	@$(CARGO) build --quiet --workspace --bin local
	@$(MAKE) --no-print-directory build
	@$(SAM) .tools/sam/bin/python local/sam/deploy $(STAGE) $(WATCH)

# `make rollback STAGE=production VERSION=v1.0.0`; without VERSION it lists the versions that are kept.
rollback: sam-tools ## Brings back a deployed version without a build (STAGE, VERSION)
	@.tools/sam/bin/python local/sam/rollback $(STAGE) $(VERSION)

smoke: sam-tools ## Asks a deployed stage a few requests (STAGE)
	@.tools/sam/bin/python local/sam/rollback $(STAGE) --smoke

# Looks at a deployed stage from outside and says what is wrong: `make doctor STAGE=production`. Before the first deployment it
# looks at the account.
doctor: sam-tools ## Looks at a deployed stage from outside (STAGE)
	@.tools/sam/bin/python local/sam/doctor $(STAGE)

# Only a real account shows some things (docs/operations.md): it makes the stage `proof`, asks it, and deletes it. `HOW=--dry-run`
# prints the steps, `HOW=--delete` deletes what an interrupted run left.
prove-account: sam-tools $(if $(HOW),,build) ## Makes a stage in a real account, asks it and deletes it (HOW)
	@$(if $(HOW),,$(CARGO) build --quiet --workspace --bin local)
	@$(SAM) .tools/sam/bin/python local/sam/prove-account $(HOW)

# The whole service in containers on PORT (default 3000), against a separate local stack.
sam-local: tools sam-tools binaries ## Starts the service in containers (PORT)
	@local/sam/run --serve $${PORT:-3000}

# Tests every function in containers. Skipped if no container engine runs.
sam-test: tools sam-tools binaries ## Tests every function in containers
	@local/sam/run

# The running stack's desk: `make desk DO=list`. A stage's: `.tools/sam/bin/python local/sam/desk production list`.
desk: ## Shows what was reported, and decides (DO)
	@$(LOCAL) desk $(DO)

# Sends a function of the running stack its test event: `make invoke FUNCTION=list-comments`.
invoke: ## Sends a function its test event (FUNCTION)
	@$(LOCAL) invoke $(FUNCTION)

# The operator's accounts on the chains of RPC_URLS: `make operator DO=plan`, execute or verify (docs/operations.md).
DO ?= verify
operator: ## Compares and changes the operator's accounts (DO)
	@$(CARGO) build --quiet --workspace --bin local
	@$(LOCAL) operator $(DO)

sam-tools: .tools/sam/.installed

.tools/sam/.installed: local/sam/requirements.txt
	@mkdir -p .local .tools && { $(PYTHON) -m venv --clear .tools/sam && \
	.tools/sam/bin/python -m pip install --no-deps --require-hashes -r local/sam/requirements.txt; } >$(INSTALL_LOG) 2>&1 \
	|| { echo "error: pip can't install local/sam/requirements.txt: see $(INSTALL_LOG), then run make again" >&2; exit 1; }
	@touch $@

# The functions' software bills of materials, in CycloneDX format: .local/sbom/<function>.cdx.json.
sbom: .tools/bin/cargo-cyclonedx ## Lists what every function is made of
	@.tools/bin/cargo-cyclonedx cyclonedx --format json --spec-version 1.5 --describe binaries --target aarch64-unknown-linux-gnu
	@mkdir -p .local/sbom && for file in functions/*/*.cdx.json functions/*/*/*.cdx.json; do mv "$$file" .local/sbom/; done && \
	find . -name '*.cdx.json' -not -path './.local/*' -not -path './target/*' -delete && ls .local/sbom

.tools/bin/cargo-cyclonedx:
	@$(CARGO) install --quiet --locked --root .tools --target-dir $(BUILT)/tools cargo-cyclonedx@0.5.9

tools: check-tools local/node_modules/.installed local/.venv/.installed

# What tests need of others.
installed: tools browser $(addsuffix /node_modules/.installed,tests/page tests/clients clients/typescript) \
	$(addsuffix /.venv/.installed,tests tests/fuzz tests/clients)

binaries:
	@$(CARGO) build --workspace --bins --exclude benches --exclude moments-cli

# All targets, those included that no test needs, and the tests themselves. Cargo would link the library of third-party crates
# with a standard library of its own if it were asked for by name.
everything:
	@$(CARGO) build --workspace --exclude third-party --all-targets --locked
	@CARGO="$(CARGO)" tests/run --build

check-tools:
	@need() { command -v "$$1" >/dev/null || { echo "error: $$1 is missing: install $$2" >&2; exit 1; }; }; \
	need $(CARGO) "Rust (stable)"; need cc "a C compiler, such as gcc"; need node "Node.js 20 or newer"; \
	need npm "npm, which comes with Node.js"; need $(PYTHON) "Python 3 with venv and pip"; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	|| { echo "error: Python's venv is missing: install it (Debian: apt-get install python3-venv)" >&2; exit 1; }

# The page's tests drive Chromium: the program that CHROMIUM names, or an installed one. As root on Debian it is installed, once
# for all checkouts, with its shell without windows, which does the same with half the work.
browser:
	@has() { command -v "$$@" >/dev/null; }; find_browser() { test -n "$${CHROMIUM:-}" || has chromium chromium-browser google-chrome; }; \
	{ find_browser && has chromium-headless-shell; } || { test "$$(id -u)" = 0 && has apt-get && mkdir -p .local && \
	flock /var/lib/apt sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium chromium-headless-shell' \
	>$(INSTALL_LOG) 2>&1; } || true; \
	find_browser || { echo "error: Chromium is missing: install it (Debian: apt-get install chromium), or set CHROMIUM" >&2; exit 1; }

# Not `npm ci`, which needs anvil for every platform in the lock file; npm records only the reachable ones.
benches/peers/ponder/node_modules/.installed: benches/peers/ponder/package.json benches/peers/ponder/package-lock.json benches/peers/ponder/.npmrc
local/node_modules/.installed: local/package.json local/package-lock.json local/.npmrc
tests/clients/node_modules/.installed: tests/clients/package.json tests/clients/package-lock.json tests/clients/.npmrc
clients/typescript/node_modules/.installed: clients/typescript/package.json clients/typescript/package-lock.json clients/typescript/.npmrc
tests/page/node_modules/.installed: tests/page/package.json tests/page/package-lock.json tests/page/.npmrc
%/node_modules/.installed:
	@mkdir -p .local && npm --prefix $* install --no-save >$(INSTALL_LOG) 2>&1 \
	|| { echo "error: npm can't install $*/package-lock.json: see $(INSTALL_LOG), then run make again" >&2; exit 1; }
	@touch $@

local/.venv/.installed: local/requirements.txt
tests/.venv/.installed: tests/requirements.txt
tests/fuzz/.venv/.installed: tests/fuzz/requirements.txt
tests/clients/.venv/.installed: tests/clients/requirements.txt
%/.venv/.installed:
	@mkdir -p .local && { $(PYTHON) -m venv --clear $*/.venv && \
	$*/.venv/bin/python -m pip install --no-deps --require-hashes -r $*/requirements.txt; } >$(INSTALL_LOG) 2>&1 \
	|| { echo "error: pip can't install $*/requirements.txt: see $(INSTALL_LOG), then run make again" >&2; exit 1; }
	@touch $@

# Writes openapi.json from the endpoints' types and descriptions.
openapi: ## Writes openapi.json from the endpoints' types
	@OPENAPI=write $(CARGO) test --workspace --test contract --quiet >/dev/null

# The tables of docs/data-model.md and docs/configuration.md.
tables: ## Writes the tables that documents have of the code and the template
	@TABLES=write $(CARGO) test --workspace --quiet --test structure -- the_document_shows >/dev/null
