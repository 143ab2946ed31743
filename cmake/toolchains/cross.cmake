# What toolchain files of systems other than Linux have in common. `tree` is where compiler and
# libraries lie; everything is looked for there, and programs on this machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# glibc's headers lie in /usr/include too: only what is wanted of it is made visible.
set(WAVEFIT_CROSS_HEADERS ${tree}/headers)
file(MAKE_DIRECTORY ${WAVEFIT_CROSS_HEADERS})
foreach(name vulkan vk_video volk.h volk.c)
    if(EXISTS /usr/include/${name} AND NOT EXISTS ${WAVEFIT_CROSS_HEADERS}/${name})
        file(CREATE_LINK /usr/include/${name} ${WAVEFIT_CROSS_HEADERS}/${name} SYMBOLIC)
    endif()
endforeach()
set(WAVEFIT_VULKAN_INCLUDE ${WAVEFIT_CROSS_HEADERS} CACHE PATH "")
set(WAVEFIT_VOLK_INCLUDE ${WAVEFIT_CROSS_HEADERS} CACHE PATH "")
