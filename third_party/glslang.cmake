# The GLSL compiler, a program used at build time alone. It must be there when wavefit is
# configured, since its version decides which shaders are built; a fetched one is built right here.
wavefit_part(glslang TITLE glslang AS BUILD_TOOL OF library VERSION 15.2.0
    LICENSE "BSD-3-Clause AND GPL-3.0-or-later WITH Bison-exception-2.2 AND Apache-2.0"
    COPYRIGHT "Copyright (c) The Khronos Group Inc. and others"
    HOME https://github.com/KhronosGroup/glslang
    GIT https://github.com/KhronosGroup/glslang.git
    COMMIT 99ee11b0106b48f06fb9e2a324ba928b8316cc33 MORE SOURCE_SUBDIR none)
find_program(WAVEFIT_GLSLANG NAMES glslangValidator glslang DOC "The GLSL compiler")
find_program(WAVEFIT_SPIRV_VAL NAMES spirv-val DOC "The SPIR-V validator")
if(NOT WAVEFIT_GLSLANG AND WAVEFIT_FETCH)
    wavefit_part_fetched(glslang)
    FetchContent_MakeAvailable(wavefit_glslang)
    set(build ${CMAKE_BINARY_DIR}/glslang)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${wavefit_glslang_SOURCE_DIR} -B ${build}
                            -DCMAKE_BUILD_TYPE=Release -DENABLE_OPT=OFF -DGLSLANG_TESTS=OFF
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target glslang-standalone
                    COMMAND_ERROR_IS_FATAL ANY)
    find_program(WAVEFIT_GLSLANG NAMES glslang PATHS ${build}/StandAlone NO_DEFAULT_PATH)
endif()
if(NOT WAVEFIT_GLSLANG)
    message(FATAL_ERROR "wavefit: no glslangValidator; install glslang-tools (./dev setup)")
endif()
execute_process(COMMAND ${WAVEFIT_GLSLANG} --version OUTPUT_VARIABLE text ERROR_QUIET)
string(REGEX MATCH "[0-9]+:([0-9]+\\.[0-9]+\\.[0-9]+)" ignored "${text}")
set(WAVEFIT_GLSLANG_VERSION "${CMAKE_MATCH_1}" CACHE INTERNAL "")
message(STATUS "wavefit: glslang ${WAVEFIT_GLSLANG_VERSION}: ${WAVEFIT_GLSLANG}")
get_property(used GLOBAL PROPERTY WAVEFIT_PART_glslang_USED)
if(NOT used)
    wavefit_part_found(glslang VERSION "${WAVEFIT_GLSLANG_VERSION}")
endif()
