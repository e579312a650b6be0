# A test: installs into an empty prefix, builds the project beside this file against it, and runs it.
# Included by tests/CMakeLists.txt to declare the test, run by the test itself with cmake -P.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_test(NAME "an installed flashlab serves a consumer project"
           COMMAND "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}"
                   "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DFLAGS=${CMAKE_CXX_FLAGS}"
                   "-DGENERATOR=${CMAKE_GENERATOR}" "-DCONFIG=$<CONFIG>"
                   -P "${CMAKE_CURRENT_LIST_FILE}")
  return()
endif()

set(prefix "${BUILD}/tests/consumer/prefix")
set(build "${BUILD}/tests/consumer/build")
file(REMOVE_RECURSE "${prefix}" "${build}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}"
                        --config "${CONFIG}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${build}"
                        -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
                        "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}"
                        "-DCMAKE_BUILD_TYPE=${CONFIG}"
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${build}" --config "${CONFIG}"
                COMMAND_ERROR_IS_FATAL ANY)
find_program(consumer consumer PATHS "${build}" "${build}/${CONFIG}" NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND "${consumer}" OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL "c00 = 19; loads 4, stores 1, cycles 7\no0 = (3, 5)\n")
  message(FATAL_ERROR "the consumer printed: ${printed}")
endif()
find_program(cuda_consumer cuda_consumer PATHS "${build}" "${build}/${CONFIG}" NO_DEFAULT_PATH)
if(cuda_consumer)
  execute_process(COMMAND "${cuda_consumer}" OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT printed STREQUAL "online\n")
    message(FATAL_ERROR "the consumer of kernels printed: ${printed}")
  endif()
endif()
