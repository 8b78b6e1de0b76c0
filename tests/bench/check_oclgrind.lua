-- SPDX-License-Identifier: MIT
--
-- Check mode and Oclgrind (races, uninitialised values, bounds) on the same kernels, in CUDA C++ and
-- as their OpenCL twins (twins.cl): CPU time of a thread (N-body: of an
-- interaction), one worker each. Both are measured at two
-- sizes, and the difference is divided by the threads that it has more, so that starting and
-- compiling do not count. To reach: check mode at least 30 times as fast. OCLGRIND names the program
-- where it is not on the PATH; OCLGRIND_OPTIONS is added to its options.

local mw = require "moonwarp"
local core = require "moonwarp.core"
package.path = core.home() .. "/tests/bench/lib/?.lua;" .. package.path
local lab = require "lab"

local small = mw.arg("small", 64, "side of the small field, a multiple of 32; the other sizes follow")
local large = mw.arg("large", 192, "and of the large one")
local rounds = mw.arg("rounds", 3, "samples of each")

local LEAST = 30
lab.setenv("MOONWARP_CPU_WORKERS", "1")

local program = os.getenv "OCLGRIND" or "oclgrind-kernel"
local options = "--num-threads 1 --data-races --uninitialized " .. (os.getenv "OCLGRIND_OPTIONS" or "")
if not os.execute(("command -v '%s' >/dev/null 2>&1"):format(program)) then
  print "  left out: no Oclgrind (on Debian and Ubuntu: apt install oclgrind)"
  return
end

local dev = mw.device("cpu", { check = true })

-- Arguments of both: { "f64", count } an array of 1, 2, ... count; { "f64", count, 0 } one of zeros, of which the
-- first is the result; { "int", value }, { "double", value }; { "shared", bytes } of the twin only.
local BYTES = { f64 = 8, f32 = 4 }

local function field(n) return { "f64", n * n } end

