-- SPDX-License-Identifier: MIT
--
-- Random kernels that exchange values, and mutants of them (kernel.lua): in normal mode a kernel gives what the model
-- says (races.lua); check mode finds nothing in it, and something in each mutant that the model calls a race and in no
-- other.
--
--   moonwarp run tests/generator/order/random_mutants.lua -- SEED COUNT [first=N] [mutants=N] [show=N]
--
-- in the repository, with LUA_PATH="$PWD/?.lua;$PWD/?/init.lua;;". The last line is
-- "done COUNT wrong N false N racy N missed N".

local mw = require "moonwarp"
local generate = require "tests.generator.order.kernel"
local races = require "tests.generator.order.races"
local cuda = require "tests.generator.order.cuda"

local EACH <const> = 4 -- kernels to a module
local options = { first = 1, mutants = 6, show = 3 }
local numbers = {}
for _, word in ipairs(arg) do
  local key, value = word:match "^(%w+)=(.*)$"
  if key then options[key] = tonumber(value) else numbers[#numbers + 1] = math.tointeger(tonumber(word)) end
end
local seed, count = numbers[1], numbers[2]
local normal, checked = mw.device "cpu", mw.device "cpu:check"
local wrong, false_findings, racy, missed = 0, 0, 0, 0
local shown, kinds = 0, {}

local function show(what, kernel, name)
  shown = shown + 1
  if shown <= options.show then print(("%s: seed %d, %s\n%s"):format(what, seed, name, cuda.print(kernel, name))) end
end

local function initial(i) return i * 7 + 3 end

-- The bytes of x for a kernel at its begin.
local function bytes_of(kernel)
  local list = {}
  for i = 0, kernel.threads * kernel.blocks - 1 do
    local a = initial(i)
    list[i + 1] = kernel.memories.x.type == "pair" and string.pack("<I4I2xxd", a, a & 0xffff, a & 0xfffff)
      or string.pack("<I4", a)
  end
  return table.concat(list)
end

-- x, total and out after a launch, as text; nil and why not.
local function launch(dev, module, kernel, name)
  local bytes, n = bytes_of(kernel), kernel.threads * kernel.blocks
  local x <close> = kernel.memories.x.type == "pair" and dev:array("u8", #bytes) or dev:array("u32", n)
  local total <close> = dev:zeros("u32", 8)
  local out <close> = dev:zeros("u32", n)
  x:upload(bytes)
  local options_of = { grid = kernel.blocks, block = { kernel.wide, kernel.threads // kernel.wide } }
  local ok, problem = pcall(function()
    module[name]:prepare(options_of)(x, total, out)
    dev:synchronize()
  end)
  if not ok then return nil, tostring(problem) end
  return x:bytes() .. total:bytes() .. out:bytes()
end

local function expected(kernel)
  local values, list = races.values(kernel, initial), {}
  local function cell(name, i) return (values.cells[name] or {})[i] or 0 end
  for b = 0, kernel.blocks - 1 do
    for i = 0, kernel.threads - 1 do
      local is_pair = kernel.memories.x.type == "pair"
      local name = "x" .. b
      list[#list + 1] = is_pair
        and string.pack("<I4I2xxd", cell(name .. "a", i), cell(name .. "b", i), cell(name .. "d", i))
        or string.pack("<I4", cell(name, i))
    end
  end
  for i = 0, 7 do list[#list + 1] = string.pack("<I4", cell("total", i)) end
  for b = 0, kernel.blocks - 1 do
    for t = 0, kernel.threads - 1 do list[#list + 1] = string.pack("<I4", values.v[b][t]) end
  end
  return table.concat(list)
end

local function module_of(dev, kernels, names)
  local texts = { cuda.head }
  for i, kernel in ipairs(kernels) do texts[i + 1] = cuda.print(kernel, names[i]) end
  return dev:module { source = table.concat(texts), name = "order.cu" }
end

local function judge_values(kernels, names)
  local module <close> = module_of(normal, kernels, names)
  for i, kernel in ipairs(kernels) do
    local got, problem = launch(normal, module, kernel, names[i])
    if got ~= expected(kernel) then
      wrong = wrong + 1
      show("wrong value" .. (problem and ": " .. problem or ""), kernel, names[i])
    end
  end
end

local function found_in(name)
  for _, finding in ipairs(checked:findings()) do
    if finding.kernel == name and not finding.warning then return finding end
  end
end

local function judge_findings(kernels, names)
  local module <close> = module_of(checked, kernels, names)
  for i, kernel in ipairs(kernels) do
    local _, problem = launch(checked, module, kernel, names[i])
    if problem then error(problem .. "\n" .. cuda.print(kernel, names[i])) end
    local finding, race = found_in(names[i]), races.find(kernel)
    local kind = kernel.name or "legal"
    kinds[kind] = kinds[kind] or { ran = 0, racy = 0, missed = 0 }
    kinds[kind].ran = kinds[kind].ran + 1
    if race then
      racy, kinds[kind].racy = racy + 1, kinds[kind].racy + 1
      if not finding then
        missed, kinds[kind].missed = missed + 1, kinds[kind].missed + 1
        show("missed, " .. kind, kernel, names[i])
      end
    elseif finding then
      false_findings = false_findings + 1
      show(("false finding, %s: %s"):format(kind, tostring(finding)), kernel, names[i])
    end
  end
  mw.findings { expected = true }
end

local function random_of(number)
  math.randomseed(seed, number)
  return math.random
end

for first = options.first, options.first + count - 1, EACH do
  local kernels, names, legal, legal_names = {}, {}, {}, {}
  for number = first, math.min(first + EACH, options.first + count) - 1 do
    local random = random_of(number)
    local kernel = generate.generate(random)
    legal[#legal + 1], legal_names[#legal + 1] = kernel, "k" .. number
    kernels[#kernels + 1], names[#kernels + 1] = kernel, "k" .. number
    for i, mutant in ipairs(generate.mutants(random, kernel, options.mutants)) do
      kernels[#kernels + 1], names[#kernels + 1] = mutant, ("k%d_%d"):format(number, i)
    end
  end
  judge_values(legal, legal_names)
  judge_findings(kernels, names)
end

for kind, n in pairs(kinds) do
  print(("%-24s %6d kernels, %6d racy, %4d missed"):format(kind, n.ran, n.racy, n.missed))
end
print(("done %d wrong %d false %d racy %d missed %d"):format(count, wrong, false_findings, racy, missed))
