# The libraries of headers alone, from the folder that playground/build.sh filled, because the packages of
# the building system would add its own /usr/include. Included by CMAKE_PROJECT_INCLUDE.
foreach(target IN ITEMS Eigen3::Eigen fmt::fmt-header-only nlohmann_json::nlohmann_json
                        tomlplusplus::tomlplusplus FastFloat::fast_float)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${FLASHLAB_BROWSER_HEADERS}")
  string(REGEX REPLACE "::.*" "" package ${target})
  set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
endforeach()
set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