local function flow(n, shared)
  local list = { { "f64", n * n, 0 }, field(n), field(n), { "double", 1.0 }, { "double", 0.1 }, { "double", 1.0 },
                 { "double", 1.0 }, { "int", n }, { "int", n } }
  if shared then list[#list + 1] = { "shared", shared } end
  return list
end

local function tiles(n) return { n // 32, n // 8 }, { 32, 8 } end
local function row(n) return { n * n // 256, 1 }, { 256, 1 } end

local cases = {
  { "memcopy", "memcopy.cu", "memcopy", tiles, function(n)
    return { { "f64", n * n, 0 }, field(n), { "int", n }, { "int", n } }
  end },
  { "triad", "triad.cu", "triad", tiles, function(n)
    return { { "f64", n * n, 0 }, field(n), field(n), { "double", 1.5 }, { "int", n }, { "int", n } }
  end },
  { "stencil, naive", "stencil.cu", "diffusion", tiles, flow },
  { "stencil, shared memory", "stencil.cu", "diffusion_shared", tiles, function(n) return flow(n, 34 * 10 * 8) end,
    shared = 34 * 10 * 8 },
  { "block reduction", "reduce.cu", "reduce_tree", row, function(n)
    return { { "f32", n * n // 256, 0 }, { "f32", n * n }, { "int", n * n } }
  end },
  { "cumsum, shuffles", "cumsum.cu", "cumsum_shuffle<double>", function(n) return { 1, n // 8 }, { 32, 8 } end,
    function(n) return { { "f64", n * n, 0 }, field(n), { "int", n }, { "int", n }, { "shared", 32 * 8 * 8 } } end,
    twin = "cumsum_shuffle", grid = function(n) return { n // 8 } end, threads = function(n) return n * n end },
  { "N-body, tiled", "nbody.cu", "potential_tiled", function(n) return { n // 32, 1 }, { 256, 1 } end, function(n)
    local m = n * 8
    return { { "f32", m, 0 }, { "f32", m }, { "f32", m }, { "f32", m }, { "f32", m }, { "int", m } }
  end, threads = function(n) return 64 * n * n end },
}

-- The text of a simulation for Oclgrind: kernel, global size, local size, arguments.
local function simulation(case, n, dump)
  local grid, block = case[4](n)
  local lines = { "twins.cl", case.twin or case[3], ("%d %d 1"):format(grid[1] * block[1], grid[2] * block[2]),
                  ("%d %d 1"):format(block[1], block[2]) }
  for i, a in ipairs(case[5](n)) do
    local kind, value = a[1], a[2]
    local bytes, type = BYTES[kind], kind == "f64" and "double" or "float"
    if bytes and a[3] then
      lines[#lines + 1] = ("<size=%d %s fill=0%s>"):format(bytes * value, type, dump and i == 1 and " dump" or "")
    elseif bytes then
      lines[#lines + 1] = ("<size=%d %s range=1:1:%d>"):format(bytes * value, type, value)
    elseif kind == "shared" then
      lines[#lines + 1] = ("<size=%d>"):format(value)
    else
      lines[#lines + 1] = ("<size=%d %s>\n%s"):format(kind == "int" and 4 or 8, kind, value)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- CPU seconds of a run of Oclgrind and what it prints. sh's `times` ends with the time of its children.
local function oclgrind(case, n, dump)
  local file = os.tmpname()
  local out <close> = assert(io.open(file, "w"))
  out:write(simulation(case, n, dump))
  out:close()
  local pipe = io.popen(("cd '%s/tests/bench' && '%s' %s '%s' 2>&1 && times"):format(core.home(), program, options,
    file))
  local text = pipe:read "a"
  assert(pipe:close(), text)
  os.remove(file)
  local m1, s1, m2, s2 = text:match "(%d+)m([%d.]+)s (%d+)m([%d.]+)s%s*$"
  return m1 * 60 + s1 + m2 * 60 + s2, text
end

local function open(case, n)
  local grid, block = case[4](n)
  local arguments, result = {}, nil
  for i, a in ipairs(case[5](n)) do
    if BYTES[a[1]] then
      local values = {}
      for k = 1, a[2] do values[k] = a[3] or k end
      arguments[i] = dev:array(a[1], values)
      result = result or arguments[i]
    elseif a[1] ~= "shared" then
      arguments[i] = a[2]
    end
  end
  local go = dev:module(case[2])[case[3]]:prepare { grid = case.grid and case.grid(n) or grid, block = block,
                                                    shared = case.shared }
  return function() go(table.unpack(arguments)) end, result
end

local function ours(case, n)
  local go <const>, batch = open(case, n), 1
  go()
  local seconds
  repeat
    local start = os.clock()
    for _ = 1, batch do go() end
    seconds = os.clock() - start
    batch = batch * 2
  until seconds > 0.05
  return seconds / (batch // 2)
end

-- Oclgrind's result, printed to six digits, against ours.
local function compare(case)
  local go, result = open(case, small)
  go()
  local _, text = oclgrind(case, small, true)
  local values, count = result:totable(), 0
  for index, value in text:gmatch "%[(%d+)%] = (%S+)" do
    local expected, got = values[index + 1], tonumber(value)
    assert(math.abs(got - expected) <= 1e-4 * math.abs(expected) + 1e-12,
      ("%s: element %s is %s, ours %s"):format(case[1], index, value, expected))
    count = count + 1
  end
  assert(count == #values, ("%s: %d elements of %d"):format(case[1], count, #values))
end

-- The median over rounds of seconds(large) - seconds(small).
local function difference(seconds, case)
  local list = {}
  for i = 1, rounds do list[i] = seconds(case, large) - seconds(case, small) end
  return lab.median(list)
end

local sum = 0
for _, case in ipairs(cases) do
  compare(case)
  local threads = case.threads or function(n) return n * n end
  local more = threads(large) - threads(small)
  local mine, theirs = difference(ours, case), difference(oclgrind, case)
  sum = sum + math.log(theirs / mine)
  lab.compare { name = case[1], ours = mine / more, other_name = "Oclgrind", other = theirs / more,
                ratio = theirs / mine, least = LEAST }
end
print(("  geometric mean %.0f   to reach: at least %d"):format(math.exp(sum / #cases), LEAST))
