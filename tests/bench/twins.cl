// SPDX-License-Identifier: MIT
//
// The OpenCL twins of memcopy, triad, diffusion, diffusion_shared, reduce_tree, cumsum_shuffle and potential_tiled in kernels/, line for line as far
// as the language allows: shuffles become an exchange through local memory, since PoCL 3.1 has no subgroup shuffles.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

double step_of(double w, double e, double s, double n, double c, double Ci, double lam, double dt, double _dx, double _dy) {
  return c + dt * Ci * (-((-lam * (e - c) * _dx) - (-lam * (c - w) * _dx)) * _dx -
                        ((-lam * (n - c) * _dy) - (-lam * (c - s) * _dy)) * _dy);
}

kernel void memcopy(global double *B, global const double *A, int nx, int ny) {
  int ix = get_global_id(0), iy = get_global_id(1);
  size_t i = (size_t)iy * nx + ix;
  if (ix < nx && iy < ny) B[i] = A[i];
}

kernel void triad(global double *B, global const double *A, global const double *C, double s, int nx, int ny) {
  int ix = get_global_id(0), iy = get_global_id(1);
  size_t i = (size_t)iy * nx + ix;
  if (ix < nx && iy < ny) B[i] = A[i] + s * C[i];
}

kernel void diffusion(global double *T2, global const double *T, global const double *Ci, double lam, double dt,
                      double _dx, double _dy, int nx, int ny) {
  int ix = get_global_id(0), iy = get_global_id(1);
  if (ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1) {
    size_t i = (size_t)iy * nx + ix;
    T2[i] = step_of(T[i - 1], T[i + 1], T[i - nx], T[i + nx], T[i], Ci[i], lam, dt, _dx, _dy);
  }
}

kernel void diffusion_shared(global double *T2, global const double *T, global const double *Ci, double lam, double dt,
                             double _dx, double _dy, int nx, int ny, local double *tile) {
  int tx = get_local_id(0), ty = get_local_id(1), bx = get_local_size(0), by = get_local_size(1);
  int width = bx + 2;
  int ix = get_global_id(0), iy = get_global_id(1);
  int at = (ty + 1) * width + tx + 1;
  size_t i = (size_t)iy * nx + ix;
  bool inside = ix > 0 && ix < nx - 1 && iy > 0 && iy < ny - 1;
  if (ix < nx && iy < ny) tile[at] = T[i];
  if (inside) {
    if (tx == 0) tile[at - 1] = T[i - 1];
    if (tx == bx - 1) tile[at + 1] = T[i + 1];
    if (ty == 0) tile[at - width] = T[i - nx];
    if (ty == by - 1) tile[at + width] = T[i + nx];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (inside)
    T2[i] = step_of(tile[at - 1], tile[at + 1], tile[at - width], tile[at + width], tile[at], Ci[i], lam, dt, _dx, _dy);
}

kernel void reduce_tree(global float *sums, global const float *x, int n) {
  local float part[256];
  int it = get_local_id(0);
  float sum = 0;
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
  part[it] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 128; k > 0; k /= 2) {
    if (it < k) part[it] += part[it + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (it == 0) sums[get_group_id(0)] = part[0];
}

kernel void cumsum_shuffle(global double *B, global const double *A, int nx, int rows, local double *exchange) {
  int lane = get_local_id(0);
  local double *mine = exchange + get_local_id(1) * 32;
  int iy = get_global_id(1);
  bool on = iy < rows;
  size_t row = (size_t)iy * nx;
  double before = 0;
  for (int first = 0; first < nx; first += 32) {
    int ix = first + lane;
    double sum = on && ix < nx ? A[row + ix] : 0.0;
    for (int k = 1; k < 32; k *= 2) {
      mine[lane] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lane >= k) sum += mine[lane - k];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum += before;
    if (on && ix < nx) B[row + ix] = sum;
    mine[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    before = mine[31];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

kernel void potential_tiled(global float *phi, global const float *x, global const float *y, global const float *z,
                            global const float *m, int n) {
  local float xs[256], ys[256], zs[256], ms[256];
  int it = get_local_id(0);
  int i = get_global_id(0);
  bool on = i < n;
  float xi = on ? x[i] : 0.0f, yi = on ? y[i] : 0.0f, zi = on ? z[i] : 0.0f;
  float sum = 0;
  for (int first = 0; first < n; first += 256) {
    int j = first + it;
    xs[it] = j < n ? x[j] : 0.0f;
    ys[it] = j < n ? y[j] : 0.0f;
    zs[it] = j < n ? z[j] : 0.0f;
    ms[it] = j < n ? m[j] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 256; k++) {
      float dx = xs[k] - xi, dy = ys[k] - yi, dz = zs[k] - zi;
      float r2 = dx * dx + dy * dy + dz * dz;
      sum += r2 > 0.0f ? ms[k] * rsqrt(r2) : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (on) phi[i] = -sum;
}
