# What a person or a CI does with this checkout. The work is in tools/; each script says what it does.

# -warnings-as-errors is here and not in Package.swift, so that a newer compiler's new warning does
# not stop somebody who only wants to build. The imports check holds DESIGN's "imports go one way".
CHECKS = -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
# Empty it (`make build STATIC=`) for a binary that uses the toolchain's shared libraries.
STATIC = --static-swift-stdlib

.PHONY: help build install deps agents test check-all lint spikes fuzz mutants chaos ssh-matrix bench demo clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: deps ## the release binary, .build/release/pocket
	swift build -c release $(STATIC) --product pocket

PREFIX ?= /usr/local
install: build ## copy the binary to $(PREFIX)/bin
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 .build/release/pocket "$(DESTDIR)$(PREFIX)/bin/pocket"

deps: ## install the system packages that building and testing need
	@tools/deps

agents: ## fetch the real claude and codex for the tests that use them (about 320 MB)
	@tools/agents

test: deps ## build, unit and integration tests, spikes, lint; what CI runs
	@tools/agents || true
	@SWIFT_CHECKS="$(CHECKS)" tools/test lint tools build swift spikes

check-all: deps ## test, and sanitizers, full sweeps, a minute of fuzzing, mutants
	@tools/agents || true
	@SWIFT_CHECKS="$(CHECKS)" tools/test lint tools build swift spikes sweeps address leaks thread fuzz mutants

lint: deps ## swift-format and shellcheck
	@tools/test lint

spikes: deps ## the facts about remote shells, without any Swift
	@tools/test spikes

fuzz: deps ## a minute of libFuzzer on what reads a host's bytes
	@tools/test fuzz

mutants: deps ## break the code in known ways: a named test must notice each
	@SWIFT_CHECKS="$(CHECKS)" tools/test mutants

chaos: deps ## a thousand random faults in all that many jobs need (about 20 minutes; POCKET_CHAOS_SEED repeats)
	@SWIFT_CHECKS="$(CHECKS)" tools/test chaos

ssh-matrix: deps ## where ssh connects and where Pocket does, into docs/ssh-matrix.md (long)
	@SWIFT_CHECKS="$(CHECKS)" tools/ssh-matrix

bench: deps ## time pocket against ssh, at round trips of 0, 50 and 100 ms
	@tools/bench

demo: build ## a private sshd, a killed client, a resumed job, a cancelled one
	@tools/demo .build/release/pocket

clean: ## remove what was built
	rm -rf .build .build-*
