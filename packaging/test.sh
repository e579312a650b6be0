#!/usr/bin/env bash
# packaging/test.sh [CHECK …]: checks the packages in dist/, which packaging/build.sh made. The checks,
# all by default:
#   sizes     of the wheel, of the command's memory and start
#   licences  what was compiled in and linked is in THIRD_PARTY.md
#   gmp       the command can be linked with a changed GMP
#   speed     attention takes all cores, and as long as in the build of ./lab ($NATIVE)
#   shells    the installed manual and completions work
#   cmake     a project finds and uses the libraries of the tar.gz
#   wheel deb tar   each installed into an empty Debian 11, used, upgraded and removed; needs root
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build-package
dist=$root/dist
native=${NATIVE:-$root/build/cli/flashlab}
packaged=$build/stage/bin/flashlab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '%s\n' "$*"; }
fail() { printf 'packages: %s\n' "$*" >&2; exit 1; }
only() {  # the only file of that name
  local files
  files=("$dist"/$1)
  [[ ${#files[@]} == 1 && -e ${files[0]} ]] || fail "there is not one $1 in dist/: packaging/build.sh makes it"
  printf '%s\n' "${files[0]}"
}

check_sizes() {
  local bytes
  bytes=$(stat -c %s "$(only '*.whl')")
  say "wheel: $bytes bytes of at most 17 000 000"
  ((bytes <= 17000000)) || fail 'the wheel is too large'
  bytes=$(stat -c %s "$packaged")
  say "command: $bytes bytes of at most 30 000 000"
  ((bytes <= 30000000)) || fail 'the command is too large'
  python3 - "$packaged" <<'END'
import os, sys, time
devnull = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
def start():
    begin = time.perf_counter()
    child = os.posix_spawn(sys.argv[1], [sys.argv[1], "--version"], {}, file_actions=devnull)
    _, status, usage = os.wait4(child, 0)
    assert status == 0
    return 1e3 * (time.perf_counter() - begin), usage.ru_maxrss / 1e3
runs = [start() for _ in range(100)]
# The shortest run: other work of the computer is not included.
took, memory = min(run[0] for run in runs), max(run[1] for run in runs)
print(f"start: {took:.1f} ms (of 100, the shortest) of at most 10, {memory:.0f} MB of at most 30")
sys.exit(took > 10 or memory > 30)
END
}

check_licences() { python3 "$root/packaging/third_party.py" "$build"; }

# Makes a GMP whose mpz_init differs from that in the package.
check_gmp() {
  local gmp link member mark=flashlab-was-linked-with-this-changed-gmp
  gmp=$(realpath "$(sed -n 's/^GMP_LIBRARY:[^=]*=//p' "$build/CMakeCache.txt")")
  cat >"$work/init.c" <<END
#include <gmp.h>
__attribute__((used)) static const char mark[] = "$mark";
void mpz_init(mpz_ptr x) { __asm__("" : : "r"(mark)); mpz_init2(x, 1); }
END
  "${CC:-gcc}" -O2 -fPIC -c "$work/init.c" -o "$work/init.o"
  cp "$gmp" "$work/libgmp.a"
  member=$(nm -A "$gmp" 2>/dev/null | sed -n 's/.*:\([^:]*\):[0-9a-f]* T __gmpz_init$/\1/p')
  ar d "$work/libgmp.a" "${member:?}"
  ar q "$work/libgmp.a" "$work/init.o"
  # The link command of the build, with the other archive and another output.
  link=$(cd "$build" && ninja -t commands -s cli/flashlab)
  [[ $link == *"$gmp"* && $link == *'-o cli/flashlab '* ]] || fail 'the link of the command does not name GMP'
  (cd "$build" && sed "s#$gmp#$work/libgmp.a#; s#-o cli/flashlab #-o $work/flashlab #;
    s#-Map,[^ ]*#-Map,$work/map#" <<<"$link" | bash) || fail 'the command cannot be linked with another GMP'
  grep -q "$mark" "$work/flashlab" || fail 'the command that was linked again holds the old GMP'
  "$work/flashlab" cost softmax_online -D n=100 >/dev/null
  say 'gmp: linked again with a changed one, and runs'
}

seconds_of() {  # the shortest of its runs
  "$1" attention -H 8 -N 1024 -d 64 --mask causal --bench --repeat 30 --json "${@:2}" |
    python3 -c 'import json, sys; print(min(json.load(sys.stdin)["measurement"]["variants"][0]["seconds"]))'
}

# Takes the shortest of many runs in turns, so that other work of the computer affects both.
check_speed() {
  [[ -x $native ]] || fail "there is no $native to compare with: ./lab builds it, or name one in NATIVE"
  local round times=()
  for round in {1..6}; do
    times+=("$(seconds_of "$native") $(seconds_of "$packaged") $(seconds_of "$packaged" --threads 1)")
  done
  printf '%s\n' "${times[@]}" | awk -v cores="$(nproc)" '
    NR == 1 { native = $1; packaged = $2; alone = $3 }
    { if ($1 < native) native = $1; if ($2 < packaged) packaged = $2; if ($3 < alone) alone = $3 }
    END {
      printf "speed: %.2f ms, the native build %.2f ms (%+.1f %%); on one thread %.2f ms\n",
        1e3 * packaged, 1e3 * native, 100 * (packaged / native - 1), 1e3 * alone
      exit !(packaged <= 1.05 * native && (cores == 1 || alone >= 1.5 * packaged))
    }' || fail 'the package is slower than the native build, or does not take all cores'
}

unpacked() {  # the tar.gz, unpacked once
  [[ -d $work/tar ]] || { mkdir "$work/tar"; tar -xzf "$(only '*.tar.gz')" -C "$work/tar" --strip-components=1; }
  printf '%s\n' "$work/tar"
}

check_shells() {
  local prefix page
  prefix=$(unpacked)
  page=$(MANPATH=$prefix/share/man man -P cat flashlab-trace 2>/dev/null || groff -man -Tascii "$prefix/share/man/man1/flashlab-trace.1")
  [[ $page == *'trace'*'PROGRAM'* ]] || fail 'man finds no page'
  bash -c 'source "$0/share/bash-completion/completions/flashlab"; COMP_WORDS=(flashlab exer) COMP_CWORD=1
    _flashlab; [[ ${COMPREPLY[*]} == exercises ]]' "$prefix" || fail 'bash completes nothing'
  [[ -s $prefix/share/zsh/site-functions/_flashlab && -s $prefix/share/fish/vendor_completions.d/flashlab.fish ]] ||
    fail 'zsh or fish has no completions'
  say 'shells: manual and completions are there and work'
}

check_cmake() {
  local prefix
  prefix=$(unpacked)
  cmake -S "$root/tests/consumer" -B "$work/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_PREFIX_PATH=$prefix" >"$work/log" 2>&1 && cmake --build "$work/consumer" >>"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail 'a project cannot use the libraries'; }
  [[ $("$work/consumer/consumer") == *'loads 4, stores 1, cycles 7'* ]] || fail 'the libraries do something else'
  say 'cmake: a project uses the libraries of the tar.gz'
}

# ---- empty roots ------------------------------------------------------------------------------------

# A fresh copy of a Debian 11 with Python and NumPy, and without flashlab.
empty_root() {
  [[ $(id -u) == 0 ]] || fail 'an empty root takes root (debootstrap, chroot)'
  local plain=$build/roots/bullseye_numpy
  if [[ ! -e $plain.complete ]]; then
    command -v debootstrap >/dev/null || fail 'debootstrap is missing'
    rm -rf "$plain"
    mkdir -p "$plain"
    debootstrap --variant=minbase --include=python3-venv,python3-numpy bullseye "$plain" >"$build/debootstrap.log" 2>&1 ||
      { tail "$build/debootstrap.log" >&2; fail 'debootstrap failed'; }
    touch "$plain.complete"
  fi
  rm -rf "$work/root"
  cp -a --reflink=auto "$plain" "$work/root"
}

# Runs a script inside, without a network and with a clean environment.
inside() {
  unshare --mount --net --pid --fork bash -c 'mount -t proc proc "$0/proc"
    exec chroot "$0" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 \
      bash -euo pipefail -c "$1"' "$work/root" "$1"
}

# The first steps of a learner; and attention, on the CPU and on a GPU that does not exist.
first_steps='
  cd "$(mktemp -d)"
  flashlab exercises start 1 >/dev/null
  [[ $(flashlab exercises check 1) == *"✓ full marks"* ]]
  flashlab exercises start 2 >/dev/null
  cp /solution.toy 02_c00.toy
  [[ $(flashlab exercises check 2) == *"✓ full marks"* ]]
  flashlab attention -H 4 -N 512 --verify >/dev/null
  code=0; line=$(flashlab attention --device cuda 2>&1 >/dev/null) || code=$?
  [[ $code == [123] && $line == "flashlab: error: no GPU "* ]] &&
    [[ $line == *"driver on this computer"* || $line == *"lab gpu"* ]] || { echo "$line"; exit 1; }
  printf "    about the GPU: %s\n" "${line%%$'"'\n'"'*}"
'

fresh() {  # FILE NAME: an empty root with the package in it
  empty_root
  cp "$1" "$work/root/$2"
  cp "$root/exercises/02_c00/solution.toy" "$work/root/solution.toy"
}

# Lists every file, to find what a removal leaves behind. (pip leaves empty folders.)
listing() { (cd "$work/root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./root -o -path ./var \) -prune -o ! -type d -print | sort); }

nothing_left() {  # PACKAGE LISTING-BEFORE
  listing | comm -13 "$2" - | grep -v __pycache__ >"$work/left" || true
  [[ ! -s $work/left ]] || { head "$work/left" >&2; fail "$1 leaves files behind"; }
}

check_wheel() {
  local file name begin took
  file=$(only '*.whl')
  name=$(basename "$file")
  fresh "$file" "$name"
  inside 'python3 -m venv --system-site-packages /venv'
  listing >"$work/before"
  begin=$(date +%s%N)
  inside "/venv/bin/pip install --no-index --quiet /$name; cd /tmp; PATH=/venv/bin:\$PATH
    flashlab exercises start >/dev/null; [[ \$(flashlab exercises check) == *✓* ]]"
  took=$((($(date +%s%N) - begin) / 1000000))
  say "wheel: from pip install to the first green tick $took ms of at most 20 000"
  ((took <= 20000)) || fail 'the first green tick takes too long'
  inside "PATH=/venv/bin:\$PATH; $first_steps"
  inside "head -c4 /venv/bin/flashlab | grep -q ELF
    test -x /venv/bin/flashlab; test -e /venv/share/man/man1/flashlab.1
    /venv/bin/python -c 'import importlib.util as u; assert u.find_spec(\"flashlab_attention\") and u.find_spec(\"flashlab_ranks\")'
    cd /tmp; /venv/bin/python -c 'import flashlab
assert flashlab.program(\"softmax_online\").run(n=64)[\"loads\"] == 128
assert flashlab.program(\"matmul_c00\").trace()._repr_html_().startswith(\"<iframe\")
import numpy as np
Q, K, V = np.random.default_rng(1).standard_normal((3, 1, 2, 65, 32))
P = np.exp(Q @ K.swapaxes(-1, -2) / 32**.5)
assert np.allclose(flashlab.attention(Q, K, V, threads=2), P / P.sum(-1, keepdims=True) @ V)'
    test -e /venv/share/flashlab/notebooks/01_the_machine.ipynb -a -e /venv/share/flashlab/notebooks/03_matmul.ipynb
    /venv/bin/pip install --no-index --quiet --force-reinstall /$name; /venv/bin/flashlab --version >/dev/null
    /venv/bin/pip uninstall --quiet --yes flashlab-attention"
  nothing_left 'the wheel' "$work/before"
  say 'wheel: works in a virtual environment of Debian 11, is installed again, and leaves nothing'
}

# check_file PATTERN WHAT FIRST AGAIN LAST: in an empty root, installs the file and uses it, then
# installs it again and removes it. Nothing may be left then. $name is the file.
check_file() {
  local file name
  file=$(only "$1")
  name=$(basename "$file")
  fresh "$file" "$name"
  listing >"$work/before"
  inside "name=/$name; $3; $first_steps"
  inside "name=/$name; $4"
  nothing_left "the $2" "$work/before"
  say "$2: works on Debian 11, $5, and leaves nothing"
}

check_deb() {
  check_file '*.deb' deb 'dpkg -i $name >/dev/null' \
    'dpkg -i $name >/dev/null; flashlab --version >/dev/null; dpkg --remove flashlab >/dev/null' \
    'is installed again'
}

check_tar() {
  check_file '*.tar.gz' tar.gz \
    'mkdir /opt/flashlab; tar -xzf $name -C /opt/flashlab --strip-components=1; PATH=/opt/flashlab/bin:$PATH' \
    'mv /opt/flashlab /opt/elsewhere; /opt/elsewhere/bin/flashlab --version >/dev/null; rm -r /opt/elsewhere' \
    'works wherever it is unpacked'
}

checks=("$@")
((${#checks[@]})) || checks=(sizes licences gmp speed shells cmake wheel deb tar)
for check in "${checks[@]}"; do
  declare -F "check_$check" >/dev/null || fail "there is no check '$check'"
  "check_$check"
done
say 'packages: all that was checked is as it should be'
