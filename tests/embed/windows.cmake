# The package as installed for Windows: what its files export and import, and a Win32 program that
# is built against it, by the DLL and by the static library. It runs under wine.
add_dependencies(wavefit_windows wavefit_twin)
set(programs)
if(WAVEFIT_BUILD_TOOL)
    add_dependencies(wavefit_windows wavefit_tool)
    set(programs ${prefix}/bin/wavefit.exe)
endif()
wavefit_on_windows(embed.install)
if(NOT MINGW)
    return() # the files of other compilers have other names
endif()
add_test(NAME embed.dll COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/check_dll.sh ${prefix}
    ${CMAKE_OBJDUMP} ${PROJECT_VERSION} ${programs})
set_tests_properties(embed.dll PROPERTIES FIXTURES_REQUIRED package LABELS embed)
wavefit_on_windows(embed.dll)
if(NOT WAVEFIT_ICD_LAVAPIPE)
    return()
endif()
set(binary ${CMAKE_CURRENT_BINARY_DIR}/windows)
set(arguments -Dwavefit_DIR=${prefix}/${CMAKE_INSTALL_LIBDIR}/cmake/wavefit)
if(CMAKE_TOOLCHAIN_FILE)
    list(APPEND arguments -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE})
endif()
add_test(NAME embed.windows.build
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/windows -DBINARY=${binary}
            -DPREFIX=${prefix} "-DARGUMENTS=${arguments}"
            -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer.cmake)
set_tests_properties(embed.windows.build PROPERTIES
    FIXTURES_REQUIRED package FIXTURES_SETUP consumer_windows LABELS embed TIMEOUT 120)
wavefit_on_windows(embed.windows.build)
add_test(NAME embed.dll.planted COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/check_dll_planted.sh
    ${prefix} ${CMAKE_OBJDUMP} ${PROJECT_VERSION} ${binary}/plate_shared.exe)
set_tests_properties(embed.dll.planted PROPERTIES
    FIXTURES_REQUIRED "package;consumer_windows" LABELS embed)
wavefit_on_windows(embed.dll.planted)
foreach(kind shared static)
    set(entry embed.plate_${kind})
    wavefit_add_device_entry(${entry} ${WAVEFIT_ICD_LAVAPIPE} full 120
        ${CMAKE_CROSSCOMPILING_EMULATOR} ${binary}/plate_${kind}.exe 20)
    set_tests_properties(${entry} PROPERTIES FIXTURES_REQUIRED consumer_windows LABELS embed
        PASS_REGULAR_EXPRESSION "ok: ")
    wavefit_on_windows(${entry})
endforeach()
