// SPDX-License-Identifier: MIT
//
// stencil: one explicit step of 2-D heat diffusion, T2 = T + dt * Ci * lam * laplace(T); the border is not updated.
//
// The ladder
//   v1 diffusion          every neighbour from main memory; the caches find what was read before
//   v2 diffusion_shared   a block's tile of T with a halo of one cell in (dynamic) shared memory
//
// Bound: main memory. T_eff = A_eff / t with A_eff = (2 * 1 + 1) * bytes(T): T is the unknown field (read and written),
// Ci a known one (ETH Zurich, "Solving PDEs in parallel on GPUs", lecture 10, which gives the formula of the step).

// ---- device helpers -------------------------------------------------------------------------------------------------

// The flux form of the lecture: qx = -lam * dT/dx, then T2 = T - dt * Ci * (dqx/dx + dqy/dy).
__device__ double step_of(double w, double e, double s, double n, double c, double Ci, double lam, double dt,
                          double _dx, double _dy) {
  return c + dt * Ci * (-((-lam * (e - c) * _dx) - (-lam * (c - w) * _dx)) * _dx -
                        ((-lam * (n - c) * _dy) - (-lam * (c - s) * _dy)) * _dy);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void diffusion(double *T2, const double *T, const double *Ci, double lam, double dt, double _dx, double _dy,
                          int nx, int ny) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) {
    size_t i = (size_t)iy * nx + ix;
    T2[i] = step_of(T[i - 1], T[i + 1], T[i - nx], T[i + nx], T[i], Ci[i], lam, dt, _dx, _dy);
  }
}

// The barrier is outside every condition: a block at the border has threads without a cell, and they must arrive too.
__global__ void diffusion_shared(double *T2, const double *T, const double *Ci, double lam, double dt, double _dx,
                                 double _dy, int nx, int ny) {
  extern __shared__ double tile[];
  int width = blockDim.x + 2;
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  int at = (threadIdx.y + 1) * width + threadIdx.x + 1;
  size_t i = (size_t)iy * nx + ix;
  bool inside = ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1;
  if (ix < nx && iy < ny) tile[at] = T[i];
  if (inside) {
    if (threadIdx.x == 0) tile[at - 1] = T[i - 1];
    if (threadIdx.x == blockDim.x - 1) tile[at + 1] = T[i + 1];
    if (threadIdx.y == 0) tile[at - width] = T[i - nx];
    if (threadIdx.y == blockDim.y - 1) tile[at + width] = T[i + nx];
  }
  __syncthreads();
  if (inside) {
    T2[i] = step_of(tile[at - 1], tile[at + 1], tile[at - width], tile[at + width], tile[at], Ci[i], lam, dt, _dx, _dy);
  }
}

// ---- host notes -----------------------------------------------------------------------------------------------------
// both               block {bx, by}, grid {ceil(nx / bx), ceil(ny / by)}
// diffusion_shared   shared = (bx + 2) * (by + 2) * 8 bytes
// stable for         dt <= min(dx, dy)^2 / lam / max(Ci) / 4; the lecture divides by 4.1
