-- SPDX-License-Identifier: MIT
--
-- The engines of one .cu file's kernels on the CPU device, templates left out: a line with tabs for each, its file,
-- name, engine and why it has no faster one. What does not load has the engine "none" and its message as the reason;
-- the name is "-" if that is the file itself, or if it has templates only.
--
--   moonwarp run tests/census/engines.lua -- FILE [INCLUDE...]

local mw = require "moonwarp"

local file = arg[1]
local includes = table.move(arg, 2, #arg, 1, {})

local function put(kernel, engine, why)
  print(("%s\t%s\t%s\t%s"):format(file, kernel, engine, (why:gsub("%s+", " "))))
end

local function message_of(failure)
  return (tostring(failure.text or failure):match "[^\n]*")
end

local dev <close> = mw.device "cpu"
local ok, module = pcall(dev.module, dev, { file = file, includes = includes, warnings = false })
if not ok then return put("-", "none", message_of(module)) end
local names = module:kernels()
if not names[1] then put("-", "-", "") end
for _, name in ipairs(names) do
  local loads, kernel = pcall(module.kernel, module, name)
  if loads then put(name, kernel:engine()) else put(name, "none", message_of(kernel)) end
end
