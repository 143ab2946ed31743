# Tests: ctest runs them, cmocka is inside. Device tests run once a driver and limits profile, with
# the validation layer's core and synchronization checks on.
#
#   wavefit_add_test(NAME npy SOURCES test_npy.c [LIBRARIES wavefit_io] [SLOW] [OPTIMISED])
#   wavefit_add_device_test(NAME spmv SOURCES test_spmv.c [LIBRARIES ...]
#                           [DRIVERS lavapipe swiftshader radv] [LIMITS full minimum] [TIMEOUT s]
#                           [HEAVY] [SANITIZED] [CHAINS] [QUICK full|minimum] [OPTIMISED])
#
# HEAVY: begins before others, so that no long test runs alone at the end. Lavapipe walks the points
# at full limits, and at minimum ones, where many kernels are the same; so does SwiftShader there,
# which compiles four times as long. At full limits it runs each variant's defaults and the model's
# choice. SANITIZED: lavapipe at full limits also runs in the sanitized build, as all host tests do,
# HEAVY ones without the walk; the target wavefit_sanitized builds them. CHAINS: an optimiser could
# get its pNext chains wrong; such tests and the host tests, which the target wavefit_short builds,
# run as compiled by Clang, too. The label "quick", with the target wavefit_quick, is for emulated
# machines: host tests that are not SLOW, and device tests that are QUICK, at these limits. Under
# sanitizers and as compiled by Clang SLOW tests plant fewer faults (WAVEFIT_TEST_QUICK).
#
# Programs for Windows run under wine, on the drivers and the layers of this machine and at its
# speed. The label "windows", with the target wavefit_windows, is for host tests that are not SLOW
# and for device tests on lavapipe that wavefit_on_windows names.

add_custom_target(wavefit_quick)
add_custom_target(wavefit_sanitized)
add_custom_target(wavefit_short)
add_custom_target(wavefit_windows)

# Other processors are emulated, slowly, and have a driver of their own.
set(WAVEFIT_EMULATED OFF)
if(CMAKE_CROSSCOMPILING AND NOT WIN32)
    set(WAVEFIT_EMULATED ON)
endif()

# CI's runs have one turn of three each. wavefit_leave_out(TURN ENTRY...): the entries do not run in
# that turn, as others stand in for them there; wavefit_take_turns(TURN ENTRY...): they run in that
# turn alone. The label "notN" is of those that turn N leaves out (ctest -LE not0). Where no turn is
# named, all entries run.
function(wavefit_leave_out turn)
    foreach(entry IN LISTS ARGN)
        if(TEST ${entry})
            set_property(TEST ${entry} APPEND PROPERTY LABELS not${turn})
        endif()
    endforeach()
endfunction()
function(wavefit_take_turns turn)
    foreach(other 0 1 2)
        if(NOT other EQUAL turn)
            wavefit_leave_out(${other} ${ARGN})
        endif()
    endforeach()
endfunction()

# Tests that run under wine, too: entries of ctest, whose programs are built.
function(wavefit_on_windows)
    if(NOT WIN32)
        return()
    endif()
    foreach(entry IN LISTS ARGN)
        set_property(TEST ${entry} APPEND PROPERTY LABELS windows)
        string(REGEX REPLACE "\\..*" "" program test_${entry})
        if(TARGET ${program})
            add_dependencies(wavefit_windows ${program})
        endif()
    endforeach()
endfunction()

set(WAVEFIT_RADV_FAMILIES polaris10 vega10 navi21 navi31 gfx1201)

# GPUs of other vendors that can be compiled for without having them: those of
# src/tool/cli/targets.def whose driver is installed and whose shim ./dev setup test has built; of
# AMD's those that no test on RADV has.
# Sets WAVEFIT_TARGETS to their names and, by name, WAVEFIT_TARGET_<name> to what a test's
# environment needs.
function(wavefit_find_targets)
    set(found "")
    set(folder ${PROJECT_SOURCE_DIR}/.cache/drivers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/tool/cli/targets.def lines REGEX "^TARGET")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^TARGET.\"(.*)\".$" "\\1" line "${line}")
        string(REPLACE "\", \"" ";" fields "${line}")
        list(GET fields 0 name)
        list(GET fields 1 file)
        list(GET fields 2 shim)
        list(GET fields 3 words)
        string(REPLACE " " ";" words "${words}")
        set(icd ${folder}/${file})
        if(NOT EXISTS ${icd})
            set(icd /usr/share/vulkan/icd.d/${file})
        endif()
        set(preload ${folder}/lib${shim}_noop_drm_shim.so)
        string(REGEX REPLACE "^amd:" "" chip ${name})
        if(NOT EXISTS ${icd} OR chip IN_LIST WAVEFIT_RADV_FAMILIES)
            continue()
        elseif(shim STREQUAL "")
            set(preload "")
        elseif(NOT EXISTS ${preload})
            continue()
        endif()
        list(APPEND words "WAVEFIT_TEST_TARGET=${name}")
        string(REPLACE ":" "." name ${name})
        list(APPEND found ${name})
        set(WAVEFIT_TARGET_${name} "VK_DRIVER_FILES=${icd}" "LD_PRELOAD=${preload}"
            "MESA_SHADER_CACHE_DISABLE=true" ${words} PARENT_SCOPE)
    endforeach()
    message(STATUS "wavefit: compiled for, without having them: ${found}")
    set(WAVEFIT_TARGETS "${found}" PARENT_SCOPE)
