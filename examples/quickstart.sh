#!/usr/bin/env bash
# An agent that learns skills, on real local inference. From a fresh Debian 12 with Rust: sets up, builds, shows.
# Options go to the example: --seed N --tasks N --group N --model FILE.gguf --out DIR --json --no-gate
# --select pmi|mean|sum|bm25|random|none
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=../tests/setup.sh
. "$root/tests/setup.sh"

if [ ! -x "$CARGO_TARGET_DIR/debug/quickstart" ]; then
    journeyman_say "building takes about 10 minutes on 2 cores, the first time only"
fi
# In the root, where .cargo/config.toml holds; what is run stays in the caller's folder, so that its paths hold.
build() { (cd "$root" && cargo build --workspace --bin quickstart </dev/null); }
# On a terminal cargo has a bar.
if [ -t 2 ]; then build; else journeyman_while building build; fi
export JOURNEYMAN_ROOT=$root
exec "$CARGO_TARGET_DIR/debug/quickstart" "$@"
