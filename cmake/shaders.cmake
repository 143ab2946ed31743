# GLSL to SPIR-V to C, at build time:
#   wavefit_add_shader(NAME matmul_tiled_f32 SOURCE matmul/matmul_tiled.comp
#                      [DEFINES A B=1] [TARGET_ENV vulkan1.1] [REQUIRES PROBE] [BFLOAT16]
#                      [FILES VARIABLE] [SIBLING NAME])
# gives C `extern const wfi_spirv wfi_spv_<NAME>` in "wfi_shaders.h". A module whose probe shader
# (cmake/probes/<PROBE>.comp) the GLSL compiler cannot build is off: its data are NULL. BFLOAT16:
# the module's 16-bit float type is bfloat16 (cmake/pack/spirv.c). FILES: the C file is added to
# that list in place of the library; who compiles it declares the module. SIBLING: another module of
# the same source, which this one is packed with.

set(WAVEFIT_SHADER_DIR ${PROJECT_BINARY_DIR}/shaders)
# Modules are the same for every host and build type: a second build of the same sources can do with
# the first one's; a module that is not there is compiled.
set(WAVEFIT_SHADERS "" CACHE PATH
    "Folder 'shaders' of another build of these sources, to take modules from")

# cmake/pack runs on the machine that builds.
set(pack_sources main.c compress.c rows.c spirv.c)
list(TRANSFORM pack_sources PREPEND ${PROJECT_SOURCE_DIR}/cmake/pack/)
if(CMAKE_CROSSCOMPILING)
    find_program(WAVEFIT_HOST_CC NAMES cc gcc clang DOC "C compiler of the machine that builds")
    if(NOT WAVEFIT_HOST_CC)
        message(FATAL_ERROR "wavefit: no C compiler of this machine packs the shaders: name one in "
                            "WAVEFIT_HOST_CC")
    endif()
    set(WAVEFIT_PACK ${PROJECT_BINARY_DIR}/pack)
    add_custom_command(
        OUTPUT ${WAVEFIT_PACK}
        COMMAND ${WAVEFIT_HOST_CC} -std=c11 -O2 -I${PROJECT_SOURCE_DIR}/src -o ${WAVEFIT_PACK}
                ${pack_sources}
        DEPENDS ${pack_sources} ${PROJECT_SOURCE_DIR}/cmake/pack/pack.h
                ${PROJECT_SOURCE_DIR}/src/core/spirv_code.h ${PROJECT_SOURCE_DIR}/src/core/unpack.h
        VERBATIM)
    add_custom_target(wavefit_pack DEPENDS ${WAVEFIT_PACK})
