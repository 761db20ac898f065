# Each target sets up all it needs in a local virtual environment.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SET_UP := $(VENV)/.set-up
SET_UP_BENCH := $(VENV)/.set-up-bench
SET_UP_DOCS := $(VENV)/.set-up-docs
SET_UP_BROWSER := $(VENV)/.set-up-browser
CHROMIUM := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
PYTHONS := 3.11 3.12 3.13
PYTEST := $(BIN)/python -m pytest -q -p no:cacheprovider

.PHONY: help reproduce quick test test-pythons test-gpu test-browser tests-plain tests-compiled quick-tests coverage lint bench docs figures examples outputs package clean

help:
	@echo "make reproduce     the paper's figures and claims, into reproduction/report.html"
	@echo "make quick         linters, types and the core's tests without compilation: seconds"
	@echo "make test          linters, types, layers and all tests: minutes"
	@echo "make test-pythons  the same on every supported Python found here"
	@echo "make test-gpu      bits of the GPU engine against the processor, on a machine with an NVIDIA GPU"
	@echo "make test-browser  the live page in Chromium and in JupyterLab"
	@echo "make coverage      the tests without compilation, with the lines that none of them runs"
	@echo "make bench         speed as ratios, other packages side by side"
	@echo "make docs          the book, in build/docs"
	@echo "make figures       the book's figures, drawn again: minutes"
	@echo "make examples      the notebooks in examples/, from their sources, run again"
	@echo "make outputs       the book's pages with new outputs of their commands and Python"
	@echo "make package       a wheel and an sdist, each installed and tried in an empty environment"

reproduce: $(SET_UP)
	$(BIN)/bayesregret reproduce

quick: $(SET_UP) lint quick-tests

quick-tests: $(SET_UP)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n 2 --dist loadfile -m "not compiled and not slow and not long and not gpu and not browser" tests/models tests/policies tests/contracts

# All at once: compilation, processes that wait and linters share the processors well.
test: $(SET_UP)
	$(MAKE) --jobs=3 --output-sync=target lint tests-compiled tests-plain

tests-compiled: $(SET_UP)
	$(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder -m "(compiled or both) and not slow and not gpu and not browser"

tests-plain: $(SET_UP)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder -m "not compiled and not slow and not gpu and not browser"

# Apart from `make test`, because measuring takes as long as the tests.
coverage: $(SET_UP)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder -m "not compiled and not slow and not gpu and not browser" --cov --cov-report=term:skip-covered

# On each Python: its own environment, the same tests.
test-pythons:
	@for version in $(PYTHONS); do \
	  python=$$(for found in $$(command -v python$$version) $$HOME/.pyenv/versions/$$version.*/bin/python; do \
	    "$$found" -c "" 2>/dev/null && echo "$$found" && break; done); \
	  if [ -z "$$python" ]; then echo "Python $$version: not found"; continue; fi; \
	  $(MAKE) test PYTHON="$$python" VENV=.venv-$$version || exit 1; \
	  echo "Python $$version: passed"; \
	done

test-browser: $(SET_UP) $(SET_UP_BROWSER)
ifeq ($(CHROMIUM),)
	@echo "make test-browser needs the system package chromium: apt-get install chromium" >&2; exit 1
endif
	$(PYTEST) -m browser tests/exploring

test-gpu: $(SET_UP)
	$(PYTEST) -m gpu tests/simulation/engines

lint: $(SET_UP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(SET_UP) $(SET_UP_BENCH)
	$(BIN)/python benchmarks/table.py

docs: $(SET_UP) $(SET_UP_DOCS)
	rm -rf build/docs
	$(BIN)/sphinx-build -W --keep-going -q -E -b html -d build/doctrees docs build/docs
	$(BIN)/python docs/book/links.py build/docs
	@echo "$(CURDIR)/build/docs/index.html"

figures: $(SET_UP) $(SET_UP_DOCS)
	$(BIN)/python docs/figures.py

examples: $(SET_UP)
	$(BIN)/python examples/run.py

outputs: $(SET_UP)
	$(BIN)/python docs/book/outputs.py

package: $(SET_UP)
	rm -rf dist build/package
	$(BIN)/pip install --quiet -c constraints.txt build
	$(BIN)/python -m build --outdir dist
	for file in dist/*.whl dist/*.tar.gz; do \
	  $(PYTHON) -m venv --clear build/package && \
	  build/package/bin/pip install --quiet -c constraints.txt $$file && \
	  (cd build/package && bin/python ../../tests/smoke.py && bin/bayesregret --version) || exit 1; \
	done

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

$(SET_UP_BROWSER): $(SET_UP)
	$(BIN)/pip install --quiet -c constraints.txt -e ".[browser]"
	@touch $@

clean:
	rm -rf .venv .venv-* .bench build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
