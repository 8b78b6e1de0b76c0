-- SPDX-License-Identifier: MIT
--
-- moonwarp.nccl: the same script on CPU devices, on two GPUs where there are two, and on the fake driver with a
-- stand-in for NCCL.

local fake = require "tests.support.fake"
local support = require "tests.support"
local mw, fails, fails_with = support.mw, support.fails, support.fails_with

local PRELUDE <const> = [[
  local mw = require "moonwarp"
  local nccl = require "moonwarp.nccl"
  local devices, streams = {}, {}
  for id in IDS:gmatch "%S+" do devices[#devices + 1] = mw.device(id) end
  for i, dev in ipairs(devices) do streams[i] = dev:stream() end
  local last = #devices - 1
  local function arrays(...)
    local list, values = {}, { ... }
    for i, dev in ipairs(devices) do
      local own = {}
      for k, value in ipairs(values) do own[k] = type(value) == "function" and value(i) or value end
      list[i] = dev:array("f32", own)
    end
    return list
  end
  local function show(name, list)
    for _, dev in ipairs(devices) do dev:synchronize() end
    local texts = {}
    for i, x in ipairs(list) do texts[i] = table.concat(x:totable(), " "):gsub("%.0", "") end
    print(name, table.concat(texts, " | "))
  end
  local function rank(i) return i end
  local function tens(i) return 10 * i end
]]

local CALLS <const> = PRELUDE .. [[
  local comm <close> = nccl.communicator(devices)
  local ins, outs = arrays(rank, tens, 3, 4), arrays(0, 0, 0, 0)
  print(comm:ranks(), #comm:devices())
  for _, op in ipairs { "sum", "prod", "max", "min", "avg" } do
    comm:all_reduce(outs, ins, { op = op, streams = streams })
    show(op, outs)
  end
  comm:reduce(outs, ins, { root = last, streams = streams })
  show("reduce", outs)
  show("gather", comm:all_gather(arrays(0, 0, 0, 0, 0, 0, 0, 0), ins, { streams = streams }))
  show("scatter", comm:reduce_scatter(arrays(0, 0), ins, { streams = streams }))
  show("all to all", comm:all_to_all(outs, ins, { streams = streams }))
  show("broadcast", comm:broadcast(outs, { root = 1 }))
  comm:group(function()
    for i, x in ipairs(ins) do
      local to = i % #ins
      comm:send(x, to, { stream = streams[i] })
      comm:recv(outs[to + 1], i - 1, { stream = streams[to + 1] })
    end
  end)
  show("ring", outs)
  print((tostring(select(2, pcall(comm.all_to_all, comm, ins, ins))):gsub("^%S+: ", "", 1)))
  show("in place", comm:all_reduce(ins))
  local sum = arrays(rank)
  show("without streams", comm:all_reduce(sum))
]]

local EXPECTED <const> = [[
2	2
sum	3 30 6 8 | 3 30 6 8
prod	2 200 9 16 | 2 200 9 16
max	2 20 3 4 | 2 20 3 4
min	1 10 3 4 | 1 10 3 4
avg	1.5 15 3 4 | 1.5 15 3 4
reduce	1.5 15 3 4 | 3 30 6 8
gather	1 10 3 4 2 20 3 4 | 1 10 3 4 2 20 3 4
scatter	3 30 | 6 8
all to all	1 10 2 20 | 3 4 3 4
broadcast	3 4 3 4 | 3 4 3 4
ring	2 20 3 4 | 1 10 3 4
all_to_all: outs[1] and ins[1] share memory: it does not work in place, give other arrays as outs
in place	3 30 6 8 | 3 30 6 8
without streams	3 | 3
]]

local GRAPH <const> = PRELUDE .. [[
  local comm <close> = nccl.communicator(devices)
  local ins, outs = arrays(rank), arrays(0)
  comm:all_reduce(outs, ins, { streams = streams })
  local graph <close> = devices[1]:capture(function(main)
    streams[2]:wait(main:record())
    comm:all_reduce(outs, ins, { streams = { main, streams[2] } })
    comm:all_reduce(ins, outs, { streams = { main, streams[2] } })
    main:wait(streams[2]:record())
  end)
  graph:launch(streams[1])
  graph:launch(streams[1])
  show("graph", ins)
]]

local function ids(text) return ("local IDS = %q\n"):format(text) end

-- Two GPUs with NCCL, if they are here.
local function has_gpus()
  local ok, second = pcall(mw.device, "cuda:1")
  return ok and second ~= nil and (support.core.shared "libnccl.so.2") ~= nil
end

local function on_fake(code, env)
  local folder = fake.library():match "^(.*)/"
  os.execute(("ln -sf libcuda.so '%s/libnccl.so.2'"):format(folder))
  local set = { MOCK_CUDA_DEVICES = 2, LD_LIBRARY_PATH = folder }
  for name, value in pairs(env or {}) do set[name] = value end
  return fake.run(ids "cuda:0 cuda:1" .. code, set)
end

describe("collective calls", function()
  it("of CPU devices give each rank its result", function()
    assert.are.equal(EXPECTED, support.child_passes(ids "cpu:0/2 cpu:1/2" .. CALLS))
  end)

  it("of CPU devices are right by check mode", function()
    local code = ids "cpu:check:0/2 cpu:check:1/2" .. CALLS .. "print(#require 'moonwarp.core'.findings())"
    local output = support.child_passes(code)
    assert.are.equal(EXPECTED .. "0\n", output:sub(1, #EXPECTED + 2), output)
  end)

  it("of CPU devices take part in graphs", function()
    assert.are.equal("graph\t24 | 24\n", support.child_passes(ids "cpu:0/2 cpu:1/2" .. GRAPH))
  end)

  if has_gpus() then
    it("of GPUs give each rank its result", function()
      assert.are.equal(EXPECTED, support.child_passes(ids "cuda:0 cuda:1" .. CALLS))
    end)

    it("of GPUs take part in graphs", function()
      assert.are.equal("graph\t24 | 24\n", support.child_passes(ids "cuda:0 cuda:1" .. GRAPH))
    end)
  end

  if fake.is_possible() then
    it("of the fake driver's devices are NCCL's", function()
      assert.are.equal(EXPECTED, on_fake(CALLS))
    end)

    it("pass types, operations, roots and streams", function()
      local output = on_fake(PRELUDE .. [[
        local comm <close> = nccl.communicator(devices)
        local x = { devices[1]:zeros("bf16", 2, 3), devices[2]:zeros("bf16", 2, 3) }
        comm:reduce(x, x, { op = "max", root = 1, streams = { streams[1], devices[2]:default_stream() } })
      ]], { MOCK_CUDA_TELL = 1 })
      assert.is_truthy(output:find("rank 0 on device 0\nrank 1 on device 1\n", 1, true), output)
      assert.is_truthy(output:find("call 0 of type 9, 6 elements, op 2, 1, a stream\n"
        .. "call 0 of type 9, 6 elements, op 2, 1, the default stream\n", 1, true), output)
    end)

    it("end the group if its function fails", function()
      assert.are.equal("oops\n3 | 3\n", (on_fake(PRELUDE .. [[
        local comm <close> = nccl.communicator(devices)
        print((select(2, pcall(comm.group, comm, function() error("oops", 0) end))))
        local x = comm:all_reduce(arrays(rank))
        show("", x)
      ]]):gsub("\n\t", "\n")))
    end)

    it("say what NCCL says", function()
      local output = on_fake(PRELUDE .. [[
        local comm <close> = nccl.communicator(devices)
        local x = arrays(rank)
        print(pcall(comm.group, comm, function() comm:send(x[1], 1) end))
      ]])
      assert.is_truthy(output:find("group_end: ncclGroupEnd failed: invalid usage (5)", 1, true), output)
    end)
  else
    pending "of the fake driver's devices need a C compiler"
  end
end)

describe("a communicator", function()
  support.no_leaks()
  local nccl = require "moonwarp.nccl"
  local a, b = mw.device "cpu:0/2", mw.device "cpu:1/2"

  it("is of devices that reach each other", function()
    fails(function() nccl.communicator { mw.device "cpu", a } end, "nccl.communicator: cpu does not reach cpu:0/2; "
      .. "dev:peers() lists what it reaches")
    fails(function() nccl.communicator { a, nil, b } end,
      "nccl.communicator: devices of one kind expected, got nil as number 2")
    fails(function() nccl.communicator { a, b, a } end,
      "nccl.communicator: each device once expected, got cpu:0/2 as number 1 and 3")
    fails(function() nccl.communicator(a) end, "nccl.communicator: a list of devices expected, got device")
  end)

  it("refuses what would hang the others", function()
    local comm <close> = nccl.communicator { a, b }
    local x <close> = a:zeros("f32", 4)
    local y <close> = b:zeros("f32", 4)
    local z <close> = b:zeros("f32", 5)
    fails(function() comm:all_reduce { x, z } end, "all_reduce: outs[2] is array<f32>[5] cpu:1/2, and outs[1] "
      .. "array<f32>[4] cpu:0/2: one type and length for all")
    fails(function() comm:all_reduce { y, x } end,
      "all_reduce: outs[1] is an array of cpu:0/2, got array<f32>[4] cpu:1/2")
    fails(function() comm:all_reduce { x, y, y } end,
      "all_reduce: outs are 3 arrays, one for each of the 2 devices is wanted")
    fails(function() comm:all_gather({ x, y }, { x, y }) end, "all_gather: ins are array<f32>[4] cpu:0/2, and outs "
      .. "array<f32>[4] cpu:0/2: the type must be the same, and outs must have 8 elements")
    fails(function() comm:all_to_all({ x:view(1, 2), y:view(1, 2) }, { x:view(3, 2), y:view(2, 2) }) end,
      "all_to_all: outs[2] and ins[2] share memory: it does not work in place, give other arrays as outs")
    fails(function() comm:all_reduce({ x, y }, nil, { op = "summ" }) end,
      "all_reduce: there is no op 'summ'; did you mean 'sum'?")
    fails(function() comm:all_reduce({ x, y }, { op = "max" }) end,
      "all_reduce: ins: a list of arrays expected, got options, which are the third argument")
    fails(function() comm:group() end, "group: a function expected, got nil")
    local halves = { a:zeros("f16", 2), b:zeros("f16", 2) }
    fails(function() comm:all_reduce(halves) end,
      "all_reduce: f16 and bf16 are reduced only on CUDA devices, got array<f16>[2] cpu:0/2")
    for _, half in ipairs(halves) do half:close() end
    fails_with(function() comm:broadcast({ x, y }, { from = 1 }) end, "broadcast: unknown option 'from'")
    fails(function() comm:broadcast({ x, y }, { root = 2 }) end, "broadcast: root is a rank from 0 to 1, got 2")
    fails(function() comm:all_reduce({ x, y }, nil, { streams = {} }) end,
      "all_reduce: streams are a list of one stream for each of the 2 devices")
    fails(function() comm:send(x, 1) end,
      "send: of several devices of one process, a send and its receive belong in one comm:group(f)")
    fails(function() comm:group(function() comm:send(x, 2) end) end, "send: a rank from 0 to 1 expected, got 2")
    fails(function() comm:group(function() comm:recv(y, 0) end) end,
      "recv: rank 1 expects array<f32>[4] cpu:1/2 of rank 0, which sends nothing in this group")
    fails(function() comm:group(function() comm:send(x, 1) end) end,
      "send: rank 0 sends array<f32>[4] cpu:0/2 to rank 1, which receives nothing of it in this group")
  end)

  it("has a name when a device is closed", function()
    support.child_passes([[
      local mw, nccl = require "moonwarp", require "moonwarp.nccl"
      local a, b = mw.device "cpu:0/2", mw.device "cpu:1/2"
      local comm = nccl.communicator { a, b }
      b:close()
      assert(tostring(comm) == "communicator of cpu:0/2, cpu:1/2")
      comm:close()
    ]])
  end)

  it("says that it is closed", function()
    local comm = nccl.communicator { a, b }
    comm:close()
    comm:close()
    fails(function() comm:ranks() end,
      "ranks: an open communicator expected; methods take a colon, as in comm:ranks(...)")
  end)
end)
