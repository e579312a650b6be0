# CPack runs this on the files that it installed for a package: a .deb has some files in Debian's places.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share")
file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
file(RENAME "${share}/doc/flashlab/LICENSE" "${share}/doc/flashlab/copyright")
file(GLOB pages "${share}/man/man1/*.1")
execute_process(COMMAND gzip -9 -n ${pages} COMMAND_ERROR_IS_FATAL ANY)
