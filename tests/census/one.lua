-- SPDX-License-Identifier: MIT
--
-- How much of one .cu file a device loads, in one line with tabs: kernels that load, kernels, seconds, the file, and of
-- the first kernel that does not load the message.
--
--   moonwarp run tests/census/one.lua -- DEVICE FILE NAMES [INCLUDE...]
--
-- NAMES is a file with the symbol of one kernel per line, as the .entry lines of PTX have them: kernels, and the
-- instances of templates that the file's own host code launches. Those of libraries are left out.

local mw = require "moonwarp"

local device, file, names = arg[1], arg[2], arg[3]
local includes = table.move(arg, 4, #arg, 1, {})

-- "void lab::scale<float, &(f(float))>(float*)" -> "lab::scale<float, &f>", as a user writes it: without the namespace
-- of CUB's version.
local function kernel_name(readable)
  local depth, start = 0, 1
  readable = readable:gsub("%(anonymous namespace%)::", ""):gsub("cub::CUB_[%w_]*::", "cub::")
  readable = readable:gsub("&%(([%w_:]+)%b()%)", "&%1")
  for at = 1, #readable do
    local c = readable:sub(at, at)
    if c == "<" or (c == "(" and depth > 0) then depth = depth + 1 end
    if c == ">" or (c == ")" and depth > 0) then depth = depth - 1 end
    if depth == 0 and c == " " then start = at + 1 end
    if depth == 0 and c == "(" then return readable:sub(start, at - 1) end
  end
  return readable:sub(start)
end

local function kernel_names()
  local list = {}
  local pipe <close> = assert(io.popen("c++filt <'" .. names .. "'"))
  for line in pipe:lines() do
    local name = kernel_name(line)
    if not (name:find "^cub::" or name:find "^thrust::") then list[#list + 1] = name end
  end
  return list
end

local function templates_of(kernels)
  local list = {}
  for _, name in ipairs(kernels) do
    if name:find("<", 1, true) then list[#list + 1] = name end
  end
  return list
end

-- The first message, without what differs from file to file.
local function message_of(failure)
  return (tostring(failure.text or failure):match "[^\n]*")
end

-- An overloaded kernel loads if it does by each of its signatures.
local function load(module, name)
  local ok, failure = pcall(module.kernel, module, name)
  local signatures = not ok and message_of(failure):match "give one whole signature: (.*)"
  if not signatures then return ok, failure end
  for signature in signatures:gmatch "[^;]+" do
    ok, failure = pcall(module.kernel, module, signature)
    if not ok then break end
  end
  return ok, failure
end

local function kernels_load(module, kernels)
  local loaded, why = 0, nil
  for _, name in ipairs(kernels) do
    local ok, failure = load(module, name)
    if ok then loaded = loaded + 1 else why = why or name .. ": " .. message_of(failure) end
  end
  return loaded, why
end

-- Every instance at once; if that fails, what is not a template first, and each instance by itself.
local function count(dev, kernels)
  local options = { file = file, includes = includes, templates = templates_of(kernels) }
  local ok, module = pcall(dev.module, dev, options)
  if ok then return kernels_load(module, kernels) end
  local why = message_of(module)
  if not options.templates[1] then return 0, why end
  options.templates = nil
  ok, module = pcall(dev.module, dev, options)
  if not ok then return 0, why end
  return kernels_load(module, kernels), why
end

local kernels = kernel_names()
local began = os.clock()
local dev <close> = mw.device(device)
local loaded, why = count(dev, kernels)
print(("%d\t%d\t%.2f\t%s\t%s"):format(loaded, #kernels, os.clock() - began, file, why or ""))
