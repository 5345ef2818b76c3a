#!/usr/bin/env bash
# The tests that need more than Rust: real model servers, ONNX Runtime, BFCL's package, MCP's official server and
# conformance package, chat templates that are fetched. Sets them up (tests/adapters/setup.sh; the first time takes some 15
# minutes on 2 cores) and runs every ignored test of the adapters:
#   bash tests/adapters/run.sh [ARGUMENT OF cargo nextest run]...
# Without cargo-nextest they run by `cargo test`. A part that cannot be set up fails its tests, with the script to run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
# shellcheck source=../setup.sh
. tests/setup.sh
variables=$(bash tests/adapters/setup.sh)
eval "$variables"
packages=(journeyman-fastembed journeyman-llama-cpp journeyman-mcp journeyman-openai journeyman-tests bfcl)
# The whole workspace is built, as by tests/run.sh: a choice of packages would build llama.cpp anew, with other features.
if cargo nextest --version >/dev/null 2>&1; then
    chosen=$(printf ' or package(=%s)' "${packages[@]}")
    exec cargo nextest run --workspace --run-ignored only --no-fail-fast --filterset "${chosen# or }" "$@"
fi
exec cargo test "${packages[@]/#/--package=}" --no-fail-fast "$@" -- --ignored
