# Katze: two commands do everything.  `make demo` grades a class in sandboxes; `make test` runs what every change has to pass.

PYTHON ?= python3
# Processes that run tests: one more than cores, for a test often waits for a sandbox, a browser or a database.
WORKERS ?= 3

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEVELOPING := $(VENV)/.ready-dev
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo)
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal --durations 25

# Else every worker, and every process that a test starts, would compile all its modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup dev demo quick test thorough checked drift browser postgres lint format clean

help:  ## Say what can be made.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY)  ## Create .venv with what learning and grading need, in pinned versions; once.

dev: $(DEVELOPING)  ## Add to it what those need who work on Katze itself; once.

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null \
	    || { echo "make: $(PYTHON) was not found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "make: $(PYTHON) is $$($(PYTHON) --version 2>&1); Katze needs Python 3.11 or newer. Name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	    || { echo "make: $(PYTHON) cannot create environments. On Debian or Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "make: installing packages into $(VENV), for a few minutes ..."
	$(PIP_INSTALL) setuptools
	$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(DEVELOPING): $(READY)
	$(PIP_INSTALL) --no-build-isolation --editable '.[dev]'
	@touch $@

demo: setup  ## Train a small transformer, then release and grade a bundled class in sandboxes.
	$(BIN)/katze demo

quick: dev  ## Run what needs no other process, on a few inputs: two minutes.
	$(PYTEST) --quick

test: checked  ## Run what every change has to pass: style, types, release drift, tests.
	$(PYTEST)

thorough: checked  ## Run everything, in every lesson: before a release.
	$(PYTEST) --thorough

# Side by side: each takes a minute of one core in a fresh clone.
checked: dev
	@$(MAKE) --no-print-directory --assume-old $(DEVELOPING) --jobs 2 --output-sync lint drift

drift: dev  ## Check that the released notebooks are those of the lessons.
	$(BIN)/katze release --check

browser:  ## Install the browser that tests drive, where there is none (Debian and its relatives).
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
	    || { $(AS_ROOT) apt-get update && $(AS_ROOT) apt-get install --yes chromium; }

postgres:  ## Install the PostgreSQL that tests start, where there is none (Debian and its relatives).
	@ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null || command -v initdb \
	    || { $(AS_ROOT) apt-get update && $(AS_ROOT) apt-get install --yes --no-install-recommends postgresql; }

lint: dev  ## Check style, imports and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy

format: dev  ## Rewrite the code in the house style.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m autograder.commands.registry docs/instructors.md

clean:  ## Remove what commands have made, .venv included; a course's own data stays.
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
