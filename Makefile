# `make` lists the targets. Everything runs in .venv, which `make course` makes.

PYTHON ?= python3.11
STUDENTS := 8
SAMPLE := classroom/sample

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# The commands of .venv, and of nothing else that may be active.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export VIRTUAL_ENV := $(CURDIR)/.venv
unexport PYTHONPATH PYTHONHOME

# What the parts are made of. A stamp says when a part was last made in full.
STAMPS := .venv/stamps
ENVIRONMENT := $(STAMPS)/environment
CODE := $(shell find autograder -name '*.py' -o -name '*.j2' -o -name '*.css' -o -name '*.js' 2>/dev/null)
SOLUTIONS := $(wildcard solutions/*/*.ipynb)
BOOK := _config.yml _toc.yml $(shell find book exercises -type f -not -path '*/.*' 2>/dev/null)
BOOK_CODE := $(filter autograder/book/% autograder/settings.py,$(CODE))
CHAPTERS := $(wildcard book/[0-9][0-9]_*.ipynb)
# Two processes, a file in each at a time: the cells of a notebook share a kernel.
PARALLEL := -n 2 --dist loadfile
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=1500 --nbval-kernel-startup-timeout=300

##@ For everybody
.PHONY: help course lab serve grade test clean

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

course: $(ENVIRONMENT) exercises book sample ## everything: environment, exercises, book, and a sample class that is graded
	@echo
	@autograder marks $(SAMPLE)
	@echo
	@echo "Read the book in a browser: make serve.  Your own exercises: make lab."

lab: $(ENVIRONMENT) exercises book ## JupyterLab on your own copies of the exercises, in work/ (PORT=8888)
	@autograder lab $(if $(PORT),--port $(PORT)) $(ARGS)

serve: book ## the web book on a port of this computer (PORT=8000)
	@autograder serve $(if $(PORT),--port $(PORT))

grade: $(ENVIRONMENT) book ## a class of yours: marks and feedback for what was handed in (CLASSROOM=classroom)
	@autograder grade $(if $(CLASSROOM),--classroom $(CLASSROOM))
	@autograder marks $(CLASSROOM)

test: $(ENVIRONMENT) book ## every test: style, units, every notebook run again, the pages in a browser
	@ruff check .
	@autograder exercises --check
	@autograder claims --check
	@OMP_NUM_THREADS=1 pytest -q $(PARALLEL) $(NBVAL) tests $(CHAPTERS) $(SOLUTIONS) $(ARGS)

clean: ## remove what was built: the book, the sample class, caches (never work/ or a classroom of yours)
	@rm -rf _build $(SAMPLE) $(STAMPS) .pytest_cache .ruff_cache .hypothesis jupyter_execute
	@find autograder tests tools -name __pycache__ -prune -exec rm -rf {} +

##@ For those who write the course
.PHONY: book exercises outputs claims sample test-deep benchmark lock

book: $(STAMPS)/book ## the web book, from the stored outputs; a warning is an error
exercises: $(STAMPS)/exercises ## exercises/ from solutions/
sample: $(STAMPS)/sample ## the sample class, handed in and graded, in classroom/sample

outputs: export BOOK_URL = .
outputs: $(ENVIRONMENT) ## run the chapters top to bottom and store their outputs (NAMES="05_scaling")
	@autograder outputs $(NAMES)
	@autograder claims

claims: $(ENVIRONMENT) ## book/claims.md from the list of claims and the stored outputs
	@autograder claims

test-deep: $(ENVIRONMENT) ## the long form of the autograder's own tests: every seed from 0 to 49
	@AUTOGRADER_REMEMBERED=100000 OMP_NUM_THREADS=1 pytest -q -n 2 --dist worksteal -m deep tests $(ARGS)

benchmark: $(ENVIRONMENT) ## how long grading takes, against stock nbgrader (NUMBER=200, ARGS="--growth 25,50,100")
	@autograder benchmark --students $(or $(NUMBER),200) $(ARGS)

lock: ## requirements.txt from the ranges in pyproject.toml (UPGRADE=1 takes the newest)
	@$(PYTHON) tools/lock.py $(if $(UPGRADE),--upgrade)

# ---------------------------------------------------------------------------------------------------------

$(ENVIRONMENT): requirements.txt pyproject.toml tools/install.py
	@$(PYTHON) -c '' 2>/dev/null || { echo "There is no $(PYTHON) here: install Python 3.11," \
	  "or say where it is with 'make course PYTHON=/path/to/python3.11'." >&2; exit 1; }
	@$(PYTHON) tools/install.py
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/exercises: $(ENVIRONMENT) $(SOLUTIONS) nbgrader_config.py autograder/classroom/release.py
	@echo "The exercises: exercises/, from solutions/"
	@autograder exercises
	@touch $@

# A build that failed passes the second time, and changed style sheets are not copied: start from nothing.
$(STAMPS)/book: $(ENVIRONMENT) $(BOOK) $(BOOK_CODE)
	@echo "The book: _build/html/index.html, from book/"
	@rm -rf _build
	@log=$$(jupyter-book build . -W -n --keep-going -q 2>&1) || { echo "$$log"; exit 1; }
	@touch $@

$(STAMPS)/sample: $(ENVIRONMENT) $(SOLUTIONS) $(CODE) nbgrader_config.py
	@echo "The sample class: $(STUDENTS) students, the exercises of each chapter, graded in $(SAMPLE)"
	@autograder sample-class --students $(STUDENTS) --into $(SAMPLE)
	@# The sample is the course's own code, so a machine without bubblewrap may grade it unprotected.
	@autograder grade --classroom $(SAMPLE) $$(command -v bwrap >/dev/null || echo --no-sandbox)
	@touch $@
