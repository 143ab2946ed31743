# yyjson reads and writes results (tool and tests only).
wavefit_part(yyjson TITLE yyjson LICENSE MIT OF tool AS LINKS VERSION 0.10.0
    COPYRIGHT "Copyright (c) 2020 YaoYuan" HOME https://github.com/ibireme/yyjson
    ARCHIVE https://github.com/ibireme/yyjson/archive/refs/tags/0.10.0.tar.gz
    SHA256 0d901cb2c45c5586e3f3a4245e58c2252d6b24bf4b402723f6179523d389b165)
find_package(yyjson QUIET)
if(yyjson_FOUND)
    find_file(WAVEFIT_YYJSON_HEADER yyjson.h DOC "yyjson.h, which says its version")
    set(line)
    if(WAVEFIT_YYJSON_HEADER)
        file(STRINGS ${WAVEFIT_YYJSON_HEADER} line REGEX "define YYJSON_VERSION_STRING ")
    endif()
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${line}")
    get_target_property(type yyjson::yyjson TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        set(file libyyjson.a)
    else()
        set(file libyyjson.so)
    endif()
    wavefit_part_found(yyjson VERSION "${version}" FILE ${file})
    message(STATUS "wavefit: yyjson ${version}: ${yyjson_DIR}")
elseif(WAVEFIT_FETCH)
    wavefit_part_fetched(yyjson)
    FetchContent_MakeAvailable(wavefit_yyjson)
    set(include ${wavefit_yyjson_SOURCE_DIR}/src)
else()
    message(FATAL_ERROR "wavefit: no yyjson; install libyyjson-dev (./dev setup)")
endif()
add_library(wavefit_yyjson INTERFACE)
target_link_libraries(wavefit_yyjson INTERFACE
    $<IF:$<TARGET_EXISTS:yyjson::yyjson>,yyjson::yyjson,yyjson>)
target_include_directories(wavefit_yyjson SYSTEM INTERFACE ${include}) # not ours to warn about
add_library(wavefit::yyjson ALIAS wavefit_yyjson)
