-- SPDX-License-Identifier: MIT
--
-- Objects that a function of the script closes while a method of theirs runs: the method had gone on with what was
-- given back.

local support = require "tests.support"
local fails_with = support.fails_with

local SOURCE = "__global__ void f(int *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = n; }"

-- A function that closes objects and returns a text.
local function closing(...)
  local objects = { ... }
  return function()
    for i = #objects, 1, -1 do
      objects[i]:close()
      objects[i] = nil
    end
    collectgarbage()
    return "text"
  end
end

local function inherits(...) return setmetatable({}, { __index = closing(...) }) end
local function says(...) return setmetatable({}, { __tostring = closing(...) }) end

describe("closing", function() support.each_device(function(dev)
  if not support.runs_kernels(dev) then return end
  local m, k, a

  before_each(function()
    m, a = dev:module { source = SOURCE }, dev:zeros("i32", 4)
    k = m.f
  end)
  after_each(function()
    pcall(m.close, m)
    pcall(a.close, a)
  end)

  it("in an option's function is an error of the method", function()
    fails_with(function() k:suggest { shared = closing(k, m) } end, "closed kernel")
  end)

  it("in an option's metamethod is an error of the method", function()
    fails_with(function() k:prepare(inherits(k, m)) end, "closed kernel")
    local source <close> = dev:zeros("i32", 4)
    fails_with(function() a:copy(source, inherits(a)) end, "closed array")
  end)

  it("in a value's text is an error of the method", function()
    local go = k:prepare { grid = 1, block = 1 }
    fails_with(function() go(a, says(k, m, go)) end, "closed launch")
  end)

  it("of kernel and module leaves the message whole", function()
    fails_with(function() k:launch({ says(k, m) }, 1, a, 1) end, "kernel 'f': grid.x", "got text")
  end)

  it("of all handles leaves a capture its stream", function()
    local kept = setmetatable({}, { __mode = "v" })
    local graph <close> = dev:capture(function(s)
      kept.stream = s
      s = nil -- luacheck: ignore
      collectgarbage()
      collectgarbage()
      assert.is_truthy(kept.stream)
    end)
    graph:launch()
  end)
end) end)

describe("options", function() support.each_device(function(dev)
  if not support.runs_kernels(dev) then return end

  it("may come from a metatable's table", function()
    local m <close> = dev:module(setmetatable({}, { __index = { source = SOURCE } }))
    local go <close> = m.f:prepare(setmetatable({ grid = 2 }, { __index = { block = 32 } }))
    assert.are.same({ 32, 1, 1 }, go:block())
  end)
end) end)
