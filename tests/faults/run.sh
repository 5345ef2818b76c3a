#!/usr/bin/env bash
# The fault harness: bash tests/faults/run.sh [--full] [--seed N] [SCENARIO...]. Without --full, a short pass.
# A line for each figure: name, value, bound, ok or short. Status 1 when one is short.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../setup.sh
. "$root/tests/setup.sh"

(cd "$root" && cargo build --workspace --bin faults </dev/null)
exec "$CARGO_TARGET_DIR/debug/faults" "$@"
