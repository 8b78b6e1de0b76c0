// SPDX-License-Identifier: MIT
//
// Timing as nvbench does it, for nvbench.lua to compare mw.bench with. Written from the description of its measurements
// (NVIDIA, github.com/NVIDIA/nvbench, docs: "isolated" and "batch" times), against the CUDA runtime alone:
//   cold    one launch per sample: the L2 cache is overwritten, the stream synchronised, a blocking kernel queued, then
//           event, launch, event; the blocking kernel is let go and the stream synchronised
//   batch   a blocking kernel, an event, two launches, let go, the other launches, an event
// Work goes to the default stream of the context that is current.

#include <cuda_runtime.h>

#include "native.h"
#include "nvbench_kernels.cuh"

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t error = (call);                                                                                        \
    if (error != cudaSuccess) return cudaGetErrorString(error);                                                        \
  } while (0)

// ---- what is timed --------------------------------------------------------------------------------------------------

struct job { // as arguments: kernel, blocks, count, a, b, c
  const char *kernel;
  unsigned blocks;
  unsigned long long count;
  void *a, *b, *c;
};

static job job_of(const native_value *v) {
  return {v[0].text,
          (unsigned)v[1].integer,
          (unsigned long long)v[2].integer,
          NATIVE_ARRAY(void, v[3]),
          NATIVE_ARRAY(void, v[4]),
          NATIVE_ARRAY(void, v[5])};
}

static void launch(const job &j) {
  if (j.kernel[0] == 'c' && j.kernel[1] == 'o')
    bench_copy<<<j.blocks, 256>>>((double2 *)j.a, (const double2 *)j.b, j.count);
  else if (j.kernel[0] == 't')
    bench_triad<<<j.blocks, 256>>>((double2 *)j.a, (const double2 *)j.b, (const double2 *)j.c, j.count);
  else
    bench_chains<<<j.blocks, 256>>>((float *)j.a, 1.0f, 1.0f, (int)j.count);
}

// ---- blocking, flushing, timing -------------------------------------------------------------------------------------

__global__ void wait_for(const volatile int *flag) {
  while (!*flag) {
  }
}

static volatile int *flag; // host memory that the device sees
static int *flag_on_device;
static void *flush_buffer;
static size_t flush_bytes;
static cudaEvent_t from, to;

static const char *open_once() {
  int device = 0, l2 = 0;
  if (flag) return nullptr;
  TRY(cudaGetDevice(&device));
  TRY(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
  flush_bytes = (size_t)l2;
  TRY(cudaMalloc(&flush_buffer, flush_bytes));
  TRY(cudaEventCreate(&from));
  TRY(cudaEventCreate(&to));
  TRY(cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped));
  TRY(cudaHostGetDevicePointer((void **)&flag_on_device, (void *)flag, 0));
  return nullptr;
}

static void block() {
  *flag = 0;
  wait_for<<<1, 1>>>(flag_on_device);
}

static void unblock() {
  *flag = 1;
}

static const char *elapsed(double *seconds) {
  float milliseconds = 0;
  TRY(cudaStreamSynchronize(0));
  TRY(cudaEventElapsedTime(&milliseconds, from, to));
  *seconds = 1e-3 * milliseconds;
  return nullptr;
}

static const char *warm_up(const job &j) {
  if (const char *error = open_once()) return error;
  launch(j);
  TRY(cudaDeviceSynchronize());
  return nullptr;
}

// ---- what nvbench.lua calls -----------------------------------------------------------------------------------------

// cold(seconds, samples, job): so many samples, into an array
extern "C" const char *cold(const native_value *v, double *) {
  double *seconds = NATIVE_ARRAY(double, v[0]);
  const int64_t samples = v[1].integer;
  const job j = job_of(v + 2);
  if (const char *error = warm_up(j)) return error;
  for (int64_t i = 0; i < samples; i++) {
    TRY(cudaMemsetAsync(flush_buffer, 0, flush_bytes));
    TRY(cudaStreamSynchronize(0));
    block();
    cudaEventRecord(from);
    launch(j);
    cudaEventRecord(to);
    unblock();
    if (const char *error = elapsed(&seconds[i])) return error;
  }
  return nullptr;
}

// batch(launches, job) -> seconds per launch
extern "C" const char *batch(const native_value *v, double *result) {
  const int64_t launches = v[0].integer;
  const job j = job_of(v + 1);
  if (const char *error = warm_up(j)) return error;
  block();
  cudaEventRecord(from);
  for (int64_t i = 0; i < launches; i++) {
    if (i == 2) unblock();
    launch(j);
  }
  cudaEventRecord(to);
  unblock();
  const char *error = elapsed(result);
  *result /= (double)launches;
  return error;
}
