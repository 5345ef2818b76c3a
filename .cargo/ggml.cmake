# Read by CMake at ggml's `project()` (config.toml beside this file).

# Two files cannot be compiled together with others, since they include a header that the others include differently.
function(journeyman_compile_apart)
    file(GLOB apart "${CMAKE_CURRENT_SOURCE_DIR}/src/ggml-cpu/amx/*.cpp")
    set_source_files_properties(${apart} DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/src"
        PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set_property(SOURCE ${apart} DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/src" APPEND
            PROPERTY COMPILE_OPTIONS -include "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/amx.h")
    endif()
endfunction()
cmake_language(DEFER CALL journeyman_compile_apart)

# The bindings ask for llama.cpp's `common` library whether or not they are built to call it, and ours are not.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)

# ggml's library for each kind of x86 processor is most of what llama.cpp takes to compile. A build for development runs where it is
# built, and has three: for this processor, for any with AVX2, and for any. A release build has all of them.
if("$ENV{PROFILE}" STREQUAL "debug" AND EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo journeyman_flags REGEX "^flags" LIMIT_COUNT 1)
    string(REPLACE " " ";" journeyman_flags "${journeyman_flags}")
endif()
if("sse4_2" IN_LIST journeyman_flags)
    set(JOURNEYMAN_VARIANTS x64 haswell)
    # By ggml's names, in the order of its own choice.
    if("amx_int8" IN_LIST journeyman_flags)
        list(APPEND JOURNEYMAN_VARIANTS sapphirerapids)
    elseif("avx512_bf16" IN_LIST journeyman_flags)
        list(APPEND JOURNEYMAN_VARIANTS cooperlake zen4)
    elseif("avx512_vnni" IN_LIST journeyman_flags)
        list(APPEND JOURNEYMAN_VARIANTS cascadelake icelake)
    elseif("avx512bw" IN_LIST journeyman_flags)
        list(APPEND JOURNEYMAN_VARIANTS skylakex)
    elseif("avx_vnni" IN_LIST journeyman_flags)
        list(APPEND JOURNEYMAN_VARIANTS alderlake)
    endif()
    # Of such a pair, one uses AVX512-VBMI.
    if("avx512vbmi" IN_LIST journeyman_flags)
        list(REMOVE_ITEM JOURNEYMAN_VARIANTS cooperlake cascadelake)
    else()
        list(REMOVE_ITEM JOURNEYMAN_VARIANTS zen4 icelake)
    endif()
    # CI's tests mostly run the bundled model, whose heads have 32 numbers. ggml's code for AVX512 takes 64 at a time and the rest
    # one by one: on such a model it takes 1.7 times as long as the one for AVX2.
    if(DEFINED ENV{JOURNEYMAN_VARIANTS} AND "avx2" IN_LIST journeyman_flags)
        set(JOURNEYMAN_VARIANTS $ENV{JOURNEYMAN_VARIANTS})
    endif()
    # ggml asks for this variable after it has defined the function, and before it calls it.
    function(journeyman_choose_variants)
        if(COMMAND ggml_add_cpu_backend_variant AND NOT COMMAND _ggml_add_cpu_backend_variant)
            function(ggml_add_cpu_backend_variant tag)
                if(tag IN_LIST JOURNEYMAN_VARIANTS)
                    _ggml_add_cpu_backend_variant(${tag} ${ARGN})
                endif()
            endfunction()
        endif()
    endfunction()
    variable_watch(GGML_CPU_ALL_VARIANTS journeyman_choose_variants)
endif()
