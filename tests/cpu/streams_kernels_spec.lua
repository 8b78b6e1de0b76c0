-- SPDX-License-Identifier: MIT
--
-- The kernel of streams.cu against the host's arithmetic, and pipelines of it over several streams. The study:
-- studies/streams_spec.lua.

local support = require "tests.support"
local mw = support.mw

local ENGINES = { "auto", "loop", "split", "fiber" }
local NAMES = { f32 = "iterate<float>", f64 = "iterate<double>" }

local function input_of(dev, dtype, n)
  local values = {}
  for i = 1, n do values[i] = (i * 7919 % 1048573) / 1048576 end
  return dev:array(dtype, values), values
end

local function module_of(dev, engine)
  return dev:module { file = "streams.cu", engine = engine, templates = { NAMES.f32, NAMES.f64 } }
end

describe("streams.cu", function() support.each_device(function(dev, id)
  for _, engine in ipairs(id == "cpu" and ENGINES or { "auto" }) do
    it("iterates to the host's result, engine " .. engine, function()
      local m <close> = module_of(dev, engine)
      for dtype, name in pairs(NAMES) do
        for _, n in ipairs { 1, 31, 257, 4999 } do
          local x <close>, values = input_of(dev, dtype, n)
          local y <close> = dev:array(dtype, n)
          for _, rounds in ipairs { 0, 1, 2, 101 } do
            y:fill(0 / 0)
            m:kernel(name):launch((n + 63) // 64, 64, y, x, -1, 1, rounds, n)
            mw.check(y, function(i)
              return rounds % 2 == 0 and values[i] or 1 - values[i]
            end, { exact = true, name = ("%s, n = %d, %d rounds"):format(name, n, rounds) })
          end
        end
      end
    end)
  end

  it("iterates v = a v + b", function()
    local m <close> = module_of(dev, "auto")
    local x <close>, values = input_of(dev, "f64", 100)
    local y <close> = dev:array("f64", 100)
    m:kernel(NAMES.f64):launch(1, 128, y, x, 0.5, 3, 4, 100)
    mw.check(y, function(i)
      local v = values[i]
      for _ = 1, 4 do v = 0.5 * v + 3 end
      return v
    end)
  end)

  -- The order within a stream is all that protects a buffer for one piece.
  it("keeps the pieces of a pipeline apart, whatever their number and that of the streams", function()
    local m <close> = module_of(dev, "auto")
    local n, block = 100003, 128
    local device_x <close> = input_of(dev, "f32", n)
    local x <close> = dev:pinned("f32", n)
    local y <close> = dev:pinned("f32", n)
    local want <close> = dev:array("f32", n)
    x:copy(device_x)
    m:kernel(NAMES.f32):launch((n + 255) // 256, 256, want, device_x, -1, 1, 1, n)
    for _, shape in ipairs { { 1, 100003 }, { 2, 50002 }, { 3, 1000 }, { 4, 12345 } } do
      local count, size = shape[1], shape[2]
      local buffers, streams = dev:array("f32", count * size), {}
      for s = 1, count do streams[s] = dev:stream { blocking = false } end
      y:fill(0 / 0)
      dev:synchronize()
      for first = 1, n, size do
        local lane, length = (first - 1) // size % count, math.min(size, n - first + 1)
        local piece, on = buffers:view(lane * size + 1, length), { stream = streams[lane + 1] }
        piece:copy(x:view(first, length), on)
        m:kernel(NAMES.f32):prepare { grid = (length + block - 1) // block, block = block,
                                      stream = on.stream }(piece, piece, -1, 1, 33, length)
        y:view(first, length):copy(piece, on)
      end
      dev:synchronize()
      mw.check(y, want, { exact = true, name = ("%d streams"):format(count) })
    end
  end)
end) end)

describe("streams.cu for a GPU", function()
  it("keeps its values in registers", function()
    if not support.has_nvrtc() then
      pending "needs NVRTC"
      return
    end
    local m <close> = module_of(mw.device "cuda:sm_90", "auto")
    for _, name in pairs(NAMES) do
      local a = m:kernel(name):attributes()
      assert.is_true(a.registers <= 32)
      assert.are.equal(0, a.local_bytes)
    end
  end)
end)
