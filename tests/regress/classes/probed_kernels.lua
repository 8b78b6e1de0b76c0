-- SPDX-License-Identifier: MIT
--
-- The probes against what they expect: a line per kernel, and the sums of each file and engine.
--
--   moonwarp run tests/regress/classes/probed_kernels.lua -- [--brief] [--sample] [--files values,references,...]
--     [--engines auto,fiber] [--frames plain,barriers,helper,turning] [--per NUMBER] [--device cpu] [FIRST LAST]
--
-- "wrong" is another number than expected, "broken" an error, "refused" one that the case names. Each kernel is alone
-- in its module; --per puts a number of kernels in one, each in a namespace of its own. That is faster, but what one
-- kernel has may change how another is treated. --sample: a case in one of the frames, the next case in the next frame.
-- MOONWARP_CXX chooses the compiler.

local mw = require "moonwarp"
local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local probes = dofile(folder .. "probes.lua")

local options = { files = table.concat(probes.FILES, ","), engines = "auto,fiber", frames = "plain,barriers",
                  device = "cpu" }
local range = {}

local function read_arguments()
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(.+)"
    if not name then range[#range + 1] = math.tointeger(tonumber(arg[i]))
    elseif name == "brief" or name == "sample" then options[name] = true
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
    local list = probes.kernels(cases[number], words(options.frames))
    for i, kernel in ipairs(list) do
      kernel.number, kernel.file = number, file
      if not options.sample or i == number % #list + 1 then kernels[#kernels + 1] = kernel end
    end
  end
  return kernels
end

-- Kernels of one kind share modules. Cases with device variables do not, since a kernel that needs fibers gives them
-- all to fibers, nor does what fails, or is to take an engine and has helpers whose names others have.
local function kind_of(kernel)
  local case = kernel.case
  if not options.per then return kernel end
  if case.alone or case.refused or case.engine and case.engine ~= "fast" then return kernel end
  local std = (case.std or "") .. (case.engine or "")
  for _, word in ipairs { "__device__", "__constant__", "__managed__" } do
    if kernel.front:find(word .. " [^(){]-[=;%[{]") then return kernel.number .. std end
  end
  return std
end

local function grouped(kernels)
  local groups, open = {}, {}
  for _, kernel in ipairs(kernels) do
    local kind = kind_of(kernel)
    if not open[kind] or #open[kind] == tonumber(options.per) then
      open[kind] = {}
      groups[#groups + 1] = open[kind]
    end
    table.insert(open[kind], kernel)
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
