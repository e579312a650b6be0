# A test: which commit the build takes the sources for, in a repository of its own.
# Included by tests/CMakeLists.txt to declare the test, run by the test itself with cmake -P.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_test(NAME "the build knows the commit, changes to it, and an archive's"
           COMMAND "${CMAKE_COMMAND}" "-DSCRIPT=${FLASHLAB_COMMIT_SCRIPT}"
                   "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/commit test"
                   "-DATTRIBUTES=${PROJECT_SOURCE_DIR}/.gitattributes"
                   "-DARCHIVAL=${PROJECT_SOURCE_DIR}/.git_archival.txt" -P "${CMAKE_CURRENT_LIST_FILE}")
  set_tests_properties("the build knows the commit, changes to it, and an archive's" PROPERTIES
    SKIP_REGULAR_EXPRESSION "test skipped: ")
  return()
endif()

cmake_policy(VERSION 3.22)
find_program(git git)
if(NOT git)
  message("test skipped: there is no git")
  return()
endif()
set(output "${FOLDER}/build/commit.cpp")
foreach(variable IN ITEMS GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE)  # of a commit hook that runs the tests
  unset(ENV{${variable}})
endforeach()

function(in_repository)
  execute_process(COMMAND "${git}" -c user.name=n -c user.email=e@x -c commit.gpgsign=false ${ARGN}
                  WORKING_DIRECTORY "${FOLDER}/source" OUTPUT_VARIABLE printed ERROR_VARIABLE printed
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(printed "${printed}" PARENT_SCOPE)
endfunction()

function(expect what commit)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${FOLDER}/${what}" "-DOUTPUT=${output}"
                          -DROOMS=room -P "${SCRIPT}" COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${output}" text)
  if(NOT text MATCHES "return \"${commit}\";")
    message(SEND_ERROR "${what}: expected ${commit}, found in\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/source" "${FOLDER}/archive")
file(COPY "${ATTRIBUTES}" "${ARCHIVAL}" DESTINATION "${FOLDER}/source")
expect(source unknown)  # neither a repository nor an archive: no commit was put into the file
file(WRITE "${FOLDER}/source/room/a file.cpp" "1\n")
in_repository(init -q)
in_repository(add .)
in_repository(commit -q -m first)
in_repository(tag v1)
in_repository(rev-parse --short=7 HEAD)
set(first "${printed}")
expect(source ${first})
file(READ "${output}.d" watched)
if(NOT watched MATCHES "/[.]git/logs/HEAD" OR NOT watched MATCHES "/room/a\\\\ file.cpp")
  message(SEND_ERROR "a commit or a change would not be seen: ${watched}")
endif()

file(TIMESTAMP "${output}" before "%s")
execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1)
expect(source ${first})
file(TIMESTAMP "${output}" after "%s")
if(NOT before STREQUAL after)
  message(SEND_ERROR "the same commit was written again and would be compiled again")
endif()

file(WRITE "${FOLDER}/source/untracked.txt" "1\n")
expect(source ${first})
file(WRITE "${FOLDER}/source/room/a file.cpp" "2\n")
expect(source ${first}-dirty)
in_repository(commit -q -a -m second)
in_repository(rev-parse --short=7 HEAD)
set(second "${printed}")
if(second STREQUAL first)
  message(SEND_ERROR "two commits are one: ${first}")
endif()
expect(source ${second})

in_repository(archive -o ../archive.tar HEAD)
execute_process(COMMAND "${CMAKE_COMMAND}" -E tar xf ../archive.tar WORKING_DIRECTORY "${FOLDER}/archive"
                COMMAND_ERROR_IS_FATAL ANY)
expect(archive ${second})  # inside flashlab's own repository, which is not asked
