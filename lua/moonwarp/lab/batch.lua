-- SPDX-License-Identifier: MIT
--
-- A batch at work: starts the steps of a plan in order, each in its own process, and notes what
-- becomes of them. It knows what is done only from the ledger, so continuing after a kill -9 is the
-- same work as beginning.

local core = require "moonwarp.core"
local devices = require "moonwarp.lab.devices"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local ledger = require "moonwarp.lab.ledger"
local process = require "moonwarp.lab.process"
local utf8text = require "moonwarp.base.utf8text"
local verdict = require "moonwarp.lab.verdict"

local batch = {}
batch.__index = batch

local LOCK_SECONDS = 0.25         -- how often a GPU that others use is asked for
local LOOK_SECONDS = 1            -- how often it is asked whether a supervisor has been stopped
local SIGKILL = 9

-- ---- what is there ------------------------------------------------------------------------------

function batch:settle(step, ending)
  local state = self.states[step.id]
  state.tries, state.done = verdict.after(ending.verdict, state.tries, step.retries)
  state.result = ending
end

-- Attempts that began and have no end: the batch was killed. What ended all the same is judged now,
-- what did not is marked, and begins again.
function batch:take_over(step, attempts)
  attempts = attempts or {}
  if attempts[0] then return self:settle(step, attempts[0].ending) end -- skipped
  for number, attempt in ipairs(attempts) do
    self.states[step.id].attempts, self.states[step.id].sandboxed = number, attempt.sandboxed
    local ending = attempt.ending
    if not ending then
      local folder = self:folder_of(step, number)
      ending = verdict.recover(folder)
      ending = ending and verdict.of(step, ending, folder) or { verdict = "killed", message = "killed with the batch" }
      self:note_end(step, number, ending)
    end
    self:settle(step, ending)
  end
end

--- A batch over a ledger.
---@param book table          of ledger.create or ledger.open
---@param options table       jobs, found (of devices.look), screen (of lab.screen), sandbox (of
---                          lab.sandbox); class: another than this one, which inherits from it
---@return table
function batch.new(book, options)
  local self = setmetatable({ book = book, steps = book.head.steps, jobs = options.jobs or 1, states = {},
                              found = options.found, screen = options.screen, sandbox = options.sandbox,
                              running = {},
                              began = core.clock() }, options.class or batch)
  local attempts = book:attempts()
  for _, step in ipairs(self.steps) do
    self.states[step.id] = { tries = 0, attempts = 0 }
    self:take_over(step, attempts[step.id])
    if self.states[step.id].done then self.screen:done_before() end
  end
  return self
end

function batch:folder_of(step, attempt)
  return ("%s/%s"):format(self.book.folder, ledger.place(step.id, attempt))
end

function batch:note(kind, values)
  local problem = self.book:note(kind, values)
  if problem then self.screen:say(problem) end
end

local NOTED = { "verdict", "message", "exit", "signal", "reason", "seconds", "peak", "output", "log_error", "gates",
                "job", "node", "shared" }

