# 64-bit Windows as Microsoft's compiler sees it, on Linux: clang-cl in its place, with wine's
# headers and import libraries in place of Microsoft's, out of the tree that `./dev test-windows`
# makes. A check of the C, and of what the build does for MSVC; what is built runs under wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../../.cache/windows ABSOLUTE)
set(parts ${tree}/microsoft)
set(CMAKE_C_COMPILER ${parts}/bin/clang-cl)
set(CMAKE_C_COMPILER_TARGET x86_64-pc-windows-msvc)
set(CMAKE_RC_COMPILER llvm-rc)
set(CMAKE_MT llvm-mt) # which is not run
set(headers ${parts}/usr/include/wine/wine)
string(CONCAT CMAKE_C_FLAGS_INIT "-imsvc ${headers}/msvcrt -imsvc ${headers}/windows -D_UCRT /GS- "
    "/FI${CMAKE_CURRENT_LIST_DIR}/clang-cl.h -fms-compatibility-version=19.40")
set(CMAKE_RC_FLAGS_INIT "-I ${headers}/windows -I ${headers}/msvcrt")
# In place of Microsoft's start-up code: clang-cl.c.
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
    "/manifest:no /libpath:${parts}/lib ${parts}/lib/start.obj /include:_tls_used")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# What is only compiled seems to be there: threads are Windows' own.
foreach(name LIBC_PTHREAD PTHREADS_CREATE PTHREAD_CREATE)
    set(CMAKE_HAVE_${name} OFF CACHE INTERNAL "")
endforeach()
set(CMAKE_FIND_ROOT_PATH ${tree}/nothing)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
foreach(name yyjson zlib)
    string(TOUPPER ${name} upper)
    set(FETCHCONTENT_SOURCE_DIR_WAVEFIT_${upper} ${tree}/sources/${name} CACHE PATH "")
endforeach()
