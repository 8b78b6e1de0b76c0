-- SPDX-License-Identifier: MIT
--
-- The modules of a study: all template instances of a file, its type and its options in one
-- compilation, since a compilation costs more than most measurements.
-- Depends on moonwarp.core.

local failure = require "moonwarp.base.failure"

local modules = {}

local CPP = { f64 = "double", f32 = "float", f16 = "__half", bf16 = "__nv_bfloat16", i32 = "int", u32 = "unsigned",
              i64 = "long long", u64 = "unsigned long long", i16 = "short", u16 = "unsigned short",
              i8 = "signed char", u8 = "unsigned char" }

-- "cumsum_z<%s>" -> "cumsum_z<double>"
local function full_name(c, name)
  return (name:gsub("%%s", CPP[c.type]))
end

local function file_of(study, how)
  return how.file or study.head.kernels
end

-- Modules differ in the file, in fast math, and where the defines are made from the type, in that.
local function key_of(c, how)
  local study = c.study
  return ("%s %s %s"):format(file_of(study, how), how.fast_math and "fast" or "", study.head.defines and c.type or "")
end

local function plan_of(c, how)
  local study, key = c.study, key_of(c, how)
  local plan = study.state.plans[key]
  if not plan then
    plan = { templates = {}, seen = {}, file = file_of(study, how), fast_math = how.fast_math, type = c.type }
    study.state.plans[key] = plan
  end
  return plan
end

--- Plans a kernel, to be compiled with the others of its module.
---@param c table     a case, bare or with its arrays
---@param name string
---@param how table   file, fast_math
function modules.plan(c, name, how)
  local plan, full = plan_of(c, how), full_name(c, name)
  if plan.seen[full] then return end
  plan.seen[full] = true
  if not full:find("<", 1, true) then return end -- it is in every module of its file
  table.insert(plan.templates, full)
  plan.module = nil -- what was compiled lacks it
end

local function compile(c, plan)
  local study = c.study
  if not plan.file then failure.invalid("the study names no file of kernels; give it with 'kernels'") end
  return study.dev:module { file = plan.file, fast_math = plan.fast_math, templates = plan.templates,
                            defines = study.head.defines and study.head.defines(plan.type, study.p) or nil }
end

--- A kernel of the study.
---@param c table
---@param name string   %s in it is the case's type in C++
---@param how table     file, fast_math
---@return userdata kernel
function modules.kernel(c, name, how)
  modules.plan(c, name, how)
  local plan = plan_of(c, how)
  plan.module = plan.module or compile(c, plan)
  return plan.module:kernel(full_name(c, name))
end

return modules
