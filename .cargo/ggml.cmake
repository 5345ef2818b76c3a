# Read by CMake at ggml's `project()` (config.toml beside this file): two of its files cannot be compiled together with others,
# since they include a header that the others include differently.
function(journeyman_compile_apart)
    file(GLOB apart "${CMAKE_CURRENT_SOURCE_DIR}/src/ggml-cpu/amx/*.cpp")
    set_source_files_properties(${apart} DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/src"
        PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
cmake_language(DEFER CALL journeyman_compile_apart)
