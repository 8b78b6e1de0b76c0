-- SPDX-License-Identifier: MIT
--
-- Random kernels with classes, run by the engines of the CPU device and compared with a model of their own.
--
--   moonwarp run tests/generator/random_kernels.lua -- SEED COUNT [only=CONSTRUCT] [first=N] [show=N] [split=0]
--
-- in the repository, with LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;". A kernel is a tree of a seed and a number:
-- kernel.lua, of nodes.lua and locals.lua (what goes across barriers), statements.lua (what has none), class.lua and
-- members.lua. It is printed as CUDA (cuda.lua) and as host C++ (model.lua), which the host's compiler translates
-- without anything of moonwarp. Kernels go EACH to a module: by the engine that is chosen, by fibers, and by the split
-- form what is chosen to be a loop. That is a quarter to a half of a second of a core for a kernel, most of it to
-- compile the chosen form. only: nothing but one construct, and what it needs; first: the first kernel's number; show:
-- how many kernels that differ are printed, whole and reduced; split=0: no split form of what is chosen to be a loop.
-- The last line is "done COUNT wrong N broken N".

local mw = require "moonwarp"
local generate = require("tests.generator.kernel").generate
local cuda = require "tests.generator.cuda"
local compare = require "tests.generator.compare"
local reduce = require "tests.generator.reduce"

local WINDOW, EACH = 32, 8
local options = { first = 1, show = 2, split = 1 }
local numbers = {}
for _, word in ipairs(arg) do
  local key, value = word:match "^(%w+)=(.*)$"
  if key then options[key] = tonumber(value) or value else numbers[#numbers + 1] = math.tointeger(tonumber(word)) end
end
local seed, count = numbers[1], numbers[2]
local folder = io.popen "mktemp -d":read "l"
local dev = mw.device "cpu"
local constructs, engines, reasons = {}, {}, {}
local ran, wrong, broken = 0, 0, 0

local function add(to, key, n) to[key] = (to[key] or 0) + (n or 1) end

local function show(kernel, result, want)
  print(("seed %d, kernel %d, %s differs: %s"):format(seed, kernel.number, result.engine,
    result.fault or compare.difference(kernel, result.bytes, want)))
  if wrong > options.show then return end
  print(cuda.print(kernel))
  local copy = generate(seed, kernel.number, options.only)
  print("reduced:\n" .. cuda.print(reduce(dev, copy, result.asked, folder)))
end

local function select(kernels, takes)
  local list = {}
  for _, kernel in ipairs(kernels) do
    if takes(kernel) then list[#list + 1] = kernel end
  end
  return list
end

-- One engine's results of a module's kernels. Engine "split" refuses a module for a kernel that it does not take; the
-- others are a module without that one.
local function judge(kernels, asked, want)
  if #kernels == 0 then return end
  local results = compare.run(dev, kernels, asked)
  local refused = asked == "split" and results[1].why and results[1].why:match "^kernel '(%w+)' cannot run with"
  if refused then
    return judge(select(kernels, function(kernel) return kernel.name ~= refused end), asked, want)
  end
  for i, result in ipairs(results) do
    local kernel = kernels[i]
    result.asked = asked
    if result.why then
      kernel.broken = kernel.broken or result.why
    else
      add(engines, result.engine)
      kernel.engines[result.engine] = true
      if result.bytes ~= want[kernel] and not kernel.wrong then
        wrong = wrong + 1
        kernel.wrong = result.engine
        show(kernel, result, want[kernel])
      end
    end
  end
end

local function account(kernel)
  if kernel.broken then
    broken = broken + 1
    local reason = kernel.broken:gsub("kernel '[^']*'", "kernel"):gsub("generated.cu:%d+", "generated.cu")
    add(reasons, reason)
    print(("seed %d, kernel %d is broken: %s"):format(seed, kernel.number, kernel.broken))
  end
  for construct in pairs(kernel.tags) do
    local row = constructs[construct] or { kernels = 0, wrong = 0, loop = 0, split = 0, fiber = 0 }
    constructs[construct] = row
    row.kernels = row.kernels + 1
    if kernel.wrong then row.wrong = row.wrong + 1 end
    for engine in pairs(kernel.engines) do row[engine] = row[engine] + 1 end
  end
end

-- What other engines than fibers refuse.
local function needs_fibers(kernel)
  return kernel.tags["goto"] or kernel.tags.lambda or kernel.tags["local class"]
end

-- Kernels with device variables apart: a kernel of their module that needs fibers would give them all to fibers.
local function modules_of(kernels)
  local list, open = {}, {}
  for _, kernel in ipairs(kernels) do
    local device = kernel.tags["device object"]
    local kind = not device and "plain" or needs_fibers(kernel) and kernel or "device"
    if not open[kind] or #open[kind] == EACH then
      open[kind] = {}
      list[#list + 1] = open[kind]
    end
    table.insert(open[kind], kernel)
  end
  return list
end

local function run_module(kernels, want)
  judge(kernels, "auto", want)
  judge(select(kernels, function(kernel) return not kernel.engines.fiber end), "fiber", want)
  if options.split == 0 then return end
  judge(select(kernels, function(kernel) return kernel.engines.loop and not needs_fibers(kernel) end), "split", want)
end

local function run_window(first, last)
  local kernels = {}
  for number = first, last do
    local kernel = generate(seed, number, options.only)
    kernel.number, kernel.engines = number, {}
    kernels[#kernels + 1] = kernel
  end
  local list, why = compare.expected(kernels, folder)
  assert(list, ("seed %d, kernels %d to %d: the model: %s"):format(seed, first, last, why))
  local want = {}
  for i, kernel in ipairs(kernels) do want[kernel] = list[i] end
  for _, module in ipairs(modules_of(kernels)) do run_module(module, want) end
  for _, kernel in ipairs(kernels) do account(kernel) end
  ran = ran + #kernels
end

local function report()
  local names = {}
  for name in pairs(constructs) do names[#names + 1] = name end
  table.sort(names)
  print(("%-28s %8s %6s %6s %6s %6s %6s"):format("construct", "kernels", "share", "loop", "split", "fiber", "differ"))
  for _, name in ipairs(names) do
    local row = constructs[name]
    print(("%-28s %8d %5d%% %6d %6d %6d %6d"):format(name, row.kernels, 100 * row.kernels // ran, row.loop, row.split,
      row.fiber, row.wrong))
  end
  for reason, n in pairs(reasons) do print(("%d broken: %s"):format(n, reason)) end
  print(("runs: loop %d, split %d, fiber %d"):format(engines.loop or 0, engines.split or 0, engines.fiber or 0))
  print(("done %d wrong %d broken %d"):format(ran, wrong, broken))
end

local last = options.first + count - 1
for first = options.first, last, WINDOW do
  run_window(first, math.min(first + WINDOW - 1, last))
end
report()
os.execute(("rm -rf '%s'"):format(folder))
