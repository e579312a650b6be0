# What the legs of .ci/run and .ci/full share. Sourced, in the root of the project.
export CI=true  # no questions; warnings are errors
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks_of_others.supp:print_suppressions=0
# Lets ccache, where there is one, cache what is compiled with a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# leg NAME COMMAND…: runs it, with its seconds.
leg() {
  local name=$1 start=$SECONDS
  shift
  printf '\n==== %s\n' "$name"
  "$@"
  printf '==== %s: %d s\n' "$name" $((SECONDS - start))
}

# Installs those of the Debian packages that are not there.
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

# Tests that take minutes under the sanitizers and reach no code that the others do not: the docs'
# commands, each length and head_dim in the emulation of the GPU, the solver against searches that
# visit all states, the variants in further types, bundled programs at every size. They run without sanitizers in `./lab test`, and
# with them in .ci/full.
slow_with_sanitizers=(
  'every block of the docs' 'emulated: ?each' 'emulated: ?.*bits each'
  'the solver and the plain search agree' 'wherever a cheapest program is'
  'the bound is never above what remains' 'a class of symmetric states'
  'neither bound of a value algebra' 'the cheapest completion of a product is what'
  'no placement of loads is better' 'as many programs for a'
  'variant agrees with the oracle in (double|bf16|fp16)'
  'programs agree with the textbook at every size' 'schedules of attention agree with the textbook'
  'every bundled program claims something' 'on every bundled program, units'
  'formulas of random nests' 'random nests are counted' 'at head_dim 64 outputs and gradients'
  'a part of a trace has that part' 'a JSON trace is written while' 'divisors that leave only enumeration'
  'with s outputs kept, n outputs'
)

# One build is also clang's word on every warning (g++ has its own in ./lab test), and replays what
# the fuzzers found, each text once. `all` has all tests and instruction sets. `fast` builds for this
# processor alone, and leaves out the slow tests, those of the GPU kernels in the emulation (a third of
# the time to compile; ./lab test has them), and those of pages in a browser (nothing of ours runs in
# it but scripts).
test_with_sanitizers() {
  local leave_out=() options=(-DFLASHLAB_INSTRUCTION_SETS=all)
  if [[ $1 == fast ]]; then
    options=(-DFLASHLAB_INSTRUCTION_SETS=native -DFLASHLAB_EMULATED_KERNELS=OFF)
    leave_out=(--exclude-regex "$(IFS='|'; printf '%s' "${slow_with_sanitizers[*]}|player|timeline.s page|a trace.s page|report page")")
  fi
  cmake --preset asan -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DFLASHLAB_WERROR=ON \
    -DFLASHLAB_BUILD_FUZZERS=ON "${options[@]}"
  cmake --build build-asan
  build-asan/fuzz/assembler_fuzz -runs=0 fuzz/corpus toymachine/programs
  build-asan/fuzz/exercise_fuzz -runs=0 fuzz/exercise_corpus
  build-asan/fuzz/answer_fuzz -runs=0 fuzz/answer_corpus
  FLASHLAB_CASE_STEP=97 FLASHLAB_CPU_CASE_STEP=17 ctest --test-dir build-asan --output-on-failure \
    --no-tests=error --parallel "$(nproc)" "${leave_out[@]}"
}
