-- SPDX-License-Identifier: MIT
--
-- A __gc of the script's that closes an object in the middle of a method of it: the collector runs wherever Lua makes a
-- value. The method had gone on with what was given back. And finalizers that run when a state is closed, after the
-- library's own.

local support = require "tests.support"
local core = support.core
local fails_with = support.fails_with

local SOURCE = [[
__device__ int counter;
__global__ void f(int *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = n; }
]]

-- Calls a method of an object; the first value that Lua makes in it closes the objects.
local function closing(objects, method, ...)
  collectgarbage "generational"
  collectgarbage "stop"
  do
    setmetatable({}, { __gc = function()
      for i = #objects, 1, -1 do objects[i]:close() end
    end })
  end
  local values = table.pack(...)
  collectgarbage "restart"
  local results = table.pack(pcall(method, table.unpack(values, 1, values.n)))
  collectgarbage()
  return table.unpack(results, 1, results.n)
end

describe("a finalizer that closes", function() support.each_device(function(dev)
  if not support.runs_kernels(dev) then return end
  after_each(function() collectgarbage("incremental", 200, 100, 13) end)

  local function rejects(name, make, ...)
    local objects = make()
    local first = objects[1]
    local class = core.type(first)
    local words = table.pack(...)
    fails_with(function()
      local ok, problem = closing(objects, first[name], first, table.unpack(words, 1, words.n))
      if not ok then error(problem, 0) end
    end, "closed " .. class)
  end

  it("an array is an error of its methods", function()
    local function make() return { dev:zeros("i32", 1 << 12) } end
    local values = {}
    for i = 1, 1 << 12 do values[i] = i end
    rejects("bytes", make)
    rejects("totable", make)
    rejects("upload", make, values)
    rejects("view", make, 1, 2)
    rejects("reshape", make, 64, 64)
    rejects("slice", make, 1)
    rejects("readonly", make)
  end)

  it("a stream is an error of its methods", function()
    rejects("record", function() return { dev:stream() } end)
  end)

  it("a graph is an error of its methods", function()
    local m <close> = dev:module { source = SOURCE }
    local x <close> = dev:zeros("i32", 4)
    local function make() return { dev:capture(function() m.f:launch(1, 4, x, 4) end) } end
    rejects("nodes", make)
    rejects("update", make, 1, x, 2)
  end)

  it("a module is an error of its methods", function()
    local function make() return { dev:module { source = SOURCE } } end
    rejects("kernel", make, "f")
    rejects("kernels", make)
    rejects("variable", make, "counter")
  end)

  it("a kernel is an error of its methods", function()
    local function make()
      local m = dev:module { source = SOURCE }
      return { m.f, m }
    end
    rejects("parameters", make)
    rejects("launch", make, 1, 1, core.null, 0)
    rejects("prepare", make, { grid = 1, block = 1 })
  end)

  it("what is compared is an error", function()
    local a = dev:zeros("i32", 64)
    local b <close> = dev:zeros("i32", 64)
    local ok, problem = closing({ a }, core.compare, a, b, 0, 0, 10)
    assert.is_false(ok)
    assert.is_truthy(tostring(problem):find("closed array", 1, true))
  end)

  it("what a kernel's attributes are read of does no harm", function()
    local m = dev:module { source = SOURCE }
    local k = m.f
    assert.are.equal("table", type(select(2, closing({ k, m }, k.attributes, k))))
    m = dev:module { source = SOURCE }
    k = m.f
    assert.are.equal("table", type(select(2, closing({ k, m }, k.occupancy, k, 32))))
  end)
end) end)

describe("a finalizer that closes the device", function()
  it("is an error of its methods", function()
    for _, device in ipairs(support.devices()) do
      support.child_passes(([[
        local mw = require "moonwarp"
        local function try(name, ...)
          local dev = mw.device(%q)
          collectgarbage()
          collectgarbage "generational"
          collectgarbage "stop"
          do setmetatable({}, { __gc = function() dev:close() end }) end
          local method, words = dev[name], table.pack(...)
          collectgarbage "restart"
          local ok, problem = pcall(method, dev, table.unpack(words, 1, words.n))
          collectgarbage "incremental"
          if not ok then assert(tostring(problem):find("closed device", 1, true), tostring(problem)) end
        end
        for _ = 1, 3 do
          try "properties"
          try "state"
          try "findings"
          try("event")
          try("stream")
          try("default_stream", "per-thread")
          try("zeros", "f32", 4)
          try("array", "f32", { 1, 2 })
          try("array", "f32", ("x"):rep(8))
          try("capture", function() end)
          try("module", { source = "" })
        end
      ]]):format(device:id()))
    end
  end)
end)

describe("the end of a state", function()
  -- Made before the library is loaded, a finalizer runs after the library's own.
  local LATE <const> = [[
    late = setmetatable({}, { __gc = function()
      local core = package.loaded["moonwarp.core"]
      core.poll()
      assert(#core.findings() == 0 and #core.counters() == 0 and not core.compared())
      core.races()
      print "late"
    end })
    package.loaded["moonwarp.core"] = nil
  ]]

  it("may run finalizers of the script's last", function()
    for _, device in ipairs(support.devices()) do
      local output = support.child_passes(LATE .. ([[
        package.loaded["moonwarp.core"] = require "moonwarp.core"
        local mw = require "moonwarp"
        dev = mw.device(%q)
        s = dev:stream()
        s:callback(print)
        if dev:id() == "cpu" then checked = mw.device("cpu", { check = true }) end
      ]]):format(device:id()))
      assert.is_truthy(output:find("late", 1, true), output)
    end
  end)
end)
