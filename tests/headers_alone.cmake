# Every public header compiles alone: it includes what it uses. One generated source for each header.
# Only where every source stands alone, too (.ci/full): it is 50 compilations, and with sanitizers
# nothing more would be seen.
if(FLASHLAB_UNITY OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/toymachine/*.hpp" "${PROJECT_SOURCE_DIR}/attention/*.hpp"
     "${PROJECT_SOURCE_DIR}/attention_cpu/*.hpp" "${PROJECT_SOURCE_DIR}/attention_cuda/*.hpp")
set(sources "")
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER "${header}" stem)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${stem}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND sources "${source}")
endforeach()
add_library(flashlab_headers_alone OBJECT ${sources})
target_compile_options(flashlab_headers_alone PRIVATE -O0)
target_link_libraries(flashlab_headers_alone PRIVATE flashlab::toymachine flashlab::attention_cpu
                                                     flashlab_options)
