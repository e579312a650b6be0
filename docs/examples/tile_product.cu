// C = A B, for matrices whose sides are multiples of 16:
// tile_product<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(A, B, C, n, k);
const int kTile = 16;

__global__ void tile_product(const float* A, const float* B, float* C,
                             int n, int k) {
  __shared__ float sA[kTile][kTile], sB[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = kTile * blockIdx.y + y, column = kTile * blockIdx.x + x;
  float sum = 0;                          // FILL 0, S
  for (int p = 0; p < k; p += kTile) {    // for t in 0..tiles(a, 1); p is 16 t
    sA[y][x] = A[row * k + p + x];        //   LOAD a[i][t], A
    sB[y][x] = B[(p + y) * n + column];   //   LOAD b[t][j], B
    __syncthreads();                      //   both tiles are complete
    for (int q = 0; q < kTile; ++q) {     //   MAC A, B, S, S
      sum += sA[y][q] * sB[q][x];
    }
    __syncthreads();                      //   nobody reads them any more
  }                                       // end
  C[row * n + column] = sum;              // STORE S, c[i][j]
}
