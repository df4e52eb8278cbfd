# Everything runs in .venv, which is made on first use: Python 3.11 or newer and make are enough to begin with.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
HOSPITAL := examples/lab_recommender/train.py
DEMO ?= $(HOSPITAL)
# With what the script of the demo is cured; one that you name yourself is only run.
CURE ?= $(if $(filter $(HOSPITAL),$(DEMO)),--floor 1e-6 --epochs 2)
JOBS ?= 2
SOURCES := src tests scripts bench
TORCH := $(shell grep '^torch==' constraints.txt)

# One thread per process: the tests run side by side, and their numbers must not depend on the machine.
export OMP_NUM_THREADS := 1

.PHONY: setup demo test check types laws bless bench docs new-rule clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt $(TORCH)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test,dev]'
	touch $@

# A sick run ends with status 1: that is what the demo is to show first. Then the same script runs with the cure.
demo: $(READY)
	cd $(dir $(DEMO)) && $(CURDIR)/$(BIN)/torchmedic run --fail-on error $(notdir $(DEMO)); test $$? -eq 1
	$(if $(CURE),cd $(dir $(DEMO)) && $(CURDIR)/$(BIN)/torchmedic run --fail-on error $(notdir $(DEMO)) $(CURE))

# The laws of the code have just been held up to it by `check`. Tests of one file mostly stay in one process, which then
# starts their server or kernel once; who is done takes over from the other.
test: check
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --ignore=tests/laws

check: $(READY)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(MAKE) --jobs=$(JOBS) types laws

types: $(READY)
	$(BIN)/mypy

laws: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) -p no:cacheprovider tests/laws
	$(BIN)/python scripts/fill_examples.py --check

bless: $(READY)
	TORCHMEDIC_BLESS=1 $(BIN)/python -m pytest -n $(JOBS) tests/rules $(if $(NAME),-k $(subst -,_,$(NAME)))
	$(MAKE) docs check

bench: $(READY)
	for script in bench/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

docs: $(READY)
	$(BIN)/python scripts/fill_examples.py
	$(BIN)/python scripts/extract_messages.py

new-rule: $(READY)
	$(BIN)/python scripts/new_rule.py --family "$(FAMILY)" --name "$(NAME)"

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build
