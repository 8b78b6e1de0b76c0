-- SPDX-License-Identifier: MIT
--
-- A lab's process: under a supervisor, with the lab's limits, in its sandbox.

local core = require "moonwarp.core"
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
  if step.mpi then argv[5], argv[6] = core.device_word(step.device).backend, "--mpi" end -- each rank takes its own
  if step.check then argv[#argv + 1] = "--check=" .. step.check end
  for _, key in ipairs { "input", "expected" } do
    if step[key] then lists.append(argv, { "--" .. key, step[key] }) end
  end
  for _, word in ipairs(step.params) do lists.append(argv, { "-p", word }) end
  return lists.append(lists.append(argv, step.words), { "--out" })
end

--- What starts the ranks of an MPI lab: before its command.
---@param step table
---@param mpirun string[]?  the site's words
---@return string[]
function process.mpirun(step, mpirun)
  local words = { "/usr/bin/env", table.unpack(mpirun or { "mpirun" }) }
  return lists.append(words, { "-n", tostring(step.tasks or 1) })
end

-- OpenMPI asks before root starts ranks, or more than there are cores. In a sandbox ranks reach each other by shared
-- memory of POSIX, OpenMPI's and those of UCX, as MPICH's. What the user has set stands.
local MPI <const> = { OMPI_ALLOW_RUN_AS_ROOT = "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1",
                      OMPI_MCA_rmaps_base_oversubscribe = "1" }
local ALONE <const> = { OMPI_MCA_btl = "self,vader", OMPI_MCA_btl_vader_single_copy_mechanism = "none",
                        OMPI_MCA_pml = "ob1", UCX_TLS = "self,posix" }

local function add_variables(box, step)
  for name, value in pairs(step.mpi and lists.merged(MPI, box.sandbox and ALONE) or {}) do
    if not os.getenv(name) then table.insert(box.env, ("%s=%s"):format(name, value)) end
  end
  return box
end

--- Starts an attempt in its folder, which is there.
---@param step table
---@param place { folder: string, batch: string, sandbox: table, held: userdata[]?, argv: string[]?, mpirun: string[]? }
---       the attempt's folder and the batch's; sandboxes (of lab.sandbox); locks that the supervisor holds; another
---       command than the lab's own, which then runs without a sandbox; the site's words for MPI
---@return userdata child  of host.spawn
function process.start(step, place)
  local box = place.sandbox:of_lab(step, place.batch, place.folder)
  if place.argv then box.sandbox = nil end
  add_variables(box, step)
  local command = lists.append(step.mpi and process.mpirun(step, place.mpirun) or {}, process.command(step))
  return host.spawn { argv = place.argv or lists.append(command, { place.folder }),
                      pass = box.pass, env = box.env, sandbox = box.sandbox,
                      log = place.folder .. "/output.txt", ended = place.folder .. ".ended", grace = GRACE,
                      seconds = step.time_limit, memory = step.memory_limit, data = data_limit(step),
                      output = step.output_limit, folder = place.folder, disk = step.disk_limit, files = step.files,
                      processes = step.processes, held = place.held or {} }
end

return process
