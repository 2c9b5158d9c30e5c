# The few commands of this house. `make help` prints one line for each.
# They set up what they need: a virtual environment in .venv with the versions of constraints.txt.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
PORT ?= 8000
JOBS ?= 4
DEVICE ?= cpu
RUN := .venv/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
# Material's banner about its end of life: known, see mkdocs.yml.
export NO_MKDOCS_2_WARNING := 1

.PHONY: help
help: ## print this
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1|\2/p' Makefile | column -t -s '|'

.PHONY: serve
serve: .venv/site ## show the whole site at http://127.0.0.1:8000/, follow each edit (PORT=8001 for another port)
	@exec $(RUN) -m tools.serve --port $(PORT)

.PHONY: build
build: .venv/site ## build every language into site/, any warning is an error
	@$(RUN) -m tools.build

.PHONY: test
test: lint check browser ## check everything that CI checks
	@$(RUN) -m pytest -n $(JOBS) --dist loadgroup --kept --durations=15

.PHONY: check
check: .venv/site ## check the pages against the snippets and the translations against the English
	@$(RUN) -m tools.checks

.PHONY: translations
translations: .venv/site ## list the translations that English has left behind, with what changed (DONE="fr/amp#memory" once it is mended)
	@$(RUN) -m tools.translations $(if $(DONE),--done $(foreach it,$(DONE),'$(it)'))

.PHONY: lint
lint: .venv/all ## read the code (ruff), the spelling of the English prose (codespell), the workflows (actionlint, zizmor)
	@.venv/bin/ruff format --check --quiet || { echo "make it the usual form: .venv/bin/ruff format" >&2; exit 1; }
	@.venv/bin/ruff check --quiet
	@.venv/bin/actionlint -shellcheck= -pyflakes= .github/workflows/*.yml
	@said="$$(.venv/bin/zizmor --offline --persona auditor --quiet --no-progress .github)" \
	  || { echo "$$said" >&2; exit 1; }
	@.venv/bin/codespell README.md CONTRIBUTING.md docs/en locales/en snippets tools

.PHONY: outputs
outputs: .venv/all ## run the snippets and rewrite their .out files; review the difference before you commit
	@$(RUN) -m tests.snippets.outputs

.PHONY: notebooks
notebooks: .venv/all ## run the notebooks of the lessons, whose outputs the site shows, and weave them (PAGE=amp)
	@$(RUN) -m tests.notebooks.run $(PAGE)

# The CPU's record comes from the versions in constraints.txt. For another device, or with PYTHON=...,
# that Python is taken as it is: it has a torch for the device, and nothing is installed or fetched.
PINNED := $(filter cpu-file,$(DEVICE)-$(origin PYTHON))
.PHONY: verify
verify: $(if $(PINNED),.venv/all) ## run every snippet on one device and record it (DEVICE=cuda)
	@$(if $(PINNED),$(RUN),$(PYTHON)) -m tests.snippets.verify --device $(DEVICE) $(if $(NAME),--name $(NAME))

.PHONY: gate
gate: .venv/site ## refuse what was not checked: each block of each page against the records (VERSION=2.13)
	@$(RUN) -m tools.gate $(if $(VERSION),--version $(VERSION))

.PHONY: mutants
mutants: .venv/all ## delete each statement of each snippet and list those that no test misses
	@$(RUN) -m tests.snippets.mutants

.PHONY: launches
launches: .venv/all ## start each program of several ranks by torchrun, as its readers do (minutes)
	@$(RUN) -m pytest tests/snippets/launches.py -n $(JOBS) -q --junitxml=build/against/launches.xml

.PHONY: changes
changes: .venv/site ## build the site and list the pages that differ from the commit BASE (BASE=origin/main; HEAD without it)
	@$(RUN) -m tools.changes --base '$(or $(BASE),HEAD)'

.PHONY: against
against: ## run the snippets against another torch (TORCH=newest, oldest or 2.12), in an environment of its own
	@$(PYTHON) -m tools.against "$${TORCH:-newest}"

.PHONY: records
records: .venv/site ## take the attested records of this commit from the workflows that made them (WAIT=minutes)
	@$(RUN) -m tools.ci.records --wait $(or $(WAIT),0) $(DEVICES)

.PHONY: release
release: .venv/site ## publish the version that TAG stands for (TAG=v2.13), or main as dev without it
	@$(RUN) -m tools.ci.release

.PHONY: published
published: .venv/site ## see that every version is in every list of the published branch
	@$(RUN) -m tools.ci.published

.PHONY: report
report: .venv/site ## open, update or close the issue that says which snippets fail on another torch
	@$(RUN) -m tools.ci.report

.PHONY: bench
bench: .venv/all browser ## measure the tests' speed, the site's speed and its weight beside stock Material
	@$(RUN) -m tests.snippets.bench
	@$(RUN) -m tools.bench

.PHONY: publish
publish: .venv/site ## publish a version in every language, or nothing (VERSION=2.13 ALIAS=latest)
	@$(RUN) -m tools.publish $(if $(VERSION),$(VERSION),$(error say which: make publish VERSION=2.13 ALIAS=latest)) \
	  --alias "$(ALIAS)"

.PHONY: preview
preview: .venv/site ## serve the published branch as it would be with this version (VERSION=dev PORT=8001)
	@$(RUN) -m tools.publish $(or $(VERSION),dev) --alias "$(ALIAS)" --preview --port $(PORT)

.PHONY: pins
pins: .venv/pip ## take the newest version of each package (not of torch) into constraints.txt
	@held="$$(grep -E '^(pip|torch)==' constraints.txt)"; \
	$(RUN) -m pip --disable-pip-version-check --quiet install --dry-run --ignore-installed --report - \
	  --constraint <(echo "$$held") --group site --group test --group lint \
	  | $(RUN) -m tools.pins $$held > constraints.new; \
	mv constraints.new constraints.txt

.PHONY: clean
clean: ## remove what these commands made
	@rm -rf .venv site build .pytest_cache .ruff_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +

# Set-up. Each file says that a step was done since the files after its colon last changed.

.venv/pip: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version): make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) pip
	@touch $@

.venv/site: .venv/pip pyproject.toml
	@echo "installing what builds the site"
	@$(PIP) --group site
	@touch $@

.venv/all: .venv/site
	@echo "installing what the tests need (torch is large)"
	@$(PIP) --group test --group lint
	@touch $@

# The tests look at the built pages in Chromium: $CHROMIUM, or its headless shell, or what there is.
.PHONY: browser
browser: .venv/all
	@$(RUN) -m tools.browser
