# Chart.js draws the report's plots; its one file is embedded in the tool and in every report, with
# the notice that its licence asks for (notices/chart.js.txt).
wavefit_part(chartjs TITLE Chart.js LICENSE MIT OF tool AS CONTAINS VERSION 3.9.1
    COPYRIGHT "Copyright (c) 2014-2022 Chart.js Contributors" HOME https://www.chartjs.org
    ARCHIVE https://registry.npmjs.org/chart.js/-/chart.js-3.9.1.tgz
    SHA256 111e0751796f087a51e94dfed910ccfb1278fd30e584a6e48514dba9ae7e72c6
    MORE SOURCE_SUBDIR none)
wavefit_part(kurkle_color TITLE @kurkle/color LICENSE MIT OF chartjs AS CONTAINS
    COPYRIGHT "Copyright (c) 2018-2021 Jukka Kurkela" HOME https://github.com/kurkle/color)
find_file(WAVEFIT_CHARTJS NAMES chart.min.js chart.umd.js
    PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH
    NO_CMAKE_FIND_ROOT_PATH # the same for every system that wavefit is built for
    DOC "Chart.js, minified, as one file")
if(WAVEFIT_CHARTJS)
    message(STATUS "wavefit: Chart.js: ${WAVEFIT_CHARTJS}")
elseif(WAVEFIT_FETCH)
    wavefit_part_fetched(chartjs)
    FetchContent_MakeAvailable(wavefit_chartjs)
    set(WAVEFIT_CHARTJS ${wavefit_chartjs_SOURCE_DIR}/dist/chart.min.js)
else()
    message(FATAL_ERROR "wavefit: no Chart.js; install libjs-chart.js (./dev setup)")
endif()
# Which versions it is and contains, its comments say.
file(READ ${WAVEFIT_CHARTJS} text)
string(REGEX MATCH "Chart\\.js v([0-9]+\\.[0-9]+\\.[0-9]+)" ignored "${text}")
set(version "${CMAKE_MATCH_1}")
get_property(used GLOBAL PROPERTY WAVEFIT_PART_chartjs_USED)
if(NOT used)
    wavefit_part_found(chartjs VERSION "${version}" FILE ${WAVEFIT_CHARTJS})
endif()
string(REGEX MATCH "@kurkle/color v([0-9]+\\.[0-9]+\\.[0-9]+)" ignored "${text}")
wavefit_part_found(kurkle_color VERSION "${CMAKE_MATCH_1}")
