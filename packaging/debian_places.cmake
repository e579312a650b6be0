# Run by CPack on what it has installed for a package: a .deb has some files where Debian wants them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share")
file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
file(RENAME "${share}/doc/flashlab/LICENSE" "${share}/doc/flashlab/copyright")
file(GLOB pages "${share}/man/man1/*.1")
execute_process(COMMAND gzip -9 -n ${pages} COMMAND_ERROR_IS_FATAL ANY)
