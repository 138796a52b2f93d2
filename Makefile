# `make test` is the test command; `make check` is what CI asks of the sources besides.
CARGO ?= cargo
PYTHON ?= python3
VENV := target/venv
TOOLS := cargo-deny@0.20.2 cargo-audit@0.22.2 cargo-fuzz@0.13.2
WITH_TOOLS := PATH="$(CURDIR)/target/tools/bin:$$PATH"

.PHONY: test python newcomer arviz1 browser kill other-sets check audit tools trust sanitizer golden bench protocol versus clean

# The Rust tests (the Python extension has its own below), then real ArviZ on a real model file and
# experts from real scikit-learn, then the Python package and a newcomer's first hour, then the library's tests on the other
# instruction sets of this machine.
test: $(VENV)/ready
	$(CARGO) test --release --workspace --exclude gpfuse-py
	$(VENV)/bin/python tests/arviz_open.py target/release/gpfuse
	$(VENV)/bin/python tests/stack_sklearn.py target/release/gpfuse
	$(MAKE) python newcomer arviz1
	$(MAKE) other-sets

# The package, built as `pip install .` does, and its tests.
python: $(VENV)/ready
	$(CARGO) build --release -p gpfuse-cli
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/pip install --quiet \
	    --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .
	$(VENV)/bin/python -m mypy.stubtest gpfuse._gpfuse
	$(VENV)/bin/python -m pytest -n 2

# A newcomer's first hour, shortened to a minute; `tests/newcomer PROGRAM --all` is all of it.
newcomer: $(VENV)/ready
	$(VENV)/bin/python tests/newcomer target/release/gpfuse

# What ArviZ 1 makes of a fit, where there is a Python that it runs on.
arviz1:
	tests/arviz1

# The library's tests on each instruction set that the machine has but would not choose; by name,
# so that nothing is built again. Calibration and whole programs are of the model, not of the code for a set.
TESTS := $(patsubst crates/gpfuse/tests/%.rs,--test %,\
    $(filter-out %/sbc.rs %/sbc_linear.rs %/compare.rs %/worth.rs %/examples.rs %/experts_auto.rs,$(wildcard crates/gpfuse/tests/*.rs)))
other-sets:
	@$(CARGO) build --quiet --release -p gpfuse-cli
	@target/release/gpfuse --version | sed -n 's/^instruction sets: \(.*\) (in use: \(.*\))/\1 \2/p' \
	    | tr ' ' '\n' | sort | uniq -u | while read -r set; do \
	        echo "instruction set $$set"; \
	        GPFUSE_SIMD=$$set $(CARGO) test --release --workspace --exclude gpfuse-py --lib $(TESTS) || exit 1; \
	    done

# The pages of `gpfuse report` in a real Chromium (CHROMIUM names another than /usr/bin/chromium).
browser: tests/browser/node_modules/.package-lock.json
	@$(CARGO) build --quiet --release -p gpfuse-cli
	node tests/browser/run.js target/release/gpfuse target/browser

tests/browser/node_modules/.package-lock.json: tests/browser/package-lock.json
	cd tests/browser && npm ci --no-audit --no-fund --loglevel=error
	touch $@

# The paper's small sweep, killed at twenty moments; ten minutes.
kill:
	$(CARGO) test --release -p gpfuse-cli --test sweep -- --ignored the_killed_paper

# The studies behind docs/trust.md, and their page; their short forms are among the tests. All crates
# are built with the features that their tests have, so that none is built twice.
trust:
	begun=$$(date +%s); $(CARGO) build --release --workspace --exclude gpfuse-py && \
	target/release/gpfuse-trust --out target/trust --building $$(($$(date +%s) - begun))

# The tests that go through the vector kernels on every instruction set, with every load and store
# checked. The sanitizer is in the stable compiler, behind a switch that is not.
sanitizer:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 \
	    CARGO_TARGET_DIR=target/sanitizer $(CARGO) test -p gpfuse --target x86_64-unknown-linux-gnu \
	    --lib --test collapsed --test golden --test gradient

# Licences, sources and advisories of all that is linked. GPFUSE_ADVISORY_DB names the folder of a copy of
# the advisories, where they cannot be fetched.
audit: tools
	$(WITH_TOOLS) $(CARGO) deny check $(if $(GPFUSE_ADVISORY_DB),bans licenses sources)
	$(WITH_TOOLS) $(CARGO) audit $(if $(GPFUSE_ADVISORY_DB),--no-fetch --stale --db $(GPFUSE_ADVISORY_DB)) \
	    --deny unsound

# What these two and `fuzz/run` need of cargo, kept in this folder. Not optimised: they are built more than
# they run.
tools: $(addprefix target/tools/,$(TOOLS))

target/tools/%:
	$(CARGO) install --quiet --locked --debug --root target/tools $*
	touch $@

# As the tests are built, so that macros and build scripts are built once for both.
check: $(VENV)/ready
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps
	$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# Log densities and gradients against the golden files, on every instruction set.
golden:
	$(CARGO) run --release -p gpfuse-bench --bin golden -- crates/gpfuse/tests/golden

# Gradients, sampling, prediction (criterion) and start-up, in about two minutes.
bench:
	$(CARGO) run --release -p gpfuse-bench --bin gradient
	$(CARGO) bench -p gpfuse --bench engine
	$(CARGO) bench -p gpfuse-cli --bench startup

# The frozen protocol against NumPyro; hours, and it goes on where it stopped.
protocol:
	$(CARGO) run --release -p gpfuse-bench --bin protocol -- bench/paper bench/results/protocol.csv

# Beside NumPyro and nutpie in one run; more than an hour, and it goes on where it stopped.
versus:
	bench/versus

$(VENV)/ready: tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

clean:
	$(CARGO) clean
