#!/bin/sh
if ! test -s /autograder/source/secret.txt; then
  echo "secret.txt is missing: head -c 24 /dev/urandom | base64 > secret.txt" >&2
  exit 1
fi
apt-get update && apt-get install -y python3-venv
python3 -m venv /opt/flashlab
/opt/flashlab/bin/pip install /autograder/source/flashlab_attention-*.whl
