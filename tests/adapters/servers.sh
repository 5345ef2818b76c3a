#!/usr/bin/env bash
# Builds two real model servers, for the tests of adapters/openai, and prints where they are:
#   export $(bash tests/adapters/servers.sh [FOLDER])     default: the user's cache
#   JOURNEYMAN_LLAMA_SERVER     llama.cpp's llama-server
#   JOURNEYMAN_PYTHON_SERVER    a Python in which `-m llama_cpp.server` runs
# Both come from the source distribution of llama-cpp-python: llama.cpp is compiled once, in about ten minutes on two cores,
# and both use its libraries. A second call builds nothing.
set -euo pipefail
version=0.3.36
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman/servers}/llama-cpp-python-$version
source=$folder/llama_cpp_python-$version
bin=$folder/build/bin
python=$folder/venv/bin/python
jobs=${JOURNEYMAN_BUILD_JOBS:-2}

say() { echo "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

mkdir -p "$folder"
exec 9>"$folder/lock"
flock -n 9 || {
    say "another call builds the servers; waiting for it"
    flock 9
}

if [ ! -x "$python" ]; then
    say "making a Python environment"
    { python3 -m venv "$folder/venv" && "$python" -m pip --version; } >&2 || {
        rm -rf "$folder/venv"
        fail "python3 with venv is needed: apt-get install python3-venv"
    }
fi
pip() { "$python" -m pip --quiet --disable-pip-version-check "$@" >&2; }

if [ ! -d "$source" ]; then
    say "fetching the sources of llama-cpp-python $version"
    pip download --no-binary llama-cpp-python --no-deps --dest "$folder" "llama-cpp-python==$version" ||
        fail "pip could not fetch llama-cpp-python $version: connect to a Python package index, or put its .tar.gz into $folder"
    rm -rf "$folder/unpacked"
    mkdir "$folder/unpacked"
    tar xzf "$folder/llama_cpp_python-$version.tar.gz" -C "$folder/unpacked"
    mv "$folder/unpacked/llama_cpp_python-$version" "$source"
    rm -rf "$folder/unpacked" "$folder/llama_cpp_python-$version.tar.gz"
fi

if [ ! -e "$folder/built" ]; then
    for tool in cmake g++ make; do
        command -v "$tool" >/dev/null || fail "$tool is needed: apt-get install cmake g++ make"
    done
    say "compiling llama.cpp and llama-server; the log is $folder/build.log"
    # No download while it is built: neither a web page for people nor curl or OpenSSL.
    {
        cmake -S "$source/vendor/llama.cpp" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
            -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_TESTS=OFF \
            -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF &&
            cmake --build "$folder/build" --target llama-server llama mtmd -j "$jobs"
    } >"$folder/build.log" 2>&1 || fail "llama.cpp does not compile here: read the end of $folder/build.log"
    touch "$folder/built"
fi

if [ ! -e "$folder/installed" ]; then
    say "installing the server of llama-cpp-python"
    CMAKE_ARGS="-DLLAMA_BUILD=OFF -DLLAVA_BUILD=OFF" pip install "$source[server]" ||
        fail "the server of llama-cpp-python could not be installed: read pip's message above"
    # The libraries that were just compiled, in place of a second build.
    package=$(cd / && "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/llama_cpp
    rm -rf "$package/lib"
    ln -s "$bin" "$package/lib"
    touch "$folder/installed"
fi

"$bin/llama-server" --version >/dev/null 2>&1 || fail "llama-server does not start: remove $folder and call this again"
(cd / && "$python" -c 'import llama_cpp.server.app') >&2 ||
    fail "the server of llama-cpp-python does not start: remove $folder and call this again"
echo "JOURNEYMAN_LLAMA_SERVER=$bin/llama-server"
echo "JOURNEYMAN_PYTHON_SERVER=$python"
