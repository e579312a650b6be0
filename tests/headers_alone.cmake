# Every public header compiles alone: it includes what it uses. One generated source for each header.
# Only where every source stands alone, too (.ci/full): it is 50 compilations, and with sanitizers
# nothing more would be seen.
if(FLASHLAB_UNITY OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
set(headers "")
foreach(folder IN ITEMS text toymachine optimal attention attention_cpu attention_cuda)
  get_property(public GLOBAL PROPERTY FLASHLAB_PUBLIC_HEADERS_${folder})
  list(TRANSFORM public PREPEND "${folder}/")
  list(APPEND headers ${public})
endforeach()
set(sources "")
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER "${header}" stem)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/headers_alone/${stem}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@header@\"\n" @ONLY)
  list(APPEND sources "${source}")
endforeach()
add_library(flashlab_headers_alone OBJECT ${sources})
target_compile_options(flashlab_headers_alone PRIVATE -O0)
target_link_libraries(flashlab_headers_alone PRIVATE flashlab_optimal flashlab::toymachine flashlab::attention_cpu
                                                     flashlab_options)
