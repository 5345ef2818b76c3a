# Sourced by the scripts: what building needs is there when this is through, or one line says what to run.
# No shell options are changed; the caller has `set -euo pipefail`.

journeyman_cache=${XDG_CACHE_HOME:-$HOME/.cache}/journeyman
# One target folder for all checkouts, so that llama.cpp is compiled once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$journeyman_cache/target}
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

journeyman_say() { printf '%s\n' "$*" >&2; }

journeyman_any_file() {
    local file
    for file in "$@"; do
        if [ -e "$file" ]; then return 0; fi
    done
    return 1
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
        journeyman_say "Rust is missing. Run: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
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

journeyman_setup || exit 1
