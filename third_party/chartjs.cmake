# Chart.js draws the report's plots; its one file is embedded in the tool and in every report, with
# the notice that its licence asks for (notices/chart.js.txt).
find_file(WAVEFIT_CHARTJS NAMES chart.min.js chart.umd.js
    PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH
    NO_CMAKE_FIND_ROOT_PATH # the same for every system that wavefit is built for
    DOC "Chart.js, minified, as one file")
if(WAVEFIT_CHARTJS)
    message(STATUS "wavefit: Chart.js: ${WAVEFIT_CHARTJS}")
elseif(WAVEFIT_FETCH)
    message(STATUS "wavefit: Chart.js: none installed, fetching 3.9.1")
    FetchContent_Declare(wavefit_chartjs
        URL https://registry.npmjs.org/chart.js/-/chart.js-3.9.1.tgz
        URL_HASH SHA256=111e0751796f087a51e94dfed910ccfb1278fd30e584a6e48514dba9ae7e72c6
        SOURCE_SUBDIR none)
    FetchContent_MakeAvailable(wavefit_chartjs)
    set(WAVEFIT_CHARTJS ${wavefit_chartjs_SOURCE_DIR}/dist/chart.min.js CACHE FILEPATH "" FORCE)
else()
    message(FATAL_ERROR "wavefit: no Chart.js; install libjs-chart.js (./dev setup)")
endif()
