-- SPDX-License-Identifier: MIT
--
-- The streams study: its kernel against the host's arithmetic, pipelines over several streams, and the
-- study itself at a small size.

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

support.each_device(function(dev, id)
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
    local m <close> = module_of(dev)
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
    local m <close> = module_of(dev)
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
end)

describe("the study", function()
  local program = support.program()

  local function run(folder, parameters)
    local command = ("timeout -k 5 100 '%s' run streams --device cpu --out '%s' %s 2>&1; echo status $?"):format(
      program, folder, parameters)
    local pipe <close> = io.popen(command)
    return pipe:read "a"
  end

  local function file_names(folder)
    local names = {}
    for _, path in ipairs(support.files(folder)) do names[path:match "[^/]*$"] = support.read(path) end
    return names
  end

  it("runs through, leaves its files and says what it found", function()
    if not program then
      pending "needs the program"
      return
    end
    support.with_folder(function(folder)
      local output = run(folder, "-p n=50021 -p seconds=0 -p chunks=8 -p streams=3 -p rounds=5")
      assert.is_truthy(output:find("status 0\n$"), output)
      assert.is_nil(output:find("elements are wrong", 1, true))
      local files = file_names(folder)
      for _, name in ipairs { "copies.dat", "copies.gp", "pipeline.dat", "pipeline.gp", "timeline.dat",
                              "timeline.trace.json", "legacy.trace.json" } do
        assert.is_truthy(files["streams-" .. name], name)
      end
      assert.is_truthy(files["remarks.txt"]:find("hides", 1, true))
      assert.is_truthy(files["remarks.txt"]:find("in order", 1, true))
      local stored = assert(require("moonwarp.results.store").read(support.run(folder)))
      assert.is_true(#stored.records >= 20)
      local variants = {}
      for _, r in ipairs(stored.records) do
        if r.group == "variants" then variants[#variants + 1] = r end
      end
      local best, words = variants[3].t < variants[1].t, files["remarks.txt"]:gsub("%s+", " ") -- several streams, one
      assert.are.equal(best, words:find("The best pipeline", 1, true) ~= nil, words)
      assert.are.equal(not best, words:find("Even the best of several streams", 1, true) ~= nil, words)
      assert.are.equal("complete", stored.status)
    end)
  end)

  it("takes f64, odd sizes and few elements, and calibrates its kernel", function()
    if not program then
      pending "needs the program"
      return
    end
    support.with_folder(function(folder)
      local output = run(folder, "-p n=997 -p type=f64 -p seconds=0 -p chunks=64 -p streams=2 -p balance=0.5")
      assert.is_truthy(output:find("status 0\n$"), output)
    end)
  end)

  -- Of each choice: what is drawn, what is said, and what must not be.
  it("runs any of its parts, and says nothing of the others", function()
    if not program then
      pending "needs the program"
      return
    end
    local cases = {
      copies = { { "copies" }, "Pinned memory gives", "pieces" },
      pipeline = { { "pipeline" }, "times the longest of the three", "callback" },
      defaults = { {}, "In the per-thread default stream", "longest of the three" },
      callbacks = { {}, "came in order", "event" },
      events = { {}, "Without an event", "callback" },
      graph = { {}, "a graph of it in", "default stream" },
      timelines = { { "legacy", "timeline" }, nil, "stream" },
      ["graph,copies"] = { { "copies" }, "a graph of it in", "default stream" },
    }
    for parts, wanted in pairs(cases) do
      support.with_folder(function(folder)
        local output = run(folder, "-p n=5021 -p seconds=0 -p chunks=4 -p streams=3 -p rounds=5 -p parts=" .. parts)
        assert.is_truthy(output:find("status 0\n$"), output)
        local drawn, words = {}, ""
        for name, text in pairs(file_names(folder)) do
          drawn[#drawn + 1] = name:match "^streams%-(%w+)%.dat$"
          if name == "remarks.txt" then words = text:gsub("%s+", " ") end
        end
        table.sort(drawn)
        assert.are.same(wanted[1], drawn)
        if wanted[2] then assert.is_truthy(words:find(wanted[2], 1, true), words) end
        assert.is_nil(words:find(wanted[3], 1, true), words)
      end)
    end
  end)

  it("refuses an even number of rounds, whose result would be its input", function()
    if not program then
      pending "needs the program"
      return
    end
    support.with_folder(function(folder)
      local output = run(folder, "-p rounds=4")
      assert.is_truthy(output:find("parameter 'rounds' must be odd", 1, true), output)
      assert.is_truthy(output:find("status 1\n$"), output)
    end)
  end)

  it("knows its kernels' registers", function()
    if not support.has_nvrtc() then
      pending "needs NVRTC"
      return
    end
    local m <close> = module_of(mw.device "cuda:sm_90")
    for _, name in pairs(NAMES) do
      local a = m:kernel(name):attributes()
      assert.is_true(a.registers <= 32)
      assert.are.equal(0, a.local_bytes)
    end
  end)
end)
