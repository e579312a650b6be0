#!/usr/bin/env bash
# Builds the command without CUDA, then tries generated programs on the GPU of this machine.
set -uo pipefail
cd "$(dirname "$0")"
export PATH=/usr/local/cuda/bin:$PATH
log=$OUT/log.txt
{
  date -u; nvidia-smi -L; nvidia-smi --query-gpu=driver_version,memory.used --format=csv,noheader
  ldconfig -p | grep -E 'libnvrtc|libcuda.so'; ls /usr/local/cuda/lib64/libnvrtc.so* 2>/dev/null
  start=$SECONDS
  cmake -S . -B build-try -G Ninja -DCMAKE_BUILD_TYPE=Release -DFLASHLAB_CUDA=OFF -DFLASHLAB_BUILD_TESTS=OFF \
    -DFLASHLAB_BUILD_BENCHMARKS=OFF -DFLASHLAB_INSTRUCTION_SETS=native >build-try.log 2>&1 || tail -30 build-try.log
  ninja -C build-try flashlab >>build-try.log 2>&1 || tail -60 build-try.log
  echo "build took $((SECONDS - start)) s"
} >"$log" 2>&1
timeout 92 python3 .gpu_try.py build-try/cli/flashlab "$OUT" >>"$log" 2>&1
echo "ended with $? after $SECONDS s" >>"$log"
tail -60 "$log"
