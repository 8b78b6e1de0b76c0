-- SPDX-License-Identifier: MIT
--
-- A batch on Slurm: its labs are elements of job arrays, one each (or several, as the site says).
--
--   submission (this file, a login node)         Slurm                element (element.lua, a node)
--   journal: queue ARRAY NAME LABS
--   sbatch array-N.sh  ----------------------->  job J
--   journal: job ARRAY J, and ends               J_1, J_2, ...  --->  mkdir ID
--                                                                     the lab: sandbox, supervisor, limits
--   --resume: asks squeue, reads notes,          <----------------    note ID.end
--   journal: begin, end; queues the rest
--
-- A submission alone writes the journal, an element alone its notes (notes.lua), so either may die at any moment. An
-- array's name is unique and in the journal before sbatch is called: a job whose number nobody has read is found by its
-- name. Should a lab be queued twice for all that, the element that makes its attempt's folder runs it.
-- squeue is asked before notes are read: an element that has left the queue has left its note. One without a note is
-- "killed" once, which is said; a later --resume queues its lab again, and takes the note if it comes late.
-- Labs that need others are in later arrays, which wait for the earlier ones (--dependency).

local batch = require "moonwarp.lab.batch"
local failure = require "moonwarp.base.failure"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local notes = require "moonwarp.slurm.notes"
local path = require "moonwarp.base.path"
local queue = require "moonwarp.slurm.queue"
local script = require "moonwarp.slurm.script"
local units = require "moonwarp.base.units"
local verdict = require "moonwarp.lab.verdict"

local submission = setmetatable({}, { __index = batch })
submission.__index = submission

local REASON <const> = "its job left no verdict; its output is in %s, and sacct --jobs=%s "
  .. "--format=JobID,State,ExitCode,Elapsed,MaxRSS,NodeList tells the reason"

-- The element of a lab is that of the last array which has it.
function submission:place(array)
  self.arrays[array.array] = array
  for index, ids in ipairs(array.elements) do
    for _, id in ipairs(ids) do self.placed[id] = { array = array, index = index } end
  end
end

--- A batch over a ledger, whose head.slurm is of slurm.site.
---@param book table        of ledger.create or ledger.open
---@param screen table      of lab.screen
---@param words string[]?   more words for sbatch, of this part of the batch
---@return table
function submission.new(book, screen, words)
  local lfs, site = require "lfs", book.head.slurm
  lfs.mkdir(notes.file(book.folder))
  local self = batch.new(book, { screen = screen, class = submission })
  self.site = lists.merged(site, { options = lists.append(lists.append({}, site.options), words) })
  self.folder = book.folder:sub(1, 1) == "/" and book.folder or ("%s/%s"):format(lfs.currentdir(), book.folder)
  self.arrays, self.placed = {}, {}
  for _, line in ipairs(book.lines) do
    if line.kind == "queue" then self:place(lists.merged(line)) end
    if line.kind == "job" and self.arrays[line.array] then self.arrays[line.array].job = line.job end
  end
  return self
end

-- ---- verdicts -----------------------------------------------------------------------------------

-- Notes how an attempt ended, and says it.
function submission:conclude(step, number, result)
  local state = self.states[step.id]
  state.attempts, state.sandboxed = number, result.sandboxed
  self.has_killed = self.has_killed or result.verdict == "killed"
  self.sandbox = self.sandbox or { problem = result.unsandboxed }
  self:note("begin", { id = step.id, attempt = number, sandboxed = result.sandboxed })
  self:note_end(step, number, result)
  self:settle(step, result)
  self.screen:finish({ step = step }, result, state.done)
end

function submission:take(step, number)
  local ending = notes.read(self.folder, ledger.place(step.id, number) .. ".end")
  local is_known = number == self.states[step.id].attempts and ending and ending.verdict == "killed"
  if not ending or is_known then return false end
  ending.run = ending.run and ("%s/%s"):format(self.book.folder, ending.run)
  self:conclude(step, number, ending)
  return true
end

-- Takes the verdicts that a lab's elements have left; also one that comes after its lab was given up.
function submission:take_all(step)
  local state = self.states[step.id]
  if state.result and state.result.verdict == "killed" then self:take(step, state.attempts) end
  while not state.done and self:take(step, state.attempts + 1) do end
end

-- How an attempt ended that left no verdict. What its supervisor noted counts, unless a signal of Slurm's ended it.
function submission:give_up(step, place, name)
  local number = self.states[step.id].attempts + 1
  local folder, output = self:folder_of(step, number), ("array-%d-%d.txt"):format(place.array.array, place.index)
  local found = verdict.recover(folder)
  local result = found and found.signal == 0 and verdict.of(step, found, folder)
    or { verdict = "killed", message = REASON:format(notes.file(self.book.folder, output), name) }
  result.job = name
  self:conclude(step, number, result)
end

-- What is known of a lab without a verdict; jobs: of queue.look.
function submission:look_for(step, jobs)
  local result, place = self.states[step.id].result, self.placed[step.id]
  local job, name = jobs[place.array.name], place.array.job and ("%s_%d"):format(place.array.job, place.index)
  if job and job[place.index] then return end
  self.placed[step.id] = nil
  local is_told = result and result.verdict == "killed" and result.job == name
  if name and not is_told and not self:unmet(step) then self:give_up(step, place, name) end
