# yyjson reads and writes results (tool and tests only).
find_package(yyjson QUIET)
if(yyjson_FOUND)
    message(STATUS "wavefit: yyjson ${yyjson_VERSION}: ${yyjson_DIR}")
elseif(WAVEFIT_FETCH)
    message(STATUS "wavefit: yyjson: none installed, fetching 0.10.0")
    FetchContent_Declare(wavefit_yyjson
        URL https://github.com/ibireme/yyjson/archive/refs/tags/0.10.0.tar.gz
        URL_HASH SHA256=0d901cb2c45c5586e3f3a4245e58c2252d6b24bf4b402723f6179523d389b165)
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
