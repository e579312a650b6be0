#!/usr/bin/env bash
# playground/build.sh: makes build-playground/playground.html, one page that holds the machine, the course
# and its exercises. Debian 12 has no emscripten that compiles C++20, so it works in a Debian 13 of its
# own, build-playground/root: packages that are downloaded and unpacked, but not installed. An ordinary
# user can do that, too, where the system allows user namespaces.
#   FLASHLAB_YES=true   downloads without asking
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build-playground
debian=$build/root
packages=emscripten,cmake,ninja-build,make,gcc,libc6-dev,m4,musl-tools,xz-utils,libdeflate-tools
packages+=,nlohmann-json3-dev,libtomlplusplus-dev,libfmt-dev,libfast-float-dev,libeigen3-dev

say() { printf 'playground: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

# Runs a command with a mount table of its own, and as root of a user namespace unless it is root.
apart() {
  local user=()
  [[ $(id -u) == 0 ]] || user=(--user --map-root-user)
  unshare ${user[@]+"${user[@]}"} --mount "$@"
}

# Inside the Debian of its own. The mounts go away with the shell.
inside() {
  apart bash -c 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind "$1" "$0/src" &&
    exec chroot "$0" /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/tmp LANG=C.UTF-8 \
      EM_FROZEN_CACHE=0 EM_CACHE=/opt/emcache bash -euo pipefail -c "$2"' "$debian" "$root" "$1"
}

# Runs a command with its output in a log; says what it does and, afterwards, how long that took.
logged() {  # NAME LOG COMMAND …
  local name=$1 log=$build/$2.log start=$SECONDS
  shift 2
  say "$name (log: build-playground/$(basename "$log"))"
  "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "$name failed; the end of its log is above"; }
  say "$name took $((SECONDS - start)) s"
}

once() {  # NAME LOG COMMAND …: a step that is done once
  local mark=$build/$2.complete
  [[ -e $mark ]] && return
  logged "$@"
  touch "$mark"
}

check_machine() {
  [[ $(uname -sm) == 'Linux x86_64' ]] || fail "it is built on Linux x86_64, not on $(uname -sm)"
  command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
  apart true 2>/dev/null ||
    fail 'this system allows user namespaces to root alone: call it as root, or take the page from a release'
}

ask() {
  [[ -e $build/debian.complete ]] && return
  say 'this downloads a Debian 13 with emscripten 3.1.69 (0.5 GB) and unpacks it into build-playground/root (1.1 GB)'
  [[ ${FLASHLAB_YES:-${CI:-false}} != true ]] || return 0
  local answer
  [[ -t 0 ]] || fail 'there is no terminal to ask on: FLASHLAB_YES=true downloads it'
  read -r -p 'playground: download it now? [Y/n] ' answer
  [[ $answer == '' || $answer == [yY]* ]] || fail 'nothing was downloaded'
}

# With container=lxc debootstrap does not try mknod, which root alone may call.
download_debian() {
  rm -rf "$build/packages" "$build"/*.complete
  mkdir -p "$build/packages"
  apart env container=lxc debootstrap --download-only --variant=minbase "--include=$packages" trixie "$build/packages"
}

# Not unpacked: manuals, and 1.6 GB of emscripten's libraries for 32-bit addresses.
unpack_debian() {
  local folder
  rm -rf "$debian"
  for folder in bin sbin lib lib64; do
    mkdir -p "$debian/usr/$folder"
    ln -s "usr/$folder" "$debian/$folder"
  done
  mkdir -p "$debian"/{src,opt,tmp,proc,dev}
  find "$build/packages/var/cache/apt/archives" -name '*.deb' -print0 |
    xargs -0 -n 8 -P "$(nproc)" bash -euo pipefail -c 'for package; do
      dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner --keep-directory-symlink -C "$0" \
        --exclude=./usr/share/{doc,man,info,locale} --exclude=./usr/share/emscripten/{cache,test}
    done' "$debian"
  ln -sf mawk "$debian/usr/bin/awk"  # as mawk's installation would
  rm -rf "$build/packages"
}

fetch_source() {  # SHA256 PATH
  local file=$debian/opt/source/${2##*/}
  mkdir -p "$debian/opt/source"
  wget -nv -O "$file" "http://deb.debian.org/debian/pool/main/$2"
  sha256sum --check <<<"$1  $file"
}

fetch_sources() {
  fetch_source bd2966e6d277f79328e894a5a9f3ba3fbf2ed2be81def5f48623e30c23fb1572 g/gmp/gmp_6.3.0+dfsg.orig.tar.xz
  fetch_source a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc u/utf8proc/utf8proc_2.8.0.orig.tar.gz
}

