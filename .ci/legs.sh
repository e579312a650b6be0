# Shared by the legs of .ci/run and .ci/full. Sourced in the root of the project.
export CI=true  # no questions; warnings are errors
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks_of_others.supp:print_suppressions=0
# Lets ccache, if installed, cache what is compiled with a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# leg NAME MARK COMMAND…: runs a leg and prints its duration beside its mark, both in seconds. A leg above its
# mark is a warning and no failure, as computers differ. The marks are for two quiet cores without a compiler cache.
# The file FLASHLAB_LEGS_TOOK gets these lines, too, so that CI can add up what ran on several computers.
legs_took=()
leg() {
  local name=$1 mark=$2 start=$SECONDS
  shift 2
  printf '\n==== %s\n' "$name"
  "$@"
  note_leg "$name" "$mark" $((SECONDS - start))
  printf '==== %s\n' "${legs_took[-1]}"
}
note_leg() {
  local warning=''
  if (($3 > $2)); then warning='  WARNING: above its mark'; fi
  legs_took+=("$(printf '%5d s, mark %5d s: %s%s' "$3" "$2" "$1" "$warning")")
  if [[ -n ${FLASHLAB_LEGS_TOOK:-} ]]; then printf '%s\n' "${legs_took[-1]}" >>"$FLASHLAB_LEGS_TOOK"; fi
}
say_legs() { printf '\n==== what the legs took\n'; printf '%s\n' "${legs_took[@]}"; }

# Installs the missing ones among these Debian packages.
install_packages() {
  local package missing=() as_root=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qy --no-install-recommends "${missing[@]}" >/dev/null
}

# write_headers BUILD: those that a build generates, for tools that read sources. Runs only their commands: as
# targets, they would also build the libraries that their target needs.
write_headers() {
  local headers
  mapfile -t headers < <(ninja -C "$1" -t targets all |
    sed -n 's/^\([^/].*embedded\/.*\.hpp\): CUSTOM_COMMAND$/\1/p')
  ninja -C "$1" -t commands -s "${headers[@]}" | grep '^cd ' | sort -u >"$1/write_headers"
  bash -e "$1/write_headers" >"$1/write_headers.log" 2>&1 || { tail -n 20 "$1/write_headers.log" >&2; return 1; }
}

# What reads or runs what somebody hands in: the language, the machine that runs it, the grader.
hostile_input='/tests/(text|toymachine/(language|bind|execute|replay))/|/toymachine/budget|/exercises/(answers|classroom|grader|hostile|isolation|message_limits|progress|reader|reports|score|student_files|submission_file)_'

# Two that take a minute, and those of what is not built.
not_in_fast=('labels of loads add up' 'a budget that ends at any moment' 'leave no function to others'
             'an installed flashlab' 'the Python module answers' 'the notebooks of' '_NOT_BUILT')

# This build also checks all of clang's warnings (./lab test checks g++'s), and replays the fuzzers'
# findings, each text once. `all` has all tests and instruction sets. `fast` has the tests of hostile
# input, without those of pages in a browser and two slow ones; the fuzzers also replay files with
# comparisons, proofs and exercises. It compiles for the baseline instruction set, without optimisation
# and line numbers (a preset asan build has them), and leaves out three checks that double the code: null
# pointers (AddressSanitizer stops there, too), alignment, and the type behind a virtual call.
test_with_sanitizers() {
  # The documents contain tables of searches with a time limit, in which a slow build finds less.
  local leave_out=(--exclude-regex 'every block of the docs') targets=(all)
  # A function of another library that is looked up by its name has our own names in its type: clang says that
  # this is not the type with which the tests' stand-ins for such libraries were compiled.
  local options=(-DFLASHLAB_INSTRUCTION_SETS=all -DFLASHLAB_EMULATED_KERNELS=ON -DFLASHLAB_ONLY_TESTS=
                 '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -fno-sanitize=function')
  if [[ $1 == fast ]]; then
    options=(-DFLASHLAB_INSTRUCTION_SETS=baseline -DFLASHLAB_EMULATED_KERNELS=OFF
             "-DFLASHLAB_ONLY_TESTS=$hostile_input"
             '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g0 -fno-sanitize=null,alignment,vptr,object-size')
    targets=(flashlab_{toymachine,exercises}_tests flashlab_fuzzers)
    leave_out=(--exclude-regex "$(IFS='|'; printf '%s' "${not_in_fast[*]}")")
  fi
  cmake --preset asan -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DFLASHLAB_WERROR=ON \
    -DFLASHLAB_BUILD_FUZZERS=ON "${options[@]}"
  cmake --build build-asan --target "${targets[@]}"
  FLASHLAB_FUZZERS=build-asan/fuzz fuzz/run
  FLASHLAB_CASE_STEP=97 FLASHLAB_CPU_CASE_STEP=17 ctest --test-dir build-asan --output-on-failure \
    --no-tests=error --parallel "$(($(nproc) + 1))" "${leave_out[@]}"
}

# What the emulated GPU kernels and their tests are made from.
of_the_kernels=(attention attention_cpu attention_cuda compare/cuda compare/rows cli/attention cli/compare results
  gpu system tests/attention_cpu tests/attention_cuda tests/cli/command.cpp tests/cli/attention_cuda_test.cpp
  tests/cli/compare_gpu_test.cpp tests/CMakeLists.txt cmake CMakeLists.txt)

# choose_emulation [BASE]: `./lab test` leaves out the emulated GPU kernels if nothing that they are made
# from was changed since BASE: they take two minutes. Without a base they are tested.
choose_emulation() {
  local base=$1
  base=${base:-$(git merge-base HEAD origin/HEAD 2>/dev/null || true)}
  if [[ -n $base ]] && git diff --quiet "$base" -- "${of_the_kernels[@]}" &&
    [[ -z $(git ls-files --others --exclude-standard -- "${of_the_kernels[@]}") ]]; then
    export FLASHLAB_EMULATED_KERNELS=OFF
    printf 'left out: the GPU kernels in the emulation: nothing of them was changed since %s; ./lab test runs them\n' \
      "$(git rev-parse --short "$base")"
  fi
}