endfunction()

set(WAVEFIT_TARGETS "")
if(NOT CMAKE_CROSSCOMPILING AND NOT WAVEFIT_SANITIZE)
    wavefit_find_targets()
endif()

option(WAVEFIT_ALL_TARGETS "Test every target at length, as ./dev test-vendors does" OFF)

# A test that only compiles, as NAME.TARGET: quickly, on the targets named, or at length on all that
# are here. PARTS: at length it is so many entries, NAME.TARGET.0 and so on, each of which the test
# is told in WAVEFIT_TEST_PART.
function(wavefit_add_target_test name)
    cmake_parse_arguments(T "" "PARTS" "" ${ARGN})
    foreach(target IN LISTS WAVEFIT_TARGETS)
        if(NOT WAVEFIT_ALL_TARGETS AND NOT target IN_LIST T_UNPARSED_ARGUMENTS)
            continue()
        endif()
        set(environment ${WAVEFIT_TEST_ENVIRONMENT} ${WAVEFIT_VALIDATION}
            ${WAVEFIT_TARGET_${target}} "WAVEFIT_TEST_LIMITS=full")
        set(parts all)
        if(NOT WAVEFIT_ALL_TARGETS)
            list(APPEND environment "WAVEFIT_TEST_QUICK=1")
        elseif(T_PARTS)
            math(EXPR last "${T_PARTS} - 1")
            set(parts "")
            foreach(part RANGE ${last})
                list(APPEND parts ${part})
            endforeach()
        endif()
        foreach(part IN LISTS parts)
            set(entry ${name}.${target})
            set(part_environment ${environment})
            if(NOT part STREQUAL all)
                string(APPEND entry .${part})
                list(APPEND part_environment "WAVEFIT_TEST_PART=${part}/${T_PARTS}")
            endif()
            add_test(NAME ${entry} COMMAND test_${name})
            set_tests_properties(${entry} PROPERTIES LABELS vendors TIMEOUT 1800
                ENVIRONMENT "${part_environment}"
                FAIL_REGULAR_EXPRESSION "Validation Error;VUID-;SYNC-HAZARD")
        endforeach()
    endforeach()
endfunction()

# The file of a driver: DRIVER's cache variable, or the first of the usual places. Cross-compiled
# tests run under an emulator, on the driver that the preset names and with no layer of this
# machine.
function(wavefit_find_driver variable name)
    if(WAVEFIT_EMULATED)
        return()
    endif()
    find_file(${variable} NAMES ${ARGN}
        PATHS ${PROJECT_SOURCE_DIR}/.cache/swiftshader/usr/lib/chromium
              /usr/share/vulkan/icd.d /usr/local/share/vulkan/icd.d /etc/vulkan/icd.d
        NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "Driver file of ${name}")
    if(${variable})
        message(STATUS "wavefit: tests run on ${name}: ${${variable}}")
    elseif("$ENV{CI}" STREQUAL "true")
        message(FATAL_ERROR "wavefit: ${name} is not installed; CI tests it (./dev setup test)")
    else()
        message(STATUS "wavefit: ${name} is not installed; tests on it are left out")
    endif()
endfunction()

wavefit_find_driver(WAVEFIT_ICD_LAVAPIPE lavapipe lvp_icd.json lvp_icd.x86_64.json
                    lvp_icd.aarch64.json)
wavefit_find_driver(WAVEFIT_ICD_SWIFTSHADER SwiftShader vk_swiftshader_icd.json)
wavefit_find_driver(WAVEFIT_ICD_RADV RADV radeon_icd.json radeon_icd.x86_64.json
                    radeon_icd.aarch64.json)