else()
    add_executable(wavefit_pack ${pack_sources})
    set_target_properties(wavefit_pack PROPERTIES
        OUTPUT_NAME pack C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_include_directories(wavefit_pack PRIVATE ${PROJECT_SOURCE_DIR}/src)
    if(NOT MSVC)
        target_compile_options(wavefit_pack PRIVATE
            -Wall -Wextra $<$<BOOL:${WAVEFIT_WERROR}>:-Werror>)
    endif()
    set(WAVEFIT_PACK wavefit_pack)
endif()

# Whether glslang compiles cmake/probes/<probe>.comp; asked once a configure and compiler.
function(wavefit_probe_shader probe target_env result)
    set(key WAVEFIT_PROBE_${probe}_${WAVEFIT_GLSLANG_VERSION})
    if(NOT DEFINED ${key})
        execute_process(
            COMMAND ${WAVEFIT_GLSLANG} -V --target-env ${target_env}
                    -o ${CMAKE_CURRENT_BINARY_DIR}/probe.spv
                    ${PROJECT_SOURCE_DIR}/cmake/probes/${probe}.comp
            RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(failed)
            set(${key} OFF CACHE INTERNAL "")
        else()
            set(${key} ON CACHE INTERNAL "")
        endif()
    endif()
    set(${result} ${${key}} PARENT_SCOPE)
endfunction()

function(wavefit_add_shader)
    cmake_parse_arguments(S "BFLOAT16" "NAME;SOURCE;TARGET_ENV;REQUIRES;FILES;SIBLING"
                          "DEFINES" ${ARGN})
    if(NOT S_TARGET_ENV)
        set(S_TARGET_ENV vulkan1.1)
    endif()
    set(source ${PROJECT_SOURCE_DIR}/shaders/${S_SOURCE})
    set(c_file ${WAVEFIT_SHADER_DIR}/${S_NAME}.c)
    if(S_FILES)
        set(${S_FILES} ${${S_FILES}} ${c_file} PARENT_SCOPE)
    else()
        get_property(names GLOBAL PROPERTY WAVEFIT_SHADER_NAMES)
        if(S_NAME IN_LIST names)
            message(FATAL_ERROR "shaders/${S_SOURCE}: another shader makes a module ${S_NAME}")
        endif()
        set_property(GLOBAL APPEND PROPERTY WAVEFIT_SHADER_NAMES ${S_NAME})
        set_property(GLOBAL APPEND PROPERTY WAVEFIT_SHADER_FILES ${c_file})
    endif()
    if(WAVEFIT_SHADERS AND NOT S_FILES AND EXISTS ${WAVEFIT_SHADERS}/${S_NAME}.c)
        configure_file(${WAVEFIT_SHADERS}/${S_NAME}.c ${c_file} COPYONLY)
        return()
    endif()
    if(S_REQUIRES)
        wavefit_probe_shader(${S_REQUIRES} ${S_TARGET_ENV} available)
        if(NOT available)
            message(STATUS "wavefit: shader ${S_NAME} off: "
                           "glslang ${WAVEFIT_GLSLANG_VERSION} lacks ${S_REQUIRES}")
            file(CONFIGURE OUTPUT ${c_file} CONTENT
"#include \"core/spirv.h\"
extern const wfi_spirv wfi_spv_@S_NAME@;
const wfi_spirv wfi_spv_@S_NAME@ = {0, 0, 0, 0, 0, \"@S_NAME@\", 0};
"
                 @ONLY)
            return()
        endif()
    endif()
    list(TRANSFORM S_DEFINES PREPEND -D)
    set(spv ${WAVEFIT_SHADER_DIR}/${S_NAME}.spv)
    set(pack ${WAVEFIT_PACK} spirv ${S_NAME} ${spv} ${c_file})
    set(packed ${spv})
    if(S_BFLOAT16)
        list(APPEND pack bfloat16)
    endif()
    if(S_SIBLING)
        list(APPEND packed ${WAVEFIT_SHADER_DIR}/${S_SIBLING}.spv)
        list(APPEND pack ${S_SIBLING} ${WAVEFIT_SHADER_DIR}/${S_SIBLING}.spv)
    endif()
    if(WAVEFIT_SPIRV_VAL)
        set(validate COMMAND ${WAVEFIT_SPIRV_VAL} --target-env ${S_TARGET_ENV} ${spv})
    endif()
    add_custom_command(
        OUTPUT ${spv}
        COMMAND ${WAVEFIT_GLSLANG} --quiet -V --target-env ${S_TARGET_ENV}
                -I${PROJECT_SOURCE_DIR}/shaders ${S_DEFINES} --depfile ${spv}.d -o ${spv} ${source}
        ${validate}
        DEPENDS ${source}
        DEPFILE ${spv}.d
        COMMENT "Compiling shader ${S_NAME}"
        VERBATIM)
    add_custom_command(
        OUTPUT ${c_file}
        COMMAND ${pack}
        DEPENDS ${packed} wavefit_pack
        VERBATIM)
    set_property(GLOBAL APPEND PROPERTY WAVEFIT_SHADERS_MADE ${S_NAME})
endfunction()

# In wavefit_add_modules: modules after the first that was made here are packed with it. One that is
# packed with bfloat16 is not what its .spv has.
macro(wavefit_first_sibling name)
    get_property(made GLOBAL PROPERTY WAVEFIT_SHADERS_MADE)
    if(NOT first AND NOT M_BFLOAT16 AND ${name} IN_LIST made)
        set(first ${name})
    endif()
endmacro()

# The modules that the first lines of a .comp name, one a line:
#   // MODULE spmv_row_*
#   // MODULE matmul_stream_k_* TYPES f16 i8 DEFINES STREAM_K REQUIRES cooperative_matrix
# A '*' stands for each of TYPES, or of the TYPES given here, the folder's; the module of type f16
# is compiled with WF_TYPE_F16. C initializes a table of them, by type, with WFI_MODULES_spmv_row.
# Other words are as wavefit_add_shader has them; BFLOAT16 is of cooperative matrices and requires
# them.
function(wavefit_add_modules)
    cmake_parse_arguments(S "" "SOURCE" "TYPES" ${ARGN})
    set(source ${PROJECT_SOURCE_DIR}/shaders/${S_SOURCE})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^// *MODULE")
    if(NOT lines)
        message(FATAL_ERROR "shaders/${S_SOURCE}: no line '// MODULE name' says what it makes")
    endif()
    set(first "")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^// *MODULE +" "" words "${line}")
        separate_arguments(words UNIX_COMMAND "${words}")
        list(POP_FRONT words name)
        cmake_parse_arguments(M "BFLOAT16" "REQUIRES;TARGET_ENV" "TYPES;DEFINES" ${words})
        if(NOT name OR M_UNPARSED_ARGUMENTS OR M_KEYWORDS_MISSING_VALUES OR
           (M_TYPES AND NOT name MATCHES "\\*"))
            message(FATAL_ERROR "shaders/${S_SOURCE}: '${line}' is not understood; "
                                "cmake/shaders.cmake says what may stand there")
        endif()
        if(M_BFLOAT16)
            set(options BFLOAT16)
            set(M_REQUIRES cooperative_matrix)
        else()
            set(options "")
        endif()
        list(APPEND options SOURCE ${S_SOURCE} TARGET_ENV ${M_TARGET_ENV} REQUIRES ${M_REQUIRES})
        if(NOT name MATCHES "\\*")
            wavefit_add_shader(NAME ${name} ${options} SIBLING ${first} DEFINES ${M_DEFINES})
            wavefit_first_sibling(${name})
            continue()
        elseif(NOT M_TYPES)
            set(M_TYPES ${S_TYPES})
        endif()
        foreach(type IN LISTS M_TYPES)
            string(REPLACE "*" ${type} module ${name})
            string(TOUPPER ${type} upper)
            wavefit_add_shader(NAME ${module} ${options} SIBLING ${first}
                               DEFINES WF_TYPE_${upper} ${M_DEFINES})
            wavefit_first_sibling(${module})
            string(REGEX REPLACE "_?\\*" "" stem ${name})
            set_property(GLOBAL APPEND PROPERTY WAVEFIT_SHADER_STEMS ${stem})
            set_property(GLOBAL APPEND PROPERTY WAVEFIT_MODULES_${stem}
                         "[WF_TYPE_${upper}] = &wfi_spv_${module},")
        endforeach()
    endforeach()
endfunction()

# Writes wfi_shaders.h and makes wavefit_shaders, an object library of every module. Called once,
# after all shaders and in their folder.
function(wavefit_shader_library)
    get_property(names GLOBAL PROPERTY WAVEFIT_SHADER_NAMES)
    get_property(files GLOBAL PROPERTY WAVEFIT_SHADER_FILES)
    set(header "#include \"core/spirv.h\"\n")
    set(all "#define WFI_MODULES(X)")
    foreach(name IN LISTS names)
        string(APPEND header "extern const wfi_spirv wfi_spv_${name};\n")
        string(APPEND all " \\\n    X(${name})")
    endforeach()
    get_property(stems GLOBAL PROPERTY WAVEFIT_SHADER_STEMS)
    list(REMOVE_DUPLICATES stems)
    foreach(stem IN LISTS stems)
        get_property(modules GLOBAL PROPERTY WAVEFIT_MODULES_${stem})
        list(JOIN modules " " modules)
        string(APPEND header "#define WFI_MODULES_${stem} {${modules}}\n")
    endforeach()
    string(APPEND header "${all}\n")
    file(CONFIGURE OUTPUT ${WAVEFIT_SHADER_DIR}/include/wfi_shaders.h CONTENT "${header}" @ONLY)
    add_library(wavefit_shaders OBJECT ${files})
    wavefit_compile_options(wavefit_shaders)
    # Starting the compiler takes longer than compiling a module, and so it has many at once, each
    # with its own declarations; of these, too, a program that is linked with --gc-sections leaves
    # out what it does not reach.
    set_target_properties(wavefit_shaders PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
    if(NOT MSVC)
        target_compile_options(wavefit_shaders PRIVATE -fdata-sections -Wno-redundant-decls)
    endif()
    target_include_directories(wavefit_shaders
        PUBLIC ${WAVEFIT_SHADER_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()
