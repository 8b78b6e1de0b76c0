-- SPDX-License-Identifier: MIT
--
-- Occupancy of a kernel on a GPU that need not be there: the kernel's source is compiled for that
-- architecture, and the rules of NVIDIA's occupancy calculation answer.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local schema = require "moonwarp.base.schema"

local occupancy = {}

local SPEC = { [1] = "kernel", arch = "string", block = "number", shared = "number" }

--- The id of the device that only compiles for an architecture.
---@param arch string   "sm_90"
---@return string? id   nil: no backend knows the architecture
function occupancy.offline_id(arch)
  local _, backends = core.device_forms()
  for _, name in ipairs(backends) do
    local word = core.device_word(("%s:%s"):format(name, arch))
    if word and word.offline then return word.id end
  end
end

--- How many blocks of a kernel a multiprocessor of some architecture holds, and what limits them:
--- mw.occupancy{ kernel, arch = "sm_90", block = 256, shared = 0 }.
---@param spec table     the kernel; arch (where it is compiled now, if left out); block (threads; the
---                      size that fills the GPU best, if left out); shared (bytes per block, dynamic)
---@return table result  threads, blocks, occupancy (0 to 1), limit (in words)
function occupancy.query(spec)
  if type(spec) ~= "table" or core.type(spec[1]) ~= "kernel" then
    failure.invalid "mw.occupancy: a table with a kernel in it is wanted, as in { kernel, arch = 'sm_90' }"
  end
  schema.options("mw.occupancy", spec, SPEC)
  local kernel = spec[1]
  if spec.arch then
    local id = occupancy.offline_id(spec.arch)
    if not id then
      failure.invalid("mw.occupancy: no architecture '%s': sm_90, or another number, is wanted", spec.arch)
    end
    kernel = core.device(id):module(kernel:options()):kernel(kernel:name())
  end
  if spec.block then return kernel:occupancy(spec.block, spec.shared or 0) end
  return kernel:suggest { shared = spec.shared or 0 }
end

return occupancy
