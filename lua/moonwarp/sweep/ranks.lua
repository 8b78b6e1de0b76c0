-- SPDX-License-Identifier: MIT
--
-- The ranks of an MPI job (moonwarp run --mpi) as one run. Rank 0 has the folder. The others keep their results in
-- memory and send them to rank 0 when their script ends; rank 0 then tells all ranks how the job has ended.
-- A rank that fails sends its message and does not wait for the others, because they may wait for it. Rank 0 closes the
-- run and lets that rank print the message and end the job. A rank that waits for one that has ended raises an error.

local calls = require "moonwarp.mpi_calls"
local core = require "moonwarp.core"
local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local passes = require "moonwarp.sweep.passes"
local path = require "moonwarp.base.path"
local record = require "moonwarp.results.record"
local session = require "moonwarp.session"

local ranks = {}

local PART <const>, WORD <const> = 1, 2 -- tags: of a rank to rank 0, of rank 0 to a rank
local GRACE <const> = 2 -- seconds that a rank which fails waits for rank 0
local STILL <const> = 1 -- seconds without news after which a waiting rank learns who has ended
local LOOK_SECONDS <const> = 0.01

-- ---- letters ------------------------------------------------------------------------------------

-- A message that another rank may send: the receive of its length is begun in advance.
local function expect(from, tag)
  return calls.expect_text(("the job's word from rank %d"):format(from), "job", from, tag)
end

-- The values of the message, if it has arrived.
local function received(letter, seconds)
  return calls.test(letter.call, seconds) and calls.unpacked(letter.call.who, calls.take_text(letter))
end

local function send(to, tag, values)
  return calls.send_text(("the job's word to rank %d"):format(to), "job", calls.packed("mw.record", values), to, tag)
end

-- Waits for so many seconds at most. Returns whether all requests are done.
local function await(requests, seconds)
  local start = core.clock()
  for _, one in ipairs(requests) do
    while not calls.test(one, LOOK_SECONDS) do
      if core.clock() - start > seconds then return false end
    end
  end
  return true
end

-- ---- rank 0 -------------------------------------------------------------------------------------

local TAKEN <const> = lists.set { "check", "remark", "finding", "warning", "counters" }

-- Adds a rank's results to the run.
local function take(current, from, left)
  current.failed_checks, current.found = current.failed_checks + left.failed_checks, current.found + left.found
  for _, line in ipairs(left.lines) do
    if line.kind == "record" then
      current:folder() -- there is a run
      record.take(current, line.value)
    elseif TAKEN[line.kind] then
      current:mention(line.kind, lists.merged(line.value, { rank = from }))
    end
  end
  local kept = left.folder and current:file("rank-" .. from)
  if kept and not os.rename(left.folder, kept) then
    exit.complain("what rank %d has written stays on its machine, in %s", from, left.folder)
  end
end

local function is_failure(status) return status ~= exit.OK and status ~= exit.CHECK end

-- Takes the messages that have arrived. job.failed: the first rank that has failed.
local function hear(job)
  for i = #job.open, 1, -1 do
    local from = job.open[i].peer
    local left = received(job.open[i], 0)
    if left then
      table.remove(job.open, i)
      job.ended[from], job.parts[from], job.news = true, left, core.clock()
      if is_failure(left.status) and not job.failed then
        job.failed = { rank = from, status = left.status, message = left.message }
      end
    end
  end
end

-- Tells the ranks that still run which ones have ended.
local function tell_ended(job)
  if core.clock() - job.news < STILL or job.told == job.news then return end
  job.told = job.news
  for _, one in ipairs(job.open) do send(one.peer, WORD, { ended = job.ended }) end
end

-- Waits for all ranks, unless one has failed, and adds their results in the order of ranks.
local function collect(current, waits)
  local job = current.job
  job.ended[0], job.news = true, core.clock()
  hear(job)
  while waits and #job.open > 0 and not job.failed do
    tell_ended(job)
    calls.test(job.open[1].call, LOOK_SECONDS)
    hear(job)
  end
  for _, rank in ipairs(lists.keys(job.parts)) do take(current, rank, job.parts[rank]) end
end

--- Rank 0: waits for the other ranks, and returns the status of the job. One message is printed: by this rank its own,
--- or by the rank that has failed. An interruption here may only be a consequence of that failure.
---@param current table
---@param status integer  this rank's
---@return integer status
function ranks.collect(current, status)
  local job = current.job
  local outcome, message, problem = host.call(collect, current, not is_failure(status))
  if outcome ~= "done" then status = passes.status(outcome, message, problem) end
  local was_interrupted = job.failed and job.failed.status == exit.INTERRUPTED
  if is_failure(status) and (status ~= exit.INTERRUPTED or was_interrupted) then job.failed = nil end
  if job.failed then
    current.message, status = job.failed.message, job.failed.status
    if was_interrupted then exit.complain("rank %d: %s", job.failed.rank, current.message) end -- it does not say so
  elseif is_failure(status) and current.message then
    exit.complain("%s", current.message)
  end
  return status
end

-- All ranks know how the job ends. After a failure, mpirun kills ranks that have not exited yet: print before that.
local function close(status)
  core.mpi.close()
  if status ~= exit.OK then host.prefix() end
  return status
end

-- A job of one rank has nobody else to end: the process exits by itself.
local function abort(job, status)
  if job.size == 1 then return core.mpi.close() end
  host.prefix()
  core.mpi.abort(status)
