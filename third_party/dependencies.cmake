# How each dependency is found: the system's package first, a fetch second, pinned by a hash, since
# tags can be moved. Each leaves one status line. notices/ holds the licences of those whose code
# becomes part of what is installed.
include(FetchContent)
include(${CMAKE_CURRENT_LIST_DIR}/glslang.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/vulkan.cmake)
if(WAVEFIT_BUILD_TOOL OR WAVEFIT_BUILD_TESTS)
    include(${CMAKE_CURRENT_LIST_DIR}/zlib.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/yyjson.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/png.cmake)
endif()
if(WAVEFIT_BUILD_TOOL)
    include(${CMAKE_CURRENT_LIST_DIR}/chartjs.cmake)
endif()
if(WAVEFIT_BUILD_TESTS)
    include(${CMAKE_CURRENT_LIST_DIR}/cmocka.cmake)
endif()
