# libpng writes the fields that `wavefit laplace` solves for as pictures. Only the tool uses it;
# without it fields are written as .npy alone.
find_package(PNG 1.6 QUIET)
if(PNG_FOUND)
    message(STATUS "wavefit: libpng ${PNG_VERSION_STRING}: ${PNG_LIBRARIES}")
else()
    message(STATUS "wavefit: libpng: none installed (libpng-dev); no pictures by wavefit laplace")
endif()
