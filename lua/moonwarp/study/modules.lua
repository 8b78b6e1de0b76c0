-- SPDX-License-Identifier: MIT
--
-- The modules of a study: all template instances of a file, its type and its options in one
-- compilation, since a compilation costs more than most measurements.

local blame = require "moonwarp.study.blame"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"

local modules = {}

--- The name of a kernel with the case's type: "cumsum_z<%s>" -> "cumsum_z<double>".
---@param c table
---@param name string
---@return string
function modules.full_name(c, name)
  return (name:gsub("%%s", dtypes[c.type].cpp))
end

-- Modules differ in the file or the source, in their options, and in the type if the defines depend on it.
local function plan_of(c, how)
  local head, plans = c.study.head, c.study.state.plans
  local file = not how.source and (how.file or head.kernels) or nil
  local options = lists.merged({ fast_math = how.fast_math or nil }, how.compile or {})
  if how.source and how.source:find "^[%w_./-]+%.cuh?$" then
    failure.invalid("'source' is text; a file is given with 'file', as in file = \"%s\"", how.source)
  end
  local key = ("%s %s %s"):format(how.source or file, json.encode(options), head.defines and c.type or "")
  local is_own = file and file == head.kernels and not next(options)
  plans[key] = plans[key] or { templates = {}, made = {}, file = file, source = how.source, options = options,
                               type = c.type, also = is_own and c.study.also or {} } -- made: modules by their devices
  return plans[key]
end

local function add(c, plan, name)
  local full = modules.full_name(c, name)
  if lists.has(plan.templates, full) or not full:find("<", 1, true) then return end -- others are in every module
  if plan.has_variables then
    failure.invalid("kernel '%s' is in no module yet, and another one would have device variables of its own; name it "
      .. "in the rung's 'kernel'", full)
  end
  table.insert(plan.templates, full)
  plan.made = {} -- what was compiled lacks it
end

--- Plans a kernel, to be compiled with the others of its module, and with the study's `also` in that of its own file.
---@param c table     a case, bare or with its arrays
---@param name string
---@param how table   file, source, fast_math, compile
function modules.plan(c, name, how)
  modules.check_name(name)
  local plan = plan_of(c, how)
  for _, also in ipairs(plan.also) do add(c, plan, also) end
  add(c, plan, name)
end

--- Rejects all but names of kernels.
---@param name any
function modules.check_name(name)
  if type(name) == "string" then return end
  failure.invalid("a kernel is given by its name, got %s; a case's methods are called with a colon", type(name))
end

-- What dev:module is given for a plan.
local function options_of(study, plan)
  return lists.merged(plan.options, { file = plan.file, source = plan.source, templates = plan.templates,
    defines = study.head.defines and study.head.defines(plan.type, study.p) or nil })
end

--- The options of all modules that are planned.
---@param study table
---@return table[]
function modules.planned(study)
  local plans = study.state.plans
  return lists.map(lists.keys(plans), function(key) return options_of(study, plans[key]) end)
end

local function compile(c, plan)
  local study = c.study
  if not (plan.file or plan.source) then
    failure.invalid("the study names no file of kernels; give it with 'kernels'")
  end
  local done, module = failure.catch(study.dev.module, study.dev, options_of(study, plan))
  for _, also in ipairs(plan.also) do
    if done then
      blame.on(study.head, "also", module.kernel, module, modules.full_name(c, also))
    elseif failure.text(module):find(("'%s'"):format(also:match "^[^<]*"), 1, true) then
      blame.on(study.head, "also", error, module, 0)
    end
  end
  return done and module or error(module, 0)
end

local function module_of(c, how)
  local plan, id = plan_of(c, how), c.study.dev:id()
  plan.made[id] = plan.made[id] or compile(c, plan)
  return plan.made[id], plan
end

--- A kernel of the study.
---@param c table
---@param name string   %s in it is the case's type in C++
---@param how table     file, source, fast_math, compile
---@return userdata kernel
function modules.kernel(c, name, how)
  modules.plan(c, name, how)
  local kernel = module_of(c, how):kernel(modules.full_name(c, name))
  local state, engine, why = c.study.state, kernel:engine()
  if engine == "fiber" and state.rung and state.in_fibers then state.in_fibers[state.rung] = why end
  return kernel
end

--- A variable of the study's kernels.
---@param c table
---@param name string
---@param how table     file, source, fast_math
---@return userdata array
function modules.variable(c, name, how)
  local module, plan = module_of(c, how)
  plan.has_variables = true
  return module:variable(name)
end

return modules
