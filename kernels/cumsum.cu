// SPDX-License-Identifier: MIT
//
// cumsum: the running sum of a 3-D array along x, its fastest and so its hardest dimension.
//
// The ladder
//   v1 cumsum_shared    one warp a row: 32 numbers into shared memory, the first thread adds them up
//   v2 cumsum_shuffle   the same row by warp shuffles in five doubling steps
//
// Bound: main memory. T_eff_cs = 2 * bytes(A) / t (ETH Zurich, "Solving PDEs in parallel on GPUs", lecture 10, tasks 7
// and 9). The doubling scan is that of W. D. Hillis and G. L. Steele, "Data parallel algorithms" (1986).
// Rounding: a row of nx terms, so mw.check takes { sum = nx }.

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void cumsum_shared(double *B, const double *A, int nx) {
  __shared__ double part[32];
  int lane = threadIdx.x;
  size_t row = (size_t)blockIdx.x * nx;
  double sum = 0;
  for (int first = 0; first < nx; first += 32) {
    if (first + lane < nx) part[lane] = A[row + first + lane];
    __syncthreads();
    if (lane == 0) {
      for (int i = 0; i < 32 && first + i < nx; i++) {
        sum += part[i];
        part[i] = sum;
      }
    }
    __syncthreads();
    if (first + lane < nx) B[row + first + lane] = part[lane];
    __syncthreads();
  }
}

// A lane without a number adds zero, so that the whole warp is there for every shuffle.
__global__ void cumsum_shuffle(double *B, const double *A, int nx, int rows) {
  int lane = threadIdx.x;
  int iy = blockIdx.x * blockDim.y + threadIdx.y;
  bool on = iy < rows;
  size_t row = (size_t)iy * nx;
  double before = 0;
  for (int first = 0; first < nx; first += 32) {
    int ix = first + lane;
    double sum = on && ix < nx ? A[row + ix] : 0.0;
    for (int k = 1; k < 32; k *= 2) {
      double left = __shfl_up_sync(0xffffffff, sum, k);
      if (lane >= k) sum += left;
    }
    sum += before;
    if (on && ix < nx) B[row + ix] = sum;
    before = __shfl_sync(0xffffffff, sum, 31);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// cumsum_shared    block 32, grid rows = ny * nz
// cumsum_shuffle   block {32, by}, grid ceil(rows / by)
