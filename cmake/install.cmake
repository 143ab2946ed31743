# What `cmake --install` puts where: both kinds of library from one compilation, the header, the
# tool, and what find_package and pkg-config read.
include(CMakePackageConfigHelpers)

# The kind that BUILD_SHARED_LIBS did not ask for, of the same objects.
if(BUILD_SHARED_LIBS)
    set(twin STATIC)
    set_target_properties(wavefit PROPERTIES EXPORT_NAME shared)
    set(shared wavefit)
    set(static wavefit_twin)
else()
    set(twin SHARED)
    set_target_properties(wavefit PROPERTIES EXPORT_NAME static)
    set(shared wavefit_twin)
    set(static wavefit)
endif()
add_library(wavefit_twin ${twin} $<TARGET_OBJECTS:wavefit> $<TARGET_OBJECTS:wavefit_shaders>)
wavefit_library_properties(wavefit_twin)
wavefit_link_options(wavefit_twin)
set_target_properties(wavefit_twin PROPERTIES OUTPUT_NAME wavefit LINKER_LANGUAGE C)
if(BUILD_SHARED_LIBS)
    set_target_properties(wavefit_twin PROPERTIES EXPORT_NAME static)
else()
    set_target_properties(wavefit_twin PROPERTIES EXPORT_NAME shared)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/wavefit)
foreach(kind shared static)
    install(TARGETS ${${kind}} EXPORT wavefit-${kind}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(EXPORT wavefit-${kind} NAMESPACE wavefit:: FILE wavefit-${kind}.cmake
            DESTINATION ${package})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/include/wavefit
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Licences of what is compiled in, or may be: the system's libraries where they are static.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/third_party/notices
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${WAVEFIT_SBOM} DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(WAVEFIT_BUILD_TOOL)
    install(TARGETS wavefit_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/package/wavefitConfig.cmake.in
    ${PROJECT_BINARY_DIR}/package/wavefitConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/wavefitConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/wavefitConfig.cmake
              ${PROJECT_BINARY_DIR}/package/wavefitConfigVersion.cmake
        DESTINATION ${package})
if(CMAKE_DL_LIBS)
    set(WAVEFIT_DL_FLAG -l${CMAKE_DL_LIBS})
endif()
# At install time, since --prefix may differ from what was configured.
install(CODE "
    set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
    set(PROJECT_VERSION ${PROJECT_VERSION})
    set(CMAKE_INSTALL_LIBDIR ${CMAKE_INSTALL_LIBDIR})
    set(CMAKE_INSTALL_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
    set(WAVEFIT_DL_FLAG ${WAVEFIT_DL_FLAG})
    set(file \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/wavefit.pc\")
    configure_file(${PROJECT_SOURCE_DIR}/cmake/package/wavefit.pc.in
        \"\$ENV{DESTDIR}\${file}\" @ONLY)
    message(STATUS \"Installing: \${file}\")
")
