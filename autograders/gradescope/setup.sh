#!/bin/sh
apt-get update && apt-get install -y python3-venv
python3 -m venv /opt/flashlab
/opt/flashlab/bin/pip install /autograder/source/flashlab_attention-*.whl
