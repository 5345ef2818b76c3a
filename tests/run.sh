#!/usr/bin/env bash
# Everything that must hold, from a fresh machine with Rust. Stops at the first stage that fails, with its name.
# The last lines are the counts.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec </dev/null

started=$(date +%s)
stage=set-up
times=
pulse=
tests=
documentation=
logs=$(mktemp -d)

finish() {
    local status=$?
    quiet
    rm -rf "$logs"
    if [ "$status" != 0 ]; then
        printf '\nFAILED at the stage: %s (after %s)\n' "$stage" "$(minutes "$started")"
    fi
}
trap finish EXIT

minutes() { awk -v s="$(($(date +%s) - $1))" 'BEGIN { printf "%.1f min", s / 60 }'; }

# Long stages say each minute that they are alive.
beat() {
    local name=$1 since=$2
    (
        trap 'kill "$nap" 2>/dev/null; exit' TERM
        while :; do
            sleep 60 &
            nap=$!
            wait "$nap"
            printf '… %s, %s\n' "$name" "$(minutes "$since")"
        done
    ) &
    pulse=$!
}
quiet() {
    if [ -n "$pulse" ]; then
        kill "$pulse" 2>/dev/null || true
        wait "$pulse" 2>/dev/null || true
        pulse=
    fi
}

# run NAME COMMAND...: runs it, times it.
run() {
    stage=$1
    shift
    local since
    since=$(date +%s)
    printf '\n== %s\n' "$stage"
    beat "$stage" "$since"
    "$@"
    quiet
    times="$times$stage $(minutes "$since"); "
}

# Sums the lines that cargo test ends each binary with: passed, failed, ignored.
cargo_test_counts() {
    awk '/^test result:/ { passed += $4; failed += $6; skipped += $8 }
         END { printf "%d passed, %d failed, %d skipped", passed, failed, skipped }' "$1"
}

set_up() {
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 ||
        rustup component add rustfmt clippy
    if ! cargo nextest --version >/dev/null 2>&1; then
        printf 'installing cargo-nextest\n'
        CARGO_TARGET_DIR=$journeyman_cache/nextest cargo install --locked cargo-nextest --version 0.9.151 ||
            printf 'cargo-nextest could not be installed: tests run by cargo test\n'
        rm -rf "$journeyman_cache/nextest"
    fi
}

unit_tests() {
    if cargo nextest --version >/dev/null 2>&1; then
        cargo nextest run --workspace --no-fail-fast 2>&1 | tee "$logs/tests"
        tests=$(sed 's/\x1b\[[0-9;]*m//g' "$logs/tests" | awk '/^ *Summary/ { sub(/^ *Summary *\[[^]]*\] */, ""); print }' | tail -n 1)
    else
        cargo test --workspace --all-targets --no-fail-fast 2>&1 | tee "$logs/tests"
        tests=$(cargo_test_counts "$logs/tests")
    fi
}

doc_tests() {
    cargo test --workspace --doc 2>&1 | tee "$logs/doc"
    documentation=$(cargo_test_counts "$logs/doc")
}

quickstart() {
    bash examples/quickstart.sh --tasks 6 --held-out 6 --out "$logs/quickstart" --json | tee "$logs/quickstart.out"
    # Built with the tests; alone it would be built with other features, and the SDK with it.
    "$CARGO_TARGET_DIR/debug/quickstart-output" <"$logs/quickstart.out"
}

without_features() {
    cargo clippy --package journeyman --no-default-features -- -D warnings || return
    local features
    for features in language-model embeddings,measure hisme,scribe; do
        cargo check --package journeyman --no-default-features --features "$features" || return
    done
}

documentation() {
    # A host's own build: its pages link to nothing that its features leave out.
    RUSTDOCFLAGS='-D warnings' cargo doc --package journeyman --no-deps &&
        RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --features journeyman/conformance
}

printf '== set-up\n'
# shellcheck source=setup.sh
. "$root/tests/setup.sh"
run tools set_up
run formatting cargo fmt --all --check
run clippy cargo clippy --workspace --all-targets -- -D warnings
# A host's own build: without what only tests have. Then features by themselves; no paper needs another one, so two are checked at once.
run clippy-without-features without_features
run documentation documentation
run tests unit_tests
run documentation-tests doc_tests
run quickstart quickstart
run packages bash "$root/tests/package.sh"

printf '\n%s\nall stages passed in %s\n' "${times%; }" "$(minutes "$started")"
printf 'tests: %s\n' "$tests"
printf 'documentation tests: %s\n' "$documentation"
printf 'quickstart: its JSON is complete\n'
