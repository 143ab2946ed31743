# 64-bit Windows by Debian's mingw-w64 (UCRT), out of the tree that `./dev test-windows` makes in
# .cache/windows; what is built runs under wine there.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../../.cache/windows ABSOLUTE)
set(triple x86_64-w64-mingw32ucrt)
set(CMAKE_C_COMPILER ${tree}/usr/bin/${triple}-gcc)
set(CMAKE_RC_COMPILER ${tree}/usr/bin/${triple}-windres)
# windres looks for a preprocessor by names that only an installed compiler has.
set(CMAKE_RC_FLAGS_INIT "--preprocessor=${tree}/usr/bin/${triple}-gcc --preprocessor-arg=-E \
--preprocessor-arg=-xc-header --preprocessor-arg=-DRC_INVOKED")
set(CMAKE_FIND_ROOT_PATH ${tree}/usr/${triple})
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
# Programs and the DLL go to other machines without the compiler's DLLs and zlib's.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(ZLIB_LIBRARY ${tree}/usr/${triple}/lib/libz.a CACHE FILEPATH "")
foreach(name WAVEFIT_YYJSON CMOCKA)
    string(TOLOWER ${name} folder)
    string(REPLACE wavefit_ "" folder ${folder})
    set(FETCHCONTENT_SOURCE_DIR_${name} ${tree}/sources/${folder} CACHE PATH "")
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/wine.sh)
