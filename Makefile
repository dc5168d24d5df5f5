# `make demo` and `make test` are all a fresh machine needs: each makes .venv if there is none, and a second call is quick.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 4
PY := $(VENV)/bin/python
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check
PACKAGES := $(wildcard packages/*)
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(addprefix --no-emit-package ,$(notdir $(PACKAGES)))
# The tests of a file stay in one worker, and workers take the dearest files first (see tests/conftest.py).
TESTS := $(PY) -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder
DEMO := packages/proctor/pyproject.toml packages/proctor-judging/pyproject.toml packages/proctor-adapters/pyproject.toml packages/proctor-benchmarks/pyproject.toml

.PHONY: demo about-demo quick test tests seconds compiled check lint style types docs site torture bench golden lock dist changelog install-test sbom clean

demo: about-demo $(VENV)/.demo-stamp
	$(VENV)/bin/proctor demo --live --out proctor-demo.html

about-demo:
	@echo "Fetched once: Python packages into $(VENV) (a minute), the data of BFCL (2 MB) and a model of 98 MB. The model then answers 30 questions on this machine: two to four minutes."

# The types are checked while the tests run: what takes longest of `lint` needs one core, and tests wait now and then.
test: style
	$(MAKE) --no-print-directory -j2 types tests

tests: compiled $(VENV)/.tests-stamp
	$(TESTS)

# The tests that what differs from main reaches, nearest first, in less than a minute; BASE names another branch.
quick: compiled
	@reached=$$($(PY) tests/reach.py) && if [ -n "$$reached" ]; then \
	  $(PY) -m pytest -q -n 2 --dist loadfile --doctest-modules -m "not slow and not model" $$reached; fi

# Writes tests/seconds.txt, which CI holds the folders to; read the diff. On a machine with nothing else to do.
seconds: compiled $(VENV)/.tests-stamp
	$(TESTS) --rewrite-seconds

# Of the tests, the nearest and the cheapest for 300 s of CPU, so that it takes four minutes at most; `make test` runs all.
check: compiled lint $(VENV)/.tests-stamp
	$(TESTS) -m "not slow and not model" $$($(PY) tests/reach.py 300 all)

lint: style types

style: $(VENV)/.dev-stamp
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) .ci/dead_code.py $(wildcard packages/*/src)

types: $(VENV)/.dev-stamp
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/.dev-stamp
	$(PY) -m pytest tests/docs

# The documentation as pages, in build/site: `python -m http.server --directory build/site` shows them, with search.
site: $(VENV)/.site-stamp
	$(PY) .ci/site.py build/site

# Every fault we know of, injected for real, with a table at the end, and libraries too large for the usual run; `make test` runs a short form of it.
torture: $(VENV)/.dev-stamp
	$(TESTS) tests/torture tests/bridge tests/web/test_web_fuzz.py tests/contracts/test_scorers.py tests/scorers/test_replies.py tests/scorers/test_held_out.py tests/compat tests/e2e tests/properties/test_trajectory_laws.py tests/docs/test_docs.py tests/judges tests/stats tests/reports/test_verdict_errors.py tests/audit/test_planted.py tests/audit/inspector/test_prevalence.py tests/continuous/test_gate_errors.py tests/models/test_batches.py tests/benchmarks/boxes/test_verifier.py --torture

bench: $(VENV)/.dev-stamp
	$(PY) -m bench

golden: $(VENV)/.dev-stamp
	$(PY) -m pytest tests/golden tests/docs/test_api_reference.py tests/docs/test_commands_page.py tests/docs/test_findings_page.py --rewrite-golden

