-- SPDX-License-Identifier: MIT
--
-- A batch on Slurm: its labs are elements of job arrays, one each (or several, as the site says).
--
--   submitter (this file, a login node)          Slurm                element (element.lua, a node)
--   journal: queue ARRAY NAME LABS
--   sbatch array-N.sh  ----------------------->  job J
--   journal: job ARRAY J                         J_1, J_2, ...  --->  mkdir ID, note ID.begin
--                                                                     the lab: sandbox, supervisor, limits
--   reads notes, asks squeue                                          note ID.end
--   journal: begin, end
--
-- The submitter alone writes the journal, an element alone writes its notes (notes.lua), so either may die at any
-- moment. An array's name is unique and in the journal before sbatch is called: a submitter that
-- died before it knew the job's number finds the job by the name, as it does where sbatch fails though it has queued
-- the job. Should an array run twice for all that, each attempt at a lab belongs to the job that made its folder.
-- A lab has its verdict from the first attempt that counts, in the order of attempts; what comes later is only said.
--
-- The queue is never believed to know everything: a job that is over, or unknown, and has left no verdict is looked for
-- as long as the site's patience says, since a shared file system shows files late; then Slurm's accounting and the
-- job's own output say why it ended. That is the verdict "killed", which --resume runs again.
-- Labs that need others are in later arrays, which wait for the earlier ones (--dependency).

local batch = require "moonwarp.lab.batch"
local amount = require "moonwarp.lab.amount"
local arrays = require "moonwarp.slurm.arrays"
local core = require "moonwarp.core"
local ending = require "moonwarp.slurm.ending"
local failure = require "moonwarp.base.failure"
local host = require "moonwarp.host"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local notes = require "moonwarp.slurm.notes"
local queue = require "moonwarp.slurm.queue"
local units = require "moonwarp.base.units"
local verdict = require "moonwarp.lab.verdict"

local slurm = setmetatable({}, { __index = batch })
slurm.__index = slurm

local LOOK_SECONDS = 0.5 -- how often notes are looked for
local SIGKILL = 9

-- ---- what is there ------------------------------------------------------------------------------

--- What ended is known from the journal; what began and did not end, from notes.
---@param step table
---@param attempts table?
function slurm:take_over(step, attempts)
  local state = self.states[step.id]
  for _, number in ipairs(lists.keys(attempts or {})) do
    local attempt = attempts[number]
    if attempt.ending then
      self:settle(step, attempt.ending)
      state.attempts, state.shared = number, state.shared or attempt.ending.shared
      if number > 0 then state.sandboxed = attempt.sandboxed end
    end
  end
end

--- A batch over a ledger, whose head.slurm is of slurm.site.
---@param book table        of ledger.create or ledger.open
---@param screen table      of lab.screen
---@param words string[]?   more words for sbatch, of this part of the batch
---@return table
function slurm.new(book, screen, words)
  require("lfs").mkdir(notes.folder(book.folder))
  local self = batch.new(book, { screen = screen, class = slurm })
  local site = book.head.slurm
  self.site = lists.merged(site, { options = lists.append(lists.append({}, site.options), words) })
  self.folder = book.folder:sub(1, 1) == "/" and book.folder or require("lfs").currentdir() .. "/" .. book.folder
  self.arrays, self.flight, self.begun, self.amended = arrays.of(book.lines), {}, {}, {}
  self.late, self.longest, self.by_id = 0, 0, {}
  for _, step in ipairs(self.steps) do self.by_id[step.id] = step end
  return self
end

-- ---- submitting ---------------------------------------------------------------------------------

-- Labs of an array that are not done are on their way; the last array that has a lab counts.
function slurm:fly(array)
  array.rows, array.gone = nil, {}
  for index, ids in ipairs(array.elements) do
    for _, id in ipairs(ids) do
      if self.states[id] and not self.states[id].done then self.flight[id] = { array = array, index = index } end
    end
  end
end

-- Arrays that an earlier submitter queued, or was about to queue. One of which no number is known and that is not in
-- the queue may have run and left notes; if it has not, its labs are queued anew.
function slurm:adopt()
  for _, array in ipairs(self.arrays) do
    if not array.job then
      if arrays.find(array) == nil then
        failure.raise_as("usage", "squeue does not answer, so whether %s is queued is not known; try again later",
          array.name)
      end
      if array.job then self:note("job", { array = array.number, job = array.job }) end
    end
    if array.job then self:fly(array) end
  end
end

