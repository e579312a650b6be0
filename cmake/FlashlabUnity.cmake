# Fewer, larger compilations: several sources of a target are compiled together, and the headers that
# most of them include are parsed once. A full build takes a quarter of the time.
#
# FLASHLAB_UNITY   OFF compiles each source alone, without precompiled headers
# FLASHLAB_EDITED  sources that are compiled alone even so, because they are being edited: paths from
#                  the root. ./lab maintains this list
#
# Any grouping compiles, because names in anonymous namespaces are unique in each room (a test checks).
set(FLASHLAB_EDITED "" CACHE STRING "Sources that are compiled alone, paths from the root")

# The headers of the standard library and GMP, parsed once for each set of compiler flags; also JSON's,
# where most sources use it.
if(FLASHLAB_UNITY AND NOT FLASHLAB_ONLY_CUDA)
  foreach(kind IN ITEMS hot cold)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp" CONTENT "")
    add_library(flashlab_precompiled_${kind} OBJECT "${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp")
    target_link_libraries(flashlab_precompiled_${kind} PRIVATE flashlab_options)
    target_precompile_headers(flashlab_precompiled_${kind} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp")
  endforeach()
  target_link_libraries(flashlab_precompiled_cold PRIVATE flashlab_cold)
  target_link_libraries(flashlab_precompiled_cold PRIVATE nlohmann_json::nlohmann_json)
  target_precompile_headers(flashlab_precompiled_cold PRIVATE <nlohmann/json.hpp>)
endif()

# flashlab_unity(<target> <most sources in one compilation> [hot|cold: whose precompiled headers])
function(flashlab_unity target size)
  if(NOT FLASHLAB_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(ARGC GREATER 2)
    target_precompile_headers(${target} REUSE_FROM flashlab_precompiled_${ARGV2})
  endif()
  # Named groups: if a source is added, removed, or compiled alone, the other groups stay the same.
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "[.](cpp|cu)$")
  set(position 0)
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
    file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${path}")
    math(EXPR group "${position} / ${size}")
    math(EXPR position "${position} + 1")
    if(NOT name IN_LIST FLASHLAB_EDITED)
      set_property(SOURCE "${path}" TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${group}")
    endif()
  endforeach()
endfunction()
