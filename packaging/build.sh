#!/usr/bin/env bash
# packaging/build.sh [wheel|deb|tar …]: makes packages in dist/, all three by default, of the
# files that g++ builds in build-package/. They are linked so that they run with glibc 2.28
# or later and need no library of g++ and no GMP; they bring the libgomp that the library for Python
# uses. With nvcc they include the library for GPUs; otherwise a line says that it is missing.
#   CXX           the compiler, g++ 12 or later
#   FLASHLAB_GMP  a libgmp.a to use instead of the system's: THIRD_PARTY.md explains why
#   CMAKE_ARGS    further arguments for cmake
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build-package
dist=$root/dist
stage=$build/stage
stubs=$build/glibc-2.28
tools=$build/tools

say() { printf 'packages: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }

check_machine() {
  [[ $(uname -sm) == 'Linux x86_64' ]] || fail "they are made on Linux x86_64, not on $(uname -sm)"
  local tool
  for tool in "$CXX" cmake ninja python3 strip readelf; do have "$tool" || fail "$tool is missing"; done
  [[ $("$CXX" -dumpfullversion) != *clang* && $("$CXX" -dumpversion) -ge 12 ]] ||
    fail "$CXX is not g++ 12 or later"
  [[ -e $utf8proc ]] || fail "there is no libutf8proc.a ($utf8proc): install libutf8proc-dev"
  [[ -e $gmp ]] || fail "there is no libgmp.a ($gmp): install libgmp-dev, or name one in FLASHLAB_GMP"
}

# Installs wheel for packing and auditwheel for checking.
install_tools() {
  [[ -x $tools/bin/auditwheel ]] && return
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check wheel==0.48.0 auditwheel==6.8.2
}

# GPUs: code for 8.0 also runs on 8.6 and 8.9. For later GPUs the driver compiles the PTX of 9.0.
# Code and PTX for all four would make the wheel larger than allowed. Source lines, which profilers show,
# would double the GPU code; whoever wants them has the source, and builds with them by default.
#
# The .deb's dependencies are listed by hand: dpkg-shlibdeps knows only this system's glibc, in which
# threads have moved to another library, and would require 2.34.
configure() {
  local link="-B$stubs/ -L$stubs $stubs/old_glibc.o -Wl,--as-needed,--allow-shlib-undefined,--gc-sections"
  # A program contains OpenMP. A shared library uses the one that the package brings.
  local openmp="\$<IF:\$<STREQUAL:\$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,$stubs/libgomp.so.1,$stubs/libgomp.a>"
  local options=() cuda=${FLASHLAB_CUDA:-ON} compress='-Xfatbin -compress-all'
  have nvcc || cuda=OFF
  if have nvcc && nvcc --help | grep -q -- --compress-mode; then compress=--compress-mode=size; fi
  have ccache && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=$CXX" \
    -DFLASHLAB_BUILD_TESTS=OFF -DFLASHLAB_BUILD_BENCHMARKS=OFF \
    -DFLASHLAB_INSTRUCTION_SETS=all -DFLASHLAB_INSTALL_KERNELS=OFF \
    -DFLASHLAB_CUDA="$cuda" '-DFLASHLAB_CUDA_ARCHITECTURES=80-real;90' "-DCMAKE_CUDA_FLAGS=$compress" \
    -DFLASHLAB_LINE_INFO=OFF \
    -DCMAKE_CXX_FLAGS=-ffunction-sections \
    "-DCMAKE_EXE_LINKER_FLAGS=$link -Wl,-Map,$build/link.map" "-DCMAKE_SHARED_LINKER_FLAGS=$link" \
    "-DGMP_LIBRARY=$gmp" "-DUTF8PROC_LIBRARY=$utf8proc" "-DOpenMP_gomp_LIBRARY=$openmp" \
    "-DOpenMP_pthread_LIBRARY=$stubs/libpthread.so" "-DFLASHLAB_BUNDLED_LIBRARIES=$stubs/libgomp.so.1" \
    '-DCPACK_DEBIAN_PACKAGE_DEPENDS=libc6 (>= 2.28), libgcc-s1 | libgcc1' \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=/usr ${options[@]+"${options[@]}"} ${CMAKE_ARGS:-}
}

value_of() { sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"; }

# Libraries that the binaries may require from a system: glibc's, and g++'s for exceptions. From the
# package: what lies in lib/flashlab.
check_needed() {
  local file needed
  for file in "$@"; do
    [[ -e $file ]] || continue
    needed=$(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
      grep -vxFf <(ls "$stage/lib/flashlab") |
      grep -vxE 'lib(c|m|dl|rt|pthread)\.so\.[0-9]+|ld-linux-x86-64\.so\.2|libgcc_s\.so\.1' || true)
    [[ -z $needed ]] || fail "$(basename "$file") needs what no package brings: ${needed//$'\n'/ }"
  done
}

build_all() {
  PYTHON=$tools/bin/python bash "$root/packaging/glibc_stubs.sh" "$stubs"
  configure >"$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; fail 'configuring failed'; }
  cmake --build "$build" || fail 'building failed'
  rm -rf "$stage"
  cmake --install "$build" --prefix "$stage" --strip >/dev/null
  check_needed "$stage/bin/flashlab" "$stage"/lib/*.so "$stage"/lib/flashlab/*.so*
  compgen -G "$stage/lib/libflashlab_cuda.so" >/dev/null ||
    compgen -G "$stage/lib/flashlab/libflashlab_cuda.so" >/dev/null ||
    say 'without nvcc (CUDA Toolkit 12.4 or later): the library for GPUs is not inside'
}

make_wheel() {
  local file
  file=$("$tools/bin/python" "$root/packaging/wheel.py" "$stage" "$(value_of CMAKE_PROJECT_VERSION)" \
    "$dist" --summary "$(value_of CMAKE_PROJECT_DESCRIPTION)")
  "$tools/bin/auditwheel" show "$file" >"$build/auditwheel.txt" 2>&1 ||
    { cat "$build/auditwheel.txt" >&2; fail 'auditwheel cannot judge the wheel'; }
  tr '\n' ' ' <"$build/auditwheel.txt" | grep -qE 'manylinux_2_(5|12|17|2[4-8])_x86_64' ||
    { cat "$build/auditwheel.txt" >&2; fail 'the wheel needs more than glibc 2.28'; }
  made "$file"
}

make_with_cpack() {  # GENERATOR ENDING
  (cd "$build" && cpack -G "$1" -B "$build/cpack" >"$build/cpack.log" 2>&1) ||
    { cat "$build/cpack.log" >&2; fail "cpack -G $1 failed"; }
  local file
  for file in "$build/cpack"/*"$2"; do
    mv -f "$file" "$dist/"
    made "$dist/$(basename "$file")"
  done
}

made() { say "$1, $(stat -c %s "$1" | awk '{printf "%.1f MB", $1 / 1e6}')"; }

main() {
  CXX=${CXX:-g++}
  export CXX
  gmp=${FLASHLAB_GMP:-$("$CXX" -print-file-name=libgmp.a)}
  utf8proc=$("$CXX" -print-file-name=libutf8proc.a)
  local wanted=("$@") package
  ((${#wanted[@]})) || wanted=(wheel deb tar)
  for package in "${wanted[@]}"; do
    [[ $package =~ ^(wheel|deb|tar)$ ]] || fail "there is no package '$package': wheel, deb or tar"
  done
  check_machine
  mkdir -p "$build" "$dist"
  install_tools
  build_all
  for package in "${wanted[@]}"; do
    case $package in
      wheel) make_wheel ;;
      deb) make_with_cpack DEB .deb ;;
      tar) make_with_cpack TGZ .tar.gz ;;
    esac
  done
}

main "$@"
