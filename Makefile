# Alight: every target sets itself up in a virtual environment, on a fresh machine too.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
OUT    := out

# Some machines forbid Python to keep compiled modules: every process that a test starts (hundreds)
# would then compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

# Types and rooms are one core's work each: they go beside the tests.
MAKEFLAGS += --jobs=2

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types rooms tests remind validate matrix mutants bench docs figures pictures release-check clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make the virtual environment and install Alight in it

$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	  echo "Alight needs Python 3.11 or newer; '$(PYTHON)' was not found."; \
	  echo "Install it, or name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Alight needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version)."; \
	  echo "Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { \
	  echo "Python's venv module does not work here (on Debian: apt install python3-venv)."; \
	  exit 1; }
	$(PY) -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP) ## 1 000 landings of MINERVA-II-1 on Ryugu, and their report, in out/demo
	$(PY) -m alight campaign scenarios/ryugu_minerva.toml --runs 1000 --out $(OUT)/demo
	$(PY) -m alight report $(OUT)/demo

test: lint types rooms tests remind ## Everything a change must pass, in a few minutes

lint: $(STAMP) # Style
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(STAMP) # Types of the package (settings in mypy.ini)
	$(PY) -m mypy

rooms: $(STAMP) # Which room imports which (contract in .importlinter)
	$(VENV)/bin/lint-imports

# Compiling kernels is most of the time of the first run, and one core's work: files of tests go to
# as many processes as there are cores.
tests: $(STAMP) # Tests, without the slow studies
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile

# How many slow studies rest on files that differ from main; only a reminder, never a failure.
remind: $(STAMP) | tests
	@$(PY) -m tools.validate --remind

# All of them write docs/reference/validation.md. CHANGED=1: those that rest on what differs from main, or
# CHANGED=BASE from another commit. STUDIES="tests/...": those that are named. RESUME=1: those that
# have not passed yet, or rest on what has changed since.
validate: $(STAMP) ## The slow studies (CHANGED=1: those that a change touches)
	$(PY) -m tools.validate $(STUDIES) $(if $(RESUME),--resume) $(if $(CHANGED),--changed $(filter-out 1,$(CHANGED)))

# Every composition of vehicle, ground, contact, gravity ... is made and run: an hour from an empty
# cache. ONLY="tree on pads": some of them, and no page; DEVICE=cuda:0: on a GPU.
matrix: $(STAMP) ## What composes with what, into docs/reference/matrix.md
	$(PY) -m tools.matrix --only "$(ONLY)" --device $(or $(DEVICE),cpu)

# FILES="src/alight/... ...", SAMPLE=40 faults of each: minutes a file, hours for a room.
mutants: $(STAMP) ## Put small faults into FILES and see which ones no test notices
	$(PY) -m tools.mutants $(FILES) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(TESTS),--tests $(TESTS))

bench: $(STAMP) ## Speed, correctness checked first
	$(PY) -m benchmarks

# Sphinx and its parts are installed for this alone. Warnings are errors, and with them links that lead
# nowhere; notebooks and examples are run. Nothing is fetched from the network.
DOCS_STAMP := $(VENV)/.installed_docs
$(DOCS_STAMP): $(STAMP)
	$(PY) -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(DOCS_STAMP) ## The documentation as a site, in out/docs/index.html
	$(PY) -m sphinx -b html -q -W --keep-going -j 2 docs $(OUT)/docs
	@echo "wrote $(OUT)/docs/index.html"

figures: $(STAMP) ## The pictures of the documentation, in out/figures
	$(PY) examples/gallery.py $(OUT)/figures

pictures: $(STAMP) ## Twelve pictures and three films, in docs/pictures
	$(PY) examples/pictures.py

RELEASE_STAMP := $(VENV)/.installed_release
$(RELEASE_STAMP): $(STAMP)
	$(PY) -m pip install -q --disable-pip-version-check -e '.[release]'
	@touch $@

# An empty environment for each Python at hand; PYTHONS="python3.12 ..." names them. Minutes.
release-check: $(RELEASE_STAMP) ## Build sdist and wheel, install and use them as a stranger would
	$(PY) -m tools.release $(foreach python,$(PYTHONS),--python $(python))

clean: ## Remove outputs and caches (the virtual environment stays)
	rm -rf $(OUT) build dist .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
