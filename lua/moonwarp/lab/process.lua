-- SPDX-License-Identifier: MIT
--
-- A lab's process: under a supervisor, with the lab's limits, in its sandbox.

local devices = require "moonwarp.lab.devices"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"

local process = {}

local GRACE = 3                   -- seconds between SIGINT, SIGTERM and SIGKILL
local DATA_SLACK = 2 << 30        -- stacks of threads, what compilers map

-- The space that a process may ask for ends an allocation that is far too large with an error in
-- the script, before anything is touched. A CUDA context maps too much for any such bound.
local function data_limit(step)
  if devices.is_exclusive(step.device) or not step.memory_limit then return nil end
  return step.memory_limit + DATA_SLACK
end

--- The command that runs a lab, but for the folder that its results go to, the last word.
---@param step table      of the plan
---@return string[]
function process.command(step)
  local argv = { host.program(), "run", step.path, "--device", step.device }
  if step.check then argv[#argv + 1] = "--check=" .. step.check end
  for _, word in ipairs(step.params) do lists.append(argv, { "-p", word }) end
  return lists.append(lists.append(argv, step.words), { "--out" })
end

--- Starts an attempt in its folder, which is there.
---@param step table
---@param place { folder: string, batch: string, sandbox: table, held: userdata[]?, argv: string[]? }
---       the attempt's folder and the batch's; sandboxes (of lab.sandbox); locks that the supervisor holds; another
---       command than the lab's own, which then runs without a sandbox
---@return userdata child  of host.spawn
function process.start(step, place)
  local box = place.sandbox:of_lab(step, place.batch, place.folder)
  return host.spawn { argv = place.argv or lists.append(process.command(step), { place.folder }),
                      pass = box.pass, env = box.env, sandbox = not place.argv and box.sandbox or nil,
                      log = place.folder .. "/output.txt", ended = place.folder .. ".ended", grace = GRACE,
                      seconds = step.time_limit, memory = step.memory_limit, data = data_limit(step),
                      output = step.output_limit, folder = place.folder, disk = step.disk_limit, files = step.files,
                      processes = step.processes, held = place.held or {} }
end

return process
