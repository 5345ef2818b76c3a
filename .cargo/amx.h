// Compiled before ggml's files for AMX by GCC (ggml.cmake beside this file). GCC 12.2's own header names 8 of the
// configuration's 64 bytes as read, so that the compiler stores no others, and the first use of a tile ends the process:
// https://github.com/ggml-org/llama.cpp/pull/26954
#include <immintrin.h>

#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg %0" : : "m"(*(const char(*)[64])(config)))
