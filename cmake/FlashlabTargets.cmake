# What every target of this project shares: C++20, warnings, no fused multiply-add behind our back
# (the machine's MAC rounds twice on every processor), and how far it is optimised.
add_library(flashlab_warnings INTERFACE)
target_compile_features(flashlab_warnings INTERFACE cxx_std_20)
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wno-sign-conversion>")
# Of sources that are compiled together, one's local names may be another's outer ones.
if(NOT FLASHLAB_UNITY)
  target_compile_options(flashlab_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(flashlab_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wshadow=local>)
endif()
# -lineinfo: profilers show source lines.
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-lineinfo;-Xcompiler=-Wall,-Wextra>")
# g++ 12 sees overlapping, endless and outlying copies inside "text" + std::string (GCC bug 105651).
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")
if(FLASHLAB_WERROR)
  target_compile_options(flashlab_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

add_library(flashlab_options INTERFACE)
target_link_libraries(flashlab_options INTERFACE flashlab_warnings)
target_compile_options(flashlab_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

# Code that no benchmark waits for: g++ compiles it in two thirds of the time with -O1. With sanitizers
# compiling takes longer than running.
add_library(flashlab_cold INTERFACE)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_compile_options(flashlab_cold INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
else()
  target_compile_options(flashlab_cold INTERFACE
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<NOT:$<CONFIG:Debug>>>:-O1>
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>,$<NOT:$<CONFIG:Debug>>>:-O1>)
endif()

# flashlab_headers(FOLDER PUBLIC header… PROJECT header…): the headers of a folder that others include.
#   PUBLIC   are installed, compile alone, and include no others of our own
#   PROJECT  are for this project's other folders
# All others are the folder's own; a test looks (tests/structure_test.cpp).
function(flashlab_headers folder)
  cmake_parse_arguments(PARSE_ARGV 1 headers "" "" "PUBLIC;PROJECT")
  foreach(header IN LISTS headers_PUBLIC headers_PROJECT)
    if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
      message(FATAL_ERROR "flashlab_headers(${folder}): there is no ${header}")
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY FLASHLAB_PUBLIC_HEADERS_${folder} ${headers_PUBLIC})
endfunction()
