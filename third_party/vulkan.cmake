# Vulkan headers (1.3.255 or later, which have cooperative matrices) and volk: wavefit_vulkan, an
# interface target with the include folders and the header that gives volk's symbols a prefix of our
# own.
wavefit_part(vulkan_headers TITLE Vulkan-Headers LICENSE "Apache-2.0 OR MIT" OF library
    AS BUILD_DEPENDENCY
    COPYRIGHT "Copyright 2015-2025 The Khronos Group Inc." VERSION 1.4.309
    HOME https://github.com/KhronosGroup/Vulkan-Headers
    GIT https://github.com/KhronosGroup/Vulkan-Headers.git
    COMMIT 952f776f6573aafbb62ea717d871cd1d6816c387 MORE SOURCE_SUBDIR none)
wavefit_part(volk TITLE volk LICENSE MIT OF library AS CONTAINS VERSION 1.4.304
    COPYRIGHT "Copyright (c) 2018-2024 Arseny Kapoulkine" HOME https://github.com/zeux/volk
    GIT https://github.com/zeux/volk.git COMMIT 0b17a763ba5643e32da1b2152f8140461b3b7345
    MORE SOURCE_SUBDIR none)
set(WAVEFIT_LEAST_HEADERS 255)
find_path(WAVEFIT_VULKAN_INCLUDE vulkan/vulkan_core.h DOC "Folder of vulkan/vulkan_core.h")
find_path(WAVEFIT_VOLK_INCLUDE volk.c PATH_SUFFIXES volk DOC "Folder of volk.h and volk.c")

# Of the count of headers, which volk has too: 1.4's starts at 303, after 1.3's 302.
function(wavefit_minor_version count result)
    if(count GREATER 302)
        set(${result} 4 PARENT_SCOPE)
    else()
        set(${result} 3 PARENT_SCOPE)
    endif()
endfunction()

function(wavefit_headers_version folder result)
    set(${result} 0 PARENT_SCOPE)
    if(folder)
        file(STRINGS ${folder}/vulkan/vulkan_core.h line REGEX "define VK_HEADER_VERSION ")
        string(REGEX MATCH "[0-9]+$" version "${line}")
        file(STRINGS ${folder}/vulkan/vulkan_core.h complete
             REGEX "define VK_HEADER_VERSION_COMPLETE")
        string(REGEX MATCH "0, 1, ([0-9]+)" ignored "${complete}")
        if(CMAKE_MATCH_1 GREATER 3) # 1.4's count starts at 303, after 1.3's 302
            set(version ${version})
        elseif(CMAKE_MATCH_1 LESS 3)
            set(version 0)
        endif()
        set(${result} ${version} PARENT_SCOPE)
    endif()
endfunction()

wavefit_headers_version("${WAVEFIT_VULKAN_INCLUDE}" version)
if(version LESS WAVEFIT_LEAST_HEADERS AND WAVEFIT_FETCH)
    wavefit_part_fetched(vulkan_headers)
    FetchContent_MakeAvailable(wavefit_vulkan_headers)
    set(WAVEFIT_VULKAN_INCLUDE ${wavefit_vulkan_headers_SOURCE_DIR}/include)
    wavefit_headers_version("${WAVEFIT_VULKAN_INCLUDE}" version)
else()
    wavefit_minor_version(${version} minor)
    wavefit_part_found(vulkan_headers VERSION 1.${minor}.${version})
endif()
if(version LESS WAVEFIT_LEAST_HEADERS)
    message(FATAL_ERROR "wavefit: Vulkan headers ${version} are older than 1.3.255; "
                        "install libvulkan-dev (./dev setup)")
endif()
message(STATUS "wavefit: Vulkan headers ${version}: ${WAVEFIT_VULKAN_INCLUDE}")

if(NOT WAVEFIT_VOLK_INCLUDE AND WAVEFIT_FETCH)
    wavefit_part_fetched(volk)
    FetchContent_MakeAvailable(wavefit_volk)
    set(WAVEFIT_VOLK_INCLUDE ${wavefit_volk_SOURCE_DIR})
endif()
if(NOT WAVEFIT_VOLK_INCLUDE)
    message(FATAL_ERROR "wavefit: no volk; install libvulkan-volk-dev (./dev setup)")
endif()
file(STRINGS ${WAVEFIT_VOLK_INCLUDE}/volk.h line REGEX "define VOLK_HEADER_VERSION ")
string(REGEX MATCH "[0-9]+$" version "${line}")
get_property(used GLOBAL PROPERTY WAVEFIT_PART_volk_USED)
if(NOT used)
    wavefit_minor_version("${version}" minor)
    wavefit_part_found(volk VERSION 1.${minor}.${version} FILE ${WAVEFIT_VOLK_INCLUDE}/volk.c)
endif()
message(STATUS "wavefit: volk ${version}: ${WAVEFIT_VOLK_INCLUDE}")

# volk.c defines a global a Vulkan function. A program that links wavefit statically may have volk
# of its own, so ours are renamed: wfi_vkX instead of vkX, wfi_volkX instead of volkX.
file(STRINGS ${WAVEFIT_VOLK_INCLUDE}/volk.h pointers REGEX "^extern PFN_vk[A-Za-z0-9]+ vk")
list(TRANSFORM pointers REPLACE "^extern PFN_vk[A-Za-z0-9]+ (vk[A-Za-z0-9]+);.*$" "\\1")
list(REMOVE_DUPLICATES pointers)
set(content "/* Generated from volk.h: a prefix for each of its symbols. */\n")
foreach(name IN LISTS pointers ITEMS volkInitialize volkInitializeCustom volkFinalize
        volkGetInstanceVersion volkLoadInstance volkLoadInstanceOnly volkLoadInstanceTable
        volkLoadDevice volkGetLoadedInstance volkGetLoadedDevice volkLoadDeviceTable)
    string(APPEND content "#define ${name} wfi_${name}\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/volk/wfi_volk_prefix.h CONTENT "${content}" @ONLY)

add_library(wavefit_vulkan INTERFACE)
target_include_directories(wavefit_vulkan SYSTEM INTERFACE
    $<BUILD_INTERFACE:${WAVEFIT_VULKAN_INCLUDE}> $<BUILD_INTERFACE:${WAVEFIT_VOLK_INCLUDE}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/volk>)
