# What programs and libraries have on Windows alone. Included by src on every system.
#
# The library's objects serve its DLL and its static twin, so that nothing in them says "export":
# the DLL's list of exports is made of the public header, whose functions are all that it gives.
if(NOT WIN32)
    function(wavefit_windows_library target)
    endfunction()
    function(wavefit_windows_program target)
    endfunction()
    return()
endif()
enable_language(RC)

set(header ${PROJECT_SOURCE_DIR}/src/include/wavefit/wavefit.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
file(STRINGS ${header} exports REGEX "^WF_API ")
list(TRANSFORM exports REPLACE "^[^(]*[ *](wf_[a-z0-9_]+)[(].*$" "    \\1")
list(JOIN exports "\n" exports)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/wavefit.def CONTENT "EXPORTS\n${exports}\n")
configure_file(${PROJECT_SOURCE_DIR}/src/windows/version.rc.in ${PROJECT_BINARY_DIR}/version.rc
               @ONLY)

# Resources are compiled apart: the flags of C are not theirs.
function(wavefit_windows_resource target)
    add_library(${target}_resource OBJECT ${PROJECT_BINARY_DIR}/version.rc)
    target_compile_definitions(${target}_resource PRIVATE ${ARGN})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_resource>)
endfunction()

function(wavefit_windows_library target)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL SHARED_LIBRARY)
        set_target_properties(${target} PROPERTIES PREFIX "") # wavefit.dll by every compiler
        target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/wavefit.def)
        wavefit_windows_resource(${target} WFI_DLL)
    elseif(type STREQUAL STATIC_LIBRARY)
        target_compile_definitions(${target} INTERFACE WF_STATIC)
        if(MSVC) # wavefit.lib is the DLL's import library
            set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_NAME wavefit_static)
        endif()
    endif()
endfunction()

function(wavefit_windows_program target)
    if(MSVC AND CMAKE_HOST_WIN32) # by Microsoft's manifest tool
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/windows/wavefit.manifest)
        wavefit_windows_resource(${target})
    else()
        wavefit_windows_resource(${target} WFI_MANIFEST)
    endif()
endfunction()
