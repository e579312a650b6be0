# Any version of Catch2 as one target, and each test case as a CTest test.
include(Catch)
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <version>
  #if !defined(_LIBCPP_VERSION)
  #error another one
  #endif
  int main() {}" FLASHLAB_HAS_LIBCXX)
# Debian's main function of Catch2 2.x is built for libstdc++.
if(TARGET Catch2::Catch2WithMain AND NOT (FLASHLAB_HAS_LIBCXX AND Catch2_VERSION VERSION_LESS 3))
  add_library(flashlab_catch ALIAS Catch2::Catch2WithMain)
else()  # Catch2 2.x has everything in a header
  add_library(flashlab_catch STATIC "${PROJECT_SOURCE_DIR}/tests/catch_main.cpp")
  target_link_libraries(flashlab_catch PUBLIC Catch2::Catch2)
endif()

# Without any optimization tests compile in four fifths of the time, and run up to nine times as long: the linker
# takes their copies of functions that the libraries use, too. With sanitizers: -O0.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(test_optimization -Og)
else()
  set(test_optimization -O1)
endif()
set(FLASHLAB_TEST_OPTIMIZATION ${test_optimization} CACHE STRING "How tests are compiled, but for Debug builds")

if(FLASHLAB_UNITY)  # Catch2 2.13 takes seconds to compile
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled/tests.cpp" CONTENT "")
  add_library(flashlab_precompiled_tests OBJECT "${PROJECT_BINARY_DIR}/precompiled/tests.cpp")
  target_link_libraries(flashlab_precompiled_tests PRIVATE flashlab_catch flashlab_options)
  target_include_directories(flashlab_precompiled_tests PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(flashlab_precompiled_tests PRIVATE
    $<$<NOT:$<CONFIG:Debug>>:${FLASHLAB_TEST_OPTIMIZATION}>)
  target_precompile_headers(flashlab_precompiled_tests PRIVATE "${PROJECT_SOURCE_DIR}/tests/catch_shim.hpp")
  if(NOT FLASHLAB_ONLY_CUDA)  # the CUDA tests need neither GMP nor JSON
    target_link_libraries(flashlab_precompiled_tests PRIVATE GMP::gmp nlohmann_json::nlohmann_json)
    target_precompile_headers(flashlab_precompiled_tests PRIVATE
      "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp" <nlohmann/json.hpp>)
  endif()
endif()

# Waiting threads sleep: tests run in parallel, with more threads in total than there are cores.
set(environment "OMP_WAIT_POLICY=passive")
set(most_seconds 300)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(most_seconds 2400)  # one of their commands may take 900 (tests/cli/command.cpp)
endif()
# Adds a program of tests; further arguments go to catch_discover_tests, such as TEST_PREFIX. HOT: the
# tests run longer than they compile, because they compute reference results.
function(flashlab_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "HOT" "" "")
  target_link_libraries(${name} PRIVATE flashlab_catch flashlab_options)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:${FLASHLAB_TEST_OPTIMIZATION}>)
  flashlab_unity(${name} 20)
  if(program_HOT)
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
      target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
    endif()
  elseif(FLASHLAB_UNITY)
    target_precompile_headers(${name} REUSE_FROM flashlab_precompiled_tests)
  endif()
  # A name that matches nothing and a test without assertions are failures; Catch2 would pass both.
  catch_discover_tests(${name} EXTRA_ARGS --warn NoAssertions ${program_UNPARSED_ARGUMENTS}
    PROPERTIES SKIP_REGULAR_EXPRESSION "test skipped: "
               FAIL_REGULAR_EXPRESSION "No test cases matched" TIMEOUT ${most_seconds}
               ENVIRONMENT "${environment}")
endfunction()
