# macOS 12 on Linux by zig's C compiler, out of the tree that `./dev build-macos` makes in
# .cache/macos: a check that library, tool and programs that embed it compile and link. The presets
# macos-arm64 and macos-x86_64 name the processor. On a Mac no toolchain file is needed.
set(CMAKE_SYSTEM_NAME Darwin)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../../.cache/macos ABSOLUTE)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WAVEFIT_MACOS_CPU)
set(CMAKE_SYSTEM_PROCESSOR ${WAVEFIT_MACOS_CPU})
if(WAVEFIT_MACOS_CPU STREQUAL "arm64")
    set(CMAKE_C_COMPILER ${tree}/bin/aarch64-cc)
else()
    set(CMAKE_C_COMPILER ${tree}/bin/x86_64-cc)
endif()
set(CMAKE_AR ${tree}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${tree}/bin/ranlib CACHE FILEPATH "")
# Rewrites paths in installed libraries, which nobody installs from here.
set(CMAKE_INSTALL_NAME_TOOL /bin/false CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH ${tree})
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
set(FETCHCONTENT_SOURCE_DIR_WAVEFIT_YYJSON ${tree}/sources/yyjson CACHE PATH "")
set(FETCHCONTENT_SOURCE_DIR_WAVEFIT_ZLIB ${tree}/sources/zlib CACHE PATH "")
