# Every way to build, check and measure wayword. `make` alone tells them.
# Needs Python, a Rust toolchain and make; everything else goes into .venv.

PYTHON ?= python3
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help dev demo test lint format golden bench fuzz torture docs licences wheel clean

help:
	@echo "make demo    build, then train and compare small systems on text that it makes itself"
	@echo "make test    build, then run every test"
	@echo "make lint    formatting, types, lints, stubs; warnings are errors"
	@echo "make format  let the formatters rewrite the code"
	@echo "make golden  rewrite the expected output of commands; read the diff"
	@echo "make bench   measure speed and memory; results go to bench/results"
	@echo "make fuzz    changed bytes for every reader; FUZZ_SECONDS=600"
	@echo "make torture kill and starve every long command; KILLS=300"
	@echo "make docs    build the site into site/; a broken link is an error"
	@echo "make dev     only build, into .venv"
	@echo "make wheel   build wheel and sdist of the last commit into dist/, check and try them"
	@echo "make licences  write the licence texts and their table again"

dev: .venv/.built

.venv/.made:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip 'maturin>=1.9,<2'
	@touch $@

.venv/.built: .venv/.made pyproject.toml $(RUST)
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --quiet --release --locked --extras dev,zh,ja,parquet,subwords,serve,browser,docs
	@$(BIN)/python -m pip install --quiet 'kenlm>=0.3' \
		|| echo "kenlm did not build (it needs a C++ compiler): tests that compare with it are skipped"
	@$(BIN)/python -m pip install --quiet 'ray>=2.40' 'fsspec>=2024.2' \
		|| echo "ray has no wheel for this Python or system: tests of clusters are skipped"
	@touch $@

demo: dev
	$(BIN)/wayword demo

test: dev
	cargo test --quiet --locked --package wayword-core
	$(BIN)/python -m pytest --quiet -n auto --dist loadgroup

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest wayword._core --allowlist crates/python/stubtest.allow
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- --deny warnings
	$(BIN)/python release/licences.py --check

format: dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	cargo fmt --all

golden: dev
	$(BIN)/python -m pytest --quiet tests/test_golden.py tests/test_stage_versions.py --rewrite-golden
	$(BIN)/python docs/reference/make.py

bench: dev
	$(BIN)/python bench/run.py

FUZZ_SECONDS ?= 600
fuzz: dev
	$(BIN)/python fuzz/run.py --seconds $(FUZZ_SECONDS)

KILLS ?= 300
torture: dev
	$(BIN)/python fuzz/torture.py --kills $(KILLS)

docs: dev
	$(BIN)/python docs/reference/make.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

licences: dev
	$(BIN)/python release/licences.py

wheel: .venv/.made
	$(BIN)/python -m pip install --quiet 'twine>=6'
	$(BIN)/python release/wheel.py build
	$(BIN)/python release/wheel.py try

clean:
	rm -rf .venv target demo dist site
