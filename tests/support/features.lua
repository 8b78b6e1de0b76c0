-- SPDX-License-Identifier: MIT
--
-- The cases of docs/what-runs-where.md: groups of { name, number, declarations, text of k }. cpu/features_spec.lua
-- tries each on both devices. k stores the number in out[1]; where there is none, it is only compiled. Without a text
-- the declarations have k.
--   cooperative  the launch needs a grid that is resident as a whole
--   cpu, cuda    words that the device's message has if it refuses the case

local CG = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"
local CG_ASYNC = "#include <cooperative_groups/memcpy_async.h>\n" .. CG
local CG_REDUCE = "#include <cooperative_groups/reduce.h>\n" .. CG
local CUB = "#include <cub/cub.cuh>"
local RANDOM = "#include <curand_kernel.h>"
local HALF, BFLOAT = "#include <cuda_fp16.h>", "#include <cuda_bf16.h>"

return {
  { "Language",
    { "static and dynamic shared memory", 7, "extern __shared__ int d[];",
      "__shared__ int s[32]; s[threadIdx.x] = 3; d[threadIdx.x] = 4; __syncthreads(); out[1] = s[5] + d[6];" },
    { "`__device__` and `__constant__` variables", 5, "__device__ int a = 2;\n__constant__ int b = 3;",
      "out[1] = a + b;" },
    { "templates, `if constexpr`, fold expressions", 10,
      "template <class... T> __device__ int sum(T... x) { if constexpr (sizeof...(T) > 1) return (x + ...); " ..
      "return 0; }",
      "out[1] = sum(1, 2, 3, 4);" },
    { "lambdas", 6, "template <class F> __device__ int twice(F f) { return f(f(1)); }",
      "int a = 2; out[1] = twice([=](int x) { return x * a; }) + a;" },
    { "recursion", 120, "__device__ int f(int n) { return n < 2 ? 1 : n * f(n - 1); }", "out[1] = f(5);" },
    { "function pointers", 9, "typedef int (*F)(int);\n__device__ int f(int x) { return x * x; }\n" ..
      "__device__ F table[] = { f };",
      "out[1] = table[0](3);" },
    { "virtual functions", 8, "struct A { __device__ virtual int f() { return 1; } };\n" ..
      "struct B : A { __device__ int f() override { return 8; } };", "B b; A *a = &b; out[1] = a->f();" },
    { "`printf`, `assert`, `clock64`", 1, "#include <assert.h>\n#include <stdio.h>",
      'long long t = clock64(); assert(t != -1); if (t == -1) printf("%d\\n", 1); out[1] = 1;' },
    { "`malloc` in a kernel", 4, "", "int *p = (int *)malloc(8); p[1] = 4; out[1] = p[1]; free(p);",
      cpu = "malloc in a kernel needs the CUDA device" },
    { "`new` in a kernel", 4, "", "int **p = (int **)(out + 2); if (threadIdx.x == 0) *p = new int(4); out[1] = **p;",
      cpu = "device code uses new, which needs the CUDA device" },
    { "`<cuda/std/...>`", 3, "#include <cuda/std/array>", "cuda::std::array<int, 2> a = {1, 3}; out[1] = a[1];",
      cpu = "'cuda'" },
  },
  { "Warp operations",
    { "shuffles and votes with `_sync`", 64, "", "int v = __shfl_xor_sync(~0u, 2, 1); " ..
      "out[1] = v * __popc(__ballot_sync(~0u, 1));" },
    { "`__reduce_add_sync`", 32, "", "out[1] = __reduce_add_sync(~0u, 1);" },
    { "`__match_any_sync`", -1, "", "out[1] = __match_any_sync(~0u, 1);" },
    { "steps through `volatile` memory without `__syncwarp()`", 32, "",
      "__shared__ volatile int s[64]; int t = threadIdx.x; s[t] = 1; s[t + 32] = 0; " ..
      "for (int d = 16; d; d /= 2) s[t] += s[t + d]; out[1] = s[0];" },
    { "shuffles without `_sync`", 2, "", "out[1] = __shfl_xor(2, 1);", cpu = "__shfl_xor is gone from CUDA",
      cuda = "since CUDA 9 it ends in _sync" },
  },
  { "Atomics",
    { "`atomicAdd`, `atomicCAS`, `atomicMax` on integers", 32, "__device__ int a;",
      "atomicAdd(&a, 1); __syncthreads(); if (threadIdx.x == 0) out[1] = atomicCAS(&a, 0, 1); atomicMax(&a, 1);" },
    { "`atomicAdd` on float and double", 64, "",
      "__shared__ float f; __shared__ double d; f = 0; d = 0; __syncthreads(); atomicAdd(&f, 1.f); " ..
      "atomicAdd(&d, 1.0);\n" ..
      "__syncthreads(); out[1] = (int)(f + d);" },
    { "`atomicAdd` on `__half2`", 32, HALF, "__shared__ __half2 h; h = __float2half2_rn(0); __syncthreads();\n" ..
      "atomicAdd(&h, __float2half2_rn(1)); __syncthreads(); out[1] = (int)__low2float(h);" },
    { "`__nv_atomic_load_n`, `__nv_atomic_fetch_add`", 32, "__device__ int a;",
      "__nv_atomic_fetch_add(&a, 1, __NV_ATOMIC_RELAXED); __syncthreads();\n" ..
      "out[1] = __nv_atomic_load_n(&a, __NV_ATOMIC_ACQUIRE);" },
    { "`cuda::atomic_ref`", 32, "#include <cuda/atomic>\n__device__ int a;",
      "cuda::atomic_ref<int, cuda::thread_scope_device> r(a); r.fetch_add(1); __syncthreads(); out[1] = r.load();",
      cpu = "'cuda'" },
  },
  { "Cooperative groups",
    { "blocks and tiles", 16, CG, "auto b = cg::this_thread_block(); auto t = cg::tiled_partition<16>(b); " ..
      "b.sync();\n" ..
      "out[1] = t.size() + t.shfl(0, 3);" },
    { "`cg::reduce`", 32, CG_REDUCE, "out[1] = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), 1, " ..
      "cg::plus<int>());" },
    { "`coalesced_threads`", 8, CG, "if (threadIdx.x < 8) { int n = cg::coalesced_threads().size(); out[1] = n; }" },
    { "grids: `cg::this_grid().sync()`", 2, CG .. "\n__device__ int a;",
      "if (threadIdx.x == 0) atomicAdd(&a, 1); cg::this_grid().sync(); out[1] = a;", cooperative = true },
    { "`cg::memcpy_async`", 3, CG_ASYNC, "__shared__ int s[32]; out[threadIdx.x] = 3; " ..
      "auto b = cg::this_thread_block(); b.sync();\n" ..
      "cg::memcpy_async(b, s, out, sizeof s); cg::wait(b); out[1] = s[1];" },
    { "clusters: `__cluster_dims__`, distributed shared memory", nil,
      CG .. "\n__global__ void __cluster_dims__(2) k(int *out) {\n" ..
      "  __shared__ int s; auto c = cg::this_cluster(); c.sync(); out[1] = *c.map_shared_rank(&s, 1);\n}",
      cpu = "no thread block clusters" },
  },
  { "libcu++: barriers and pipelines",
    { "`cuda::barrier`", 4, "#include <cuda/barrier>", "__shared__ int s;\n" ..
      "#pragma nv_diag_suppress static_var_with_dynamic_init\n" ..
      "__shared__ cuda::barrier<cuda::thread_scope_block> b;\n" ..
      "if (threadIdx.x == 0) { init(&b, blockDim.x); s = 4; } __syncthreads(); b.arrive_and_wait(); out[1] = s;" },
    { "`cuda::pipeline`", 4, "#include <cuda/pipeline>", "__shared__ int s; out[0] = 4; __syncthreads();\n" ..
      "auto p = cuda::make_pipeline(); p.producer_acquire(); " ..
      "if (threadIdx.x == 0) cuda::memcpy_async(&s, out, 4, p);\n" ..
      "p.producer_commit(); p.consumer_wait(); p.consumer_release(); __syncthreads(); out[1] = s;" },
    { "`__pipeline_memcpy_async`", 4, "#include <cuda_pipeline.h>",
      "__shared__ int s; out[0] = 4; __syncthreads();\n" ..
      "if (threadIdx.x == 0) __pipeline_memcpy_async(&s, out, 4); __pipeline_commit(); __pipeline_wait_prior(0);\n" ..
      "__syncthreads(); out[1] = s;" },
  },
  { "CUB",
    { "`cub::BlockReduce`, `cub::WarpReduce`", 32, CUB,
      "typedef cub::BlockReduce<int, 32> R; __shared__ R::TempStorage s;\n" ..
      "int n = R(s).Sum(1); if (threadIdx.x == 0) out[1] = n;" },
    { "`cub::BlockScan`", 32, CUB, "typedef cub::BlockScan<int, 32> S; __shared__ S::TempStorage s; int n;\n" ..
      "S(s).InclusiveSum(1, n); if (threadIdx.x == 31) out[1] = n;" },
    { "`cub::BlockRadixSort`", 2, CUB, "typedef cub::BlockRadixSort<int, 32, 1> S; __shared__ S::TempStorage s; " ..
      "int n[1] = {2};\nS(s).Sort(n); out[1] = n[0];", cpu = "the CPU device has no BlockRadixSort of CUB" },
  },
  { "Thrust in kernels",
    { "`thrust::complex`, `device_ptr`", 5, "#include <thrust/complex.h>\n#include <thrust/device_ptr.h>",
      "thrust::device_ptr<int> p(out); p[1] = (int)abs(thrust::complex<float>(3, 4));" },
    { "`thrust::minstd_rand`, distributions", 48271, "#include <thrust/random.h>",
      "thrust::default_random_engine e; thrust::uniform_real_distribution<float> d;\n" ..
      "out[1] = e(); if (d(e) >= 1) out[1] = 0;" },
    { "`thrust::plus`, `thrust::maximum`", 3, "#include <thrust/functional.h>",
      "out[1] = thrust::plus<int>()(1, thrust::maximum<int>()(1, 2));" },
    { "`thrust::sort`", nil, "#include <thrust/sort.h>\n#include <thrust/random.h>", "thrust::sort(out, out + 32);",
      cpu = "kernels have only complex.h, device_ptr.h, functional.h and random.h of Thrust",
      cuda = 'no member "sort"' },
  },
  { "cuRAND in kernels",
    { "XORWOW, Philox: `curand_uniform`, `curand_normal`", 1, RANDOM,
      "curandStatePhilox4_32_10_t s; curand_init(1, threadIdx.x, 0, &s);\n" ..
      "curandState x; curand_init(1, 0, 0, &x); out[1] = curand_uniform(&s) <= 1 && curand_normal(&x) < 9;" },
    { "`curand_poisson`", nil, RANDOM, "curandState s; curand_init(1, 0, 0, &s); out[1] = curand_poisson(&s, 4.0);",
      cpu = "'curand_poisson'" },
    { "MRG32k3a", nil, RANDOM, "curandStateMRG32k3a_t s; curand_init(1, 0, 0, &s); out[1] = curand(&s);",
      cpu = "'curandStateMRG32k3a_t'" },
  },
  { "Small floats",
    { "`__half`, `__half2`", 6, HALF, "__half2 h = __hmul2(__floats2half2_rn(1, 2), __float2half2_rn(2)); " ..
      "out[1] = (int)(__low2float(h) + __high2float(h));" },
    { "`__nv_bfloat16`", 6, BFLOAT, "__nv_bfloat16 b = __float2bfloat16(2.f) * __float2bfloat16(3.f); " ..
      "out[1] = (int)__bfloat162float(b);" },
    { "`__nv_fp8_e4m3`", 2, "#include <cuda_fp8.h>", "out[1] = (int)(float)__nv_fp8_e4m3(2.f);" },
  },
  { "Inline PTX",
    { "registers and arithmetic", 3, "", 'int v; asm("add.s32 %0, %1, %2;" : "=r"(v) : "r"(1), "r"(2)); out[1] = v;' },
    { "`%globaltimer`", 1, "", 'long long t; asm("mov.u64 %0, %globaltimer;" : "=l"(t)); out[1] = t > 0;' },
    { "`cp.async`", nil, "", '__shared__ int s[4]; unsigned a = (unsigned)__cvta_generic_to_shared(s);\n' ..
      'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(out)); out[1] = s[0];',
      cpu = "no inline PTX (asm) with 'cp.async.ca.shared.global'" },
    { "`mma.sync`", nil, "", 'int a = 0, b = 0, c[2] = {}; ' ..
      'asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"\n' ..
      '  : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b)); out[1] = c[0];',
      cpu = "no inline PTX (asm) with 'mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32'" },
  },
  { "Tensor cores",
    { "`nvcuda::wmma`", 16, "#include <cuda_fp16.h>\n#include <mma.h>", "using namespace nvcuda::wmma;\n" ..
      "fragment<matrix_a, 16, 16, 16, half, row_major> a; fragment<matrix_b, 16, 16, 16, half, col_major> b;\n" ..
      "fragment<accumulator, 16, 16, 16, float> c; fill_fragment(a, __float2half(1)); fill_fragment(b, a.x[0]);\n" ..
      "fill_fragment(c, 0.f); mma_sync(c, a, b, c); out[1] = (int)c.x[0];" },
    { "`nvcuda::wmma` of bits (`bmma_sync`)", nil, "#include <mma.h>", "using namespace nvcuda::wmma;\n" ..
      "fragment<accumulator, 8, 8, 128, int> c; fill_fragment(c, 0);\n" ..
      "fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> a;\n" ..
      "fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> b; bmma_sync(c, a, b, c);",
      cpu = "'experimental'" },
  },
  { "Textures and surfaces",
    { "texture objects: `tex1Dfetch`, `tex1D` to `tex3D`, layers, cube maps, `tex2Dgather`", nil,
      "__global__ void k(float *out, float4 *all, cudaTextureObject_t t) {\n" ..
      "  out[1] = tex1Dfetch<float>(t, 0) + tex1D<float>(t, 0) + tex2D<float>(t, 0, 0) +\n" ..
      "           tex3D<float>(t, 0, 0, 0) + tex1DLayered<float>(t, 0, 1) +\n" ..
      "           tex2DLayered<float>(t, 0, 0, 1) + texCubemap<float>(t, 0, 0, 1);\n" ..
      "  *all = tex2Dgather<float4>(t, 0, 0, 1);\n}" },
    { "surface objects: `surf1Dread`, `surf2Dwrite`, ..., layers, cube maps", nil,
      "__global__ void k(cudaSurfaceObject_t s) {\n" ..
      "  surf3Dwrite(surf1Dread<float>(s, 0), s, 0, 0, 0);\n" ..
      "  surf2Dwrite(surf2DLayeredread<float>(s, 0, 0, 0), s, 0, 0);\n" ..
      "  surfCubemapwrite(surf1DLayeredread<float>(s, 0, 0), s, 0, 0, 0, cudaBoundaryModeZero);\n}" },
    { "mip maps (`tex2DLod`, `tex2DGrad`)", nil,
      "__global__ void k(float *out, cudaTextureObject_t t) { *out = tex2DLod<float>(t, 0, 0, 1); }",
      cpu = "no mip maps; moonwarp makes none on any device: read the texture without a level" },
    { "layered cube maps", nil,
      "__global__ void k(float *out, cudaTextureObject_t t) { *out = texCubemapLayered<float>(t, 0, 0, 1, 2); }",
      cpu = "no layered cube maps; moonwarp makes none on any device" },
    { "texture references", nil, "texture<float, 2> image;", "out[1] = (int)tex2D(image, 1, 2);",
      cpu = "CUDA 12 removed them", cuda = "CUDA 12 removed texture and surface references" },
    { "`__ldg`", 0, "", "out[1] = __ldg(out);" },
  },
  { "Kernels that launch kernels",
    { "dynamic parallelism", nil, "__global__ void child(int *x) { x[0] = 1; }", "child<<<1, 1>>>(out);",
      cpu = "no device of moonwarp has them: launch from Lua", cuda = "kernel launch" },
  },
  { "Host code in the file",
    { "`main`, `<vector>`, `cudaMalloc`, launches", 1,
      "#include <vector>\n#include <cstdio>\n__global__ void k(int *out);\n" ..
      "int main() {\n  std::vector<int> v(32);\n  int *p;\n  cudaMalloc(&p, 128);\n  k<<<1, 32>>>(p);\n" ..
      "  return v[0];\n}", "out[1] = 1;" },
    { "a header that is not there", 1, '#include "timer_of_the_course.h"\nstatic Timer timer;', "out[1] = 1;" },
    { "`thrust::device_vector` in host code", 1, "#include <thrust/device_vector.h>\n" ..
      "int total(thrust::device_vector<int> &v) { return v[0]; }", "out[1] = 1;" },
    { "a host function that a kernel calls", nil, "#include <vector>\nint total(std::vector<int> v) { return v[0]; }",
      "out[1] = total({});", cpu = "'total' is left out: a function without __device__",
      cuda = "'total' is left out: a function without __device__" },
  },
}
