-- SPDX-License-Identifier: MIT
--
-- A whole CUDA program: its host part is compiled while its kernels are, then main runs in this process with the device
-- of the session. The process ends with the program.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"

local program = {}

-- The modules of the files that have kernels, else false. instances: which templates each of them needs; where one of
-- these does not compile, each is compiled at its first launch, which then tells why.
local function load_modules(device, order, has_kernels, instances)
  local modules = {}
  for i, file in ipairs(order.files) do
    local options = { file = file, includes = order.includes, defines = order.defines, warnings = false }
    local function load(templates)
      options.templates = templates
      return device:module(options)
    end
    local ok, module = true, false
    if has_kernels[i] and instances then ok, module = pcall(load, instances[i]) end
    if has_kernels[i] and not (ok and module) then module = load() end
    modules[i] = module
  end
  return modules
end

--- Compiles and runs a program; the process ends with its status.
---@param device fun(): userdata  opens the device, after the host part has begun to be compiled
---@param order table    files, includes, defines, libraries: lists
---@param words string[] of the program
function program.run(device, order, words)
  local has_kernels, has_templates = core.program.compile(order)
  local opened = device()
  local instances = has_templates and core.program.instances(#order.files) or nil
  local modules = load_modules(opened, order, has_kernels, instances)
  if not instances then core.program.instances(#order.files) end
  local name = order.files[1]:gsub("%.%w+$", "")
  if not name:find "/" then name = "./" .. name end
  core.program.run(opened, modules, table.move(words, 1, #words, 2, { name }))
  failure.raise_as("script", "the program has not been run")
end

return program
