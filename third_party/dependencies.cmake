# How each dependency is found: the system's package first, a pinned fetch second. Each leaves one
# status line.
include(FetchContent)
include(${CMAKE_CURRENT_LIST_DIR}/glslang.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/vulkan.cmake)
if(WAVEFIT_BUILD_TOOL OR WAVEFIT_BUILD_TESTS)
    include(${CMAKE_CURRENT_LIST_DIR}/zlib.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/yyjson.cmake)
endif()
if(WAVEFIT_BUILD_TESTS)
    include(${CMAKE_CURRENT_LIST_DIR}/cmocka.cmake)
endif()
