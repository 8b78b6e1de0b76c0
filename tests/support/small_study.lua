-- SPDX-License-Identifier: MIT
--
-- A small study of one's own, which the specs of studies change by a line and run.

local assert = require "luassert"
local busted = require "busted"
local support = require "tests.support"

local small_study = {}

small_study.KERNELS = [[
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

extern "C" __global__ void saxpy_loop(float *y, const float *x, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
]]

small_study.TEXT = [[
local mw = require "moonwarp"
local study, p = mw.study {
  question = "does a longer loop make saxpy faster?",
  kernels = "saxpy.cu", rate = "T_eff", output = "y", level = "library copy", odd = { { n = 1001 }, { n = 13 } },
  params = { { "n", 100000, "elements", gpu = 1 << 20, min = 1 },
             { "shapes", { "64x1", "256x1" }, "blocks", kind = "blocks" } },
}
function study.arrays(c)
  return { x = c.dev:array("f32", c.n):random(1), y = c.dev:array("f32", c.n), a = 2 }
end
study:library("x", "y")
study:answer("saxpy", {
  start = function(c) c.y:fill(1) end,
  cell = function(c, at, i) return c.a * at.x(i) + 1 end,
  bytes = function(c) return 3 * c.x:nbytes() end,
})
study:rung { 1, "an element per thread", kernel = "saxpy", blocks = p.shapes, over = { "n" } }
study:rung { 2, "a loop", kernel = "saxpy_loop", block = 64, over = { "n" }, each = 16 }
study:source { "H200", field = "h200", values = { ["a loop"] = 4e12, saxpy = 5e12 } }
study:part { "ladder", cases = { { n = p.n, type = "f32" } },
  table = { "rung", "block", "t", "T_eff", { "share", unit = "%" } }, charts = { { kind = "ladder" } },
  ratios = { "a loop / an element per thread", "best saxpy / library copy" } }
return study
]]

--- Text with one piece exchanged.
function small_study.changed(text, from, to)
  local first, last = text:find(from, 1, true)
  assert.is_truthy(first, "there is no " .. from)
  return text:sub(1, first - 1) .. to .. text:sub(last + 1)
end

--- Runs a study of the text, in blocks of its kernels.
function small_study.run(text, words, kernels, device)
  return support.study("mine.lua", ("--device %s %s"):format(device or "cpu", words or ""),
    { kernels = { ["mine.lua"] = text, ["saxpy.cu"] = kernels or small_study.KERNELS } })
end

--- Describes what a study does on each usable device.
---@param subject string
---@param kernels string
---@param body fun(run: function, passes: function, id: string)   run(text, words): what it left; passes: of one that
---                                                               must end with 0
function small_study.describe(subject, kernels, body)
  for _, dev in ipairs(support.program() and support.devices() or {}) do
    local id = dev:id()
    busted.describe(("%s on %s"):format(subject, id), function()
      local function run(text, words) return small_study.run(text, words, kernels, id) end
      body(run, function(text, words)
        local made = run(text, words)
        assert.are.equal(0, made.status, made.output)
        return made
      end, id)
    end)
  end
end

function small_study.has(text, words)
  assert.is_truthy(text:find(words, 1, true), words .. " is not in: " .. text)
end

return small_study
