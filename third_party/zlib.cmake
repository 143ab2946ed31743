# zlib reads compressed matrices (tool and tests only).
wavefit_part(zlib TITLE zlib LICENSE Zlib OF tool AS LINKS VERSION 1.3.1
    COPYRIGHT "Copyright (C) 1995-2024 Jean-loup Gailly and Mark Adler" HOME https://zlib.net
    GIT https://github.com/madler/zlib.git COMMIT 51b7f2abdade71cd9bb0e7a373ef2610ec6f9daf)
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
    list(GET ZLIB_LIBRARIES 0 file)
    wavefit_part_found(zlib VERSION ${ZLIB_VERSION_STRING} FILE ${file})
    message(STATUS "wavefit: zlib ${ZLIB_VERSION_STRING}: ${ZLIB_LIBRARIES}")
elseif(WAVEFIT_FETCH)
    wavefit_part_fetched(zlib)
    FetchContent_MakeAvailable(wavefit_zlib)
    target_include_directories(zlibstatic INTERFACE
        ${wavefit_zlib_SOURCE_DIR} ${wavefit_zlib_BINARY_DIR})
    add_library(ZLIB::ZLIB ALIAS zlibstatic)
else()
    message(FATAL_ERROR "wavefit: no zlib; install zlib1g-dev (./dev setup)")
endif()