end

--- Rank 0: ends the job, after the run was closed.
---@param job table
---@param status integer
function ranks.conclude(job, status)
  if not is_failure(status) and #job.open == 0 then
    for rank = 1, job.size - 1 do await(send(rank, WORD, { status = status }), math.huge) end
    return close(status)
  end
  if job.failed then
    await(send(job.failed.rank, WORD, { status = status }), GRACE)
    host.call(host.wait, {}, GRACE)
  end
  abort(job, status)
end

-- ---- the others ---------------------------------------------------------------------------------

-- Replaces a run's folder and journal.
local Memory = {}
Memory.__index = Memory

function Memory:append(kind, values) table.insert(self.job.lines, { kind = kind, value = values }) end
Memory.note = Memory.append
function Memory.keep_sources() end

-- For files that a script writes. Rank 0 moves the folder into that of the run.
function Memory:place()
  local job = self.job
  if not job.folder then
    local folder, problem = path.make_new(self.parent, "rank-" .. job.rank)
    if not folder then failure.raise_as("io", "%s", problem) end
    job.folder = folder:find "^/" and folder or require("lfs").currentdir() .. "/" .. folder
  end
  return job.folder
end

function Memory.finish() end

local function open_memory(current)
  local root = current:out()
  return setmetatable({ job = current.job, root = root, parent = root .. "/" .. current:script(),
                        script = current:script_file(), remarks = {} }, Memory)
end

-- From rank 0: which ranks have ended, or how the job has.
local function hear_word(job, seconds)
  local word = received(job.word, seconds)
  if not word then return nil end
  if word.status then return word.status end
  job.ended, job.news, job.word = word.ended, core.clock(), expect(0, WORD)
end

local function await_word(job, seconds)
  local start, word = core.clock(), hear_word(job, LOOK_SECONDS)
  while not word and core.clock() - start <= seconds do word = hear_word(job, LOOK_SECONDS) end
  return word
end

--- Another rank: sends its results, and waits for the end of the job.
---@param current table
---@param status integer  this rank's
---@return integer status  the job's
function ranks.report(current, status)
  local job = current.job
  current:settle_findings()
  current:settle_counters()
  for _, one in ipairs(current.waiting) do table.insert(job.lines, { kind = one[1], value = one[2] }) end
  local lines = lists.map(job.lines, function(line) return not line.kind:find "^slice" and line or nil end)
  local fails = is_failure(status)
  local seconds = fails and GRACE or math.huge
  local outcome, word = host.call(function()
    await(send(0, PART, { status = status, message = current.message, failed_checks = current.failed_checks,
                          found = current.found, folder = job.folder, lines = lines }), seconds)
    return await_word(job, seconds)
  end)
  if outcome == "done" and not fails then return close(word) end
  local is_own = outcome == "done" and status ~= exit.INTERRUPTED -- else another rank has ended the job
  if is_own and current.message then exit.complain("%s", current.message) end
  abort(job, fails and status or exit.INTERRUPTED)
end

-- ---- all ----------------------------------------------------------------------------------------

-- Called while a rank waits in a call. If rank 0 learns that a rank has failed, it ends the job here.
local function look(who, peer)
  local current = session.current
  local job = current.job
  if job.rank == 0 then
    hear(job)
    tell_ended(job)
  else
    hear_word(job, 0)
  end
  if job.failed then current:leave(exit.OK) end
  local gone = peer or next(job.ended)
  if job.ended[gone] and core.clock() - job.news > STILL then
    job.news = core.clock()
    failure.invalid("rank %d: %s: rank %d has ended its script, and takes no part", job.rank, who, gone)
  end
end

-- The maximum over all ranks of each number, for benchmarks (measure/bench.lua).
local function max(...)
  calls.meet "mw.bench, after a sample"
  local count = select("#", ...)
  local numbers = core.mpi.buffer(8 * count, ("d"):rep(count):pack(...))
  calls.run("mw.bench", "all_reduce", "job", numbers, nil, count, "f64", "max")
  return ("d"):rep(count):unpack(core.mpi.text(numbers, 8 * count))
end

-- Rank 0's decision, on all ranks.
local function decide(yes)
  calls.meet "mw.bench, after a round"
  return calls.broadcast_text("mw.bench", "job", yes and "y" or "n", 0) == "y"
end

--- Opens the job.
---@param more table   options of the session, which get the rank's own ones
---@return table job   for ranks.join
function ranks.open(more)
  local place = calls.open()
  local start = core.clock()
  local job = { rank = place.rank, size = place.size, version = place.version, news = start, told = start,
                open = {}, parts = {}, ended = {}, lines = {}, max = max, decide = decide, meet = calls.meet }
  host.catch_term()
  if job.size > 1 then
    host.prefix(("[%d] "):format(job.rank)) -- now: daemons that MPI has started would keep the pipes open
    more.share = { place.local_rank, place.local_size }
  end
  if job.rank > 0 then more.quiet, more.json = true, nil end
  return job
end

--- Makes the session that of the rank.
---@param current table
---@param job table
function ranks.join(current, job)
  current.job = job
  if job.rank > 0 then
    current.opens, job.word = open_memory, expect(0, WORD)
  else
    for rank = 1, job.size - 1 do job.open[rank] = expect(rank, PART) end
  end
  calls.look = look
end

return ranks
