-- SPDX-License-Identifier: MIT
--
-- moonwarp run hidden_kernels.lua -- KIND [every=N] [PATTERN [all]]: what check mode says to the cases of KIND.lua
-- beside this file, kernels or legal, whose names match, or to every Nth of them, by the compiler in $MOONWARP_CXX.
-- Prints those to which it says something else, or all, and the sum.

local findings = require "moonwarp.measure.findings"
local mw = require "moonwarp"
local session = require "moonwarp.session"

session.current.settle_findings = function() end -- the mistakes are wanted: they fail no run

local here = debug.getinfo(1, "S").source:match "^@(.*/)"
local compiler = (os.getenv "MOONWARP_CXX" or "clang++"):match "[^/]*$"
local kind = arg[1]
local every = tonumber((arg[2] or ""):match "^every=(%d+)$")
if every then table.remove(arg, 2) end
local pattern = arg[2] or ""
local dev = mw.device("cpu", { check = true })

local function source_of(case)
  return ("%s\n%s\n__global__ void %s f(int *a, int n) {\n%s\n%s\n}\n"):format(case.before or "", case.head or "",
    case.bounds or "", case[3], case.race or "")
end

local function put(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

-- The options of dev:module. Files go beside a k.cu of a folder of their own.
local function options_of(case, folder)
  local options = { source = source_of(case), name = "k.cu", defines = case.defines, std = case.std,
    templates = case.instance and { case.instance } }
  if not case.files then return options end
  os.execute(("rm -rf '%s' && mkdir '%s'"):format(folder, folder))
  for name, text in pairs(case.files) do put(folder .. "/" .. name, text) end
  put(folder .. "/k.cu", options.source)
  return { file = folder .. "/k.cu" }
end

local function launch(case, kernel)
  local a <close> = dev:zeros("i32", 128)
  kernel:launch(case.grid or 2, 64, a, 128)
  dev:synchronize()
end

-- The kernel and its module, or why there is none.
local function compiled(case, folder)
  local ok, m = pcall(dev.module, dev, options_of(case, folder))
  if not ok then return nil, m end
  local there, kernel = pcall(m.kernel, m, case.instance or "f")
  return there and kernel, there and m or kernel
end

-- What it says, in words: findings, an error, or nothing.
local function said(case, folder)
  local before, words = findings.counts(), {}
  local kernel, m = compiled(case, folder)
  if not kernel then return "refused: " .. tostring(m) end
  local ok, problem = pcall(launch, case, kernel)
  m:close()
  if not ok then words[1] = tostring(problem) end
  for _, one in ipairs(findings.since(before)) do
    if not one.warning then words[#words + 1] = ("%s: %s"):format(one.kind, one.object) end
  end
  return table.concat(words, "\n")
end

local function is_any(text, wanted)
  for _, one in ipairs(type(wanted) == "table" and wanted or { wanted }) do
    if text:find(one, 1, true) then return true end
  end
end

-- Each legal kernel, without and with a race.
local function with_races(list)
  local both = {}
  for _, case in ipairs(list) do
    both[#both + 1] = case
    both[#both + 1] = setmetatable({ case[1] .. ", with a race", "race in global memory",
      race = "a[0] += threadIdx.x;" }, { __index = case })
  end
  return both
end

local list = dofile(here .. kind .. ".lua")
if kind == "legal" then list = with_races(list) end
local folder = os.tmpname()
local scratch = folder .. ".d"
local cases, right, silent = 0, 0, 0
for i, case in ipairs(list) do
  if i % (every or 1) == 0 and case[1]:find(pattern) and (not case.only or case.only == compiler) then
    local text = said(case, scratch)
    local fits = case[2] == "" and text == "" or case[2] ~= "" and is_any(text, case[2])
    cases, right, silent = cases + 1, right + (fits and 1 or 0), silent + (text == "" and 1 or 0)
    if not fits or arg[3] == "all" then print(("%s: %s"):format(case[1], text == "" and "nothing" or text)) end
  end
end
os.execute(("rm -rf '%s' '%s'"):format(folder, scratch))
print(("%d of %d as wanted, %d without a word (%s)"):format(right, cases, silent, compiler))
