// Stands in for NVTX, which names ranges for a profiler: here none looks.
#pragma once

inline int nvtxRangePushA(const char*) { return 0; }
inline int nvtxRangePop() { return 0; }
