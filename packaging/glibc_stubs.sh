#!/usr/bin/env bash
# packaging/glibc_stubs.sh FOLDER: makes the libraries for linking a program that runs on glibc 2.28
# and later: libraries that have glibc 2.28's symbols with their versions but no code, its start-up
# object, and g++'s libraries as archives only. zig makes the first two, and is used for nothing else.
# A shared library cannot contain g++'s archive of OpenMP, which is not position-independent. For those
# there is libgomp.so.1 of Debian 11, which needs no more than glibc 2.17: a package brings it along.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
stubs=$(realpath -m "${1:?the folder to make}")

make_stubs() {
  local zig=0.17.1 library path  # the trap uses `work` as well
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  rm -rf "$stubs"
  mkdir -p "$stubs"
  "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --target "$work/python" \
    "ziglang==$zig"
  export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
  echo 'int main(void) { return 0; }' >"$work/empty.c"
  # zig's link command names every file with its path.
  "$work/python/ziglang/zig" cc -target x86_64-linux-gnu.2.28 -pie -fPIE -v \
    "$work/empty.c" -o "$work/empty" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 2; }
  grep -o '[^ ]*/\(Scrt1\.o\|lib[a-z_]*\.so\.[0-9]*\|libc_nonshared\.a\)' "$work/log" | sort -u |
    while IFS= read -r file; do cp "$file" "$stubs/"; done

  cd "$stubs"
  for library in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1; do
    ln -s "$library" "${library%.*}"
  done
  # Later versions have in libc.so.6 what 2.28 has in separate libraries.
  echo 'GROUP(libc.so.6 libc_nonshared.a AS_NEEDED(libld.so.2 libpthread.so.0 libdl.so.2))' >libc.so
  for library in libstdc++.a libgomp.a; do
    path=$("${CXX:-g++}" "-print-file-name=$library")
    [[ $path == /* ]] || { echo "packages: g++ has no $library" >&2; exit 2; }
    ln -s "$path" "$library"
  done
  touch complete
}

# Debian's sources of it: https://packages.debian.org/source/bullseye/gcc-10
bring_openmp() {
  local package=libgomp1_10.2.1-6_amd64.deb path=pool/main/g/gcc-10 server
  local sum=4530c95aefa48e33fd8cf4acbe5c4b559dbe7bdf4c56469986c83a203982cef1
  cd "$stubs"
  for server in http://deb.debian.org/debian http://archive.debian.org/debian; do
    "${PYTHON:-python3}" - "$server/$path/$package" "$package" 2>openmp.log <<'END' && break
import sys, urllib.request
urllib.request.urlretrieve(*sys.argv[1:])
END
  done
  sha256sum --quiet --check <<<"$sum  $package" >>openmp.log 2>&1 ||
    { cat openmp.log >&2; echo "packages: $package is not to be had, or not the expected one" >&2; exit 2; }
  ar p "$package" data.tar.xz | tar -xJO ./usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0 >libgomp.so.1
}

[[ -e $stubs/complete ]] || make_stubs
[[ -s $stubs/libgomp.so.1 ]] || (bring_openmp)
"${CC:-gcc}" -O2 -Wall -Wextra -fPIC -c "$here/old_glibc.c" -o "$stubs/old_glibc.o"
