#!/usr/bin/env bash
# llama.cpp's own llama-bench and llama-batched-bench on a shape: what our figures stand beside. Their sources are in no
# crate, but in the source distribution of the Python package llama-cpp-python, which is a llama.cpp of its own; both
# versions are printed. Not part of CI: it downloads, and compiles for minutes.
# usage: bash tests/lab/shapes/llama-bench.sh [shape] [quantization]
#   THREADS  threads that compute (2)
#   OUT      the folder of package, build and model (out/llama-bench)
set -euo pipefail
cd "$(dirname "$0")/../../.."

shape=${1:-0.5b}
quantization=${2:-q8_0}
threads=${THREADS:-2}
out=${OUT:-out/llama-bench}
mkdir -p "$out"
out=$(cd "$out" && pwd)

# From the index that pip is configured with; it fetches the package's build tools to read its metadata.
if ! compgen -G "$out/llama_cpp_python-*.tar.gz" >/dev/null; then
    python3 -m pip download --quiet --no-binary :all: --no-deps --dest "$out" llama-cpp-python
fi
package=$(compgen -G "$out/llama_cpp_python-*.tar.gz" | sort --version-sort | tail -n 1)
source=${package%.tar.gz}
[[ -d $source ]] || tar --extract --gzip --file "$package" --directory "$out"
llama=$source/vendor/llama.cpp

# As the crate llama-cpp-sys-2 builds its copy: AVX2 and FMA, nothing that only this machine has, no OpenMP, static.
# The benches need llama.cpp's `common` beside it.
cmake -S "$llama" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_C_FLAGS='-ffunction-sections -fdata-sections -fPIC -m64 -march=x86-64' \
    -DCMAKE_CXX_FLAGS='-ffunction-sections -fdata-sections -fPIC -m64 -march=x86-64' \
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_BLAS=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF \
    -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_COMMON=ON -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF >"$out/cmake.log" 2>&1
cmake --build "$source/build" --parallel "$threads" --target llama-bench llama-batched-bench >>"$out/cmake.log" 2>&1

model=$(cargo run --quiet --package shapes -- "$shape" "$quantization" --out "$out")

# The number that a llama.cpp gives itself; the packages keep no history of it.
version() {
    sed -n "s/^set($2_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\))$/\2/p" "$1" | paste -s -d .
}
describe() {
    printf 'llama.cpp %s, ggml %s' "$(version "$1/CMakeLists.txt" LLAMA)" "$(version "$1/ggml/CMakeLists.txt" GGML)"
}
manifest=$(cargo metadata --format-version 1 --locked |
    python3 -c 'import json, sys
print(*(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "llama-cpp-sys-2"))')
ours=$(dirname "$manifest")
printf 'ours:   %s (%s, bindings at %s)\n' "$(describe "$ours/llama.cpp")" "$(basename "$ours")" \
    "$(sed -n 's/.*"sha1": "\([0-9a-f]*\)".*/\1/p' "$ours/.cargo_vcs_info.json")"
printf 'theirs: %s (%s, llama.cpp at %s)\n' "$(describe "$llama")" "$(basename "$source")" \
    "$(sed -n 's/.*ggml-org\/llama.cpp@\([0-9a-f]*\).*/\1/p' "$source/CHANGELOG.md" | head -n 1)"
printf 'model:  %s, %s threads, no flash attention as in the adapter's exact mode\n' "$(basename "$model")" "$threads"

# llama-bench takes no F32 for keys and values, which is what the adapter keeps in its exact mode; llama-batched-bench does.
"$source/build/bin/llama-bench" --model "$model" --threads "$threads" --n-prompt 512 --n-gen 64 --flash-attn off
"$source/build/bin/llama-batched-bench" --model "$model" --threads "$threads" --ctx-size 4096 --flash-attn off \
    --cache-type-k f32 --cache-type-v f32 -npp 64 -ntg 64 -npl 1,8
