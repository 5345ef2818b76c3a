// Compiled before ggml's files for AMX by GCC (ggml.cmake beside this file). In GCC 12 and others the header's own function tells the
// compiler of the first 8 of the configuration's 64 bytes alone, so that the rest is never stored and the first use of a tile ends
// the process: https://github.com/ggml-org/llama.cpp/pull/26954
#include <immintrin.h>

#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg %0" : : "m"(*(const char(*)[64])(config)))
