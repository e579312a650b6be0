# Shared by the legs of .ci/run and .ci/full. Sourced in the root of the project.
export CI=true  # no questions; warnings are errors
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks_of_others.supp:print_suppressions=0
# Lets ccache, if installed, cache what is compiled with a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# leg NAME COMMAND…: runs a leg and prints its duration.
leg() {
  local name=$1 start=$SECONDS
  shift
  printf '\n==== %s\n' "$name"
  "$@"
  printf '==== %s: %d s\n' "$name" $((SECONDS - start))
}

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

# Tests that take more than five seconds each under the sanitizers and reach no code that other tests do
# not: hundreds of calls of the command, the variants in further types, programs at every size, random
# programs by the hundred. They run without sanitizers in `./lab test`, and with them in .ci/full.
slow_with_sanitizers=(
  'programs lists what run takes' 'every command and flag is completed' 'every command has a page of the manual'
  'every word of every bundled program' 'every bundled program claims something' 'a bundled program says what'
  'on every bundled program, units' 'programs agree with the textbook at every size'
  'schedules of attention agree with the textbook' 'attention programs (are|cost)' 'flash2 (is counted|has the formulas)'
  'flash1 in launches' 'random programs on tiles' 'a row of tiles in registers is counted' 'formulas of random nests'
  'random nests are counted' 'formulas that explode' 'a formula does not grow' 'with no output kept'
  'at head_dim 64 outputs and gradients' 'variants made without binding' 'lines inserted without binding'
  'an edited program disassembles' 'a softmax without its maximum' 'a program without a computation beside it'
  'the blocked product is right' 'a tiled product costs' 'nothing is wrong with any exercise'
  'what is committed about an exercise' 'hints come one at a time' 'watch checks a file' 'what the path prints'
  'a part of a trace has that part' 'a JSON trace is written while' 'divisors that leave only enumeration'
  'every entry of the source is what' 'no call is predicted below' 'the mask is exact beyond'
  'variant agrees with the oracle in (double|bf16|fp16)' 'a call gives the same bits twice'
  'one long head is shared' 'an installed flashlab' 'with s outputs kept' 'a window shows its cycles'
  'tables fit the width' 'labels of loads add up' 'a grading that is killed goes on' 'what was broken off is'
  'a budget that ends at any moment' 'reports have the same bytes' 'the tables of attention fit'
  'a measurement has a time' 'a wrong attention problem' 'a capacity of kB' 'help reaches the commands'
  'a request that cannot be met' 'the solution is shown after' 'nine of ten human mistakes'
  'a measurement.s median' 'verification and measurement together' 'flashlab alone names the tour'
  'attention with a window agrees' 'results of any number of workers' 'prove writes what it proves'
  'a proof that cannot be read' 'an array.s traffic can be plotted' 'the fitted parameter'
  'variant is right over many tiles' 'the notes. products are as far'
)

# This build also checks all of clang's warnings (./lab test checks g++'s), and replays the fuzzers'
# findings, each text once. `all` has all tests and instruction sets. `fast` compiles without
# optimisation and only for the baseline instruction set (AVX-512 takes twice as long). It leaves out the
# slow tests, the tests of the GPU kernels in the emulation, of pages in a browser (only our scripts run
# in it), of the solver (it reads no file, and searches for minutes), and of sources and documents.
test_with_sanitizers() {
  # The documents contain tables of searches with a time limit, in which a slow build finds less.
  local leave_out=(--exclude-regex 'every block of the docs') targets=(all)
  local options=(-DFLASHLAB_INSTRUCTION_SETS=all -DFLASHLAB_EMULATED_KERNELS=ON)
  if [[ $1 == fast ]]; then
    options=(-DFLASHLAB_INSTRUCTION_SETS=baseline -DFLASHLAB_EMULATED_KERNELS=OFF
             '-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1')
    targets=(flashlab flashlab_{toymachine,exercises,cli,compare,attention}_tests flashlab_fuzzers)
    slow_with_sanitizers+=('optimal' 'a (long )?search' 'checkpoint' 'values in between stand' 'scratch cells'
                           'a known program is shown' 'number of jobs' 'what is not proved')
    slow_with_sanitizers+=('player' 'timeline.s page' 'a trace.s page' 'report page' '_NOT_BUILT')
    leave_out=(--exclude-regex "$(IFS='|'; printf '%s' "${slow_with_sanitizers[*]}")")
  fi
  cmake --preset asan -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DFLASHLAB_WERROR=ON \
    -DFLASHLAB_BUILD_FUZZERS=ON "${options[@]}"
  cmake --build build-asan --target "${targets[@]}"
  FLASHLAB_FUZZERS=build-asan/fuzz fuzz/run
  FLASHLAB_CASE_STEP=97 FLASHLAB_CPU_CASE_STEP=17 ctest --test-dir build-asan --output-on-failure \
    --no-tests=error --parallel "$(($(nproc) + 1))" "${leave_out[@]}"
}