-- Follows the jobs of earlier submitters until nothing is left of those that are over, so that only labs are queued
-- again that have no verdict.
function slurm:settle_lost()
  self:follow(-math.huge, function()
    return lists.find(self.steps, function(step)
      local flight = self.flight[step.id]
      return flight and (not flight.array.rows or flight.array.gone[flight.index])
    end) ~= nil
  end)
end

-- An attempt whose folder is there belongs to a job.
function slurm:next_attempt(step)
  local number = self.states[step.id].attempts + 1
  while require("lfs").attributes(self:folder_of(step, number), "mode") do number = number + 1 end
  return number
end

-- The labs that a lab still waits for.
function slurm:open_needs(id)
  return lists.map(self.by_id[id].needs, function(need) return not self.states[need].done and need or nil end)
end

-- What an element has to know of a lab.
function slurm:lab_of(id)
  local step = self.by_id[id]
  return { id = id, needs = self:open_needs(id), attempt = self:next_attempt(step),
           tries = self.states[id].tries }
end

-- Jobs of labs that an array's labs need.
function slurm:jobs_before(array)
  local jobs = {}
  for _, ids in ipairs(array.elements) do
    for _, id in ipairs(ids) do
      for _, need in ipairs(self:open_needs(id)) do
        local flight = self.flight[need]
        if flight and flight.array ~= array then jobs[#jobs + 1] = flight.array.job end
      end
    end
  end
  return lists.unique(jobs)
end

--- Writes the arrays of all labs that are neither done nor on their way.
---@return table[] arrays
function slurm:prepare()
  local steps = lists.map(self.steps, function(step)
    local is_open = not self.states[step.id].done and not self.flight[step.id]
    return is_open and not self:settle_needs(step) and step or nil
  end)
  local last = self.arrays[#self.arrays]
  local made = arrays.new(steps, last and last.number + 1 or 1, self.folder:match "[^/]+$", self.site)
  for _, array in ipairs(made) do
    arrays.write(array, self.folder, self.site, function(id) return self:lab_of(id) end)
    self:note("queue", { array = array.number, name = array.name, elements = array.elements })
    self.arrays[#self.arrays + 1] = array
  end
  return made
end

-- Notes an array that sbatch has just queued, and says it.
function slurm:follow_job(array)
  self:note("job", { array = array.number, job = array.job })
  self:fly(array)
  local limit = self.site.array_limit and (", at most %d at a time"):format(self.site.array_limit) or ""
  local count = units.count(#array.elements, "element")
  self.screen:line(("job %s: %s%s (%s)"):format(array.job, count, limit, array.name))
end

function slurm:submit()
  self:adopt()
  self:collect()
  self:settle_lost()
  for _, array in ipairs(self:prepare()) do
    local interruption = arrays.queue(array, self.folder, self.site, self:jobs_before(array))
    if array.job then self:follow_job(array) end
    if interruption then error(interruption, 0) end
  end
end

-- ---- notes of elements --------------------------------------------------------------------------

-- Skips a lab that can never run. True if it did.
function slurm:settle_needs(step)
  local unmet = self:unmet(step)
  if not step.device then unmet = "none of its devices is usable there" end
  if not unmet or unmet == "later" then return false end
  self:skip(step, unmet)
  return true
end

function slurm:see_begin(step, number)
  local place = ledger.place(step.id, number)
  local begin = not self.begun[place] and notes.read(self.folder, place .. ".begin")
  if not begin then return end
  self.begun[place] = begin
  self.sandbox = self.sandbox or { problem = begin.unsandboxed }
  local one = { step = step, attempt = number, began = core.clock() }
  self.running[#self.running + 1] = one
  self.screen:begin(one, { attempts = number })
end

-- Notes how an attempt ended, and says it.
function slurm:conclude(step, number, result)
  local state, begin = self.states[step.id], self.begun[ledger.place(step.id, number)] or {}
  local one = lists.find(self.running, function(running) return running.step == step end) or { step = step }
  self.running = lists.map(self.running, function(running) return running.step ~= step and running or nil end)
  self:note("begin", { id = step.id, attempt = number, sandboxed = begin.sandboxed })
  self:note_end(step, number, result)
  state.attempts, state.sandboxed, state.shared = number, begin.sandboxed, result.shared
  self:settle(step, result)
  self.screen:finish(one, result, state.done)
end

-- A verdict may come long after its job has left the queue: how long is counted.
function slurm:count_late(flight)
  local since = flight and flight.array.gone[flight.index]
  if not since then return end
  self.late, self.longest = self.late + 1, math.max(self.longest, core.clock() - since)
end

-- The state of a lab's job, if it is known to be over.
local function state_of(flight)
  local row = flight and flight.array.rows and flight.array.rows[flight.index]
  return row and queue.is_ended(row.state) and row.state or nil
end

-- The end of an attempt as its element has it; nil: not yet to be judged. A lab that SIGKILL ended while its element
-- lived may have met the limit of the job's memory, which only the job's state says.
function slurm:read_end(step, number, flight)
  local line, problem = notes.read(self.folder, ledger.place(step.id, number) .. ".end")
  if problem then return { verdict = "killed", message = "its verdict is not in order: " .. problem } end
  if not line then return nil end
  line.run = line.run and ("%s/%s"):format(self.book.folder, line.run)
  if line.signal ~= SIGKILL or line.reason or not flight then return line end
  local is_over = state_of(flight) or flight.array.gone[flight.index]
  if is_over and state_of(flight) == "OUT_OF_MEMORY" then
    line.verdict, line.message = "killed", ending.text("OUT_OF_MEMORY")
  end
  return is_over and line or nil
end

-- How an attempt ended that left no end, if the lab began again: for an element that Slurm has started twice.
function slurm:superseded(step, number, names)
  local next_place = ledger.place(step.id, number + 1)
  local later = names[next_place .. ".begin"] and notes.read(self.folder, next_place .. ".begin")
  local begin = self.begun[ledger.place(step.id, number)] or {}
  if not later or later.job == begin.job and later.restart == begin.restart then return nil end
  return { verdict = "killed", message = "its job was begun again: the lab runs once more", job = begin.job }
end

-- Takes the verdict of an attempt that was given up, if it has come after all. One that was judged has a signal.
function slurm:amend(step, names)
  local state = self.states[step.id]
  local place = ledger.place(step.id, state.attempts)
  local is_given_up = state.result and state.result.verdict == "killed" and not state.result.signal
  if not (is_given_up and names[place .. ".end"]) or self.amended[place] then return end
  self.amended[place] = true
  local result = self:read_end(step, state.attempts, nil)
  if result and result.verdict ~= "killed" then self:conclude(step, state.attempts, result) end
end

-- Takes what there is of a lab, attempt by attempt.
function slurm:collect_lab(step, names)
  local state, flight = self.states[step.id], self.flight[step.id]
  self:amend(step, names)
  while not state.done do
    local number = state.attempts + 1
    local place = ledger.place(step.id, number)
    if names[place .. ".begin"] then self:see_begin(step, number) end
    local result = names[place .. ".end"] and self:read_end(step, number, flight)
    if result then self:count_late(flight) else result = self:superseded(step, number, names) end
    if not result then return end
    self:conclude(step, number, result)
  end
end

--- Takes all notes that there are.
function slurm:collect()
  local names = notes.names(self.folder)
  for _, step in ipairs(self.steps) do
    if not self.states[step.id].done then
      if next(names) then self:collect_lab(step, names) end
      if not self.states[step.id].done then self:settle_needs(step) end
    end
    if self.states[step.id].done then self.flight[step.id] = nil end
  end
end

-- ---- the queue ----------------------------------------------------------------------------------

function slurm:arrays_in_flight()
  return lists.unique(lists.map(self.steps, function(step)
    local flight = self.flight[step.id]
    return flight and flight.array
  end))
end

-- One line about what waits, drawn below what runs, or said when it changes.
function slurm:show_waiting()
  local reasons, waiting = {}, 0
  for _, array in ipairs(self:arrays_in_flight()) do
    for _, row in pairs(array.rows or {}) do
      if row.state == "PENDING" then
        waiting, reasons[row.reason ~= "None" and row.reason or "waiting"] = waiting + 1, true
      end
    end
  end
  local words = table.concat(lists.keys(reasons), ", ")
  self.screen.waits.queue = waiting > 0 and ("%s in the queue: %s"):format(units.count(waiting, "job"), words) or nil
  if not self.screen.live and waiting > 0 and words ~= self.said then self.screen:line(self.screen.waits.queue) end
  self.said = words
end

-- Which elements are over or unknown, since when.
local function mark_gone(array)
  local now = core.clock()
  for index in ipairs(array.elements) do
    local row = array.rows[index]
    local is_gone = not row or queue.is_ended(row.state)
    array.gone[index] = is_gone and (array.gone[index] or now) or nil
  end
end

function slurm:ask_queue()
  local flying = self:arrays_in_flight()
  local rows, problem = queue.look(lists.map(flying, function(array) return array.name end))
  if not rows then
    if not self.unanswered then self.screen:say("squeue does not answer: " .. problem .. "; waiting for verdicts") end
    self.unanswered = true
    return
  end
  self.unanswered = false
  for _, array in ipairs(flying) do
    array.rows = {}
    for _, row in ipairs(rows) do
      if row.name == array.name and row.index then array.rows[row.index] = row end
    end
  end
  self:show_waiting()
end

-- Asks the queue. A job that is over is missed only if its verdict is not to be seen after the queue's answer.
function slurm:look_around()
  self:ask_queue()
  self:collect()
  for _, array in ipairs(self:arrays_in_flight()) do
    if array.rows then mark_gone(array) end
  end
  self:give_up()
end

-- ---- what is lost -------------------------------------------------------------------------------

local function name_of(flight)
  return ("%s_%d"):format(flight.array.job, flight.index)
end

-- Why an element is over, and on which node it was.
function slurm:cause(flight)
  local array, index = flight.array, flight.index
  local row, log = array.rows and array.rows[index], arrays.output(array, index, self.folder)
  local state = row and row.state
  if not ending.is_forced(state) and array.job then
    array.past = array.past or queue.past(array.job)
    state = array.past[index] or state
  end
  if not ending.is_forced(state) then state = ending.traced(log) or state end
  local place = row and row.node ~= "" and " on " .. row.node or ""
  return state, ("%s (%sjob %s%s)"):format(ending.text(state, log, self.site.patience),
    state and "Slurm: " .. state .. ", " or "", name_of(flight), place)
end

-- How an attempt ended whose element left no verdict. What the supervisor noted counts, unless Slurm ended the lab too.
function slurm:lost(step, number, flight)
  local state, text = self:cause(flight)
  local folder = self:folder_of(step, number)
  local found = not ending.is_forced(state) and verdict.recover(folder)
  if found then return verdict.of(step, found, folder) end
  if not self.begun[ledger.place(step.id, number)] then text = "before it began, " .. text end
  return { verdict = "killed", message = text, job = name_of(flight) }
end

-- Gives up labs whose job is over for longer than a reader has to wait.
function slurm:give_up()
  local now = core.clock()
  for _, step in ipairs(self.steps) do
    local flight = self.flight[step.id]
    local since = flight and flight.array.gone[flight.index]
    local last = self.states[step.id].result
    if since and (last and last.job == name_of(flight) or self:unmet(step)) then
      self.flight[step.id] = nil
    elseif since and now - since >= self.site.patience then
      local number = self.states[step.id].attempts + 1
      self:conclude(step, number, self:lost(step, number, flight))
      self.flight[step.id] = nil
    end
  end
end

-- ---- the batch ----------------------------------------------------------------------------------

-- Attempts after the one that counted.
function slurm:say_repeated()
  local names = notes.names(self.folder)
  for _, step in ipairs(self.steps) do
    local state = self.states[step.id]
    local place = ledger.place(step.id, state.attempts + 1)
    if state.done and names[place .. ".begin"] then
      self.screen:say(("%s ran again as %s after its verdict, which stays"):format(step.id, place))
    end
  end
end

-- Takes verdicts as they come, and asks the queue at intervals, until nothing is left; asked: when it last answered.
function slurm:follow(asked, is_left)
  while is_left() do
    self.screen:draw(self)
    self:collect()
    if is_left() and core.clock() - asked >= self.site.poll then
      self:look_around()
      asked = core.clock()
    end
    if is_left() then host.wait({}, math.min(self.screen:pause(), LOOK_SECONDS, self.site.poll)) end
  end
end

--- Queues what is left to do and follows it to the end. An interruption is raised as an error; the jobs stay.
function slurm:run()
  self:submit()
  self:follow(core.clock(), function() return next(self.flight) ~= nil end) -- sbatch has just answered
  self:say_repeated()
  if self.late > 0 then
    self.screen:say(("%s came after its job had left the queue, the latest by %s; the site's patience is %s"):format(
      units.count(self.late, "verdict"), amount.clock(self.longest), amount.clock(self.site.patience)))
  end
end

--- The numbers of the jobs that still have labs.
---@return string[]
function slurm:job_numbers()
  return lists.map(self:arrays_in_flight(), function(array) return array.job end)
end

return slurm
