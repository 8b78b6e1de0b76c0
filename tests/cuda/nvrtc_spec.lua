-- SPDX-License-Identifier: MIT
--
-- Every kernel file compiles for Hopper, without a GPU; for the other architectures that NVRTC knows here in
-- `make stress`, which names them in $ARCHITECTURES.

local support = require "tests.support"
local core, mw = support.core, support.mw
local fails_as = support.fails_as

local ARCHITECTURES = os.getenv "ARCHITECTURES" or (support.whole and "75 90 120" or "90")

-- A template is compiled only where it is instantiated.
local TEMPLATES = {
  ["access.cu"] = { "by<float4>", "in_order<4>", "in_order_restrict<4>", "loads_first<16>", "polynomial<LITERAL,false>",
                    "polynomial<CONSTANT,true>", "polynomial<SHARED,false>", "product_registers<16>",
                    "product_shared<true>" },
  ["divergence.cu"] = { "branches<true>", "list_build<ELEMENT>", "list_build<BLOCK>", "count<WARP>", "count<SHARED>",
                        "bins<true>" },
  ["fluid.cu"] = { "set_bnd<true>", "react<true>", "reorder<true>", "relax_shared<32,8>",
                   "relax_toggle<true,true,true,4>",
                   "relax_grid<true>", "relax_tiles<8>", "relax_hidden<true>", "relax_hidden<false>", "relax_wide<2>",
                   "relax_levels<5,4,__half>", "relax_levels<10,4,float>", "relax_band<2,4>", "relax_band<8,2>" },
  ["functions.cu"] = { "rates<f_exp,float>", "rates<f_tanh,double>", "values<f_log>", "errors<f_sin>" },
  ["dedispersion.cu"] = { "dedisperse_registers<4>", "dedisperse_shared<4,4,16>", "dedisperse_pairs<4,4,16>",
                          "dedisperse_quads<4,4,16>", "plan_groups<8>", "dedisperse_groups<4,4,16,8>",
                          "dedisperse_tensor<16,8,3>", "boxcars<6>" },
  ["fourier-search.cu"] = { "template_spectra<4096,16>", "segments_forward<1024,4>", "segments_inverse<1024,4>",
                            "search_fused<1024,4,complex>", "search_fused<4096,16,complex>",
                            "search_fused<4096,16,__nv_bfloat162>", "search_fused<4096,16,both>", "convert<both>",
                            "harmonic_sum<8>" },
  ["moonwarp/array.cu"] = { "moonwarp::fill<float>", "moonwarp::fill<__half>", "moonwarp::linspace<double>",
                            "moonwarp::random_uniform<int>", "moonwarp::random_uniform<float>",
                            "moonwarp::random_normal<__nv_bfloat16>" },
  ["tuning.cu"] = { "diffuse<float,4,1>", "product<8,8,32>", "add<4,8>", "turn<float,64,2,4,DIAGONALS>" },
  ["balance.cu"] = { "steps<float,400>", "steps<double,1>", "steps_wide<float,400>", "steps_wide<double,5>",
                     "binomial_march<8>" },
  ["counters.cu"] = { "transpose<in_rows>", "transpose<padded>", "transpose<swizzled>", "shared_wide<float4>" },
  ["cumsum.cu"] = { "copy_wide<float>", "copy_3d<double>", "copy_z<float>", "copy_y<double>", "copy_x<float>",
                    "copy_x32<double>", "cumsum_z<float>", "cumsum_y<double>", "cumsum_shared<float,32>",
                    "cumsum_broadcast<double,32>", "cumsum_chunks<float,16>", "cumsum_shuffle<float>",
                    "cumsum_rows<float,4>",
                    "cumsum_rows<double,4>", "cumsum_tile<float,8,16>", "cumsum_tile<double,8,16>",
                    "cumsum_paced<float,4>", "cumsum_paced<double,4>" },
  ["scan.cu"] = { "scan_tiles<float>", "scan_totals<double>", "scan_add<float>", "scan_once<float,512,8>",
                  "scan_once<double,512,8>", "scan_rounds<float,512,8>", "scan_rounds<double,512,8>" },
  ["gemm.cu"] = { "gemm_exact<__half>", "gemm_exact<signed char>", "gemm_naive<float>", "gemm_tile<double,32>",
                  "gemm_registers<double>", "gemm_wmma<f16_cores,__half>", "gemm_wmma<i8_cores,signed char>" },
  ["nbody.cu"] = { "potential_shared<double>", "potential_shared<float>", "potential_wide<256,4,8>",
                   "potential_pairs<16>", "accelerations<double,64>", "accelerations<float,64>",
                   "advance<double>", "advance<float>" },
  ["streams.cu"] = { "iterate<float>", "iterate<double>" },
  ["basic.cu"] = { "twice<float>", "constant<3>" },
  ["first-kernels.cu"] = { "count<false>", "count<true>" },
  ["reduce.cu"] = { "reduce_parts<float,SUM>", "reduce_begin<double,MIN>", "reduce_atomic<float,MIN>",
                    "reduce_atomic<double,MAX>", "reduce_atomic<double,SUM>", "reduce_cas<float,LENGTH>",
                    "reduce_cas<double,SUM>", "reduce_lock<double,MIN>", "reduce_last<double,LENGTH>",
                    "reduce_once<float,SUM,4,1024>", "reduce_once<double,LENGTH,2,1024>",
                    "reduce_integers<float>" },
  ["moonwarp/reductions.cu"] = { "moonwarp::reduce_wide<float,SUM,true>", "moonwarp::reduce_wide<double,DOT,false>",
                                 "moonwarp::reduce_wide<__half,NORM,true>",
                                 "moonwarp::reduce_wide<unsigned char,MIN,true>",
                                 "moonwarp::reduce_wide<long long,MAX,true>",
                                 "moonwarp::reduce_wide<__nv_bfloat16,MIN,true>" },
  ["montecarlo.cu"] = { "normals<BOX_MULLER,BY_STEP>", "normals<ZIGGURAT,BY_PATH>", "fused<BOX_MULLER_FAST>",
                        "fused<INVERSE>" },
  ["moonwarp/grid.cu"] = { "moonwarp::copy_box<double>", "moonwarp::copy_box<__half>" },
  ["moonwarp/nccl.cu"] = { "moonwarp::combine<float,moonwarp::SUM>", "moonwarp::combine<long long,moonwarp::MIN>",
                           "moonwarp::divide<double>" },
  ["moonwarp/plan.cu"] = { "moonwarp::gather<double>", "moonwarp::gather<int>" },
  ["moonwarp/rand.cu"] = { "moonwarp::draw<float,moonwarp::NORMAL>", "moonwarp::draw<double,moonwarp::LOG_NORMAL>" },
  ["moonwarp/sparse.cu"] = { "moonwarp::spmv<float>", "moonwarp::spmm<double>", "moonwarp::spsv<float>",
                             "moonwarp::tridiagonal<double>" },
  ["sort.cu"] = { "bitonic_part<true>", "bitonic_part<false>", "radix_pass<true>", "radix_pass<false>" },
  ["stencil.cu"] = { "diffusion_march<8>", "diffusion_levels<8>" },
  ["recurrence.cu"] = { "recurrence_blocks<element<float,2>,BARRIERS>", "recurrence_finish<element<double,2>>",
                        "recurrence_in_order<element<float,1>>", "recurrence_rounds<element<float,1>,512,8,2,false>",
                        "recurrence_rounds<element<float,2>,512,4,2,true>",
                        "recurrence_rounds<element<double,2>,512,4,2,true>" },
  ["small.cu"] = { "implicit<8>" },
  ["laplace.cu"] = { "laplace2<float>", "laplace2<double>", "laplace2_wide<true>", "laplace2_levels<8,true>",
                     "laplace3_wide<true,true>", "laplace3_wide<false,false>", "laplace3_levels<2,1,true>",
                     "laplace3_levels<4,2,false>" },
  ["tridiagonal.cu"] = { "thomas<double>", "thomas_registers<float,32>", "pcr_shared<float>", "hybrid_warp<float,8>",
                         "hybrid_block<float,8>", "hybrid_block<double,8>", "lines_warp<float,8,16>" },
  ["sparse.cu"] = { "spmv_staged<float>", "spmv_merge<double>", "merge_left<double>", "solve_grid<double>",
                    "spmm_thread<double,8>", "cg_product<double>", "cg_update<double>" },
  ["poisson.cu"] = { "divide<float,4>", "divide<double,4>", "coarse_right<double>", "apply_dot<double>" },
  ["variables.cu"] = { "add_to_counter<int>" },
}