if(NOT WAVEFIT_EMULATED)
    find_file(WAVEFIT_VALIDATION_LAYER VkLayer_khronos_validation.json
        PATHS /usr/share/vulkan/explicit_layer.d /etc/vulkan/explicit_layer.d NO_DEFAULT_PATH
        NO_CMAKE_FIND_ROOT_PATH)
endif()
if(WAVEFIT_SANITIZE)
    # The layer is not instrumented, and slow under sanitizers; the plain build runs the same tests
    # with it.
    message(STATUS "wavefit: sanitized tests run without the validation layer")
elseif(WAVEFIT_VALIDATION_LAYER)
    # Told to, the layer writes its messages itself even though wavefit listens, too.
    set(WAVEFIT_VALIDATION "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation"
        "VK_LAYER_VALIDATE_SYNC=1" "VK_KHRONOS_VALIDATION_VALIDATE_SYNC=1"
        "VK_LAYER_DEBUG_ACTION=VK_DBG_LAYER_ACTION_LOG_MSG"
        "VK_KHRONOS_VALIDATION_DEBUG_ACTION=VK_DBG_LAYER_ACTION_LOG_MSG")
    message(STATUS "wavefit: validation layer: ${WAVEFIT_VALIDATION_LAYER}")
elseif("$ENV{CI}" STREQUAL "true" AND NOT WAVEFIT_EMULATED)
    message(FATAL_ERROR "wavefit: no validation layer; CI needs it (./dev setup test)")
else()
    message(STATUS "wavefit: no validation layer; tests run without it")
endif()

set(tsan_options ignore_noninstrumented_modules=1:print_suppressions=0)
set(asan_options quarantine_size_mb=8)
set(WAVEFIT_TEST_ENVIRONMENT
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp:${tsan_options}"
    "UBSAN_OPTIONS=print_stacktrace=1"
    # What LLVM frees would fill the usual 256 MB in every process: half of the tool's time there
    # went into fresh pages.
    "ASAN_OPTIONS=${asan_options}"
    # Drivers stay mapped for the leak check: what their globals still point at is no leak, and
    # tests/lsan.supp finds the names of their frames.
    "VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING=1" "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/cache"
    # The tool tells how near a result comes to the device's bandwidth: no test looks at how near,
    # and to measure that took most of a short run's time.
    "WAVEFIT_ROUGH_RATES=1")

# Half of the tests' time is lavapipe's compiling: what one build's tests have compiled serves those
# of the builds that take their shaders from it, and those with a cache folder of their own.
set(kernels ${PROJECT_BINARY_DIR})
if(WAVEFIT_SHADERS AND NOT WAVEFIT_EMULATED)
    get_filename_component(kernels ${WAVEFIT_SHADERS} DIRECTORY)
endif()

# Most kernels run for a moment each. Without LLVM's optimiser, with vectors of 4 work-items, they
# compile in less than half of the time that optimised ones of 8 take; what runs at 8,
# wavefit_at_8_lanes names (docs/devices.md). Each width has a cache: Mesa 25.0.7 takes what it
# compiled of texel buffers for one width for another's.
list(APPEND WAVEFIT_TEST_ENVIRONMENT "GALLIVM_PERF=nopt" "LP_NATIVE_VECTOR_WIDTH=128"
    "MESA_SHADER_CACHE_DIR=${kernels}/cache/128")
if(WAVEFIT_EMULATED)
    list(APPEND WAVEFIT_TEST_ENVIRONMENT "WAVEFIT_TEST_EMULATED=1")
endif()

# wavefit_at_8_lanes([UNOPTIMISED] ENTRY...): lavapipe's kernels have vectors of 8 work-items there,
# as users have them, and LLVM optimises them.
function(wavefit_at_8_lanes)
    cmake_parse_arguments(L "UNOPTIMISED" "" "" ${ARGN})
    foreach(entry IN LISTS L_UNPARSED_ARGUMENTS)
        if(TEST ${entry} AND NOT WAVEFIT_EMULATED)
            set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT
                "LP_NATIVE_VECTOR_WIDTH=256" "MESA_SHADER_CACHE_DIR=${kernels}/cache/256"
                "GALLIVM_PERF=$<$<BOOL:${L_UNOPTIMISED}>:nopt>")
        endif()
    endforeach()
endfunction()

# What tests take from POSIX, where the system has not all of it.
set(WAVEFIT_TEST_PRELUDE)
if(WIN32)
    set(WAVEFIT_TEST_PRELUDE "SHELL:-include ${PROJECT_SOURCE_DIR}/tests/windows/posix.h")
