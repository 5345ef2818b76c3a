#!/usr/bin/env bash
# Measured figures: bash tests/figures.sh NAME [--seed N] [--data DIR] [--model FILE|NAME] [--resume] [--summary]; --list names them.
# A line for each figure: name, value, bound, ok or short. Status 1 when one is short.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=setup.sh
. "$root/tests/setup.sh"

(cd "$root" && cargo build --workspace --bin figures </dev/null)
export JOURNEYMAN_ROOT=$root
export JOURNEYMAN_OUT=${JOURNEYMAN_OUT:-$root/out}
exec "$CARGO_TARGET_DIR/debug/figures" "$@"
