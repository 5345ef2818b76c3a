#!/usr/bin/env bash
# The conformance suite with all layers on a Vulkan device: by default on Mesa's software device, so no GPU is needed.
# Debian 12 or later; installs packages, so it wants root where they are missing. Not part of CI: it compiles llama.cpp
# with a thousand shaders.
# usage: bash adapters/llama-cpp/tests/vulkan.sh [TEST, such as it_scores [test arguments]]
#   GGML_VK_VISIBLE_DEVICES   the device, by its number in `vulkaninfo --summary` (0)
#   GGML_VK_DISABLE_F16       1 (the default here) computes in full precision; empty: as the device likes
set -euo pipefail
cd "$(dirname "$0")/../../.."

packages=(libvulkan-dev glslc spirv-headers mesa-vulkan-drivers)
missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
done
if ((${#missing[@]})); then
    apt-get update --quiet
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
fi

# A folder of its own: the features of llama.cpp are another build.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/journeyman}-vulkan"
# What old headers lack; empty beside newer ones.
export CPLUS_INCLUDE_PATH="$PWD/adapters/llama-cpp/tests/vulkan/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}"

# llama.cpp leaves software devices out unless one is named.
export GGML_VK_VISIBLE_DEVICES="${GGML_VK_VISIBLE_DEVICES:-0}"
export GGML_VK_DISABLE_F16="${GGML_VK_DISABLE_F16-1}"
# Set at all, llama.cpp takes it for yes.
[[ -n $GGML_VK_DISABLE_F16 ]] || unset GGML_VK_DISABLE_F16
export JOURNEYMAN_TEST_GPU_LAYERS=all

# One at a time: a software device takes all cores.
cargo test --package journeyman-llama-cpp --features vulkan --test it -- --test-threads=1 "conformance::${1:-}" "${@:2}"
