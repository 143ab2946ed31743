# libpng writes the fields that `wavefit laplace` solves for as pictures. Only the tool uses it;
# without it fields are written as .npy alone.
wavefit_part(libpng TITLE libpng LICENSE libpng-2.0 OF tool AS LINKS
    COPYRIGHT "Copyright (c) 1995-2022 The PNG Reference Library Authors"
    HOME http://www.libpng.org/pub/png/libpng.html)
find_package(PNG 1.6 QUIET)
if(PNG_FOUND)
    list(GET PNG_LIBRARIES 0 file)
    wavefit_part_found(libpng VERSION ${PNG_VERSION_STRING} FILE ${file})
    message(STATUS "wavefit: libpng ${PNG_VERSION_STRING}: ${PNG_LIBRARIES}")
else()
    message(STATUS "wavefit: libpng: none installed (libpng-dev); no pictures by wavefit laplace")
endif()
