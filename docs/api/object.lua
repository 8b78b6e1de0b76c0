-- SPDX-License-Identifier: MIT
return {
  title = "library object",
  owner = "library object",
  self = "plan",
  about = [[
What a numerical library keeps for later calls: a plan of `fft.plan`, a generator of `rand.generator`. It belongs to a
device. A graph that uses it keeps it.]],
  setup = [[
local mw = require "moonwarp"
local fft = require "moonwarp.fft"
local dev = mw.device "cpu"
local x, X = dev:full(1, "f32", 2, 4), dev:array("f32", 2, 4)
local plan = fft.plan(X, x)]],
  entries = {
    {
      name = "__call", forms = { "plan(out, input[, options])" },
      about = [[Transforms, if it is a plan: see `fft.plan`. Other objects are first arguments of their library's functions.]],
      params = { { "...", "any", "arrays, and options" } },
      returns = { { "array", "out" } }, meta = false, since = "0.11.0",
      example = [[
plan(X, x)
print(X:get(1, 1), X:get(2, 1)) --> 4.0  4.0]],
    },
    { name = "device", forms = { "plan:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } }, since = "0.11.0" },
  },
}
