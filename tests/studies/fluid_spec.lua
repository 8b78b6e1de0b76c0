-- SPDX-License-Identifier: MIT
--
-- The study fluid: versions that agree with the host, and what its source gets wrong, each shown on the CPU device.

local support = require "tests.support"
local core = require "moonwarp.core"
local mw = support.mw

-- A list of launches has the names of arrays in place of arrays.
local function list_of(how, o)
  local step = assert(loadfile(core.home() .. "/experiments/fluid/step.lua"))()
  local c = { n = 64, p = { iterations = 20, dt = 0.1, visc = 1e-5, diff = 1e-6 } }
  for _, name in ipairs { "u", "v", "d", "u0", "v0", "d0" } do c[name] = name end
  return step.of(c, how(step.relax), o or { queued = true })
end

-- u0, v0 and d0 at a cell after react, from rest.
local function reacted(dev, m, n, x, y)
  local pitch = mw.ceil_div(n // 2 + 8, 64) * 64
  local fields, most = {}, dev:zeros("f32", 2)
  for i = 1, 3 do fields[i] = dev:array("f32", pitch, 2, n + 2) end
  m:kernel "react<false>":launch({ mw.ceil_div(pitch, 32), mw.ceil_div(2 * (n + 2), 8) }, { 32, 8 }, fields[1],
    fields[2], fields[3], mw.null, mw.null, mw.null, most, 0.005, 0.1, 0.1, n, n, pitch)
  local function at(f) return fields[f]:get((x + 7) // 2 + 1, (x + y) % 2 + 1, y + 1) end
  return { u0 = at(1), v0 = at(2), d0 = at(3), speed = math.max(dev:max(fields[1]), -dev:min(fields[1])) }
end

describe("the study fluid", function()
  if not support.program() then return pending "needs the program" end

  it("steps as the host does, and measures what is wrong in the source, with its error", function()
    local run = support.study_passes("fluid", "--device cpu -p n=64 -p parts=ladder,wrong -p rungs=10,12,14,16,20,22")
    local names = {}
    for _, r in ipairs(run.record.records) do
      names[r.rung] = r
      if r.ns then assert.is_near(r.t.median / 4096, r.ns, 1e-9 * r.ns) end
      assert.is_true(r.group == "wrong" or r.error < 1e-3)
    end
    assert.are.equal(5 * 10 * 12 + 136, names["2 per pass, 2 pairs per lane, sources folded"].moved)
    assert.is_truthy(names["grid as the source has it"]) -- slow, and right
    assert.is_truthy(names["all rows in a block's registers"])
    for _, name in ipairs { "stepburst-tex, its rows", "onekernel, no barriers", "stepburst-shidden" } do
      assert.is_truthy(run.remarks:find(name .. " (a wrong result", 1, true), run.remarks)
    end
  end)

  it("shows what its source gets wrong", function()
    local dev = mw.device "cpu"
    local source = support.read(core.home() .. "/kernels/fluid.cu")
    local m <close> = dev:module { templates = { "react<false>" }, source = source:match "^.-\n// %-%-%-%- kernels"
      .. source:match "\ntemplate <bool ADD>\n__global__ void react.-\n}\n"
      .. source:match "\n__device__ int2 hidden_key.-\n"
      .. "__global__ void keys(int *k) { int2 v = hidden_key(blockIdx.x, blockIdx.y);"
      .. "((int2 *)k)[blockIdx.y * gridDim.x + blockIdx.x] = v; }" }
    local small, large = reacted(dev, m, 128, 64, 64), reacted(dev, m, 192, 96, 96)
    assert.are.equal(0, small.speed) -- the only push is that of the centre, which is lost
    assert.is_near(100, small.d0, 1e-4)
    assert.is_near(0.05, large.u0, 1e-6)
    local lost = reacted(dev, m, 512, 256, 256) -- the centre is one of the cells at every 64th row and column
    assert.are.equal(0, lost.u0)
    assert.is_true(lost.speed > 1)

    local keys = dev:array("i32", 2, 4, 4)
    m.keys:launch({ 4, 4 }, 1, keys)
    for by = 1, 4 do assert.are.equal(0, keys:get(1, 1, by)) end -- id1 at bx = 0
    assert.are.equal(0, keys:get(2, 1, 1)) -- and both of the first block, as in memory that is cleared
  end)

  it("has 95 launches less without set_bnd between, and takes p and the divergence for a velocity", function()
    local plain = list_of(function(relax) return relax.halves "relax" end)
    local fewer = list_of(function(relax) return relax.halves("relax_bounds", nil, nil, true) end)
    assert.are.equal(324, #plain)
    assert.are.equal(95, #plain - #fewer)
    local last
    for _, launch in ipairs(plain) do last = launch[1] == "divergence" and launch[3] or last end
    assert.are.same({ "u0", "v0" }, { last.p, last.div }) -- of which the next step's maxima are
    assert.are.same({ "maxima", nil }, { plain[2][1], plain[2][3].u0 })
  end)
end)
