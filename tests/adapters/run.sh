#!/usr/bin/env bash
# The tests that need more than Rust: real model servers, ONNX Runtime, BFCL's package, an official MCP server, chat templates
# that are fetched. Sets them up (tests/adapters/setup.sh; the first time takes some 15 minutes on 2 cores) and runs every ignored
# test of the adapters:
#   bash tests/adapters/run.sh [ARGUMENT OF cargo nextest run]...
# Without cargo-nextest they run by `cargo test`. A part that cannot be set up fails its tests, with the script to run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
# shellcheck source=../setup.sh
. tests/setup.sh
variables=$(bash tests/adapters/setup.sh)
eval "$variables"
packages=(--package journeyman-fastembed --package journeyman-llama-cpp --package journeyman-mcp --package journeyman-openai
    --package bfcl)
if cargo nextest --version >/dev/null 2>&1; then
    exec cargo nextest run "${packages[@]}" --run-ignored only --no-fail-fast "$@"
fi
exec cargo test "${packages[@]}" --no-fail-fast "$@" -- --ignored
