#!/usr/bin/env bash
# Makes a Python environment with ONNX Runtime and prints the path of its shared library, for adapters/fastembed:
#   export ORT_DYLIB_PATH=$(bash tests/adapters/fastembed.sh [FOLDER])     default: the user's cache
set -euo pipefail
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/onnxruntime}
version=1.24.1
library() { find "$folder" -name "libonnxruntime.so.*" -path "*/onnxruntime/capi/*" 2>/dev/null | head -n 1; }
if [ -z "$(library)" ]; then
    python3 -m venv "$folder" >&2 || {
        echo "python3 with venv is needed: apt-get install python3-venv" >&2
        exit 1
    }
    # Without its dependencies: only the library is used.
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "onnxruntime==$version" >&2
fi
found=$(library)
if [ -z "$found" ]; then
    echo "the package onnxruntime of this system has no libonnxruntime.so.<version> under onnxruntime/capi" >&2
    exit 1
fi
echo "$found"
