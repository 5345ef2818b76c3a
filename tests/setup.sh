# Sourced by the scripts, in bash: what building needs is there when this is through, or one line says what to run.
# No shell options are changed; the caller has `set -euo pipefail`.

journeyman_cache=${XDG_CACHE_HOME:-$HOME/.cache}/journeyman
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

journeyman_say() { printf '%s\n' "$*" >&2; }

# journeyman_while WHAT COMMAND...: runs the command, and says each eight seconds that it goes on. The loop ends with the script,
# however that ends.
journeyman_while() {
    local what=$1 status=0 pulse since
    shift
    since=$(date +%s)
    (
        nap=
        trap 'kill "$nap" 2>/dev/null; exit' TERM
        while kill -0 $$ 2>/dev/null; do
            sleep 8 &
            nap=$!
            wait "$nap"
            journeyman_say "  ... $what, $(($(date +%s) - since)) s"
        done
    ) &
    pulse=$!
    "$@" || status=$?
    kill "$pulse" 2>/dev/null || true
    wait "$pulse" 2>/dev/null || true
    return "$status"
}

journeyman_any_file() {
    local file
    for file in "$@"; do
        if [ -e "$file" ]; then return 0; fi
    done
    return 1
}

# Checkouts share one target folder, so that llama.cpp is compiled once. Cargo names our own crates by their place in
# the checkout and asks only whether sources are newer than what was built, so one checkout would run what another one
# built. Therefore the folder has one owner at a time, for as long as its script runs: a new owner touches its sources,
# and who comes while another checkout owns it builds in a folder of its own.
journeyman_target() {
    local root=$1 shared=$journeyman_cache/target lock
    local own=$shared-$(printf '%s' "$root" | cksum | cut -d ' ' -f 1)
    export CARGO_TARGET_DIR=$own
    if ! command -v flock >/dev/null || ! mkdir -p "$shared"; then return 0; fi
    # Held until the script and what it starts have ended.
    exec {lock}>>"$shared/.owner.lock"
    if flock --nonblock --exclusive "$lock" && [ "$(cat "$shared/.owner" 2>/dev/null)" != "$root" ]; then
        find "$root/sdk" "$root/skills" "$root/adapters" "$root/examples" "$root/tests" -type f -exec touch -c {} + || return 0
        printf '%s\n' "$root" >"$shared/.owner"
    fi
    # Shared with other scripts of this checkout. Between the two locks another checkout may have come.
    if ! flock --nonblock --shared "$lock" || [ "$(cat "$shared/.owner" 2>/dev/null)" != "$root" ]; then
        exec {lock}>&-
        journeyman_say "another checkout is building; this one builds in $own"
        return 0
    fi
    CARGO_TARGET_DIR=$shared
}

# bindgen needs the library and the headers that clang brings.
journeyman_has_libclang() {
    if [ -n "${LIBCLANG_PATH:-}" ] || [ "$(uname -s)" != Linux ]; then return 0; fi
    journeyman_any_file /usr/lib*/llvm*/lib*/libclang*.so* /usr/lib*/libclang*.so* /usr/lib/*-linux-*/libclang*.so* \
        /usr/local/lib*/libclang*.so* &&
        journeyman_any_file /usr/lib*/llvm*/lib*/clang/*/include/stddef.h /usr/lib*/clang/*/include/stddef.h \
            /usr/local/lib*/clang/*/include/stddef.h
}

# The Debian packages that are missing.
journeyman_missing() {
    command -v cmake >/dev/null || echo cmake
    command -v make >/dev/null || command -v ninja >/dev/null || echo make
    command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || echo g++
    journeyman_has_libclang || echo libclang-dev
}

journeyman_install() {
    local packages=$1 as_root=
    if [ "$(id -u)" != 0 ]; then as_root="sudo -n"; fi
    if command -v apt-get >/dev/null && { [ -z "$as_root" ] || sudo -n true 2>/dev/null; }; then
        journeyman_say "setting up: apt-get install $packages"
        # shellcheck disable=SC2086
        if $as_root apt-get update -qq >&2 &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2; then
            return 0
        fi
    fi
    return 1
}

journeyman_setup() {
    if ! command -v cargo >/dev/null; then
        journeyman_say "Rust is missing: install the stable toolchain with rustup (1.95 or later), and run this again"
        return 1
    fi
    local packages
    packages=$(journeyman_missing | tr '\n' ' ')
    packages=${packages% }
    if [ -z "$packages" ]; then return 0; fi
    if journeyman_install "$packages" && [ -z "$(journeyman_missing)" ]; then return 0; fi
    journeyman_say "missing: $packages. Run: sudo apt-get update && sudo apt-get install -y $packages"
    return 1
}

# A script stops here by its `set -e`; a shell that sourced this by hand stays open.
journeyman_setup || return 1
if [ -z "${CARGO_TARGET_DIR:-}" ]; then
    journeyman_target "$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
fi
