# `make run` starts the service on this machine, `make test` runs every test. Both install what they need into the
# checkout first; the second time that costs nothing.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

CARGO ?= cargo
PYTHON ?= python3
LOCAL := $(or $(CARGO_TARGET_DIR),target)/debug/local
INSTALL_LOG := .local/install.log

.PHONY: run test bench tools build check-tools browser

run: tools build
	@exec $(LOCAL) run

test: tools tests/page/node_modules/.installed browser build
	@$(CARGO) test --workspace --no-run --quiet
	@node --test local/contracts/abi.test.mjs
	@$(LOCAL) test $(CARGO) test --workspace
	@$(LOCAL) test node --test $(wildcard tests/page/*.test.mjs)

# Measured apart from the tests: the figures depend on the machine, their ratios hardly.
BENCHES := write-bench
bench: tools
	@$(CARGO) build --quiet --profile measure --package benches --bins
	@for bench in $(BENCHES); do echo "== $$bench"; $(or $(CARGO_TARGET_DIR),target)/measure/$$bench; done

tools: check-tools local/node_modules/.installed local/.venv/.installed

build:
	@$(CARGO) build --workspace --bins

check-tools:
	@need() { command -v "$$1" >/dev/null || { echo "error: $$1 is missing: install $$2" >&2; exit 1; }; }; \
	need $(CARGO) "Rust (stable)"; need cc "a C compiler, such as gcc"; need node "Node.js 20 or newer"; \
	need npm "npm, which comes with Node.js"; need $(PYTHON) "Python 3 with venv and pip"; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	|| { echo "error: Python's venv is missing: install it (Debian: apt-get install python3-venv)" >&2; exit 1; }

# The page's tests drive a browser. Debian's is installed where nobody has to be asked for that; elsewhere, whichever is
# there, or the one that CHROMIUM names, will do.
browser:
	@find_browser() { test -n "$${CHROMIUM:-}" || command -v chromium chromium-browser google-chrome >/dev/null; }; \
	find_browser || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && mkdir -p .local && \
	{ apt-get update && apt-get install -y --no-install-recommends chromium; } >$(INSTALL_LOG) 2>&1; } || true; \
	find_browser || { echo "error: no Chromium is here: install it (Debian: apt-get install chromium), or name one in CHROMIUM" >&2; exit 1; }

# Not `npm ci`: it wants anvil for every platform in the lock file, and npm writes down only those it could reach.
local/node_modules/.installed: local/package.json local/package-lock.json local/.npmrc
tests/page/node_modules/.installed: tests/page/package.json tests/page/package-lock.json tests/page/.npmrc
%/node_modules/.installed:
	@mkdir -p .local && npm --prefix $* install --no-save >$(INSTALL_LOG) 2>&1 \
	|| { echo "error: npm can't install $*/package-lock.json (see $(INSTALL_LOG)): run make again once it can" >&2; exit 1; }
	@touch $@

local/.venv/.installed: local/requirements.txt
	@mkdir -p .local && { $(PYTHON) -m venv --clear local/.venv && \
	local/.venv/bin/python -m pip install --no-deps -r local/requirements.txt; } >$(INSTALL_LOG) 2>&1 \
	|| { echo "error: pip can't install local/requirements.txt (see $(INSTALL_LOG)): run make again once it can" >&2; exit 1; }
	@touch $@