endif()

# With sanitizers a test's own code is compiled at -O0, in a quarter of the time, but where it is
# OPTIMISED, or SLOW.
function(wavefit_test_executable name)
    cmake_parse_arguments(T "OPTIMISED" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(test_${name} ${T_SOURCES})
    wavefit_compile_options(test_${name})
    target_include_directories(test_${name} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/shaders)
    # What is optimised is the library: a test's own code runs for a moment.
    set(level -O1)
    if(WAVEFIT_SANITIZE AND NOT T_OPTIMISED)
        set(level -O0)
    endif()
    target_compile_options(test_${name} PRIVATE ${WAVEFIT_TEST_PRELUDE}
        $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:${MSVC}>>>:${level}>)
    target_compile_definitions(test_${name} PRIVATE
        VK_NO_PROTOTYPES WAVEFIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(test_${name} PRIVATE ${T_LIBRARIES} wavefit::cmocka ${WAVEFIT_LIBM})
endfunction()

function(wavefit_add_test)
    cmake_parse_arguments(T "SLOW;OPTIMISED" "NAME" "SOURCES;LIBRARIES" ${ARGN})
    set(optimised "")
    if(T_SLOW OR T_OPTIMISED)
        set(optimised OPTIMISED)
    endif()
    wavefit_test_executable(${T_NAME} ${optimised} SOURCES ${T_SOURCES} LIBRARIES ${T_LIBRARIES})
    add_test(NAME ${T_NAME} COMMAND test_${T_NAME})
    set_tests_properties(${T_NAME} PROPERTIES
        LABELS unit ENVIRONMENT "${WAVEFIT_TEST_ENVIRONMENT}" TIMEOUT 600)
    add_dependencies(wavefit_sanitized test_${T_NAME})
    add_dependencies(wavefit_short test_${T_NAME})
    if(T_SLOW AND (WAVEFIT_SANITIZE OR CMAKE_C_COMPILER_ID STREQUAL "Clang"))
        set_property(TEST ${T_NAME} APPEND PROPERTY ENVIRONMENT "WAVEFIT_TEST_QUICK=1")
    endif()
    if(NOT T_SLOW)
        set_property(TEST ${T_NAME} APPEND PROPERTY LABELS quick)
        add_dependencies(wavefit_quick test_${T_NAME})
        wavefit_on_windows(${T_NAME})
    endif()
endfunction()

# One ctest entry: a command on one driver with one limits profile.
function(wavefit_add_device_entry entry icd limits timeout)
    if(WAVEFIT_EMULATED) # emulation is slow
        math(EXPR timeout "${timeout} * 10")
    endif()
    set(environment ${WAVEFIT_TEST_ENVIRONMENT} ${WAVEFIT_VALIDATION}
        "VK_DRIVER_FILES=${icd}" "WAVEFIT_TEST_LIMITS=${limits}")
    add_test(NAME ${entry} COMMAND ${ARGN})
    set_tests_properties(${entry} PROPERTIES LABELS device TIMEOUT ${timeout}
        ENVIRONMENT "${environment}"
        FAIL_REGULAR_EXPRESSION "Validation Error;VUID-;SYNC-HAZARD")
endfunction()

function(wavefit_add_device_test)
    cmake_parse_arguments(T "HEAVY;SANITIZED;CHAINS;BESIDE;OPTIMISED" "NAME;TIMEOUT;QUICK"
                          "SOURCES;LIBRARIES;DRIVERS;LIMITS" ${ARGN})
    set(optimised "")
    if(T_OPTIMISED)
        set(optimised OPTIMISED)
    endif()
    if(NOT T_DRIVERS)
        set(T_DRIVERS lavapipe swiftshader)
    endif()
    if(NOT T_LIMITS)
        set(T_LIMITS full minimum)
    endif()
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 600)
    endif()
    # Tests see internals, which a shared library hides: they link the objects' static twin.
    wavefit_test_executable(${T_NAME} ${optimised} SOURCES ${T_SOURCES}
        LIBRARIES wavefit_device_harness wavefit_internal ${T_LIBRARIES})
    foreach(driver IN LISTS T_DRIVERS)
        string(TOUPPER ${driver} upper)
        if(NOT WAVEFIT_ICD_${upper})
            continue()
        endif()
        if(driver STREQUAL radv)
            foreach(family IN LISTS WAVEFIT_RADV_FAMILIES)
                wavefit_add_device_entry(${T_NAME}.radv.${family} ${WAVEFIT_ICD_RADV} full
                                         ${T_TIMEOUT} test_${T_NAME})
                set_property(TEST ${T_NAME}.radv.${family} APPEND PROPERTY ENVIRONMENT
                             "RADV_FORCE_FAMILY=${family}")
                # Neighbours of generations that are walked in full: defaults and the model's
                # choice.
                if(family MATCHES "vega10|navi21|gfx1201")
                    set_property(TEST ${T_NAME}.radv.${family} APPEND PROPERTY ENVIRONMENT
                                 "WAVEFIT_TEST_QUICK=1")
                endif()
            endforeach()
        else()
            foreach(limits IN LISTS T_LIMITS)
                if(T_HEAVY AND limits STREQUAL minimum AND WAVEFIT_EMULATED)
                    continue()
                endif()
                wavefit_add_device_entry(${T_NAME}.${driver}.${limits} ${WAVEFIT_ICD_${upper}}
                                         ${limits} ${T_TIMEOUT} test_${T_NAME})
                if(T_HEAVY)
                    set_property(TEST ${T_NAME}.${driver}.${limits} PROPERTY COST 60)
                endif()
                if(T_HEAVY AND driver STREQUAL lavapipe AND limits STREQUAL minimum)
                    # Behind full limits, which have compiled many of its kernels by then.
                    set_property(TEST ${T_NAME}.${driver}.${limits} PROPERTY COST 12)
                endif()
                if(T_HEAVY AND (WAVEFIT_SANITIZE OR
                                (driver STREQUAL swiftshader AND limits STREQUAL full)))
                    set_property(TEST ${T_NAME}.${driver}.${limits} PROPERTY COST 10)
                    set_property(TEST ${T_NAME}.${driver}.${limits} APPEND PROPERTY ENVIRONMENT
                                 "WAVEFIT_TEST_QUICK=1")
                endif()
                if(T_CHAINS)
                    set_property(TEST ${T_NAME}.${driver}.${limits} APPEND PROPERTY LABELS chains)
                endif()
                if("${T_QUICK}" STREQUAL "${limits}")
                    set_property(TEST ${T_NAME}.${driver}.${limits} APPEND PROPERTY LABELS quick)
                    if(WAVEFIT_EMULATED) # begins before the host's tests: it takes longest there
                        set_property(TEST ${T_NAME}.${driver}.${limits} PROPERTY COST 30)
                    endif()
                endif()
            endforeach()
        endif()
    endforeach()
    # What goes to several queues where a device has them goes to the one here, in as many
    # submissions.
    if(T_BESIDE AND WAVEFIT_ICD_LAVAPIPE)
        wavefit_add_device_entry(${T_NAME}.lavapipe.beside ${WAVEFIT_ICD_LAVAPIPE} full
                                 ${T_TIMEOUT} test_${T_NAME})
        set_property(TEST ${T_NAME}.lavapipe.beside APPEND PROPERTY ENVIRONMENT
                     "WAVEFIT_SIDE_QUEUES=1")
    endif()
    if(T_QUICK)
        add_dependencies(wavefit_quick test_${T_NAME})
    endif()
    if(T_CHAINS)
        add_dependencies(wavefit_short test_${T_NAME})
    endif()
    if(T_SANITIZED AND TEST ${T_NAME}.lavapipe.full)
        set_property(TEST ${T_NAME}.lavapipe.full APPEND PROPERTY LABELS sanitized)
        add_dependencies(wavefit_sanitized test_${T_NAME})
    endif()
endfunction()

# clang-tidy reads sources of Windows with its headers, where ./dev test-windows has brought them:
# nothing is built of this target, whose commands it looks up.
set(windows_headers ${PROJECT_SOURCE_DIR}/.cache/windows/usr/x86_64-w64-mingw32ucrt/include)
if(NOT WIN32 AND EXISTS ${windows_headers}/windows.h)
    file(GLOB windows_sources CONFIGURE_DEPENDS
         ${PROJECT_SOURCE_DIR}/src/*/*_windows.c ${PROJECT_SOURCE_DIR}/src/tool/*/*_windows.c)
    add_library(wavefit_windows_sources OBJECT EXCLUDE_FROM_ALL ${windows_sources})
    set_target_properties(wavefit_windows_sources PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
    target_include_directories(wavefit_windows_sources PRIVATE ${PROJECT_SOURCE_DIR}/src
                               $<TARGET_PROPERTY:wavefit,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_options(wavefit_windows_sources PRIVATE
        --target=x86_64-w64-mingw32 -isystem ${windows_headers})
endif()
