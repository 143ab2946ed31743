# zlib reads compressed matrices (tool and tests only).
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
    message(STATUS "wavefit: zlib ${ZLIB_VERSION_STRING}: ${ZLIB_LIBRARIES}")
elseif(WAVEFIT_FETCH)
    message(STATUS "wavefit: zlib: none installed, fetching 1.3.1")
    FetchContent_Declare(wavefit_zlib
        GIT_REPOSITORY https://github.com/madler/zlib.git
        GIT_TAG 51b7f2abdade71cd9bb0e7a373ef2610ec6f9daf) # v1.3.1
    FetchContent_MakeAvailable(wavefit_zlib)
    target_include_directories(zlibstatic INTERFACE
        ${wavefit_zlib_SOURCE_DIR} ${wavefit_zlib_BINARY_DIR})
    add_library(ZLIB::ZLIB ALIAS zlibstatic)
else()
    message(FATAL_ERROR "wavefit: no zlib; install zlib1g-dev (./dev setup)")
endif()
