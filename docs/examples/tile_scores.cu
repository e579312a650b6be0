// tile_scores<<<dim3(nk / 16, n / 16), dim3(16, 16)>>>(Q, K, S, nk, d, c);
const int kTile = 16;

__global__ void tile_scores(const float* Q, const float* K, float* S,
                            int nk, int d, float c) {
  __shared__ float sQ[kTile][kTile], sK[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int query = kTile * blockIdx.y + y, first_key = kTile * blockIdx.x;
  float sum = 0;
  for (int p = 0; p < d; p += kTile) {
    sQ[y][x] = Q[query * d + p + x];
    sK[y][x] = K[(first_key + y) * d + p + x];
    __syncthreads();
    for (int q = 0; q < kTile; ++q) sum += sQ[y][q] * sK[x][q];
    __syncthreads();
  }
  S[query * nk + first_key + x] = c * sum;
}
