# cmocka runs the tests' cases.
wavefit_part(cmocka TITLE cmocka LICENSE Apache-2.0 OF tool AS TEST_DEPENDENCY VERSION 1.1.7
    COPYRIGHT "Copyright 2008 Google Inc. and others" HOME https://cmocka.org
    GIT https://gitlab.com/cmocka/cmocka.git COMMIT a01cc69ee9536f90e57c61a198f2d1944d3d4313
    CONTENT cmocka)
find_path(WAVEFIT_CMOCKA_INCLUDE cmocka.h DOC "Folder of cmocka.h")
find_library(WAVEFIT_CMOCKA_LIBRARY cmocka DOC "The cmocka library")
add_library(wavefit_cmocka INTERFACE)
if(WAVEFIT_CMOCKA_INCLUDE AND WAVEFIT_CMOCKA_LIBRARY)
    message(STATUS "wavefit: cmocka: ${WAVEFIT_CMOCKA_LIBRARY}")
    wavefit_part_found(cmocka)
    target_include_directories(wavefit_cmocka SYSTEM INTERFACE ${WAVEFIT_CMOCKA_INCLUDE})
    target_link_libraries(wavefit_cmocka INTERFACE ${WAVEFIT_CMOCKA_LIBRARY})
elseif(WAVEFIT_FETCH)
    set(WITH_EXAMPLES OFF CACHE BOOL "" FORCE)
    wavefit_part_fetched(cmocka)
    FetchContent_MakeAvailable(cmocka)
    target_link_libraries(wavefit_cmocka INTERFACE cmocka)
    target_include_directories(wavefit_cmocka SYSTEM INTERFACE ${cmocka_SOURCE_DIR}/include)
else()
    message(FATAL_ERROR "wavefit: no cmocka; install libcmocka-dev (./dev setup)")
endif()
add_library(wavefit::cmocka ALIAS wavefit_cmocka)
