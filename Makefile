# What one does here. Needs GNU make, Python 3.11 or newer and a package index; `make template` also needs a Python 3.13.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

PYTHON ?= python3
PORT ?=
DATA ?=
# More arguments for pytest, e.g. `make test ARGS="-k budget"`, or for the benchmarks.
ARGS ?=

VENV := .venv
SAM_VENV := .venv-sam
BIN := $(VENV)/bin
# Every file pins all it needs, with hashes: nothing is left to resolve.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps

# $(PYTHON), or the first of its successors that is new enough and can make an environment. Sets $$python, or ends with what is amiss.
define find_python
python=; \
for candidate in "$(PYTHON)" python3.13 python3.12 python3.11 python3.14; do \
  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$candidate; break; fi; \
done; \
if [ -z "$$python" ]; then \
  echo "Python 3.11 or newer is needed, and '$(PYTHON)' is none: install one, or say where it is: make PYTHON=/path/to/python3 ..." >&2; exit 1; \
fi; \
if ! "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
  echo "$$python cannot make virtual environments: its modules venv and ensurepip are missing (Debian, Ubuntu: install python3-venv)." >&2; exit 1; \
fi
endef

# The functions' own Python, which `sam build` asks for by name: python3.13 on PATH, else one of pyenv's. Sets $$python.
define find_lambda_python
python=; \
for candidate in python3.13 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13*/bin/python3.13; do \
  if "$$candidate" -m pip --version >/dev/null 2>&1; then python=$$("$$candidate" -c 'import sys; print(sys.executable)'); break; fi; \
done; \
if [ -z "$$python" ]; then \
  echo "Python 3.13 with pip is needed to build what Lambda runs: install it so that python3.13 is on PATH (or by pyenv)." >&2; exit 1; \
fi
endef

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/.local ## Make .venv with what the local service needs

.PHONY: run
run: setup ## Start the service on this machine; play the demo on a new data folder (PORT=3000, DATA=.local)
	@$(BIN)/python -m local serve --demo $(if $(PORT),--port $(PORT)) $(if $(DATA),--data $(DATA))

.PHONY: test
test: $(VENV)/.dev ## Run every test that needs only Python
	@$(BIN)/python -m pytest -n 2 $(ARGS)

# The contract's other adapters run along: the suite compares them. One process: the node is the bottleneck.
.PHONY: opensearch-test
opensearch-test: $(VENV)/.dev ## Run the index's tests on a real OpenSearch node: built once (JDK 17, Maven), or OPENSEARCH_URL's
	@$(BIN)/python -m tests.opensearch.node $(BIN)/python -m pytest tests/opensearch tests/contract/test_search_index*.py $(ARGS)

.PHONY: bench
bench: $(VENV)/.dev ## Report what a turn costs, in some minutes (ARGS="--quick" for a look)
	@$(BIN)/python -m tests.benchmarks.turn $(ARGS)

.PHONY: bench-learning
bench-learning: $(VENV)/.dev ## Report what consolidation costs (ARGS="--sessions 10 --growth 3" for a look)
	@$(BIN)/python -m tests.benchmarks.consolidation $(ARGS)

.PHONY: bench-recall
bench-recall: $(VENV)/.dev ## Report what recall finds and costs (KEEPSAKE_BENCH_DATA names data to ask about)
	@$(BIN)/python -m tests.benchmarks.recall $(ARGS)

.PHONY: check
check: $(VENV)/.dev ## Check style, types and import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@PYTHONPATH=shared:. $(BIN)/lint-imports

.PHONY: openapi
openapi: $(VENV)/.dev ## Write docs/openapi.json anew
	@PYTHONPATH=shared $(BIN)/python -m local.openapi

.PHONY: format
format: $(VENV)/.dev ## Format the code
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

# A region must be set for the tools to start; nothing is sent there.
.PHONY: template
template: $(SAM_VENV)/.sam ## Check the template, build what would be deployed, and check that
	@$(find_lambda_python); \
	PATH="$$(dirname "$$python"):$(CURDIR)/$(SAM_VENV)/bin:$$PATH"; export PATH; \
	AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-us-east-1}; export AWS_DEFAULT_REGION; \
	SAM_CLI_TELEMETRY=0; export SAM_CLI_TELEMETRY; \
	set -e; \
	cfn-lint template.yaml; \
	sam validate --lint; \
	sam build --parallel; \
	$(SAM_VENV)/bin/python tests/architecture/built.py .aws-sam/build

.PHONY: pr
pr: check test template ## Do all that a change must pass

.PHONY: clean
clean: ## Remove environments, builds and caches; the local service's data stays
	rm -rf $(VENV) $(SAM_VENV) .aws-sam .opensearch .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: an environment is filled again only when its requirements changed.
$(VENV)/.made:
	@$(find_python); echo "Making $(VENV) with $$("$$python" --version)"; "$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.local: requirements/local.txt requirements/embedding.txt $(VENV)/.made
	@echo "Installing what the local service needs"
	@$(BIN)/python $(PIP_INSTALL) -r requirements/local.txt
	@$(BIN)/python $(PIP_INSTALL) -r requirements/embedding.txt || \
	  echo "The local embedding model's runtime cannot be installed here: a simpler embedder, which finds less, stands in for it."
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.local
	@echo "Installing what tests and checks need"
	@$(BIN)/python $(PIP_INSTALL) -r requirements/dev.txt
	@touch $@

$(SAM_VENV)/.sam: requirements/sam.txt
	@$(find_python); echo "Making $(SAM_VENV) with $$("$$python" --version)"; "$$python" -m venv $(SAM_VENV)
	@$(SAM_VENV)/bin/python $(PIP_INSTALL) -r requirements/sam.txt
	@touch $@
