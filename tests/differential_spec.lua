-- SPDX-License-Identifier: MIT
--
-- Random kernels give the same results in the engine that is chosen for them as in fibers, with each compiler that is
-- there; and what once was not so. $MOONWARP_FUZZ_SEED: other kernels.

local support = require "tests.support"
local core = support.core

local COUNT = 40

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

-- Loads of a record used to move above a store of the same thread: clang++ in split, g++ in a loop.
local RECORDS = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local source = [=[
__global__ void pointer(unsigned *out, unsigned *loc) {
  int t = threadIdx.x;
  unsigned *m = loc + 4 * t;
  m[m[1] & 3] = t;
  out[t] = m[3];
}
__global__ void subscript(unsigned *out, unsigned *loc) {
  int t = threadIdx.x;
  loc[4 * t + (loc[4 * t + 1] & 3)] = t;
  out[t] = loc[4 * t + 3];
}
__global__ void stores(unsigned *out, unsigned *loc) {
  int t = threadIdx.x;
  unsigned at = loc[4 * t + 1] & 3;
  loc[4 * t + 3] = 1000;
  loc[4 * t + at] = t;
  loc[4 * t + 2] = 0;
  out[t] = at == 2 ? t : loc[4 * t + at] == t ? loc[4 * t + 3] : 7777;
}
__device__ unsigned put(unsigned *m, unsigned v) { m[m[1] & 3] = v; return m[3]; }
__global__ void helper(unsigned *out, unsigned *loc) { out[threadIdx.x] = put(loc + 4 * threadIdx.x, threadIdx.x); }
__global__ void local(unsigned *out, unsigned *in) {
  int t = threadIdx.x;
  unsigned loc[4];
  for (int i = 0; i < 4; ++i) loc[i] = in[4 * t + i];
  __syncthreads();
  loc[loc[1] & 3] = t;
  unsigned d = loc[3];
  __syncthreads();
  out[t] = d + 0 * loc[0];
}]=]
local values = {}
for i = 1, 1024 do values[i] = (i * 7 + i // 5) % 64 end
for _, name in ipairs { "pointer", "subscript", "stores", "helper", "local" } do
  local found = {}
  for _, engine in ipairs { "fiber", "auto" } do
    local module = dev:module { source = source, engine = engine, name = "records.cu" }
    local a, o = dev:array("u32", values), dev:zeros("u32", 256)
    module[name]:launch(1, 256, o, a)
    found[engine] = table.concat(o:totable(), " ")
    assert(engine == "fiber" or module[name]:engine() ~= "fiber")
  end
  assert(found.fiber == found.auto, name)
end
]]

describe("the engines agree", function()
  for _, compiler in ipairs { "clang++", "g++" } do
    if there(compiler) then
      it("about random kernels with " .. compiler, function()
        local seed = tonumber(os.getenv "MOONWARP_FUZZ_SEED") or 1
        local script = core.home() .. "/tests/differential.lua"
        local code = ("arg = { '%d', '%d' }\ndofile(%q)\n"):format(seed, COUNT, script)
        local status, output = support.child(code, { limit = 120, env = { MOONWARP_CXX = compiler } })
        local words = ("seed %d: %s"):format(seed, output:sub(-4000))
        assert.are.equal(0, status, words)
        assert.is_truthy(output:find(("done %d wrong 0"):format(COUNT), 1, true), words)
      end)

      it("that a loop without an end has none, with " .. compiler, function()
        for _, body in ipairs { "while (o[0] == 0);", "while (o[0] == 0) { __syncthreads(); }" } do
          local code = ([[
            local dev = require "moonwarp".device "cpu"
            local module = dev:module { source = "__global__ void k(int *o) { %s o[1] = 1; }", name = "endless.cu" }
            local o = dev:zeros("i32", 32)
            print("started " .. module.k:engine())
            io.stdout:flush()
            module.k:launch(1, 32, o)
            dev:synchronize()
            print "ended"]]):format(body)
          local _, output = support.child(code, { limit = 3, env = { MOONWARP_CXX = compiler } })
          assert.is_truthy(output:find("started", 1, true), output)
          assert.is_falsy(output:find("ended", 1, true), output)
        end
      end)

      it("about records of one thread with " .. compiler, function()
        support.child_passes(RECORDS, { env = { MOONWARP_CXX = compiler } })
      end)
    end
  end
end)
