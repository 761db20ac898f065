# Each target sets up all it needs in a local virtual environment.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SET_UP := $(VENV)/.set-up
SET_UP_BENCH := $(VENV)/.set-up-bench
SET_UP_DOCS := $(VENV)/.set-up-docs

.PHONY: help reproduce test tests-covered lint bench docs figures clean

help:
	@echo "make reproduce   the paper's figures and claims, into reproduction/report.html"
	@echo "make test        linters, types, layers and tests"
	@echo "make bench       speed as ratios, other packages side by side"
	@echo "make docs        the book, in build/docs"
	@echo "make figures     the book's figures, drawn again (some minutes)"

reproduce: $(SET_UP)
	$(BIN)/bayesregret reproduce

# Two processors share the linters, the pass without compilation and the parts of the compiled one.
PARTS := 1 2 3 4 5
test: $(SET_UP)
	$(MAKE) --jobs=2 --output-sync=target lint tests-covered $(PARTS:%=tests-part-%)

tests-part-%:
	$(BIN)/python -m pytest --part $*/$(words $(PARTS)) -q -p no:cacheprovider

tests-covered:
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -m "not compiled and not slow" -q -p no:cacheprovider
	$(BIN)/coverage report

lint: $(SET_UP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(SET_UP) $(SET_UP_BENCH)
	$(BIN)/python benchmarks/table.py

docs: $(SET_UP) $(SET_UP_DOCS)
	$(BIN)/sphinx-build -W --keep-going -q -E -b html -d build/doctrees docs build/docs
	@echo "$(CURDIR)/build/docs/index.html"

figures: $(SET_UP)
	$(BIN)/python docs/figures.py

$(SET_UP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e ".[test]"
	@touch $@

$(SET_UP_BENCH): $(SET_UP)
	$(BIN)/pip install --quiet -c constraints.txt -e ".[bench]"
	@touch $@

$(SET_UP_DOCS): $(SET_UP)
	$(BIN)/pip install --quiet -c constraints.txt -e ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) .bench build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
