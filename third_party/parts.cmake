# What others wrote and wavefit uses: where it is fetched from, by hash, since tags can be moved;
# what of it is inside what is installed; and which version this build has. cmake/sbom.cmake writes
# it all as an SPDX list.
#
#   wavefit_part(volk TITLE volk LICENSE MIT COPYRIGHT "..." HOME https://... VERSION 1.4.304
#                OF library AS CONTAINS [GIT url COMMIT hash | ARCHIVE url SHA256 hash]
#                [CONTENT name] [MORE FetchContent_Declare's arguments])
#   wavefit_part_found(volk VERSION 304 [FILE what is linked or embedded])
#   wavefit_part_fetched(volk)
#
# OF: library, tool or another part. AS: CONTAINS (it is compiled in or embedded), LINKS,
# BUILD_DEPENDENCY, BUILD_TOOL or TEST_DEPENDENCY. VERSION: of what is fetched. CONTENT:
# FetchContent's name, wavefit_<name> else.
include(FetchContent)
if(POLICY CMP0135) # files of an archive are as old as their extraction
    cmake_policy(SET CMP0135 NEW)
endif()

function(wavefit_part name)
    cmake_parse_arguments(P "" "TITLE;LICENSE;COPYRIGHT;HOME;VERSION;OF;AS;GIT;COMMIT;ARCHIVE;\
SHA256;CONTENT" "MORE" ${ARGN})
    if(P_UNPARSED_ARGUMENTS OR P_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "wavefit: the part ${name} is not understood")
    endif()
    if(NOT P_CONTENT)
        set(P_CONTENT wavefit_${name})
    endif()
    set_property(GLOBAL APPEND PROPERTY WAVEFIT_PARTS ${name})
    foreach(key TITLE LICENSE COPYRIGHT HOME VERSION OF AS GIT COMMIT ARCHIVE SHA256)
        set_property(GLOBAL PROPERTY WAVEFIT_PART_${name}_${key} "${P_${key}}")
    endforeach()
    set(hash "${P_COMMIT}${P_SHA256}")
    string(LENGTH "${hash}" digits)
    if((P_GIT AND NOT digits EQUAL 40) OR (P_ARCHIVE AND NOT digits EQUAL 64) OR
       hash MATCHES "[^0-9a-f]")
        message(FATAL_ERROR "wavefit: ${name} is not pinned by a hash")
    elseif(P_GIT)
        FetchContent_Declare(${P_CONTENT} GIT_REPOSITORY ${P_GIT} GIT_TAG ${P_COMMIT} ${P_MORE})
    elseif(P_ARCHIVE)
        FetchContent_Declare(${P_CONTENT}
            URL ${P_ARCHIVE} URL_HASH SHA256=${P_SHA256} ${P_MORE})
    endif()
endfunction()

# The system's is used.
function(wavefit_part_found name)
    cmake_parse_arguments(P "" "VERSION;FILE" "" ${ARGN})
    set_property(GLOBAL PROPERTY WAVEFIT_PART_${name}_FOUND "${P_VERSION}")
    set_property(GLOBAL PROPERTY WAVEFIT_PART_${name}_FILE "${P_FILE}")
    set_property(GLOBAL PROPERTY WAVEFIT_PART_${name}_USED system)
endfunction()

# The pinned one is about to be fetched.
function(wavefit_part_fetched name)
    get_property(version GLOBAL PROPERTY WAVEFIT_PART_${name}_VERSION)
    message(STATUS "wavefit: ${name}: none that serves is installed, fetching ${version}")
    set_property(GLOBAL PROPERTY WAVEFIT_PART_${name}_USED fetched)
endfunction()
