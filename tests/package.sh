#!/usr/bin/env bash
# Packages each crate that is to be published, and prints its name, files and bytes. Nothing is built, and the network is not
# used: what a build has downloaded is enough. Fails where a crate cannot be packaged, where a source reads a file that its
# package does not hold, and where a file is too large.
# usage: bash tests/package.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

# In the order in which they are published: each depends on those before it.
published="skills sdk adapters/disk adapters/experiment adapters/fastembed adapters/interchange adapters/lint
    adapters/llama-cpp adapters/openai adapters/process adapters/mcp adapters/tantivy adapters/local adapters/cli"
# The most bytes of a file.
most=200000

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/copy unpacked=$work/unpacked
faults=0

fault() {
    printf '%s\n' "$*" >&2
    faults=$((faults + 1))
}

every_crate_is_listed() {
    local manifest folder
    for manifest in "$root"/{sdk,skills,adapters/*}/Cargo.toml; do
        folder=${manifest#"$root"/}
        folder=${folder%/Cargo.toml}
        case " $(echo $published) " in
            *" $folder "*) ;;
            *) fault "$folder: list it in tests/package.sh" ;;
        esac
    done
}

# The crates in a workspace of their own. Cargo finds a dependency among the packages of the same call only where it may be
# published, and here none may be, until a person decides otherwise.
copy_crates() {
    local folder members=
    mkdir -p "$copy/adapters"
    cp "$root/Cargo.lock" "$root/README.md" "$copy/"
    for folder in $published; do
        cp -R "$root/$folder" "$copy/$folder"
        members="$members\"$folder\", "
    done
    awk -v members="$members" '
        /^members = \[/ { print "members = [" members "]"; inside = 1 }
        inside { if (/^\]/) inside = 0; next }
        { sub(/^publish = false$/, "publish = true"); print }' "$root/Cargo.toml" >"$copy/Cargo.toml"
}

package() {
    if ! (cd "$copy" && cargo package --workspace --no-verify --offline --target-dir "$work/target") >"$work/log" 2>&1; then
        # That tests and benches are left out is meant.
        grep -v '^warning: ignoring \(test\|benchmark\) ' "$work/log" >&2 || true
        fault "cargo package failed"
        return 1
    fi
}

# The paths that a source includes, one a line; `?` for one that is not written as one text.
included() {
    tr '\n' ' ' <"$1" |
        { grep -oE '\binclude(_str|_bytes)?! *[[({] *("[^"]*"|.)|#\[path *= *"[^"]*"' || true; } |
        sed -E 's/^[^"]*"([^"]*)"$/\1/; t; s/.*/?/'
}

# Reads beside the package would fail for who downloads it.
check_reads() {
    local name=$1 folder=$2 source path
    while IFS= read -r source; do
        while IFS= read -r path; do
            case $path in
                '?' | /*) fault "$name: ${source#"$folder"/} includes a path that cannot be checked; write it as one text" ;;
                *) [ -f "$(dirname "$source")/$path" ] || fault "$name: ${source#"$folder"/} includes $path, which is not in the package" ;;
            esac
        done < <(included "$source")
        if grep -q 'env!("CARGO_MANIFEST_DIR")' "$source"; then
            fault "$name: ${source#"$folder"/} reads from the folder that it was built in"
        fi
    done < <(find "$folder" -name '*.rs')
}

check() {
    local archive=$1 name folder before=$faults files bytes packed large
    name=$(basename "$archive" .crate)
    # A folder for each, so that none finds a neighbor's files.
    mkdir -p "$unpacked/$name"
    tar -xzf "$archive" -C "$unpacked/$name"
    folder=$unpacked/$name/$name
    check_reads "$name" "$folder"
    while IFS= read -r large; do
        fault "$name: ${large#"$folder"/} has more than $most bytes"
    done < <(find "$folder" -type f -size "+${most}c")
    files=$(find "$folder" -type f | wc -l)
    bytes=$(find "$folder" -type f -exec cat {} + | wc -c)
    packed=$(wc -c <"$archive")
    if [ "$faults" = "$before" ]; then
        printf '%s, %d files, %d bytes (%d packed), ok\n' "${name%-*}" "$files" "$bytes" "$packed"
    fi
}

every_crate_is_listed
copy_crates
package || exit 1
for folder in $published; do
    name=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$copy/$folder/Cargo.toml" | head -n 1)
    for archive in "$work/target/package/$name"-[0-9]*.crate; do
        check "$archive"
    done
done
if [ "$faults" != 0 ]; then
    printf '%d faults\n' "$faults" >&2
    exit 1
fi