local function kernel_files()
  local files = {}
  for _, folder in ipairs { "/kernels", "/tests/kernels" } do
    for _, path in ipairs(support.files(core.home() .. folder)) do
      if path:find "%.cu$" then files[#files + 1] = path end
    end
  end
  return files
end

describe("NVRTC", function()
  local available, reason = support.has_nvrtc()
  if not available then
    pending("is not there: " .. tostring(reason):match "[^\n]*")
    return
  end
  support.no_leaks()

  it("has files to compile", function() assert.is_true(#kernel_files() >= 8) end)

  for number in ARCHITECTURES:gmatch "%d+" do
    it("compiles every kernel file without a warning for sm_" .. number, function()
      local dev = mw.device("cuda:sm_" .. number)
      for _, path in ipairs(kernel_files()) do
        local m <close> = dev:module { file = path, warnings = false,
          templates = TEMPLATES[path:match "/(moonwarp/[^/]*)$" or path:match "[^/]*$"] }
        assert.are.equal("", m:log(), path)
        for _, name in ipairs(m:kernels()) do
          local attributes = m:kernel(name):attributes()
          assert.is_true(attributes.max_threads >= 1, path .. ": " .. name)
          assert.is_true(attributes.registers >= 1 and attributes.registers <= 255, path .. ": " .. name)
        end
      end
    end)
  end

  it("keeps the values of streams.cu in registers", function()
    local m <close> = mw.device("cuda:sm_90"):module { file = core.home() .. "/kernels/streams.cu" }
    for _, name in ipairs { "iterate<float>", "iterate<double>" } do
      local attributes = m:kernel(name):attributes()
      assert.is_true(attributes.registers <= 32)
      assert.are.equal(0, attributes.local_bytes)
    end
  end)

  it("knows a kernel's parameters, shared memory and engine", function()
    local dev = mw.device "cuda:sm_90"
    local m <close> = dev:module(support.kernel_file "barriers.cu")
    assert.are.equal("rotate(int *out, const int *in, int n)", m.rotate:signature())
    assert.are.equal(256, m.rotate:attributes().shared_bytes)
    assert.are.equal("cuda", (m.rotate:engine()))
    local b <close> = dev:module(support.kernel_file "basic.cu")
    assert.are.equal("twice<float>(float *x, int n)", b:kernel "twice<float>":signature())
  end)

  it("has kernels of one name by their parameters, one in no namespace before the others", function()
    local m <close> = mw.device("cuda:sm_90"):module { source = "namespace lab { __global__ void k(int *x) {} }\n"
      .. "__global__ void k(int *y) {}\n__global__ void k(uchar4 *z, const float *) {}\n" }
    assert.are.equal("k(uchar4 *, const float *)", m:kernel "k(uchar4*, const float*)":signature())
    assert.is_truthy(m:kernel "lab::k(int *)")
    assert.is_truthy(m:kernel "k(int *)")
    local message = support.fails_with(function() m:kernel "k" end, "give one whole signature: ")
    assert.is_nil(message:find "lab::")
  end)

  it("gives PTX, and the source that it compiled", function()
    local dev = mw.device "cuda:sm_90"
    local source = "__global__ void k(int *x) { x[0] = 1; }\n"
    local m <close> = dev:module { source = source }
    local ptx = m:ptx()
    assert.is_truthy(ptx:find(".target sm_90", 1, true))
    assert.is_truthy(ptx:find("_Z1kPi", 1, true))
    assert.are.equal(source, m:cpp())
  end)

  -- Members of a class that no device code names yet counted as device variables, beside a header of CUDA's.
  it("compiles an instance later where a class has a static constant", function()
    local dev = mw.device "cuda:sm_90"
    for _, header in ipairs { "", "#include <cuda_fp16.h>\n", "#include <vector>\n" } do
      local m <close> = dev:module { source = header .. [[
struct S { static const int K = 3; };
template <class C, class T> __global__ void k(T *x) { x[0] = C::K; }
int main() { k<S, float><<<1, 1>>>(nullptr); }
]] }
      assert.are.equal("k<S,float>(float *x)", m:kernel "k<S,float>":signature(), header)
    end
  end)

  it("takes extern \"C\"__global__, and names the lines below it", function()
    local dev = mw.device "cuda:sm_90"
    local source = 'extern "C"__global__ void k(int *x) {\n  x[0] = %s;\n}\n'
      .. 'extern "C"{ __global__ void l(int *x) {} }\n'
    local m <close> = dev:module { source = source:format "1" }
    assert.are.same({ "k", "l" }, m:kernels())
    local wrong <close> = dev:module { name = "mine.cu", source = source:format "missing" }
    fails_as("compile", function() wrong:kernel "k" end, 'mine.cu:2: identifier "missing" is undefined')
  end)

  it("knows tensor maps", function()
    local dev = mw.device "cuda:sm_90"
    for _, header in ipairs { "cuda.h", "cudaTypedefs.h" } do
      local m <close> = dev:module { source = ("#include <%s>\n"):format(header) .. [[
__global__ void k(const __grid_constant__ CUtensorMap map, const CUtensorMap *other, int *x) {
  static_assert(sizeof map == 128 && alignof(CUtensorMap) == 128, "");
  x[0] = *(const int *)&map;
}]] }
      assert.is_truthy(m.k:signature():find("^k%(CUtensorMap_st map, const CUtensorMap_st %*other, int %*x%)"))
    end
  end)

  it("has one uint64_t, beside the toolkit's headers too", function()
    local dev = mw.device "cuda:sm_90"
    local ok, m = pcall(dev.module, dev, { source = [[
#include <cuda/atomic>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <cstdint>
__global__ void k(uint64_t *x, int64_t y, cuda::std::uintptr_t z) {
  cuda::std::uint64_t *a = x;
  unsigned long *b = a;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*b).fetch_add(INT64_MAX - INT64_C(3));
}]] })
    if not ok and tostring(m):find("open source file", 1, true) then pending "needs NVIDIA's headers" end
    assert.is_true(ok, tostring(m))
    assert.are.equal("k(unsigned long *x, long y, unsigned long z)", m.k:signature())
    m:close()
  end)

  it("keeps what it compiled", function()
    local dev = mw.device "cuda:sm_90"
    local source = "__global__ void kept(int *x) { x[0] = 1; }\n"
    local first <close> = dev:module { source = source }
    local second <close> = dev:module { source = source }
    assert.is_true(second:from_cache())
    assert.are.equal(first.kept:attributes().registers, second.kept:attributes().registers)
  end)

  it("names the user's file and line of a mistake", function()
    local dev = mw.device "cuda:sm_90"
    local message = fails_as("compile", function()
      dev:module { name = "mine.cu", source = "\n__global__ void k(int *x) {\n  x[0] = missing;\n}\n" }
    end, "missing")
    assert.is_truthy(message:find "mine%.cu%(3%)", message)
  end)

  local HEAVY = [[
    __global__ void heavy(double *x, int n) {
      double a[40];
      #pragma unroll
      for (int i = 0; i < 40; i++) a[i] = x[i * n + threadIdx.x];
      __syncthreads();
      #pragma unroll
      for (int i = 0; i < 40; i++) x[i * n + threadIdx.x] = a[39 - i] * a[i];
    }
    __global__ void light(float *x) { x[threadIdx.x] = 1; }
  ]]

  it("reports registers and spills, as capped, from the cache too", function()
    local dev = mw.device "cuda:sm_90"
    local free <close> = dev:module { source = HEAVY }
    local options = { source = HEAVY, max_registers = 32 }
    assert.is_true(free.heavy:attributes().registers > 64)
    assert.are.equal(0, free.heavy:attributes().spill_stores)
    for _ = 1, 2 do
      local capped <close> = dev:module(options)
      local heavy, light = capped.heavy:attributes(), capped.light:attributes()
      assert.is_true(heavy.registers <= 32)
      assert.is_true(heavy.spill_stores > 100 and heavy.spill_loads > 100)
      assert.are.same({ 0, 0 }, { light.spill_stores, light.spill_loads })
    end
  end)

  it("hands ptxas its options", function()
    local dev = mw.device "cuda:sm_90"
    local capped <close> = dev:module { source = HEAVY, ptxas = { "-maxrregcount=40" } }
    local registers = capped.heavy:attributes().registers
    assert.is_true(registers <= 40 and registers > 32)
    fails_as("compile", function() dev:module { source = HEAVY, ptxas = { "-nosuch" } } end,
      "compiling 'source' for sm_90 failed: ptxas fatal   : Unknown option 'nosuch'")
    local m <close> = dev:module { source = HEAVY, ptxas = { "-dlcm=cg" }, cache = false }
    assert.is_truthy(m:ptx():find("heavy", 1, true))
  end)
end)
