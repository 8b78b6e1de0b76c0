-- SPDX-License-Identifier: MIT
--
-- Masks of warp operations that do not name the calling lane: the split engine judges them as fibers do.

local support = require "tests.support"
local mw = support.mw

local FULL = "0xffffffffu"

-- { body of f(int *a, unsigned m), m, the operation, the mask, the first lane that it does not name }
local WRONG <const> = {
  { "a[t] = __shfl_sync(m, t, 0);", 1, "__shfl_sync", 1, 1 },
  { "a[t] = __shfl_up_sync(m, t, 1);", 0xffff, "__shfl_up_sync", 0xffff, 16 },
  { "a[t] = __shfl_down_sync(0xffffu, t, 1);", 0, "__shfl_down_sync", 0xffff, 16 },
  { "unsigned mask = m | 2; a[t] = __shfl_xor_sync(mask, t, 1);", 1, "__shfl_xor_sync", 3, 2 },
  { "a[t] = __ballot_sync(m, t & 1);", 0xff, "__ballot_sync", 0xff, 8 },
  { "a[t] = __any_sync(m, t & 1);", 0xff, "__any_sync", 0xff, 8 },
  { "a[t] = __all_sync(m, t & 1);", 0xff, "__all_sync", 0xff, 8 },
  { "a[t] = __match_any_sync(m, t & 1);", 0xff, "__match_any_sync", 0xff, 8 },
  { "int p; a[t] = __match_all_sync(m, t & 1, &p);", 0xff, "__match_all_sync", 0xff, 8 },
  { "a[t] = __reduce_add_sync(m, t & 1);", 0xff, "__reduce_add_sync", 0xff, 8 },
  { "a[t] = 1; __syncwarp(m); a[t] += 1;", 0xff, "__syncwarp", 0xff, 8 },
  { "int v = t; if (t < 8) v = __shfl_sync(m, t, 0); a[t] = v;", 0xf, "__shfl_sync", 0xf, 4 },
  { "a[t] = __shfl_sync(t < 32 ? " .. FULL .. " : m, t, 0);", 1, "__shfl_sync", 1, 33 },
}

local RIGHT <const> = {
  "a[t] = __shfl_sync(m, t, 0);", "a[t] = __shfl_sync(-1, t, 0);",
  "__syncwarp(); a[t] = 1; __syncwarp(" .. FULL .. ");",
  "unsigned all = __activemask(); a[t] = __shfl_sync(all, t, 0);",
  "if (t < 8) a[t] = __shfl_sync(0xffu, t, 0);", "if (t % 32 < 8) __syncwarp(0xffu); a[t] = 1;",
  "unsigned odd = __ballot_sync(m, t & 1); if (t & 1) a[t] = __popc(__ballot_sync(odd, 1));",
}

describe("the mask of a warp operation", function()
  support.no_leaks()
  local dev = mw.device "cpu"

  local function run(bodies, engine, judge)
    local lines = {}
    for i, body in ipairs(bodies) do
      lines[i] = ("__global__ void f%d(int *a, unsigned m) { int t = threadIdx.x; %s }\n"):format(i, body)
    end
    local m <close> = dev:module { source = table.concat(lines), name = "mask.cu", engine = engine }
    local a <close> = dev:zeros("i32", 64)
    for i, body in ipairs(bodies) do
      local kernel = m["f" .. i]
      assert.are.equal(engine == "auto" and "split" or "fiber", (kernel:engine()), body)
      judge(kernel, a, i)
    end
  end

  for _, engine in ipairs { "auto", "fiber" } do
    it("that does not name the calling lane is an error by engine " .. engine, function()
      local bodies = {}
      for i, case in ipairs(WRONG) do bodies[i] = case[1] end
      run(bodies, engine, function(kernel, a, i)
        local _, mask, what, shown, lane = table.unpack(WRONG[i])
        support.fails_with(function() kernel:launch(1, 64, a, mask) end,
          ("kernel 'f%d': block (0,0,0), thread (%d,0,0): %s at mask.cu:%d: mask 0x%08x does not name the calling "
            .. "lane %d"):format(i, lane, what, i, shown, lane % 32))
      end)
    end)

    it("that names it is none by engine " .. engine, function()
      run(RIGHT, engine, function(kernel, a) kernel:launch(1, 64, a, 0xffffffff) end)
    end)
  end

  -- The text of a kernel whose masks are plainly full has nothing of it.
  it("costs nothing where it is that of a whole warp", function()
    local m <close> = dev:module { source = "__global__ void f(int *a) { int t = threadIdx.x; "
      .. "a[t] = __shfl_sync(" .. FULL .. ", t, 0); __syncwarp(0xFFFFFFFF); }" }
    assert.is_nil(m:cpp():find("mw_lacks", 1, true))
  end)
end)
