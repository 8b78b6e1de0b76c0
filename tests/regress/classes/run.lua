-- SPDX-License-Identifier: MIT
--
-- The probes against what they expect: a line a kernel, and the sums of each file and engine.
--
--   moonwarp run tests/regress/classes/run.lua -- [--brief] [--files first,second,third,fourth,fifth,sixth,seventh]
--     [--engines auto,fiber] [--frames plain,barriers,helper,turning] [--per case|NUMBER] [--device cpu] [FIRST LAST]
--
-- "wrong" is another number than expected, "broken" an error, "refused" one that the case names. Each kernel is alone
-- in its module; --per puts those of a case, or a number of kernels, in one, each in a namespace of its own. That is
-- faster, but what one kernel has may change how another is treated. MOONWARP_CXX chooses the compiler.

local mw = require "moonwarp"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local probes = dofile(folder .. "probes.lua")

local options = { files = "first,second,third,fourth,fifth,sixth,seventh", engines = "auto,fiber",
  frames = "plain,barriers", device = "cpu" }
local range = {}

local function read_arguments()
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(.+)"
    if not name then range[#range + 1] = math.tointeger(tonumber(arg[i]))
    elseif name == "brief" then options.brief = true
    else i, options[name] = i + 1, arg[i + 1] end
    i = i + 1
  end
end

local function words(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  return list
end

read_arguments()
local dev = mw.device(options.device)

-- All kernels of a file's cases.
local function kernels_of(file)
  local cases, kernels = dofile(folder .. file .. ".lua"), {}
  for number = range[1] or 1, math.min(range[2] or range[1] or #cases, #cases) do
    for _, kernel in ipairs(probes.kernels(cases[number], words(options.frames))) do
      kernel.number = number
      kernels[#kernels + 1] = kernel
    end
  end
  return kernels
end

local function fits(kernel, group)
  if not (group and options.per) or kernel.case.alone or group[1].case.alone then return false end
  if options.per == "case" then return group[1].number == kernel.number end
  return #group < tonumber(options.per)
end

local function grouped(kernels)
  local groups = {}
  for _, kernel in ipairs(kernels) do
    if not fits(kernel, groups[#groups]) then groups[#groups + 1] = {} end
    table.insert(groups[#groups], kernel)
  end
  return groups
end

-- Calls say(kernel, verdict, why, engine that ran it) for each kernel of a module.
local function judge(group, engine, say)
  local ok, module = pcall(dev.module, dev, { source = probes.source(group), name = "probe.cu",
    engine = options.device == "cpu" and engine or nil, std = group[1].case.std })
  for i, kernel in ipairs(group) do
    if ok then say(kernel, probes.judge(dev, module, #group == 1 and "k" or "k" .. i, kernel, engine))
    else say(kernel, probes.failed(kernel, module)) end
  end
  if ok then module:close() end
end

local function run_file(file, engine)
  local kernels, count, wrong, wrong_cases = kernels_of(file), {}, {}, 0
  local function add(key) count[key] = (count[key] or 0) + 1 end
  local function say(kernel, verdict, why, ran)
    add(verdict)
    if ran then add(ran) end
    if verdict == "wrong" and not wrong[kernel.number] then
      wrong[kernel.number], wrong_cases = true, wrong_cases + 1
    end
    if options.brief and verdict == "right" then return end
    print(("%-7s %-6s %3d %-48s %-8s %-5s %-5s %s"):format(verdict, file, kernel.number, kernel.case[1], kernel.frame,
      engine, ran or "-", why or ""))
  end
  for _, group in ipairs(grouped(kernels)) do judge(group, engine, say) end
  print(("%s by %s: %d kernels, %d right, %d wrong of %d cases, %d broken, %d refused; %d split, %d loop, %d fiber")
    :format(file, engine, #kernels, count.right or 0, count.wrong or 0, wrong_cases, count.broken or 0,
      count.refused or 0, count.split or 0, count.loop or 0, count.fiber or 0))
end

for _, file in ipairs(words(options.files)) do
  for _, engine in ipairs(words(options.engines)) do run_file(file, engine) end
end
