# The GLSL compiler, a program used at build time alone. It must be there when wavefit is
# configured, since its version decides which shaders are built; a fetched one is built right here.
find_program(WAVEFIT_GLSLANG NAMES glslangValidator glslang DOC "The GLSL compiler")
find_program(WAVEFIT_SPIRV_VAL NAMES spirv-val DOC "The SPIR-V validator")
if(NOT WAVEFIT_GLSLANG AND WAVEFIT_FETCH)
    message(STATUS "wavefit: glslang: none installed, fetching and building 15.2.0")
    FetchContent_Declare(wavefit_glslang
        GIT_REPOSITORY https://github.com/KhronosGroup/glslang.git
        GIT_TAG 99ee11b0106b48f06fb9e2a324ba928b8316cc33 # 15.2.0
        SOURCE_SUBDIR none)
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