-- Folders are noted below the batch's own, which may be moved. A message is in words of the lab's, or of a node.
function batch:note_end(step, attempt, ending)
  ending.message = ending.message and utf8text.line(ending.message)
  local values = { id = step.id, attempt = attempt }
  for _, key in ipairs(NOTED) do values[key] = ending[key] end
  values.folder = ledger.place(step.id, attempt)
  values.run = ending.run and ending.run:sub(#self.book.folder + 2) or nil
  ending.folder, ending.run = values.folder, values.run
  self:note("end", values)
end

--- Whether every step has its verdict.
---@return boolean
function batch:is_complete()
  return not lists.find(self.steps, function(step) return not self.states[step.id].done end)
end

--- Notes the end of this part of the batch.
---@param kind string  "pause", "finish"
function batch:note_part(kind)
  self:note(kind, { seconds = core.clock() - self.began })
end

-- ---- starting -----------------------------------------------------------------------------------

function batch:start(step, lock)
  local state = self.states[step.id]
  state.attempts, state.sandboxed = state.attempts + 1, not self.sandbox.problem
  local folder = self:folder_of(step, state.attempts)
  self:note("begin", { id = step.id, attempt = state.attempts, sandboxed = state.sandboxed })
  require("lfs").mkdir(folder)
  local one = { step = step, attempt = state.attempts, folder = folder, began = core.clock() }
  self.running[#self.running + 1] = one
  one.child = process.start(step, { folder = folder, batch = self.book.folder, sandbox = self.sandbox,
                                    held = { self.book.lock, lock }, mpirun = self.book.head.mpirun })
  if lock then lock:close() end -- the supervisor holds it now
  self.screen:begin(one, state)
end

function batch:skip(step, message)
  local ending = { verdict = "skipped", message = message }
  self:note_end(step, 0, ending)
  ending.folder = nil
  self:settle(step, ending)
  self.screen:finish({ step = step }, ending, true)
end

--- Whether what a step needs has passed: nil, "later", or why the step will never begin.
---@param step table
---@return string?
function batch:unmet(step)
  for _, need in ipairs(step.needs) do
    local state = self.states[need]
    if not state.done then return "later" end
    local word = state.result.verdict
    if word ~= "passed" then return ("it needs %s, which did not pass (%s)"):format(need, word) end
  end
end

-- nil if it may begin, "later", or why it never will.
function batch:obstacle(step)
  local unmet = self:unmet(step)
  if unmet then return unmet end
  if not step.device then return "none of its devices is usable here" end
  if step.tasks and not step.mpi then
    return ("it wants %d tasks, which only moonwarp batch --slurm starts"):format(step.tasks)
  end
end

function batch:is_running(step)
  local alone = devices.is_exclusive(step.device)
  return lists.find(self.running, function(one)
    return one.step == step or alone and one.step.device == step.device
  end) ~= nil
end

-- Begins a step, unless another program has its device.
function batch:try(step)
  if not devices.is_exclusive(step.device) then return self:start(step) end
  if core.clock() < (self.ask_again or 0) then return end
  local lock, reason = devices.lock(step.device, self.found[step.device], self.book.folder .. "/..")
  self.ask_again = not lock and core.clock() + LOCK_SECONDS or nil
  if lock then return self:start(step, lock) end
  self.screen:wait(step, reason)
end

-- Begins the steps that may begin. True if steps are left.
function batch:fill()
  local left = false
  for _, step in ipairs(self.steps) do
    if not self.states[step.id].done then
      local obstacle = self:obstacle(step)
      if obstacle and obstacle ~= "later" then
        self:skip(step, obstacle)
      else
        left = true
        if not obstacle and #self.running < self.jobs and not self:is_running(step) then self:try(step) end
      end
    end
  end
  return left
end

-- ---- ending -------------------------------------------------------------------------------------

function batch:finish(one, ending)
  local step = one.step
  verdict.of(step, ending, one.folder)
  self:note_end(step, one.attempt, ending)
  self:settle(step, ending)
  self.screen:finish(one, ending, self.states[step.id].done)
end

function batch:collect()
  for i = #self.running, 1, -1 do
    local one = self.running[i]
    local ending = one.child and one.child:poll()
    if ending then
      table.remove(self.running, i)
      self:finish(one, ending)
    end
  end
end

function batch:wait()
  local children = lists.map(self.running, function(one) return one.child end)
  local seconds = math.min(self.screen:pause(), LOOK_SECONDS)
  if self.ask_again then seconds = math.min(seconds, LOCK_SECONDS) end
  host.wait(children, seconds)
end

--- Runs the remaining steps. An interruption is raised as an error; the caller then calls stop.
function batch:run()
  while self:fill() do
    self.screen:draw(self)
    self:wait()
    self:collect()
  end
end

--- Ends what runs, in order: each lab gets the time to write its record.
function batch:stop()
  self.screen:say("interrupted: ending the running labs; Ctrl-C again ends them at once")
  for _, one in ipairs(self.running) do
    if one.child then one.child:interrupt() end
  end
  while #self.running > 0 do
    if not self.running[1].child then table.remove(self.running, 1) end
    self:wait()
    self:collect()
  end
end

--- Kills what runs, and notes that it was interrupted.
function batch:kill()
  for _, one in ipairs(self.running) do
    if one.child then one.child:close() end
  end
  for _, one in ipairs(table.move(self.running, 1, #self.running, 1, {})) do
    table.remove(self.running, 1)
    self:finish(one, { reason = "interrupted", signal = SIGKILL, seconds = core.clock() - one.began })
  end
end

return batch
