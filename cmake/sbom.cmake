# wavefit.spdx.json: what is inside this build, as SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3).
# third_party/*.cmake name the parts. Two builds of one commit write the same bytes: the date is
# that of SOURCE_DATE_EPOCH, of the commit, or of CHANGELOG.md in a tree without Git, and the
# document's identifier is made of its content.

function(wavefit_sbom_date result)
    set(time "$ENV{SOURCE_DATE_EPOCH}")
    find_package(Git QUIET)
    if(time STREQUAL "" AND GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
        execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --format=%ct
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE time ERROR_QUIET
            OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    if(time STREQUAL "")
        file(TIMESTAMP ${PROJECT_SOURCE_DIR}/CHANGELOG.md date "%Y-%m-%dT%H:%M:%SZ" UTC)
    else()
        set(before "$ENV{SOURCE_DATE_EPOCH}")
        set(ENV{SOURCE_DATE_EPOCH} ${time})
        string(TIMESTAMP date "%Y-%m-%dT%H:%M:%SZ" UTC)
        if(before STREQUAL "")
            unset(ENV{SOURCE_DATE_EPOCH})
        endif()
    endif()
    set(${result} ${date} PARENT_SCOPE)
endfunction()

# One package of the list; `more` are further members.
function(wavefit_sbom_package id title version license copyright download more)
    string(REPLACE _ - id ${id}) # which identifiers may not have
    set(line "{\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${title}\"")
    if(NOT version STREQUAL "")
        string(APPEND line ", \"versionInfo\": \"${version}\"")
    endif()
    string(APPEND line ",\n      \"downloadLocation\": \"${download}\", \"filesAnalyzed\": false"
        ",\n      \"licenseConcluded\": \"${license}\", \"licenseDeclared\": \"${license}\""
        ",\n      \"copyrightText\": \"${copyright}\"${more}}")
    set_property(GLOBAL APPEND_STRING PROPERTY WAVEFIT_SBOM_PACKAGES ",\n    ${line}")
endfunction()

function(wavefit_sbom_relationship from type to)
    string(REPLACE _ - from ${from})
    string(REPLACE _ - to ${to})
    set_property(GLOBAL APPEND_STRING PROPERTY WAVEFIT_SBOM_RELATIONSHIPS
        ",\n    {\"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${type}\",\
 \"relatedSpdxElement\": \"SPDXRef-${to}\"}")
endfunction()

# What is linked: how depends on which kind was found, or on what fetching builds.
function(wavefit_sbom_relate name)
    get_property(of GLOBAL PROPERTY WAVEFIT_PART_${name}_OF)
    get_property(as GLOBAL PROPERTY WAVEFIT_PART_${name}_AS)
    get_property(used GLOBAL PROPERTY WAVEFIT_PART_${name}_USED)
    get_property(file GLOBAL PROPERTY WAVEFIT_PART_${name}_FILE)
    if(as STREQUAL "CONTAINS")
        wavefit_sbom_relationship(${of} CONTAINS ${name})
    elseif(as STREQUAL "LINKS" AND (used STREQUAL "fetched" OR file MATCHES "\\.(a|lib)$"))
        wavefit_sbom_relationship(${of} STATIC_LINK ${name})
    elseif(as STREQUAL "LINKS")
        wavefit_sbom_relationship(${of} DYNAMIC_LINK ${name})
    else()
        wavefit_sbom_relationship(${name} ${as}_OF ${of})
    endif()
endfunction()

# Sets where the part comes from when it is fetched, and members that say so; or "" twice.
function(wavefit_sbom_pin name download hash)
    foreach(key GIT COMMIT ARCHIVE SHA256)
        get_property(${key} GLOBAL PROPERTY WAVEFIT_PART_${name}_${key})
    endforeach()
    set(${download} "" PARENT_SCOPE)
    set(${hash} "" PARENT_SCOPE)
    if(GIT)
        set(${download} "git+${GIT}@${COMMIT}" PARENT_SCOPE)
    elseif(ARCHIVE)
        set(${download} "${ARCHIVE}" PARENT_SCOPE)
        set(${hash} "${SHA256}" PARENT_SCOPE)
    endif()
endfunction()

function(wavefit_sbom_part name)
    foreach(key TITLE LICENSE COPYRIGHT HOME VERSION USED FOUND FILE OF AS)
        get_property(${key} GLOBAL PROPERTY WAVEFIT_PART_${name}_${key})
    endforeach()
    wavefit_sbom_pin(${name} download hash)
    set(more ",\n      \"homepage\": \"${HOME}\"")
    if(USED STREQUAL "fetched")
        if(hash)
            string(APPEND more ",\n      \"checksums\": [{\"algorithm\": \"SHA256\", "
                "\"checksumValue\": \"${hash}\"}]")
        endif()
        string(APPEND more ",\n      \"sourceInfo\": \"fetched by CMake\"")
    else()
        set(VERSION_PINNED "${VERSION}")
        set(VERSION "${FOUND}")
        set(source "of the system that wavefit was built on")
        if(NOT OF MATCHES "^(library|tool)$")
            get_property(whole GLOBAL PROPERTY WAVEFIT_PART_${OF}_TITLE)
            set(source "a part of ${whole} as it is published")
        endif()
        if(AS STREQUAL "CONTAINS" AND FILE)
            file(SHA256 ${FILE} sum)
            get_filename_component(leaf ${FILE} NAME)
            string(APPEND source "; SHA256 of ${leaf}: ${sum}")
        elseif(FILE)
            get_filename_component(leaf ${FILE} NAME)
            string(APPEND more ",\n      \"packageFileName\": \"${leaf}\"")
        endif()
        string(APPEND more ",\n      \"sourceInfo\": \"${source}\"")
        if(download)
            set(pinned "${VERSION_PINNED} of ${download}")
            if(hash)
                string(APPEND pinned ", SHA256 ${hash}")
            endif()
            string(APPEND more ",\n      \"comment\": \"Where a system has none, wavefit fetches "
                "${pinned}.\"")
        endif()
        set(download NOASSERTION)
    endif()
    wavefit_sbom_package(${name} "${TITLE}" "${VERSION}" "${LICENSE}" "${COPYRIGHT}"
        "${download}" "${more}")
    wavefit_sbom_relate(${name})
endfunction()

function(wavefit_sbom_write file)
    file(STRINGS ${PROJECT_SOURCE_DIR}/LICENSE copyright REGEX "^Copyright" LIMIT_COUNT 1)
    foreach(id library tool)
        if(id STREQUAL "tool" AND NOT WAVEFIT_BUILD_TOOL)
            continue()
        endif()
        string(TOUPPER ${id} purpose)
        string(REPLACE TOOL APPLICATION purpose ${purpose})
        wavefit_sbom_package(${id} "wavefit (${id})" ${PROJECT_VERSION} MIT "${copyright}"
            NOASSERTION ",\n      \"primaryPackagePurpose\": \"${purpose}\"")
        set_property(GLOBAL APPEND PROPERTY WAVEFIT_SBOM_OURS ${id})
    endforeach()
    if(WAVEFIT_BUILD_TOOL AND BUILD_SHARED_LIBS)
        wavefit_sbom_relationship(tool DYNAMIC_LINK library)
    elseif(WAVEFIT_BUILD_TOOL)
        wavefit_sbom_relationship(tool STATIC_LINK library)
    endif()
    get_property(parts GLOBAL PROPERTY WAVEFIT_PARTS)
    foreach(name IN LISTS parts)
        get_property(used GLOBAL PROPERTY WAVEFIT_PART_${name}_USED)
        if(used) # libpng need not be there
            wavefit_sbom_part(${name})
        endif()
    endforeach()
    get_property(ours GLOBAL PROPERTY WAVEFIT_SBOM_OURS)
    foreach(id IN LISTS ours)
        wavefit_sbom_relationship(DOCUMENT DESCRIBES ${id})
    endforeach()
    get_property(packages GLOBAL PROPERTY WAVEFIT_SBOM_PACKAGES)
    get_property(relationships GLOBAL PROPERTY WAVEFIT_SBOM_RELATIONSHIPS)
    string(REGEX REPLACE "^,\n" "" packages "${packages}")
    string(REGEX REPLACE "^,\n" "" relationships "${relationships}")
    wavefit_sbom_date(date)
    # The namespace of names that are URLs (RFC 9562).
    string(UUID uuid NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 TYPE SHA1
           NAME "wavefit ${PROJECT_VERSION} ${date} ${packages} ${relationships}")
    file(WRITE ${file} "{
  \"spdxVersion\": \"SPDX-2.3\", \"dataLicense\": \"CC0-1.0\", \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"wavefit-${PROJECT_VERSION}\", \"documentNamespace\": \"urn:uuid:${uuid}\",
  \"creationInfo\": {\"created\": \"${date}\", \"creators\": [\"Organization: wavefit\"]},
  \"packages\": [
${packages}
  ],
  \"relationships\": [
${relationships}
  ]
}
")
endfunction()

set(WAVEFIT_SBOM ${PROJECT_BINARY_DIR}/wavefit.spdx.json)
wavefit_sbom_write(${WAVEFIT_SBOM})
