-- SPDX-License-Identifier: MIT
--
-- Copy in, compute, copy out from pinned memory, in pieces over several streams: the time of the best
-- pipeline over the longest of its three stages alone, whole arrays at once. To reach: at most 1.06 on a
-- GPU, with a kernel as long as a copy and with one 1.2 times as long. Both directions at once are
-- printed too: where they slow each other down, they bound the first of the two.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local dev = mw.device()
local gpu = dev:id() ~= "cpu"

local mib = mw.arg("mib", gpu and 1024 or 64, "size of the array of f32", { min = 1 })
local samples = mw.arg("samples", 9, "of each contender", { min = 1 })
local block = mw.arg("block", 256, "threads per block")

local n = mib << 18
local PERIOD = math.min(n, 1000003) -- a prime: a piece in the wrong place shows
local STREAMS, PIECES = gpu and { 3, 4, 6 } or { 2, 3, 4 }, gpu and { 32, 64, 128 } or { 16, 32, 64 }

local iterate = dev:module("streams.cu"):kernel "iterate<float>"
local x, y, want = dev:pinned("f32", n), dev:pinned("f32", n), dev:pageable("f32", n)
local input, output = dev:array("f32", n + 1024), dev:array("f32", n + 1024)
local streams = {}
for i = 1, STREAMS[#STREAMS] do streams[i] = dev:stream { blocking = false } end
local rounds = 1 -- odd: v = 1 - v leaves 1 - x

local function repeated(array, values)
  array:view(1, PERIOD):upload(values)
  local done = PERIOD
  while done < n do
    local count = math.min(done, n - done)
    array:copy(array, { to = done + 1, count = count })
    done = done + count
  end
end

local function make_data()
  local values, results = {}, {}
  for i = 1, PERIOD do
    values[i] = (i * 7919 % 1048573) / 1048576
    results[i] = 1 - values[i]
  end
  repeated(want, values)
  x:copy(want)
  repeated(want, results)
end

-- ---- contenders ---------------------------------------------------------------------------------

-- Views, stream and launch of each piece; a stream has its own place in the device's two arrays.
local function pieces_of(count, chunks)
  local size = ((n + chunks - 1) // chunks + 31) // 32 * 32
  local pieces = {}
  for first = 1, n, size do
    local lane, length = #pieces % count, math.min(size, n - first + 1)
    local stream, at = streams[lane + 1], lane * size + 1
    pieces[#pieces + 1] = {
      x = x:view(first, length), y = y:view(first, length), input = input:view(at, length),
      output = output:view(at, length), on = { stream = stream }, length = length,
      go = iterate:prepare { grid = (length + block - 1) // block, block = block, stream = stream },
    }
  end
  return pieces
end

local function pipeline(count, chunks)
  local pieces = pieces_of(count, chunks)
  return function()
    for _, p in ipairs(pieces) do
      p.input:copy(p.x, p.on)
      p.go(p.output, p.input, -1, 1, rounds, p.length)
      p.y:copy(p.output, p.on)
    end
    dev:synchronize()
  end
end

local whole = pieces_of(1, 1)[1]
local other = { stream = streams[2] }

local function copy_in()
  whole.input:copy(x, whole.on)
  dev:synchronize()
end

local function compute()
  whole.go(whole.output, whole.input, -1, 1, rounds, n)
  dev:synchronize()
end

local function copy_out()
  y:copy(whole.output, whole.on)
  dev:synchronize()
end

local function both()
  whole.input:copy(x, whole.on)
  y:copy(whole.output, other)
  dev:synchronize()
end

-- ---- calibration --------------------------------------------------------------------------------

local function kernel_seconds(many)
  rounds = many
  return lab.alternate({ compute }, 3)[1]
end

-- The odd number of rounds that takes about the wanted time.
local function calibrate(wanted)
  local before, low, many, t = 0, 0, 1, kernel_seconds(1)
  while t < wanted and many < 1 << 20 do
    before, low, many = many, t, 2 * many + 1
    t = kernel_seconds(many)
  end
  rounds = before == 0 and 1 or (before + (many - before) * (wanted - low) / (t - low)) // 2 * 2 + 1
  rounds = math.tointeger(rounds)
end

-- ---- the comparison -----------------------------------------------------------------------------

local function check(name, run)
  for _, array in ipairs { y, input, output } do array:fill(0 / 0) end
  dev:synchronize()
  run()
  mw.check(y, want, { exact = true, name = name })
end

local function all_pipelines()
  local runs, names = {}, {}
  for _, count in ipairs(STREAMS) do
    for _, chunks in ipairs(PIECES) do
      runs[#runs + 1] = pipeline(count, chunks)
      names[#runs] = ("%d streams, %d pieces"):format(count, chunks)
    end
  end
  return runs, names
end

local function compare(factor, copy)
  calibrate(factor * copy)
  local runs, names = all_pipelines()
  for i, run in ipairs(runs) do check(names[i], run) end
  local t = lab.alternate({ copy_in, compute, copy_out, both, table.unpack(runs) }, samples)
  local longest, best = math.max(t[1], t[2], t[3]), 5
  for i = 5, #t do
    if t[i] < t[best] then best = i end
  end
  print(("  kernel %.2f of a copy (%d rounds); in, kernel, out, both ways: %.3f %.3f %.3f %.3f ms"):format(
    t[2] / math.max(t[1], t[3]), rounds, 1e3 * t[1], 1e3 * t[2], 1e3 * t[3], 1e3 * t[4]))
  print(("  both directions at once over the slower one: %.3f"):format(t[4] / math.max(t[1], t[3])))
  for i = 5, #t do print(("    %-24s %.4f"):format(names[i - 4], t[i] / longest)) end
  if not gpu then return end
  lab.compare { name = names[best - 4], ours = t[best], other_name = "longest alone", other = longest,
                ratio = t[best] / longest, most = 1.06 }
end

make_data()
print(("%d MiB of f32, pinned, %s"):format(mib, dev:name()))
local t = lab.alternate({ copy_in, copy_out }, samples)
for _, factor in ipairs { 1, 1.2 } do compare(factor, math.max(t[1], t[2])) end
if not gpu then print "  on the CPU device all three stages share the cores: no target there" end
