#!/usr/bin/env bash
# packaging/autograders.sh [gradescope|otter|nbgrader …]: follows the recipes of docs/autograders.md, all by
# default, each in an empty Debian 12 with the wheel of dist/. Grades a right, a costly and a wrong program.
# Needs root, debootstrap, and a network for PyPI.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
plain=$root/build-package/roots/bookworm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { printf 'autograders: %s\n' "$*" >&2; exit 1; }

# The block of sh behind <!-- try: NAME -->.
recipe() { sed -n "/^<!-- try: $1 -->/,/^\`\`\`\$/p" "$root/docs/autograders.md" | sed '1,2d; $d'; }

empty_root() {
  local wheel=("$root"/dist/*.whl)
  [[ $(id -u) == 0 ]] || fail 'an empty root takes root (debootstrap, chroot)'
  [[ ${#wheel[@]} == 1 && -e ${wheel[0]} ]] || fail 'there is not one wheel in dist/: ./lab package wheel'
  if [[ ! -e $plain.complete ]]; then
    rm -rf "$plain"
    mkdir -p "$plain"
    debootstrap --variant=minbase --include=python3-venv,zip,unzip bookworm "$plain" >"$work/log" 2>&1 ||
      { tail "$work/log" >&2; fail 'debootstrap failed'; }
    touch "$plain.complete"
  fi
  rm -rf "$work/root"
  cp -a --reflink=auto "$plain" "$work/root"
  cp /etc/resolv.conf "$work/root/etc/"
  printf '127.0.0.1 localhost %s\n' "$(hostname)" >"$work/root/etc/hosts"
  if [[ -n ${PIP_CERT:-} ]]; then cp "$PIP_CERT" "$work/root/root/certificates"; fi  # of a proxy
  cp -r "$root/autograders" "${wheel[0]}" "$work/root/root/"
  cp "$root"/docs/examples/class/{ada,fatou,carla}.toy "$root/packaging/notebook_with.py" "$work/root/root/"
}

inside() {  # runs a script in /root
  unshare --mount --pid --fork bash -c 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev"
    exec chroot "$0" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 \
      ${PIP_CERT:+PIP_CERT=/root/certificates} bash -euo pipefail -c "cd; $1"' "$work/root" "$1" >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; fail "$2"; }
}

# Prints the points of the three, and compares.
check() {  # RECIPE EXPECTED SCRIPT
  empty_root
  inside "$(recipe secret)" 'no secret can be made'
  inside "$(recipe "$1")" "the recipe for $1 fails"
  inside "$3" "grading with $1 fails"
  local points
  points=$(tail -n 1 "$work/log")
  [[ $points == "$2" ]] || fail "$1: ada, fatou and carla have $points points, expected $2"
  printf 'autograders: %s gives ada, fatou and carla %s points\n' "$1" "$points"
}

try_gradescope() {
  check gradescope '10.0 9.91 0.0' '
    mkdir -p /autograder/source /autograder/results && cd /autograder
    unzip -q /root/autograder.zip -d source && cp source/run_autograder . && sh source/setup.sh
    for name in ada fatou carla; do
      rm -rf submission && mkdir submission && cp /root/$name.toy submission/ && ./run_autograder
      cp results/results.json /root/$name.json
    done
    cd && python3 -c "import json
print(*(round(float(sum(test.get(\"score\", 0) for test in json.load(open(name + \".json\"))[\"tests\"])), 2)
        for name in (\"ada\", \"fatou\", \"carla\")))"'
}

try_otter() {
  check otter '10.0 6.0 0.0' '
    for name in ada fatou carla; do
      python3 notebook_with.py autograders/nbgrader/source/online_softmax/online_softmax.ipynb $name.toy \
        $name.ipynb
      mkdir $name && grading/bin/otter run -a autograder.zip -o $name $name.ipynb
    done
    python3 -c "import json
print(*(float(sum(test.get(\"score\") or 0 for test in json.load(open(name + \"/results.json\"))[\"tests\"]))
        for name in (\"ada\", \"fatou\", \"carla\")))"'
}

try_nbgrader() {
  check nbgrader '10.0 9.91 0.0' '
    . grading/bin/activate && cd course
    nbgrader generate_assignment online_softmax
    for name in ada fatou carla; do
      mkdir -p submitted/$name/online_softmax
      python3 ../notebook_with.py release/online_softmax/online_softmax.ipynb ../$name.toy \
        submitted/$name/online_softmax/online_softmax.ipynb
    done
    nbgrader autograde online_softmax --create
    nbgrader export
    python3 -c "import csv
points = {row[\"student_id\"]: round(float(row[\"score\"]), 2) for row in csv.DictReader(open(\"grades.csv\"))}
print(points[\"ada\"], points[\"fatou\"], points[\"carla\"])"'
}

systems=("$@")
((${#systems[@]})) || systems=(gradescope otter nbgrader)
for system in "${systems[@]}"; do
  declare -F "try_$system" >/dev/null || fail "there is no recipe '$system'"
  "try_$system"
done
