# A build of the kernels for one instruction set must leave no function behind that another one, or the
# rest of the program, has under the same name: the linker keeps one copy, which may be the one for a
# processor that is not there. So every weak function of its objects must name the build.
#
#   cmake -DNM=nm -DBUILD=avx2 "-DOBJECTS=a.o;b.o" -P kernel_symbols.cmake
if(NOT NM)
  message("test skipped: there is no nm to list symbols with")
  return()
endif()
set(num_weak 0)
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND "${NM}" --demangle --defined-only "${object}"
                  OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} cannot read ${object}")
  endif()
  string(REPLACE ";" "," symbols "${symbols}")
  string(REGEX MATCHALL "[^\n]* W [^\n]*" weak_functions "${symbols}")
  foreach(symbol IN LISTS weak_functions)
    math(EXPR num_weak "${num_weak} + 1")
    # The second is a name that nm does not know how to write; the last is clang's, for noexcept.
    if(NOT symbol MATCHES "flashlab::cpu::detail::${BUILD}::|FlashlabCpuEigen_${BUILD}::" AND
       NOT symbol MATCHES "_ZN8flashlab3cpu6detail[0-9]${BUILD}[0-9]" AND
       NOT symbol MATCHES " __clang_call_terminate$")
      message(SEND_ERROR "${object} leaves behind:${symbol}")
    endif()
  endforeach()
endforeach()
if(num_weak EQUAL 0)
  message(SEND_ERROR "no weak function in: ${OBJECTS}: expected the instances of the kernels' templates")
endif()
