# Which families the library has: WAVEFIT_FAMILIES. Sources and shaders of the others are left out,
# and so are the solvers that are made of them (conjugate gradients of spmv, Laplace's equation of
# stencil); src/api/families.c has their public functions, which then fail by name.
set(WAVEFIT_ALL_FAMILIES himeno spmv matmul vector stencil)
set(WAVEFIT_FAMILIES all CACHE STRING
    "Families in the library: all, or a list of himeno, spmv, matmul, vector and stencil")
string(REPLACE "," ";" WAVEFIT_HAS "${WAVEFIT_FAMILIES}")
if(WAVEFIT_HAS STREQUAL "all")
    set(WAVEFIT_HAS ${WAVEFIT_ALL_FAMILIES})
endif()
foreach(family IN LISTS WAVEFIT_HAS)
    if(NOT family IN_LIST WAVEFIT_ALL_FAMILIES)
        message(FATAL_ERROR "wavefit: WAVEFIT_FAMILIES names '${family}'; there are all, or a list "
                            "of ${WAVEFIT_ALL_FAMILIES}")
    endif()
endforeach()
if(NOT WAVEFIT_HAS)
    message(FATAL_ERROR "wavefit: WAVEFIT_FAMILIES is empty; it is all, or a list of "
                        "${WAVEFIT_ALL_FAMILIES}")
endif()
set(WAVEFIT_MISSING ${WAVEFIT_ALL_FAMILIES})
list(REMOVE_ITEM WAVEFIT_MISSING ${WAVEFIT_HAS})
if(WAVEFIT_MISSING)
    foreach(option WAVEFIT_BUILD_TOOL WAVEFIT_BUILD_TESTS)
        if(${option})
            message(FATAL_ERROR "wavefit: tool and tests need every family: -D${option}=OFF, or "
                                "-DWAVEFIT_FAMILIES=all")
        endif()
    endforeach()
    list(JOIN WAVEFIT_HAS ", " text)
    message(STATUS "wavefit: the library has ${text}")
endif()

# Removes from `list` the files of missing families: of folders or names that begin with theirs, or
# with those of what is made of them.
function(wavefit_keep_families list)
    set(files ${${list}})
    foreach(family IN LISTS WAVEFIT_MISSING)
        set(names ${family})
        if(family STREQUAL "spmv")
            string(APPEND names "|cg|analysis")
        elseif(family STREQUAL "stencil")
            string(APPEND names "|laplace")
        elseif(family STREQUAL "matmul")
            string(APPEND names "|image")
        endif()
        list(FILTER files EXCLUDE REGEX "^(${names})(/|_|\\.c$)")
    endforeach()
    set(${list} ${files} PARENT_SCOPE)
endfunction()

# For C: WFI_HAS_MATMUL (1 or 0) and the like.
set(header "#define WFI_FAMILIES \"${WAVEFIT_FAMILIES}\"\n")
foreach(family IN LISTS WAVEFIT_ALL_FAMILIES)
    string(TOUPPER ${family} upper)
    if(family IN_LIST WAVEFIT_HAS)
        string(APPEND header "#define WFI_HAS_${upper} 1\n")
    else()
        string(APPEND header "#define WFI_HAS_${upper} 0\n")
    endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/shaders/include/wfi_families.h
     CONTENT "${header}" @ONLY)
