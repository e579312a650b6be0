# Code that is compiled once for each instruction set and selected at run time: the variants of
# attention_cpu, and the machine's lanes and tiles.
#
# FLASHLAB_INSTRUCTION_SETS  all: for packages, which run anywhere; native: only the best set of this
#                            computer, which takes a third of the time to compile; or a list of
#                            baseline, avx2, avx512
set(FLASHLAB_INSTRUCTION_SETS all CACHE STRING "all, native, or a list of baseline, avx2, avx512")
set(flags_of_baseline "")
if(EMSCRIPTEN)
  set(flags_of_baseline -msimd128)  # Chrome 91, Firefox 89, Safari 16.4
endif()
set(flags_of_avx2 -mavx2 -mfma -mf16c)
set(flags_of_avx512 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)

# Unoptimised builds keep inline functions in the objects, and the linker keeps one copy of each. That
# copy must not be one for another processor.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(sets baseline)
elseif(FLASHLAB_INSTRUCTION_SETS STREQUAL "all")
  set(sets baseline avx2 avx512)
elseif(FLASHLAB_INSTRUCTION_SETS STREQUAL "native")
  if(NOT FLASHLAB_NATIVE_SET)
    try_run(exit_code compiled "${PROJECT_BINARY_DIR}/native_set" "${PROJECT_SOURCE_DIR}/cmake/native_set.cpp"
            RUN_OUTPUT_VARIABLE found)
    if(NOT compiled OR NOT exit_code EQUAL 0)
      set(found baseline)
    endif()
    set(FLASHLAB_NATIVE_SET "${found}" CACHE INTERNAL "the best instruction set of this computer")
  endif()
  set(sets ${FLASHLAB_NATIVE_SET})
else()
  set(sets ${FLASHLAB_INSTRUCTION_SETS})
endif()
foreach(set IN LISTS sets)
  if(NOT set MATCHES "^(baseline|avx2|avx512)$")
    message(FATAL_ERROR "FLASHLAB_INSTRUCTION_SETS: ${set}: expected all, native, or a list of baseline, avx2, avx512")
  endif()
endforeach()
message(STATUS "instruction sets: ${sets}")
set(FLASHLAB_SETS ${sets})
# Definitions for the code that selects a set: FLASHLAB_HAS_AVX2 and so on.
string(TOUPPER "${sets}" FLASHLAB_SET_DEFINITIONS)
list(TRANSFORM FLASHLAB_SET_DEFINITIONS PREPEND FLASHLAB_HAS_)
