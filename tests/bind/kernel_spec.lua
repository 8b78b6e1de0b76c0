-- SPDX-License-Identifier: MIT
--
-- Kernels: what they say of themselves, and preparing launches.

local support = require "tests.support"
local mw = support.mw
local fails, fails_with = support.fails, support.fails_with

local BASIC = support.kernel_file "basic.cu"

support.each_device("kernels", function(dev, id, runs)
  local m

  before_each(function() m = dev:module(BASIC) end)
  after_each(function() m:close() end)

  it("have a name, a device and their module's options", function()
    assert.are.equal("scale", m.scale:name())
    assert.are.equal(dev, m.scale:device())
    assert.are.equal(BASIC, m.scale:options().file)
    assert.are.equal("kernel", mw.type(m.scale))
  end)

  runs("write their signature as C++ does", function()
    for name, text in pairs {
      nothing = "nothing()",
      scale = "scale(float *x, float a, int n)",
      add = "add(int *out, const int *a, const int *b, int n)",
      scalars = "scalars(double *out, signed char a, short b, int c, long long d, unsigned char e, unsigned short f, "
        .. "unsigned int g, unsigned long long h, float i, double j, bool k)",
      vectors = "vectors(float *out, float2 a, int4 b)",
      by_value = "by_value(float *out, Pair pair)",
      any_bytes = "any_bytes(unsigned char *out, const void *bytes, int n)",
      gather_rows = "gather_rows(int *out, int **rows, int n)",
    } do
      assert.are.equal(text, m[name]:signature())
      assert.are.equal(("kernel %s %s"):format(text, id), tostring(m[name]))
    end
    assert.are.equal("twice<float>(float *x, int n)", m:kernel "twice<float>":signature())
  end)

  runs("have attributes", function()
    local a = m.scale:attributes()
    for _, name in ipairs { "registers", "shared_bytes", "local_bytes", "const_bytes", "max_threads" } do
      assert.are.equal("integer", math.type(a[name]), name)
    end
    assert.are.equal(1024, a.max_threads)
    assert.are.equal(0, a.shared_bytes)
    assert.are.equal(64, m.bounded:attributes().max_threads)
    local barriers <close> = dev:module(support.kernel_file "barriers.cu")
    assert.are.equal(256, barriers.rotate:attributes().shared_bytes)
    if id ~= "cpu" then assert.is_true(a.registers > 0) end
  end)

  runs("know the shared memory of each instance, and of what they call", function()
    local tiles <close> = dev:module { source = [[
      __device__ float first(float v) { __shared__ float part[32]; part[threadIdx.x % 32] = v; __syncthreads();
        return part[0]; }
      template <class T, int N> __global__ void tile(T *x) { constexpr int W = N + 1; __shared__ T rows[N][W];
        rows[threadIdx.x % N][0] = x[0]; __syncthreads(); x[0] = rows[0][0]; }
      __global__ void two(float *x) { __shared__ float a[16], b[16]; a[threadIdx.x % 16] = b[threadIdx.x % 16] = 1;
        __syncthreads(); x[0] = a[1] + b[2]; }
      __global__ void calls(float *x) { x[0] = first(x[0]) + first(x[1]); }]] }
    assert.are.equal(8 * 9 * 4, tiles:kernel "tile<float, 8>":attributes().shared_bytes)
    assert.are.equal(4 * 5 * 8, tiles:kernel "tile<double, 4>":attributes().shared_bytes)
    assert.are.equal(128, tiles.two:attributes().shared_bytes)
    assert.are.equal(128, tiles.calls:attributes().shared_bytes)
    support.fails(function() tiles:kernel "tile" end,
      "kernel 'tile' of module 'source' is a template: name an instance, as in tile<float, 16>")
  end)

  -- f<float> was proposed for every template.
  runs("are templates that an instance is proposed for by the kinds of their parameters", function()
    local templates <close> = dev:module { source = [[
      enum order { up, down };
      template <int TILE> __global__ void transpose(float *x) { x[0] = TILE; }
      template <typename T, bool WHOLE, unsigned N = 4> __global__ void copy(T *x) { x[0] = WHOLE + N; }
      template <class T, class ...U> __global__ void pack(T *x) { x[0] = sizeof...(U); }
      template <order O> __global__ void sort(int *x) { x[0] = O; }
      template <size_t N, typename F = int> __global__ void fold(F *x) { x[0] = N; }
      namespace lab { template <char C> __global__ void mark(char *x) { x[0] = C; } }]] }
    for name, instance in pairs { transpose = "16", copy = "float, true", pack = "float, float", sort = "...",
                                  fold = "16", mark = "16" } do
      support.fails(function() templates:kernel(name) end, ("kernel '%s' of module 'source' is a template: name an "
        .. "instance, as in %s<%s>"):format(name, name, instance))
    end
    assert.are.equal("copy<float, true>", templates:kernel "copy<float, true>":name())
  end)

  runs("say which engine runs them and why", function()
    local engine, why = m.scale:engine()
    assert.are.equal(id == "cpu" and "loop" or "cuda", engine)
    assert.are.equal("", why)
  end)

  describe("prepared", function()
    it("need grid and block", function()
      fails_with(function() m.scale:prepare { block = 1 } end,
        "prepare needs 'grid': an integer, {x, y, z} or {x =, y =, z =}")
      fails_with(function() m.scale:prepare { grid = 1 } end,
        "prepare needs 'block': an integer, {x, y, z} or {x =, y =, z =}")
      fails(function() m.scale:prepare() end,
        "bad argument #1 to 'prepare' (options expected, such as { grid = ... }, got no value)")
      fails(function() m.scale:prepare({}, 1) end, "'prepare' takes 1 argument at most, got 2")
    end)

    it("take an integer or one to three of them", function()
      local go = m.scale:prepare { grid = { 4, 2 }, block = { 8, 4, 2 } }
      assert.are.same({ 4, 2, 1 }, go:grid())
      assert.are.same({ 8, 4, 2 }, go:block())
      assert.are.equal("launch of 'scale': grid 4x2x1, block 8x4x2", tostring(go))
      assert.are.equal("launch", mw.type(go))
      assert.are.equal(m.scale, go:kernel())
    end)

    it("reject invalid sizes", function()
      local cases = {
        { 0, "grid.x is an integer of at least 1, got 0" },
        { -3, "grid.x is an integer of at least 1, got -3" },
        { 2.5, "grid.x is an integer of at least 1, got 2.5 (use // for whole blocks)" },
        { 0 / 0, "grid.x is an integer of at least 1, got" },
        { 1 << 32, "grid.x is an integer of at most 4294967295, got 4294967296" },
        { "4", "grid.x is an integer of at least 1, got string '4'" },
        { { 1, 0 }, "grid.y is an integer of at least 1, got 0" },
        { { 1, 1, "x" }, "grid.z is an integer of at least 1, got string 'x'" },
        { {}, "grid is an integer, {x, y, z} or {x =, y =, z =}, got a table of 0" },
        { { 1, 1, 1, 1 }, "grid is an integer, {x, y, z} or {x =, y =, z =}, got a table of 4" },
      }
      for _, case in ipairs(cases) do
        fails_with(function() m.scale:prepare { grid = case[1], block = 1 } end,
          "bad argument #1 to 'prepare'", case[2])
      end
    end)

    runs("reject what the device does not allow", function()
      fails(function() m.scale:prepare { grid = 1, block = 1025 } end,
        ("kernel 'scale': block.x is 1025, %s allows 1024 at most"):format(id))
      fails(function() m.scale:prepare { grid = 1, block = { 1, 1, 65 } } end,
        ("kernel 'scale': block.z is 65, %s allows 64 at most"):format(id))
      fails(function() m.scale:prepare { grid = 1, block = { 64, 32 } } end,
        ("kernel 'scale': block 64x32x1 has 2048 threads, %s allows 1024"):format(id))
      fails(function() m.scale:prepare { grid = { 1, 65536 }, block = 1 } end,
        ("kernel 'scale': grid.y is 65536, %s allows 65535 at most"):format(id))
      fails(function() m.bounded:prepare { grid = 1, block = 65 } end, "kernel 'bounded': block 65x1x1 has 65 threads, "
        .. "this kernel allows 64 (registers or __launch_bounds__)")
      local most = dev:properties().shared_per_block_optin
      local problem = fails(function() m.scale:prepare { grid = 1, block = 1, shared = most + 1 } end,
        ("kernel 'scale': %d bytes of dynamic and 0 of static shared memory, %s allows %d together")
          :format(most + 1, id, most))
      assert.are.equal("invalid", problem.status)
    end)

    it("reject invalid options", function()
      fails(function() m.scale:prepare { grid = 1, blok = 1 } end, "bad argument #1 to 'prepare' "
        .. "(unknown option 'blok'; did you mean 'block'?)")
      fails_with(function() m.scale:prepare { grid = 1, block = 1, shared = -1 } end,
        "option 'shared' is an integer from 0 to 1073741824, got -1")
      fails_with(function() m.scale:prepare { grid = 1, block = 1, cooperative = 1 } end,
        "option 'cooperative' is true or false, got 1")
      fails_with(function() m.scale:prepare { grid = 1, block = 1, stream = true } end,
        "option 'stream' is a stream, got true")
    end)
  end)

  it("are closed once", function()
    local own <close> = dev:module(BASIC)
    local k = own.scale
    k:close()
    assert.are.equal("kernel (closed)", tostring(k))
    fails(function() k:close() end, "calling 'close' on bad self (attempt to use a closed kernel)")
    fails(function() k:name() end, "calling 'name' on bad self (attempt to use a closed kernel)")
    fails(function() k:prepare { grid = 1, block = 1 } end,
      "calling 'prepare' on bad self (attempt to use a closed kernel)")
    assert.are_not.equal(k, own.scale)
    assert.are.equal("scale", own.scale:name())
  end)

  it("that were closed are not launched by what was prepared before", function()
    local own <close> = dev:module(BASIC)
    local k = own.nothing
    local go = k:prepare { grid = 1, block = 1 }
    k:close()
    fails(function() go() end, "attempt to launch a closed kernel")
    assert.are.equal("launch of 'nothing': grid 1x1x1, block 1x1x1", tostring(go))
    go:grid(2)
    assert.are.same({ 2, 1, 1 }, go:grid())
  end)
end)
