#!/usr/bin/env bash
# Figures of a GPU, on a machine that needs no Rust: one file is packed here and run there.
# usage: bash tests/gpu.sh pack FILE.tar.xz                             here: the programs, llama.cpp's libraries and sources, the model
#        tar xf FILE.tar.xz && bash gpu/gpu.sh run cuda|vulkan [OPTIONS]   there: compiles llama.cpp's backend as a library, and measures
# OPTIONS as of figures.sh: --seed N, and --model FILE for another model than the 4B shape that is written there (2.5 GB).
# There it needs cmake and a C++ compiler, and for cuda the CUDA toolkit, for vulkan the headers, the loader and glslc. Without a GPU,
# Mesa's software device shows that it builds and loads, slowly: GGML_VK_VISIBLE_DEVICES=0 bash gpu/gpu.sh run vulkan --model FILE
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The field of an object of cargo's messages: of the last line for which it is true.
field() { python3 -c "import json, sys
found = [m for m in map(json.loads, sys.stdin) if $1]
print(found[-1]$2)"; }

pack() {
    local file=$1 root messages out sources folder
    root=$(cd "$here/.." && pwd)
    file=$(realpath --canonicalize-missing "$file")
    # shellcheck source=setup.sh
    . "$root/tests/setup.sh"
    cd "$root"
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$folder'" EXIT
    messages=$folder/messages
    cargo build --workspace --bin figures --message-format json </dev/null >"$messages"
    out=$(field 'm["reason"] == "build-script-executed" and "llama-cpp-sys-2" in m["package_id"]' '["out_dir"]' <"$messages")
    sources=$(cargo metadata --format-version 1 --locked | python3 -c 'import json, os, sys
print(*(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "llama-cpp-sys-2"))')
    mkdir -p "$folder/gpu/tests/lab/apprentice" "$folder/gpu/ggml/src"
    strip -o "$folder/gpu/figures" "$CARGO_TARGET_DIR/debug/figures"
    cp -L "$CARGO_TARGET_DIR"/debug/lib{llama,ggml,ggml-base}.so "$out"/backends/*.so "$folder/gpu/"
    cp "$root/tests/lab/apprentice/apprentice.gguf" "$folder/gpu/tests/lab/apprentice/"
    cp -r "$sources"/llama.cpp/ggml/{CMakeLists.txt,cmake,include} "$folder/gpu/ggml/"
    # What the crate leaves out and CMake wants.
    touch "$folder/gpu/ggml/ggml.pc.in"
    find "$sources/llama.cpp/ggml/src" -maxdepth 1 -type f -exec cp -t "$folder/gpu/ggml/src" {} +
    cp -r "$sources"/llama.cpp/ggml/src/ggml-{cpu,cuda,vulkan} "$folder/gpu/ggml/src/"
    cp -r "$root/adapters/llama-cpp/tests/vulkan/include" "$folder/gpu/"
    cp "$here/gpu.sh" "$folder/gpu/"
    mkdir -p "$(dirname "$file")"
    tar -C "$folder" -cf - gpu | xz -T0 -3 >"$file"
    printf '%s: %s bytes\n' "$file" "$(stat -c %s "$file")"
}

build() {
    local backend=$1 options
    case $backend in
    cuda) options=(-DGGML_CUDA=ON -DGGML_CUDA_NCCL=OFF -DCMAKE_CUDA_ARCHITECTURES=native) ;;
    vulkan)
        options=(-DGGML_VULKAN=ON)
        # What old headers lack; empty beside newer ones.
        export CPLUS_INCLUDE_PATH="$here/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}"
        ;;
    *)
        echo "name a backend: cuda or vulkan" >&2
        return 2
        ;;
    esac
    if [ -e "$here/backends/libggml-$backend.so" ]; then return 0; fi
    printf 'compiling libggml-%s.so (log: %s)\n' "$backend" "$here/build.log" >&2
    if ! {
        cmake -S "$here/ggml" -B "$here/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_BACKEND_DL=ON \
            -DGGML_CPU=OFF -DGGML_NATIVE=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF \
            -DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON "${options[@]}" &&
            cmake --build "$here/build" --parallel "$(nproc)" --target "ggml-$backend"
    } >"$here/build.log" 2>&1; then
        tail -n 20 "$here/build.log" >&2
        return 1
    fi
    mkdir -p "$here/backends"
    cp "$(find "$here/build" -name "libggml-$backend.so" | head -n 1)" "$here/backends/"
}

run() {
    build "${1:-}"
    shift
    export JOURNEYMAN_ROOT=$here JOURNEYMAN_GPU_BACKENDS=$here/backends JOURNEYMAN_OUT=${JOURNEYMAN_OUT:-$here/out}
    exec "$here/figures" gpu "$@"
}

case ${1:-} in
pack) pack "${2:?name the file to write}" ;;
run) run "${@:2}" ;;
*)
    sed -n '2,7p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
