# A check that library and tool keep to what POSIX and musl have: they are compiled with musl's
# headers and linked with musl's C library. yyjson and zlib are the system's own, made for glibc, so
# the program that comes out is not to be run.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
# glibc's headers lie in /usr/include too: only what is wanted of it is made visible.
set(WAVEFIT_MUSL_HEADERS ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${WAVEFIT_MUSL_HEADERS})
foreach(name vulkan vk_video volk.h volk.c volk yyjson.h zlib.h zconf.h)
    if(EXISTS /usr/include/${name})
        file(CREATE_LINK /usr/include/${name} ${WAVEFIT_MUSL_HEADERS}/${name} SYMBOLIC)
    endif()
endforeach()
set(CMAKE_C_FLAGS_INIT "-isystem ${WAVEFIT_MUSL_HEADERS}")
# glibc's functions, which those two want, are not there.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--allow-shlib-undefined")
set(CMAKE_LIBRARY_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
# Without pictures, so that what is built without libpng is compiled somewhere.
set(CMAKE_DISABLE_FIND_PACKAGE_PNG ON CACHE BOOL "")
# yyjson's own package file names /usr/include.
find_library(WAVEFIT_MUSL_YYJSON yyjson
             PATHS /usr/lib /usr/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu NO_DEFAULT_PATH)
file(WRITE ${CMAKE_BINARY_DIR}/yyjson/yyjson-config.cmake
     "add_library(yyjson::yyjson SHARED IMPORTED)
set_target_properties(yyjson::yyjson PROPERTIES IMPORTED_LOCATION ${WAVEFIT_MUSL_YYJSON})
")
set(yyjson_DIR ${CMAKE_BINARY_DIR}/yyjson CACHE PATH "")
set(ZLIB_INCLUDE_DIR ${WAVEFIT_MUSL_HEADERS} CACHE PATH "")
set(WAVEFIT_VULKAN_INCLUDE ${WAVEFIT_MUSL_HEADERS} CACHE PATH "")
find_path(WAVEFIT_VOLK_INCLUDE volk.c PATHS ${WAVEFIT_MUSL_HEADERS} PATH_SUFFIXES volk
          NO_DEFAULT_PATH)
