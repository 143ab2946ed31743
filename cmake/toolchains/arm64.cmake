# 64-bit Arm Linux by Debian's cross compiler, against the arm64 tree that `./dev test-arm64` makes
# in .cache/arm64; what is built runs under qemu's user mode there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../../.cache/arm64 ABSOLUTE)
set(CMAKE_SYSROOT ${tree})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${tree})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(WAVEFIT_QEMU_ARM64 NAMES qemu-aarch64-static qemu-aarch64
             DOC "Runs Arm programs on this machine")
if(WAVEFIT_QEMU_ARM64)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${WAVEFIT_QEMU_ARM64};-L;${tree}")
endif()
