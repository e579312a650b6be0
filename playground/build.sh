#!/usr/bin/env bash
# playground/build.sh: makes build-playground/playground.html, one page that holds the machine, the course
# and its exercises. Debian 12 has no emscripten that compiles C++20, so it works in a Debian 13 of its
# own, build-playground/root, which the first call installs with debootstrap. That takes root.
#   FLASHLAB_YES=true   installs without asking
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build-playground
debian=$build/root

# As root inside the Debian of its own. The mounts go away with the shell.
inside() {
  unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
    mkdir -p "$0/src" && mount --bind "$1" "$0/src" &&
    exec chroot "$0" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 \
      EM_FROZEN_CACHE=0 EM_CACHE=/opt/emcache bash -euo pipefail -c "$2"' "$debian" "$root" "$1"
}

say() { printf 'playground: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

step() {  # NAME SCRIPT: a step that is done once; its log is beside its mark
  local name=$1
  [[ -e $build/$name.complete ]] && return
  say "$name (log: build-playground/$name.log)"
  inside "$2" >"$build/$name.log" 2>&1 || { tail -n 20 "$build/$name.log" >&2; fail "$name failed"; }
  touch "$build/$name.complete"
}

check_machine() {
  [[ $(uname -sm) == 'Linux x86_64' ]] || fail "it is built on Linux x86_64, not on $(uname -sm)"
  [[ $(id -u) == 0 ]] || fail 'a Debian of its own takes root rights: call it as root, or take the page from a release'
  command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
}

install_debian() {
  [[ -e $build/debian.complete ]] && return
  say 'this installs a Debian 13 with emscripten 3.1.69 into build-playground/root: 3 GB, of which 0.4 GB come over the network'
  if [[ ${FLASHLAB_YES:-${CI:-false}} != true ]]; then
    local answer
    [[ -t 0 ]] || fail 'there is no terminal to ask on: FLASHLAB_YES=true installs it'
    read -r -p 'playground: install it now? [Y/n] ' answer
    [[ $answer == '' || $answer == [yY]* ]] || fail 'nothing was installed'
  fi
  rm -rf "$debian"
  mkdir -p "$debian"
  debootstrap --variant=minbase \
    --include=emscripten,cmake,ninja-build,make,gcc,libc6-dev,m4,xz-utils,ca-certificates,nlohmann-json3-dev,libtomlplusplus-dev,libfmt-dev,libfast-float-dev,libeigen3-dev \
    trixie "$debian" >"$build/debian.log" 2>&1 || { tail -n 20 "$build/debian.log" >&2; fail 'debootstrap failed'; }
  # utf8proc's source comes from Debian 12, whose mirrors all have it.
  printf 'deb-src http://deb.debian.org/debian %s main\n' trixie bookworm >"$debian/etc/apt/sources.list.d/source.list"
  touch "$build/debian.complete"
}

# 64-bit addresses (see CMakeLists.txt here). Debian ships no such system libraries, so emscripten compiles
# those that a link needs, once: for the trials of GMP's configure (-O0) and for the page. Then an int64_t
# becomes a long, as GMP's C++ header and its users expect; emscripten's libraries no longer compile after it.
system_libraries='
  mkdir -p /opt/trial && cd /opt/trial
  printf "#include <string>\nint main() { try { throw std::string(); } catch (std::string&) {} }\n" >trial.cpp
  printf "int main(void) { return 0; }\n" >trial.c
  emcc -O0 -sMEMORY64=2 trial.c -o trial.js
  em++ -O0 -sMEMORY64=2 -fwasm-exceptions trial.cpp -o trial.js
  em++ -O2 -mbulk-memory -sMEMORY64=2 -fwasm-exceptions -sALLOW_MEMORY_GROWTH -sFILESYSTEM=0 -sMODULARIZE \
    --no-entry trial.cpp -o trial.js
  types=/opt/emcache/sysroot/include/bits/alltypes.h
  sed -i "s/^typedef _Int64 \+int64_t;/typedef long int64_t;/; s/^typedef unsigned _Int64 uint64_t;/typedef unsigned long uint64_t;/" $types
  grep -q "typedef long int64_t" $types
'
libraries='
  rm -rf /opt/source /opt/wasm64 && mkdir -p /opt/source /opt/wasm64/include /opt/wasm64/lib
  apt-get update -q && cd /opt/source && apt-get source -q --download-only gmp utf8proc=2.8.0-1
  tar -xf gmp_*.orig.tar.xz && tar -xf utf8proc_*.orig.tar.gz
  cd /opt/source/utf8proc-*/
  emcc -Os -sMEMORY64=2 -c utf8proc.c -o utf8proc.o
  emar rcs /opt/wasm64/lib/libutf8proc.a utf8proc.o
  cp utf8proc.h /opt/wasm64/include/
  cd /opt/source/gmp-*/
  mkdir -p doc && printf "all install check clean:\n" >doc/Makefile.in  # Debian removed the manual
  # -O0: two hundred small tests, which would be optimised, too
  emconfigure ./configure --disable-assembly --host=none --build=x86_64-pc-linux-gnu --enable-cxx \
    --disable-shared --prefix=/opt/wasm64 CC_FOR_BUILD=cc CFLAGS="-O0 -sMEMORY64=2" \
    CXXFLAGS="-O0 -sMEMORY64=2 -fwasm-exceptions"
  emmake make -j2 CFLAGS="-O2 -sMEMORY64=2" CXXFLAGS="-O2 -sMEMORY64=2 -fwasm-exceptions"
  emmake make install
  cp -r /usr/include/nlohmann /usr/include/fmt /usr/include/toml++ /usr/include/fast_float /usr/include/eigen3/. \
    /opt/wasm64/include/
'
page='
  flags="-sMEMORY64=2 -fwasm-exceptions -Wno-experimental -isystem /opt/wasm64/include"
  emcmake cmake -S /src -B /opt/build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DFLASHLAB_ONLY_REQUESTS=ON -DFLASHLAB_BUILD_TESTS=OFF -DFLASHLAB_BUILD_BENCHMARKS=OFF -DFLASHLAB_CUDA=OFF \
    -DFLASHLAB_INSTRUCTION_SETS=baseline "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" \
    -DFLASHLAB_STANDARD_LIBRARY_READS_DOUBLES=OFF \
    -DCMAKE_PROJECT_INCLUDE=/src/playground/browser_libraries.cmake -DFLASHLAB_BROWSER_HEADERS=/opt/wasm64/include \
    -DGMP_LIBRARY=/opt/wasm64/lib/libgmp.a -DGMP_INCLUDE_DIR=/opt/wasm64/include \
    -DUTF8PROC_LIBRARY=/opt/wasm64/lib/libutf8proc.a -DUTF8PROC_INCLUDE_DIR=/opt/wasm64/include
  cmake --build /opt/build --target flashlab_wasm
  python3 /src/playground/assemble.py /opt/build/playground /src/build-playground/playground.html
'

check_machine
mkdir -p "$build"
install_debian
step system_libraries "$system_libraries"
step libraries "$libraries"
say 'building (log: build-playground/page.log)'
inside "$page" >"$build/page.log" 2>&1 || { tail -n 20 "$build/page.log" >&2; fail 'building failed'; }
tail -n 1 "$build/page.log"
