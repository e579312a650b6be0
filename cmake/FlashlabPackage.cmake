# Adds to every package, besides libraries and command, the manual, completions for shells and licences,
# and configures CPack for a .deb and a tar.gz. packaging/build.sh calls CPack, and makes the wheel.
include(GNUInstallDirs)

# The command itself writes these files, because it knows its flags.
set(manual "${PROJECT_BINARY_DIR}/manual")
set(completions "${PROJECT_BINARY_DIR}/completions")
add_custom_command(
  OUTPUT "${manual}/flashlab.1" "${completions}/flashlab.bash" "${completions}/flashlab.fish"
         "${completions}/_flashlab"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${manual}" "${completions}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${completions}"
  COMMAND flashlab manual --all "${manual}"
  COMMAND flashlab completion bash > "${completions}/flashlab.bash"
  COMMAND flashlab completion fish > "${completions}/flashlab.fish"
  COMMAND flashlab completion zsh > "${completions}/_flashlab"
  DEPENDS flashlab COMMENT "Writing the manual and the completions")
add_custom_target(flashlab_manual ALL DEPENDS "${manual}/flashlab.1" "${completions}/_flashlab")

install(DIRECTORY "${manual}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
set(share "${CMAKE_INSTALL_DATADIR}")
install(FILES "${completions}/flashlab.bash" DESTINATION "${share}/bash-completion/completions"
        RENAME flashlab)
install(FILES "${completions}/flashlab.fish" DESTINATION "${share}/fish/vendor_completions.d")
install(FILES "${completions}/_flashlab" DESTINATION "${share}/zsh/site-functions")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD_PARTY.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/packaging/licences" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(CPACK_PACKAGE_NAME flashlab)
set(CPACK_PACKAGE_VENDOR "flashlab authors")
set(CPACK_PACKAGE_CONTACT "flashlab authors <authors@flashlab.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME
    "flashlab-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
string(TOLOWER "${CPACK_PACKAGE_FILE_NAME}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
if(NOT CPACK_DEBIAN_PACKAGE_DEPENDS)  # from this system's libraries, for an equal system
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian_places.cmake")
include(CPack)