end

-- Skips a lab that can never run, and takes what there is of any other.
function submission:collect_lab(step, jobs)
  local state = self.states[step.id]
  self:take_all(step)
  if state.done then return end
  local obstacle = not step.device and "none of its devices is usable there" or self:unmet(step)
  if obstacle and obstacle ~= "later" then
    self:skip(step, obstacle)
  elseif jobs and self.placed[step.id] then
    self:look_for(step, jobs)
  end
end

-- What is in the queue has no other verdict.
function submission:mark()
  for _, step in ipairs(self.steps) do
    local state = self.states[step.id]
    if self.placed[step.id] and not state.done then state.result = { verdict = "queued" } end
  end
end

--- Takes the verdicts that there are.
---@return string? problem  why it is not known what is in the queue
function submission:collect()
  local jobs, problem = queue.look(lists.map(self.arrays, function(array) return array.name end))
  for _, array in ipairs(jobs and self.arrays or {}) do
    local job = jobs[array.name]
    if job and not array.job then
      array.job = job.job
      self:note("job", { array = array.array, job = job.job })
    end
  end
  notes.names(self.folder) -- makes a client of NFS look at the server
  for _, step in ipairs(self.steps) do self:collect_lab(step, jobs) end
  self:mark()
  return problem
end

-- ---- the queue ----------------------------------------------------------------------------------

--- The numbers of the jobs that have labs in the queue.
---@return string[]
function submission:jobs_in_queue()
  return lists.unique(lists.map(self.steps, function(step)
    return not self.states[step.id].done and self.placed[step.id] and self.placed[step.id].array.job or nil
  end))
end

-- The labs that are in no job, by the depth of their needs and the number of their tasks, which all elements of an
-- array share; the least depth first.
function submission:groups()
  local depth, groups = {}, {}
  for _, step in ipairs(self.steps) do
    if not self.states[step.id].done then
      local own = 1
      for _, need in ipairs(step.needs) do own = math.max(own, 1 + (depth[need] or 0)) end
      depth[step.id] = own
      if not self.placed[step.id] then
        local key = ("%d/%d"):format(own, step.tasks or 1)
        local group = lists.entry(groups, groups, key, { depth = own, tasks = step.tasks, steps = {} })
        table.insert(group.steps, step)
      end
    end
  end
  table.sort(groups, function(a, b) return a.depth < b.depth end)
  return groups
end

local function chunks(list, most)
  local all = {}
  for i = 1, #list, most do all[#all + 1] = table.move(list, i, math.min(i + most - 1, #list), 1, {}) end
  return all
end

-- What an element has to know of its labs.
function submission:labs_of(steps)
  return lists.map(steps, function(step)
    local state = self.states[step.id]
    return { id = step.id, attempt = state.attempts + 1, tries = state.tries,
             needs = lists.filter(step.needs, function(need) return not self.states[need].done end) }
  end)
end

-- Writes the files of an array, and notes it.
function submission:write(group, elements)
  local number, name = #self.arrays + 1, path.safe(self.folder:match "[^/]+$")
  local labs = lists.map(elements, function(steps) return self:labs_of(steps) end)
  local array = { array = number, name = ("mw-%s-%08x-%d"):format(name, math.random(0, 0xffffffff), number),
                  depth = group.depth, tasks = group.tasks,
                  elements = lists.map(labs, function(own) return lists.map(own, function(lab) return lab.id end) end) }
  notes.write(self.folder, ("array-%d.json"):format(number), { elements = labs })
  array.file = notes.write(self.folder, ("array-%d.sh"):format(number), script.text(array, self.folder, self.site))
  self:note("queue", { array = number, name = array.name, elements = array.elements })
  self.arrays[number] = array
  return array
end

--- Writes the arrays of all labs that have no verdict and are in no job.
---@return table[] arrays
function submission:prepare()
  local made, most = {}, nil
  for _, group in ipairs(self:groups()) do
    most = most or queue.most_elements()
    for _, elements in ipairs(chunks(chunks(group.steps, self.site.labs_per_job), most)) do
      made[#made + 1] = self:write(group, elements)
    end
  end
  return made
end

--- Queues them, and says the number of each job and how it is cancelled.
function submission:submit()
  for _, array in ipairs(self:prepare()) do
    local words, before = script.words(array, self.folder, self.site), array.depth > 1 and self:jobs_in_queue() or {}
    if #before > 0 then words[#words + 1] = "--dependency=afterany:" .. table.concat(before, ":") end
    local job, problem = queue.submit(array.file, words)
    if not job then
      failure.raise_as("usage", "sbatch does not queue %s: %s; moonwarp batch --resume %s tries again, also with other "
        .. "options", array.file, problem, path.word(self.book.folder))
    end
    array.job = job
    self:note("job", { array = array.array, job = job })
    self:place(array)
    local limit = self.site.array_limit and (", at most %d at a time"):format(self.site.array_limit) or ""
    self.screen:line(("job %s: %s%s; scancel %s cancels it"):format(job, units.count(#array.elements, "element"), limit,
      job))
  end
  self:mark()
end

return submission
