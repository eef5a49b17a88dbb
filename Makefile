# What one does with a checkout. `make help` lists it.

CARGO ?= cargo
PYTHON ?= python3
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)
# Arguments for `make bench`, for example: make bench ARGS='decode --case "int/*"'
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint api msrv footprint features bench rust-tests giant docs bench-smoke python-lint peers peers-here portability portability-full miri soak fuzz fuzz-smoke sanitizers python wheel amqp

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build the command, solve the heat equation and poll sensors over SOAP, leave pictures in demo-out
	$(CARGO) run --profile demo --package bsoap-cli --bin bsoap -- demo

test: lint rust-tests python docs bench-smoke amqp peers-here ## Everything that must hold: format, lints, tests, conformance, docs, a smoke of the benchmarks
	@echo "make test: all of it holds"

lint: python-lint ## rustfmt and clippy, warnings denied; ruff where there is Python
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

bench: ## The benchmarks, all or ARGS='decode --case "int/*"'
	$(CARGO) run --release --package bsoap-bench -- $(ARGS)

rust-tests: ## Unit, integration, documentation and conformance tests
	$(CARGO) test --workspace

giant: ## Code for a WSDL with 615 operations: its lines, and what cargo check needs for it
	$(CARGO) test --package bsoap-generate --test giant -- --ignored --nocapture

features: ## The library without some of its features, warnings denied; the command with traces
	for features in "" client server client,gzip server,tls server,metrics client,server digest cookies retry server,http2 jiff,chrono,time,rust_decimal client,macros; do \
	  RUSTFLAGS="-D warnings" CARGO_TARGET_DIR=$(TARGET_DIR)/features \
	    $(CARGO) check --quiet --package bsoap --no-default-features --features "$$features" || exit 1; \
	done
	RUSTFLAGS="-D warnings" CARGO_TARGET_DIR=$(TARGET_DIR)/features \
	  $(CARGO) test --quiet --package bsoap-cli --features otlp --test otlp

api: ## Renews the record of the public API, which a test compares
	BSOAP_RENEW=1 $(CARGO) test --quiet --package bsoap --test api

msrv: ## Does it build with the oldest Rust that it supports
	@.ci/msrv

footprint: ## The size and the build time of a client of one call, within their limits (takes minutes)
	@CARGO=$(CARGO) .ci/footprint

python: rust-tests ## The Python package in a fresh virtual environment: its tests, types and stubs
	@CARGO_TARGET_DIR=$(abspath $(TARGET_DIR)) PYTHON=$(PYTHON) .ci/python

wheel: ## Wheels and the source distribution of the Python package, in target/wheels
	@CARGO_TARGET_DIR=$(abspath $(TARGET_DIR)) PYTHON=$(PYTHON) .ci/python wheel

docs: ## rustdoc, warnings denied
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

# The program that the tests have just built: no further profile to compile.
bench-smoke: rust-tests ## Every benchmark once, small, answers checked
	$(TARGET_DIR)/debug/bsoap-bench --quick
	$(TARGET_DIR)/debug/bsoap-bench never-slower --quick
	$(TARGET_DIR)/debug/bsoap-bench load --quick
	$(TARGET_DIR)/debug/bsoap-bench attachments --quick

amqp: ## SOAP over a message queue, where RabbitMQ is installed
	@if test -x /usr/sbin/rabbitmq-server; then $(CARGO) test --quiet --manifest-path examples/amqp/Cargo.toml --target-dir $(TARGET_DIR)/amqp; \
	else echo "peer rabbitmq: not here, skipped (SOAP over AMQP)"; fi

python-lint: ## ruff, where there are Python files
	@if [ -n "$$(git ls-files '*.py')" ]; then \
	  test -x .venv/bin/ruff || { $(PYTHON) -m venv .venv && .venv/bin/pip install --quiet ruff; } || true; \
	  if [ -x .venv/bin/ruff ]; then .venv/bin/ruff check . && .venv/bin/ruff format --check .; \
	  else echo "ruff cannot be had here: Python files go unchecked"; fi; \
	fi

portability: ## Does it build on other targets, without warnings; a part of the tests on aarch64 under qemu
	@CARGO=$(CARGO) .ci/portability

portability-full: ## The same with all tests of the lower crates
	@CARGO=$(CARGO) .ci/portability full

soak: ## Ten minutes of honest and hostile load on bsoap serve, every answer checked (30 seconds of it are in the tests)
	BSOAP_SOAK=$(or $(SECONDS),600) $(CARGO) test --workspace --test soak -- --nocapture

fuzz-smoke: ## Every fuzz target for 10 seconds, with a limit on its memory; on stable Rust, without coverage guidance
	@CARGO=$(CARGO) .ci/fuzz smoke

fuzz: ## Every fuzz target for a minute, or SECONDS=600; with a nightly compiler guided by coverage, under AddressSanitizer
	@CARGO=$(CARGO) .ci/fuzz full $(SECONDS)

sanitizers: ## Tests of the crates with unsafe code under AddressSanitizer
	@.ci/sanitizers

miri: ## Undefined behaviour, where Miri can look for it
	@.ci/miri

peers: ## Install the optional peers of tests and benchmarks that this machine can have: zeep, suds, spyne, node-soap, PHP, CXF, gSOAP, HAProxy
	@.ci/peers install

peers-here: ## Which of them are installed
	@.ci/peers
