// SPDX-License-Identifier: MIT
//
// texture: a kernel for each read through a texture and each access through a surface, one element per thread.

#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

template <class T> __global__ void fetch(cudaTextureObject_t t, int first, T *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex1Dfetch<T>(t, first + i);
}

template <class T> __global__ void read_1d(cudaTextureObject_t t, const float *x, T *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex1D<T>(t, x[i]);
}

template <class T>
__global__ void read_2d(cudaTextureObject_t t, const float *x, const float *y, T *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex2D<T>(t, x[i], y[i]);
}

template <class T>
__global__ void read_3d(cudaTextureObject_t t, const float *x, const float *y, const float *z, T *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex3D<T>(t, x[i], y[i], z[i]);
}

__global__ void read_1d_layered(cudaTextureObject_t t, const float *x, int layer, float *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex1DLayered<float>(t, x[i], layer);
}

__global__ void read_2d_layered(cudaTextureObject_t t, const float *x, const float *y, int layer, float *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex2DLayered<float>(t, x[i], y[i], layer);
}

__global__ void read_cube(cudaTextureObject_t t, const float *x, const float *y, const float *z, float *out, int n) {
  int i = HERE;
  if (i < n) out[i] = texCubemap<float>(t, x[i], y[i], z[i]);
}

__global__ void gather_0(cudaTextureObject_t t, const float *x, const float *y, float4 *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex2Dgather<float4>(t, x[i], y[i]);
}

__global__ void gather_1(cudaTextureObject_t t, const float *x, const float *y, float4 *out, int n) {
  int i = HERE;
  if (i < n) out[i] = tex2Dgather<float4>(t, x[i], y[i], 1);
}

// The sum of a row's neighbours, in shared memory behind a barrier.
__global__ void stencil(cudaTextureObject_t t, float *out) {
  __shared__ float row[32];
  row[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
  __syncthreads();
  out[HERE] = row[(threadIdx.x + 1) % 32] + row[(threadIdx.x + 31) % 32];
}

// Each adds 100 to what is there.
__global__ void raise_1d(cudaSurfaceObject_t s, int nx) {
  int x = HERE;
  if (x < nx) surf1Dwrite(surf1Dread<float>(s, 4 * x) + 100, s, 4 * x);
}

__global__ void raise_2d(cudaSurfaceObject_t s, int nx, int ny) {
  int i = HERE, x = i % nx, y = i / nx;
  if (y < ny) surf2Dwrite(surf2Dread<float>(s, 4 * x, y) + 100, s, 4 * x, y);
}

__global__ void raise_3d(cudaSurfaceObject_t s, int nx, int ny, int nz) {
  int i = HERE, x = i % nx, y = i / nx % ny, z = i / nx / ny;
  if (z < nz) surf3Dwrite(surf3Dread<float>(s, 4 * x, y, z) + 100, s, 4 * x, y, z);
}

__global__ void raise_layer_1d(cudaSurfaceObject_t s, int nx, int layer) {
  int x = HERE;
  if (x < nx) surf1DLayeredwrite(surf1DLayeredread<float>(s, 4 * x, layer) + 100, s, 4 * x, layer);
}

__global__ void raise_layer_2d(cudaSurfaceObject_t s, int nx, int ny, int layer) {
  int i = HERE, x = i % nx, y = i / nx;
  if (y < ny) surf2DLayeredwrite(surf2DLayeredread<float>(s, 4 * x, y, layer) + 100, s, 4 * x, y, layer);
}

__global__ void raise_face(cudaSurfaceObject_t s, int n, int face) {
  int i = HERE, x = i % n, y = i / n;
  if (y < n) surfCubemapwrite(surfCubemapread<float>(s, 4 * x, y, face) + 100, s, 4 * x, y, face);
}

// One texel to the right of where it is, beyond the last as the modes say.
__global__ void shift(cudaSurfaceObject_t s, float *clamped, float *zero, int nx) {
  int x = HERE;
  if (x >= nx) return;
  clamped[x] = surf2Dread<float>(s, 4 * x + 4, 0, cudaBoundaryModeClamp);
  zero[x] = surf2Dread<float>(s, 4 * x + 4, 0, cudaBoundaryModeZero);
}

__global__ void outside(cudaSurfaceObject_t s, int nx) { surf2Dwrite(1.0f, s, 4 * nx, 0); }

__global__ void two(cudaTextureObject_t from, cudaSurfaceObject_t to) {
  surf2Dwrite(tex2D<float>(from, threadIdx.x + 0.5f, 0.5f), to, 4 * threadIdx.x, 0);
}
