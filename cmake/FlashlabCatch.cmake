# Catch2, whichever version there is, as one target; and each test case as a CTest test.
include(Catch)
if(TARGET Catch2::Catch2WithMain)
  add_library(flashlab_catch ALIAS Catch2::Catch2WithMain)
else()  # Catch2 2.x without its compiled main function
  add_library(flashlab_catch STATIC "${PROJECT_SOURCE_DIR}/tests/catch_main.cpp")
  target_link_libraries(flashlab_catch PUBLIC Catch2::Catch2)
endif()

# -O1: compiles faster than -O3, and g++ 12 sees no copies that are not there (GCC bug 105651, see
# -Wno-restrict). With sanitizers tests take longer to compile than to run: -O0.
set(FLASHLAB_TEST_OPTIMIZATION -O1 CACHE STRING "How tests are compiled, but for Debug builds")

# Threads that wait sleep: tests run side by side, on fewer cores than they have threads together.
set(environment "OMP_WAIT_POLICY=passive")
# A program of tests; the rest: arguments of catch_discover_tests, such as TEST_PREFIX.
function(flashlab_test_program name)
  target_link_libraries(${name} PRIVATE flashlab_catch flashlab_options)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:${FLASHLAB_TEST_OPTIMIZATION}>)
  target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/catch_shim.hpp")  # Catch2 2.13 takes seconds to read
  # A name that matches nothing, and a test that asserts nothing, are failures; Catch2 would pass both.
  catch_discover_tests(${name} EXTRA_ARGS --warn NoAssertions ${ARGN}
    PROPERTIES SKIP_REGULAR_EXPRESSION "test skipped: "
               FAIL_REGULAR_EXPRESSION "No test cases matched" TIMEOUT 300
               ENVIRONMENT "${environment}")
endfunction()