# Needs uv (`pip install uv`) and the network; run it after changing the dependencies in pyproject.toml.
lock:
	$(LOCK) packages/proctor/pyproject.toml --extra all --group pyproject.toml:dev -o requirements/dev.txt
	$(LOCK) $(DEMO) --extra local --extra fast --group pyproject.toml:build -c requirements/dev.txt -o requirements/demo.txt
	$(LOCK) packages/proctor/pyproject.toml -c requirements/dev.txt -o requirements/run.txt
	$(LOCK) --group pyproject.toml:site -c requirements/dev.txt -o requirements/site.txt
	$(LOCK) $(DEMO) $(addprefix --extra ,web postgres oidc fast) --group pyproject.toml:build -c requirements/dev.txt -o requirements/server.txt
	$(LOCK) tests/compat/hello-agents.in $(DEMO) -o tests/compat/hello-agents.txt
	$(LOCK) tests/compat/hello-agents-0.2.7.in $(DEMO) -o tests/compat/hello-agents-0.2.7.txt
	$(LOCK) --resolution lowest-direct tests/compat/lowest.in $(DEMO) packages/proctor-web/pyproject.toml $(addprefix --extra ,hub zh math excel prometheus postgres) -o tests/compat/lowest.txt
	$(LOCK) tests/compat/inspect.in $(DEMO) -o tests/compat/inspect.txt
	$(LOCK) tests/compat/litellm.in $(DEMO) -o tests/compat/litellm.txt
	$(LOCK) tests/compat/trackers.in $(DEMO) -o tests/compat/trackers.txt
	$(LOCK) tests/compat/veadk.in $(DEMO) --override tests/compat/veadk.without -o tests/compat/veadk.txt

# The wheels and sdists of all packages, from what git tracks: the same bytes each time.
dist: changelog $(VENV)/.dev-stamp
	$(PY) .ci/dist.py dist

# What changed for users, out of the fragments in changelog.d.
changelog: $(VENV)/.dev-stamp
	$(PY) .ci/changelog.py dist/CHANGELOG.md

# Needs uv (`pip install uv`) and the network: the wheels, made twice, on every Python there is, with the highest and the lowest versions.
install-test: dist
	$(PY) .ci/dist.py dist/second
	for file in dist/second/*; do cmp $$file dist/$$(basename $$file) || exit 1; done
	$(PY) .ci/install_test.py dist/*.whl

# All dependencies with versions, digests and licences: an SBOM (CycloneDX) and a table, in dist.
sbom: $(VENV)/.dev-stamp
	$(PY) .ci/sbom.py dist

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf packages/*/src/*.egg-info packages/*/build

# Where Python is told to write no bytecode, each command that a test starts would compile all that changed since the installation.
compiled: $(VENV)/.dev-stamp
	@$(PY) -m compileall -q packages

# What changed is collected once ahead, or each worker would compile it for its asserts, which takes as long as importing it.
$(VENV)/.tests-stamp: $(shell find tests -name '*.py' 2>/dev/null) | $(VENV)/.dev-stamp
	@printf '%s\n' $(filter %.py,$?) | grep /test_ | PYTHONDONTWRITEBYTECODE= xargs -P 2 -n 300 $(PY) -m pytest --collect-only -qq >/dev/null 2>&1 || true
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Proctor needs Python 3.11 or newer; '$(PYTHON)' is older or missing. Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }
	$(INSTALL) --require-hashes -r requirements/pip.txt || { rm -rf $(VENV); exit 1; }  # an older pip refuses a locked version that is asked for with an extra

$(VENV)/.demo-stamp: requirements/demo.txt $(wildcard packages/*/pyproject.toml) | $(PY)
	$(INSTALL) --require-hashes -r requirements/demo.txt
	$(INSTALL) --no-deps --no-build-isolation $(addprefix --editable ,$(PACKAGES))
	@$(PY) -m compileall -q packages  # an editable install does not; every start is quicker for it
	@touch $@

# The versions are those of demo.txt and more, so that one install serves both.
$(VENV)/.dev-stamp: requirements/dev.txt $(wildcard packages/*/pyproject.toml) | $(PY)
	$(INSTALL) --no-compile --require-hashes -r requirements/dev.txt
	$(INSTALL) --no-deps --no-build-isolation $(addprefix --editable ,$(PACKAGES))
	@$(PY) -m compileall -q -j 0 -x 'site-packages/.*/tests/' $(VENV)/lib >/dev/null || true  # on all cores, where pip uses one; some files are templates
	@$(PY) -m compileall -q packages  # an editable install does not; every start is quicker for it
	@touch $(VENV)/.demo-stamp $@

$(VENV)/.site-stamp: requirements/site.txt | $(PY)
	$(INSTALL) --require-hashes -r requirements/site.txt
	@touch $@
