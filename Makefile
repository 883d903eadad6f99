# Spillclock's commands; `make` alone lists them.
# A machine needs make and a python3 of 3.11 or newer with venv; everything else goes into .venv.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
ARGS :=
# Many tests wait for a moment or a server: two for each core keep it busy.
WORKERS := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))))

# A Python to build .venv with. Left empty, the first one that is new enough is taken.
PYTHON :=
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := 1

.DEFAULT_GOAL := help
.PHONY: help setup run test test-long test-postgresql bench check lock styles screenshots access privacy clean moved
.SUFFIXES:

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):[^#]*##/\1/p' Makefile | while read -r name what; do printf 'make %-15s %s\n' "$$name" "$$what"; done

setup: $(READY)  ## make .venv from requirements.lock (does nothing when it is up to date)

run: $(READY)  ## serve pages, API and worker on this machine
	@exec $(BIN)/spillclock serve $(ARGS)

test: $(READY)  ## run every test, in parallel (make test ARGS="-k outbox")
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-long: export SPILLCLOCK_TESTS_LONG := 1
test-long: test  ## the same with the long ones: every page and state in a browser, all samples on all papers (about 40 minutes)

bench: $(READY)  ## measure speed against other programs; docs/performance.md says what the lines tell (half an hour)
	@for one in intake firing lateness burst board assess; do \
	  $(BIN)/python -W ignore -m tests.benchmarks.bench_$$one || exit 1; \
	done

test-postgresql: export SPILLCLOCK_TESTS_DATABASE := postgresql
test-postgresql: export SPILLCLOCK_TESTS_REQUIRE_POSTGRESQL := 1
test-postgresql: $(READY)  ## the tests of service and pages on PostgreSQL, on a server of their own (SPILLCLOCK_TESTS_PART=1: those that touch it most)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS) tests/service tests/pages

check: $(READY)  ## lint, format, types, import contracts, house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict service deadlines notifiers
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/house

lock: $(BIN)/uv  ## renew requirements.lock from pyproject.toml (ARGS=--upgrade takes newer versions)
	$(BIN)/uv pip compile pyproject.toml --quiet --group dev --all-extras --universal \
	  --generate-hashes --no-header --no-annotate --output-file requirements.lock $(ARGS)

styles:  ## renew service/static/spillclock.css from styles/ and service/static/css/ (needs node and npm; nothing else does)
	cd styles && npm ci --ignore-scripts --omit=optional --no-audit --no-fund --silent && node build.mjs $(ARGS)

screenshots: $(READY)  ## take a picture of every page and state into screenshots/ (ARGS="report status" takes some)
	$(BIN)/python -m tests.pages.screenshots screenshots $(ARGS)

privacy: $(READY)  ## write docs/privacy.md from the table in service/disclosure.py
	$(BIN)/python -m tests.service.privacy_table

access: $(READY)  ## write docs/access.md from tests/service/access_matrix.txt
	$(BIN)/python -m tests.service.access_table

clean:  ## remove .venv, caches and build output; the data folder stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist screenshots styles/node_modules
	find service deadlines notifiers tests -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamp holds the folder that .venv was made for: scripts in a .venv name their folder, so a copied or moved one is remade.
# No stamp means that set-up never finished, and .venv is remade too. The stamp is written last.
$(READY): requirements.lock pyproject.toml $(if $(filter-out $(shell cat $(READY) 2>/dev/null),$(CURDIR)),moved)
	@set -eu; \
	if [ "$$(cat $@ 2>/dev/null)" = "$(CURDIR)" ] && $(BIN)/python -c '' 2>/dev/null; then \
	  rm -f $@; \
	else \
	  rm -f $@; chosen=; seen=; bare=; \
	  for candidate in $(PYTHONS); do \
	    version=$$($$candidate -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue; \
	    seen="$$seen $$candidate ($$version)"; \
	    $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue; \
	    if $$candidate -c 'import ensurepip, venv' 2>/dev/null; then chosen=$$candidate; break; fi; \
	    bare=$$candidate; \
	  done; \
	  if [ -z "$$chosen" ] && [ -n "$$bare" ]; then \
	    echo "$$bare has no venv module: install it (on Debian and Ubuntu: apt-get install python3-venv) and run make again." >&2; exit 1; \
	  elif [ -z "$$chosen" ]; then \
	    echo "Spillclock needs Python 3.11 or newer and found$${seen:- none}: install one, or name one with 'make setup PYTHON=/path/to/python3.11'." >&2; exit 1; \
	  fi; \
	  echo "Setting up $(VENV) with $$chosen ($$version)"; \
	  $$chosen -m venv --clear $(VENV); \
	fi; \
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock; \
	if [ -s $(VENV)/uv.lock ] && $(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.lock \
	  && $(BIN)/uv pip sync --quiet --python $(BIN)/python --compile-bytecode --require-hashes requirements.lock \
	  && $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .; then :; \
	else \
	  echo "Installing with pip, which takes about a minute"; \
	  $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock; \
	  $(BIN)/python -m pip install --quiet --no-deps -e .; \
	fi; \
	printf '%s\n' "$(CURDIR)" > $@

$(BIN)/uv:
	@$(MAKE) setup
	@test -x $@ || $(BIN)/python -m pip install --quiet uv
