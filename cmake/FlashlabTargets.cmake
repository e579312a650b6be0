# Settings of every target: C++20, warnings, no implicit fused multiply-add (the machine's MAC rounds
# twice on every processor), and the level of optimisation.
add_library(flashlab_warnings INTERFACE)
target_compile_features(flashlab_warnings INTERFACE cxx_std_20)
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wno-sign-conversion>")
# In unity builds, local names of one source may shadow names of another.
if(NOT FLASHLAB_UNITY)
  target_compile_options(flashlab_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wshadow>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(flashlab_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wshadow=local>)
endif()
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-Xcompiler=-Wall,-Wextra>")
# g++ collects its garbage from 128 MB on, which precompiled headers alone nearly fill: a tenth to a quarter of
# the time. ./lab has a gigabyte for each compiler.
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=600000>")
# -lineinfo: profilers show source lines. It changes no instruction, but doubles the GPU code's size.
option(FLASHLAB_LINE_INFO "Keep the source lines of GPU code, which profilers show" ON)
if(FLASHLAB_LINE_INFO)
  target_compile_options(flashlab_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
endif()
# g++ 12 reports false overlapping and oversized copies in "text" + std::string (GCC bug 105651).
target_compile_options(flashlab_warnings INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")
# g++ 13 takes references into tables for references to temporaries.
target_compile_options(flashlab_warnings INTERFACE
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>")
if(FLASHLAB_WERROR)
  target_compile_options(flashlab_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

add_library(flashlab_options INTERFACE)
target_link_libraries(flashlab_options INTERFACE flashlab_warnings)
target_compile_options(flashlab_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

# flashlab_cold: code that is not measured by a benchmark; g++ compiles it in two thirds of the time with -O1.
# flashlab_interface: code that a call runs once, between a person and the machine; in half of the time with -Og.
# With sanitizers, compiling takes longer than running.
add_library(flashlab_cold INTERFACE)
add_library(flashlab_interface INTERFACE)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_compile_options(flashlab_cold INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  target_compile_options(flashlab_interface INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
else()
  target_compile_options(flashlab_interface INTERFACE
    # With -Og, g++ 12 takes members of std::function for uninitialised.
    "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<NOT:$<CONFIG:Debug>>>:-Og;-Wno-maybe-uninitialized>"
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>,$<NOT:$<CONFIG:Debug>>>:-O1>)
  target_compile_options(flashlab_cold INTERFACE
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<NOT:$<CONFIG:Debug>>>:-O1>
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>,$<NOT:$<CONFIG:Debug>>>:-O1>)
endif()

# The linker keeps the first copy of a function that several objects have, such as a member of std::vector. These
# programs begin with the objects that are optimized most (measured: a fifth of the time of `exercises lint`).
function(flashlab_hot_first target)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:flashlab_toymachine>)
endfunction()

# flashlab_headers(FOLDER PUBLIC header… PROJECT header…): the headers of a folder for others to include.
#   PUBLIC   are installed, compile alone, and include no others of our own
#   PROJECT  are for this project's other folders
# All other headers are private to the folder; a test checks this (tests/structure_test.cpp).
function(flashlab_headers folder)
  cmake_parse_arguments(PARSE_ARGV 1 headers "" "" "PUBLIC;PROJECT")
  foreach(header IN LISTS headers_PUBLIC headers_PROJECT)
    if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
      message(FATAL_ERROR "flashlab_headers(${folder}): there is no ${header}")
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY FLASHLAB_PUBLIC_HEADERS_${folder} ${headers_PUBLIC})
endfunction()
