-- SPDX-License-Identifier: MIT
--
-- An element of a job array, on its node: runs its labs as a local batch runs them, in the same sandbox and under the
-- same supervisor, and notes each verdict. It reads what the submission wrote before and writes no file of its own but
-- notes, so that the submission may be gone.
-- An attempt belongs to the element that makes its folder: one that a scheduler starts twice runs once.
-- Slurm tells an element that its end is near: SIGINT before the job's time limit (--signal), SIGTERM when it is
-- cancelled. The lab gets the time to write its record.

local environment = require "moonwarp.measure.environment"
local host = require "moonwarp.host"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local notes = require "moonwarp.slurm.notes"
local process = require "moonwarp.lab.process"
local sandbox = require "moonwarp.lab.sandbox"
local verdict = require "moonwarp.lab.verdict"

local element = {}
element.__index = element

local LOOK_SECONDS = 1
local TERM_SECONDS = 0.5 -- Slurm signals every process of a job: a lab may end by it before our own has come

local TOLD = { SIGINT = "its job's time limit was near", SIGTERM = "its job was told to end: cancelled or preempted, "
  .. "or its time was over" }

-- Rank 0 writes the lab's record, the others theirs below it.
local EACH_TASK = 'out=$0; [ "$SLURM_PROCID" = 0 ] || out=$out/task-$SLURM_PROCID; exec "$@" "$out"'

-- ---- an attempt ---------------------------------------------------------------------------------

local function await(child, ending)
  while not ending do
    host.wait({ child }, LOOK_SECONDS)
    ending = child:poll()
  end
  return ending
end

-- Whether Slurm may be the cause.
local function is_suspect(ending)
  return not ending.reason and (ending.signal ~= 0 or ending.exit ~= 0)
end

-- How a child ended. When this process is told to end, it tells the child; told twice, it kills it.
function element:ending_of(child)
  local outcome, ending = host.call(await, child)
  if outcome == "done" and is_suspect(ending) then outcome = host.call(host.wait, {}, TERM_SECONDS) end
  if outcome == "done" then return ending end
  self.told = TOLD[host.caught()]
  if outcome == "failed" then error(ending, 0) end
  if type(ending) == "table" then return ending end
  child:interrupt()
  outcome, ending = host.call(await, child)
  if outcome == "done" then return ending end
  child:kill()
  return await(child)
end

-- Of a lab with several tasks or of MPI's ranks; nil: it is started as everywhere.
local function launcher(step, folder, mpirun)
  if step.mpi then
    return lists.append(lists.append(process.mpirun(step, mpirun), process.command(step)), { folder })
  end
  if not step.tasks then return nil end
  local words = { "/usr/bin/env", "srun", "--ntasks=" .. step.tasks, "--kill-on-bad-exit=1", "/bin/sh", "-c", EACH_TASK,
                  folder }
  return lists.append(words, process.command(step))
end

-- The verdict of an attempt, which is noted; nil if another element has it.
function element:attempt(step, number)
  local place = ledger.place(step.id, number)
  local folder = ("%s/%s"):format(self.folder, place)
  local made, reason = require("lfs").mkdir(folder)
  if not made then return print(("%s: not run here: %s: %s"):format(step.id, folder, reason)) end
  local child <close> = process.start(step, { folder = folder, batch = self.folder, sandbox = self.boxes,
                                              argv = launcher(step, folder, self.mpirun) })
  local ending = verdict.of(step, self:ending_of(child), folder)
  if self.told and ending.verdict ~= "passed" then ending.verdict, ending.message = "killed", self.told end
  ending.run = ending.run and ending.run:sub(#self.folder + 2) -- the batch may be moved
  notes.write(self.folder, place .. ".end", lists.merged(ending, { kind = "end", id = step.id, attempt = number,
    job = self.job, node = self.node, shared = self.shared, date = os.date "!%Y-%m-%dT%H:%M:%SZ",
    sandboxed = not (step.tasks or step.mpi) and not self.boxes.problem, unsandboxed = self.boxes.problem }))
  print(("%s: %s"):format(place, ending.verdict))
  return ending.verdict
end

-- ---- the labs -----------------------------------------------------------------------------------

-- Whether an attempt at a lab that this one needs has passed.
function element:has_passed(id)
  return lists.find(lists.keys(notes.names(self.folder)), function(name)
    local is_own = name == id .. ".end" or name:match "^(.*)%.%d+%.end$" == id
    return is_own and (notes.read(self.folder, name) or {}).verdict == "passed"
  end)
end

function element:run_lab(step, lab)
  local missing = lists.find(lab.needs, function(id) return not self:has_passed(id) end)
  if missing then return print(("%s: not run: %s has not passed"):format(step.id, missing)) end
  local number, tries, is_done = lab.attempt, lab.tries, false
  while not (is_done or self.told) do
    local word = self:attempt(step, number)
    if not word then return end
    number, tries, is_done = number + 1, verdict.after(word, tries, step.retries)
  end
end

--- Runs the labs of an element. What a lab came to is in its note; the element itself ends with an error only if it
--- cannot run labs.
---@param folder string   the batch's
---@param array integer   the array's number
---@param index integer   the element's
function element.run(folder, array, index)
  host.catch_term()
  local head, plan = ledger.head(folder), notes.read(folder, ("array-%d.json"):format(array))
  local labs = plan and plan.elements[index]
  if not labs then error(("%s has no element %d of array %d"):format(folder, index, array), 0) end
  local allocation = environment.allocation() or {}
  local self = setmetatable({ folder = folder, mpirun = head.mpirun, boxes = sandbox.new(head.sandbox or "auto"),
                              node = allocation.node,
                              job = ("%s_%d"):format(os.getenv "SLURM_ARRAY_JOB_ID" or "by hand", index),
                              shared = allocation.shared }, element)
  for _, lab in ipairs(labs) do
    local step = lists.find(head.steps, function(one) return one.id == lab.id end)
    if not self.told then self:run_lab(step, lab) end
  end
end

return element
