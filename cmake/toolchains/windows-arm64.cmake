# Windows on 64-bit Arm, on Linux, by the C compiler and the headers of zig, out of the tree that
# `./dev build-macos` makes: a check that library and tool compile and link. Nothing here runs it.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR ARM64)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../../.cache/macos ABSOLUTE)
set(CMAKE_C_COMPILER ${tree}/bin/aarch64-windows-cc)
# Debian 12 has it with LLVM's version in its name alone.
find_program(WAVEFIT_WINDRES NAMES llvm-windres llvm-windres-19 llvm-windres-14)
set(CMAKE_RC_COMPILER ${WAVEFIT_WINDRES})
set(CMAKE_RC_FLAGS_INIT
    "--target=aarch64-w64-mingw32 -I ${tree}/zig/lib/libc/include/any-windows-any")
set(CMAKE_AR ${tree}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${tree}/bin/ranlib CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH ${tree}/nothing)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
foreach(name yyjson zlib)
    string(TOUPPER ${name} upper)
    set(FETCHCONTENT_SOURCE_DIR_WAVEFIT_${upper} ${tree}/sources/${name} CACHE PATH "")
endforeach()