# 64-bit addresses (see CMakeLists.txt here). Debian ships no such system libraries, so emscripten compiles
# those that the page's link needs. Then an int64_t becomes a long, as GMP's C++ header and its users
# expect; emscripten's libraries no longer compile after it.
system_libraries='
  mkdir -p /opt/trial && cd /opt/trial
  printf "#include <string>\nint main() { try { throw std::string(); } catch (std::string&) {} }\n" >trial.cpp
  em++ -O2 -mbulk-memory -sMEMORY64=2 -fwasm-exceptions -sALLOW_MEMORY_GROWTH -sFILESYSTEM=0 -sMODULARIZE \
    --no-entry trial.cpp -o trial.js
  types=/opt/emcache/sysroot/include/bits/alltypes.h
  sed -i "s/^typedef _Int64 \+int64_t;/typedef long int64_t;/; s/^typedef unsigned _Int64 uint64_t;/typedef unsigned long uint64_t;/" $types
  grep -q "typedef long int64_t" $types
'
# GMP is configured with gcc and musl, whose answers are those of emscripten: the same C library and the
# same sizes. With emcc, each of the 200 trials links a program, which takes half an hour. Of the library, the
# numbers are compiled. Their C++ classes need no libgmpxx, which is for streams.
libraries='
  export EMCC_SKIP_SANITY_CHECK=1
  rm -rf /opt/wasm64 && mkdir -p /opt/wasm64/include /opt/wasm64/lib
  cd /opt/source
  tar -xf gmp_*.orig.tar.xz && tar -xf utf8proc_*.orig.tar.gz
  cd /opt/source/utf8proc-*/
  emcc -Os -sMEMORY64=2 -c utf8proc.c -o utf8proc.o
  emar rcs /opt/wasm64/lib/libutf8proc.a utf8proc.o
  cp utf8proc.h /opt/wasm64/include/
  cd /opt/source/gmp-*/
  mkdir -p doc && printf "all install check clean:\n" >doc/Makefile.in  # Debian removed the manual
  ./configure --disable-assembly --host=none --build=x86_64-pc-linux-gnu --disable-shared CC=musl-gcc \
    CC_FOR_BUILD=gcc CFLAGS=-O0
  make fac_table.h sieve_table.h fib_table.h mp_bases.h trialdivtab.h mpn/{jacobitab.h,perfsqr.h,fib_table.c,mp_bases.c}
  for folder in mpn mpz mpq mpf; do
    make -j"$(nproc)" -C $folder lib$folder.la CC="emcc -sMEMORY64=2 -Wno-experimental" CFLAGS=-O2
  done
  emcc -O2 -sMEMORY64=2 -D__GMP_WITHIN_GMP -I. -c {assert,compat,errno,extract-dbl,invalid,memory,mp_bpl}.c \
    mp_{clz_tab,dv_tab,minv_tab,get_fns,set_fns}.c version.c nextprime.c primesieve.c tal-reent.c
  emar qcs /opt/wasm64/lib/libgmp.a *.o {mpn,mpz,mpq,mpf}/*.o  # q: their names repeat, abs.o
  cp gmp.h gmpxx.h /opt/wasm64/include/
  cp -r /usr/include/nlohmann /usr/include/fmt /usr/include/toml++ /usr/include/fast_float /usr/include/eigen3/. \
    /opt/wasm64/include/
'
# Each trial of cmake would link a program, for which emscripten compiles other libraries first: the answer
# about threads is given.
page='
  flags="-sMEMORY64=2 -fwasm-exceptions -Wno-experimental -isystem /opt/wasm64/include"
  emcmake cmake -S /src -B /opt/build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DFLASHLAB_ONLY_REQUESTS=ON -DFLASHLAB_BUILD_TESTS=OFF -DFLASHLAB_BUILD_BENCHMARKS=OFF -DFLASHLAB_CUDA=OFF \
    -DFLASHLAB_INSTRUCTION_SETS=baseline "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" \
    -DFLASHLAB_STANDARD_LIBRARY_READS_DOUBLES=OFF -DCMAKE_HAVE_LIBC_PTHREAD=ON \
    -DCMAKE_PROJECT_INCLUDE=/src/playground/browser_libraries.cmake -DFLASHLAB_BROWSER_HEADERS=/opt/wasm64/include \
    -DGMP_LIBRARY=/opt/wasm64/lib/libgmp.a -DGMP_INCLUDE_DIR=/opt/wasm64/include \
    -DUTF8PROC_LIBRARY=/opt/wasm64/lib/libutf8proc.a -DUTF8PROC_INCLUDE_DIR=/opt/wasm64/include
  cmake --build /opt/build --target flashlab_wasm
  python3 /src/playground/assemble.py /opt/build/playground /src/build-playground/playground.html
'


check_machine
mkdir -p "$build"
ask
once 'downloading Debian' download download_debian
once 'unpacking Debian' debian unpack_debian
once 'fetching the sources of GMP and utf8proc' sources fetch_sources
once "compiling emscripten's libraries" system_libraries inside "$system_libraries"
once 'compiling GMP and utf8proc' libraries inside "$libraries"
logged 'building the page' page inside "$page"
tail -n 1 "$build/page.log" | sed "s#^/src/#$root/#"
