# cmocka runs the tests' cases.
find_path(WAVEFIT_CMOCKA_INCLUDE cmocka.h DOC "Folder of cmocka.h")
find_library(WAVEFIT_CMOCKA_LIBRARY cmocka DOC "The cmocka library")
add_library(wavefit_cmocka INTERFACE)
if(WAVEFIT_CMOCKA_INCLUDE AND WAVEFIT_CMOCKA_LIBRARY)
    message(STATUS "wavefit: cmocka: ${WAVEFIT_CMOCKA_LIBRARY}")
    target_include_directories(wavefit_cmocka SYSTEM INTERFACE ${WAVEFIT_CMOCKA_INCLUDE})
    target_link_libraries(wavefit_cmocka INTERFACE ${WAVEFIT_CMOCKA_LIBRARY})
elseif(WAVEFIT_FETCH)
    message(STATUS "wavefit: cmocka: none installed, fetching 1.1.7")
    set(WITH_EXAMPLES OFF CACHE BOOL "" FORCE)
    FetchContent_Declare(cmocka
        GIT_REPOSITORY https://gitlab.com/cmocka/cmocka.git
        GIT_TAG a01cc69ee9536f90e57c61a198f2d1944d3d4313) # cmocka-1.1.7
    FetchContent_MakeAvailable(cmocka)
    target_link_libraries(wavefit_cmocka INTERFACE cmocka)
    target_include_directories(wavefit_cmocka SYSTEM INTERFACE ${cmocka_SOURCE_DIR}/include)
else()
    message(FATAL_ERROR "wavefit: no cmocka; install libcmocka-dev (./dev setup)")
endif()
add_library(wavefit::cmocka ALIAS wavefit_cmocka)
