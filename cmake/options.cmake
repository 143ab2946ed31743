# Compiler flags shared by the project's own targets: wavefit_compile_options(TARGET).
include(CheckCCompilerFlag)
include(CheckLinkerFlag)

# Sources of the system: NAME_posix.c or NAME_windows.c.
if(WIN32)
    set(WAVEFIT_PLATFORM windows)
else()
    set(WAVEFIT_PLATFORM posix)
endif()

# Flags by compiler. clang-cl takes those of MSVC, whose warnings of level 4 that are left out find
# fault with what C allows: initialisers that are not constant, conversions that lose bits,
# conditions that are constant, functions of the C library that have a Microsoft version.
if(MSVC)
    set(WAVEFIT_WARNINGS /W4 /wd4127 /wd4204 /wd4221 /wd4244 /wd4245 /wd4267 /wd4996
        $<$<BOOL:${WAVEFIT_WERROR}>:/WX> /utf-8)
    if(CMAKE_C_COMPILER_ID STREQUAL "MSVC")
        list(APPEND WAVEFIT_WARNINGS /experimental:c11atomics)
    endif()
else()
    set(WAVEFIT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
        -Wredundant-decls -Wvla -Wstrict-aliasing=1 $<$<BOOL:${WAVEFIT_WERROR}>:-Werror>)
    if(MINGW) # GCC takes formats for those of the C library before UCRT, which had no %zu
        list(APPEND WAVEFIT_WARNINGS -Wno-format)
    endif()
    set(WAVEFIT_LIBM m) # Microsoft's C library has its functions itself
endif()

option(WAVEFIT_HARDEN "Harden optimised builds (stack protector, FORTIFY, CET, RELRO, PIE)" ON)
# What the compiler and the linker know of it. Nothing of this reaches a program that links wavefit:
# the flags are private, and those of the linker are for our own programs and the shared library.
set(WAVEFIT_HARDEN_COMPILE)
set(WAVEFIT_HARDEN_LINK)
if(WAVEFIT_HARDEN AND MSVC)
    set(WAVEFIT_HARDEN_COMPILE /guard:cf)
    set(WAVEFIT_HARDEN_LINK /guard:cf /CETCOMPAT)
elseif(WAVEFIT_HARDEN AND NOT WAVEFIT_SANITIZE) # sanitizers have interceptors of their own
    foreach(flag -fstack-protector-strong -fcf-protection)
        string(MAKE_C_IDENTIFIER "WAVEFIT_KNOWS${flag}" known)
        check_c_compiler_flag(${flag} ${known})
        if(${known})
            list(APPEND WAVEFIT_HARDEN_COMPILE ${flag})
        endif()
    endforeach()
    list(APPEND WAVEFIT_HARDEN_COMPILE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    foreach(flag relro now noexecstack)
        check_linker_flag(C LINKER:-z,${flag} WAVEFIT_KNOWS_Z_${flag})
        if(WAVEFIT_KNOWS_Z_${flag})
            list(APPEND WAVEFIT_HARDEN_LINK LINKER:-z,${flag})
        endif()
    endforeach()
endif()
if(WAVEFIT_TOP_LEVEL) # otherwise it would change how the other project's programs are linked
    include(CheckPIESupported)
    check_pie_supported(LANGUAGES C)
    # Two builds of one commit have the same bytes (./dev reproduce), wherever they are: archives
    # have no times, programs find a shared library from where they are, and what debuggers read
    # names no folder. In Debug it does, so that debuggers find the sources.
    set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
    if(UNIX AND NOT APPLE)
        set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
        set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
        set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
    endif()
    check_c_compiler_flag(-ffile-prefix-map=a=b WAVEFIT_KNOWS_file_prefix_map)
    if(WAVEFIT_KNOWS_file_prefix_map)
        foreach(map ${PROJECT_SOURCE_DIR}=. ${PROJECT_BINARY_DIR}=./build)
            add_compile_options($<$<CONFIG:RelWithDebInfo>:-ffile-prefix-map=${map}>)
        endforeach()
    endif()
endif()
set(WAVEFIT_OPTIMISED $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)

function(wavefit_link_options target)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY")
        target_link_options(${target} PRIVATE
            "$<${WAVEFIT_OPTIMISED}:${WAVEFIT_HARDEN_LINK}>")
    endif()
endfunction()

function(wavefit_compile_options target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L
        $<$<BOOL:${APPLE}>:_DARWIN_C_SOURCE>) # the first one hides sysconf's sizes there
    target_compile_options(${target} PRIVATE
        ${WAVEFIT_WARNINGS} "$<${WAVEFIT_OPTIMISED}:${WAVEFIT_HARDEN_COMPILE}>")
    wavefit_link_options(${target})
    if(WAVEFIT_SANITIZE)
        target_compile_options(${target} PRIVATE
            -fsanitize=${WAVEFIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
        target_link_options(${target} PUBLIC -fsanitize=${WAVEFIT_SANITIZE})
    endif()
endfunction()

# wavefit_precompile(TARGET HEADER...): what most sources of the target include is read once for all
# of them. Builds have it that compile what another one has compiled without: there a source that
# forgets a header is found. With ccache none has it, which would know no source again.
option(WAVEFIT_PRECOMPILE "Precompile headers, where no compiler launcher is" OFF)
function(wavefit_precompile target)
    if(WAVEFIT_PRECOMPILE AND NOT CMAKE_C_COMPILER_LAUNCHER)
        target_precompile_headers(${target} PRIVATE
            <errno.h> <limits.h> <math.h> <stdint.h> <stdio.h> <stdlib.h> <string.h> ${ARGN})
    endif()
endfunction()
