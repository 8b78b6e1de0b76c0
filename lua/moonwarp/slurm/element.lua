-- SPDX-License-Identifier: MIT
--
-- An element of a job array, on its node: runs its labs as a local batch runs them, in the same sandbox and under the
-- same supervisor, and notes each verdict. It reads what the submitter wrote before and writes no file of the
-- submitter's, so that the submitter may be gone.
-- An attempt belongs to the element that made its folder. One that a scheduler started twice thus runs once; one that
-- it began again after a failure takes the next attempt.
-- Slurm tells an element that its end is near: SIGINT before the job's time limit (--signal), SIGTERM when it is
-- cancelled. The lab gets the time to write its record.

local core = require "moonwarp.core"
local environment = require "moonwarp.measure.environment"
local host = require "moonwarp.host"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local notes = require "moonwarp.slurm.notes"
local process = require "moonwarp.lab.process"
local queue = require "moonwarp.slurm.queue"
local sandbox = require "moonwarp.lab.sandbox"
local verdict = require "moonwarp.lab.verdict"

local element = {}
element.__index = element

local EEXIST = 17 -- of mkdir(2), as Linux has it
local LOOK_SECONDS = 1
local TERM_SECONDS = 0.5 -- Slurm signals every process of a job: a lab may end by it before our own has come

local TOLD = { SIGINT = "its job's time limit was near", SIGTERM = "its job was told to end: cancelled or preempted, "
  .. "or its time was over" }

-- Rank 0 writes the lab's record, the others theirs below it.
local EACH_TASK = 'out=$0; [ "$SLURM_PROCID" = 0 ] || out=$out/task-$SLURM_PROCID; exec "$@" "$out"'

-- ---- whose an attempt is ------------------------------------------------------------------------

local function place_of(step, attempt, kind)
  return ("%s.%s"):format(ledger.place(step.id, attempt), kind)
end

-- An attempt that an earlier start of this very element began.
function element:is_own(step, attempt)
  local begin = notes.read(self.folder, place_of(step, attempt, "begin"))
  return self.restart > 0 and (not begin or begin.job == self.job)
end

-- Makes the folder of an attempt. False if it is there already.
function element:take(step, number)
  local lfs, folder = require "lfs", self:folder_of(step, number)
  local made, reason, code = lfs.mkdir(folder)
  if not made and code ~= EEXIST then error(("the folder %s cannot be made: %s"):format(folder, reason), 0) end
  return made ~= nil
end

-- The number of a new attempt, and how many before it count; nil if the lab has its verdict, or if another job has it.
function element:claim(step, lab)
  local number, tries = lab.attempt, lab.tries
  while not self:take(step, number) do
    local ending, is_done = notes.read(self.folder, place_of(step, number, "end")), false
    if ending then tries, is_done = verdict.after(ending.verdict, tries, step.retries) end
    if is_done or not (ending or self:is_own(step, number)) then
      print(("%s: not run again: %s"):format(step.id, is_done and "it has its verdict" or "another job has it"))
      return nil
    end
    number = number + 1
  end
  return number, tries
end

function element:folder_of(step, attempt)
  return ("%s/%s"):format(self.folder, ledger.place(step.id, attempt))
end

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

-- Of a lab with several tasks; nil: it is started as everywhere.
local function srun(step, folder)
  if not step.tasks then return nil end
  local words = { queue.find "srun" or "srun", "--ntasks=" .. step.tasks, "--kill-on-bad-exit=1", "/bin/sh", "-c",
                  EACH_TASK, folder }
  return lists.append(words, process.command(step))
end

function element:note_begin(step, attempt)
  notes.write(self.folder, place_of(step, attempt, "begin"),
    { job = self.job, restart = self.restart, node = self.node, date = os.date "!%Y-%m-%dT%H:%M:%SZ",
      sandboxed = not step.tasks and not self.boxes.problem, unsandboxed = self.boxes.problem })
end

function element:note_end(step, attempt, ending)
  ending.run = ending.run and ending.run:sub(#self.folder + 2) -- the batch may be moved
  local line = lists.merged(ending, { kind = "end", id = step.id, attempt = attempt, job = self.job, node = self.node,
                                      shared = self.shared, date = os.date "!%Y-%m-%dT%H:%M:%SZ" })
  notes.write(self.folder, place_of(step, attempt, "end"), line)
end

function element:attempt(step, number)
  local folder = self:folder_of(step, number)
  self:note_begin(step, number)
  local child <close> = process.start(step, { folder = folder, batch = self.folder, sandbox = self.boxes,
                                              argv = srun(step, folder) })
  local ending = verdict.of(step, self:ending_of(child), folder)
  if self.told and ending.verdict ~= "passed" then ending.verdict, ending.message = "killed", self.told end
  self:note_end(step, number, ending)
  print(("%s: %s"):format(ledger.place(step.id, number), ending.verdict))
  return ending.verdict
end

-- ---- the labs -----------------------------------------------------------------------------------

-- Whether a lab that this one needs has passed: its verdict may be on its way from another node.
function element:has_passed(id)
  local deadline = core.clock() + self.patience
  repeat
    local names, number = notes.names(self.folder), 1
    while names[ledger.place(id, number) .. ".begin"] or names[ledger.place(id, number) .. ".end"] do
      local ending = notes.read(self.folder, ledger.place(id, number) .. ".end")
      if ending and ending.verdict == "passed" then return true end
      number = number + 1
    end
    local last = number > 1 and notes.read(self.folder, ledger.place(id, number - 1) .. ".end")
    if last then return false end
    host.wait({}, math.min(LOOK_SECONDS, self.patience))
  until core.clock() >= deadline
  return false
end

function element:run_lab(step, lab)
  local missing = lists.find(lab.needs, function(id) return not self:has_passed(id) end)
  if missing then return print(("%s: not run: %s has not passed"):format(step.id, missing)) end
  local number, tries = self:claim(step, lab)
  while number do
    local is_done
    tries, is_done = verdict.after(self:attempt(step, number), tries, step.retries)
    if self.told or is_done then return end
    number, tries = self:claim(step, { attempt = number + 1, tries = tries })
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
  local self = setmetatable({ folder = folder, boxes = sandbox.new(head.sandbox or "auto"), node = allocation.node,
                              job = ("%s_%d"):format(os.getenv "SLURM_ARRAY_JOB_ID" or "by hand", index),
                              restart = math.tointeger(tonumber(os.getenv "SLURM_RESTART_COUNT" or "0")) or 0,
                              shared = allocation.shared, patience = head.slurm.patience }, element)
  for _, lab in ipairs(labs) do
    local step = lists.find(head.steps, function(one) return one.id == lab.id end)
    if not self.told then self:run_lab(step, lab) end
  end
end

return element
