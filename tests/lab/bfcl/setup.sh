#!/usr/bin/env bash
# Makes a Python environment with BFCL's simulated services and its official checker, and prints its interpreter.
#   bash tests/lab/bfcl/setup.sh [FOLDER]     default: the user's cache
# The package is installed without its dependencies (clients of model servers, which nothing here needs), plus mpmath,
# which its calculator imports. Versions are pinned: the checker's judgement is part of the result.
set -euo pipefail
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/bfcl}
python=$folder/bin/python
if ! "$python" -c 'import bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker, mpmath' 2>/dev/null; then
    python3 -m venv "$folder" >&2 || {
        echo "python3 with venv is needed: apt-get install python3-venv" >&2
        exit 1
    }
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps bfcl-eval==2026.3.23 mpmath==1.3.0 >&2
    "$python" -c 'import bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker, mpmath'
fi
echo "$python"
