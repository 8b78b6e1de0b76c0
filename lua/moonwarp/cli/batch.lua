-- SPDX-License-Identifier: MIT
--
-- moonwarp batch: a curriculum's labs, each in its own process. docs/lab.md explains them.

local core = require "moonwarp.core"
local amount = require "moonwarp.lab.amount"
local devices = require "moonwarp.lab.devices"
local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local sandbox = require "moonwarp.lab.sandbox"
local summary = require "moonwarp.lab.summary"
local units = require "moonwarp.base.units"

local batch = { most = 1 }

local MOST_JOBS = 64

local function check_jobs(text)
  local jobs = math.tointeger(tonumber(text))
  if jobs and jobs >= 1 and jobs <= MOST_JOBS then return jobs end
  options.fail("option '--jobs' wants a whole number from 1 to %d, got '%s'", MOST_JOBS, text)
end

local function check_sandbox(text)
  if lists.has(sandbox.WHEN, text) then return text end
  options.fail("option '--sandbox' wants auto, require or off, got '%s'", text)
end

batch.options = lists.append({
  { flag = "--only", show = "TAG|NAME", value = "a tag or the name of a lab", many = true,
    help = "these labs, and what they need" },
  { flag = "--device", show = "ID", value = "a device", many = true,
    check = function(text) return options.device(text, true) end,
    help = core.device_forms() .. "; each lab runs on those it accepts" },
  { flag = "--jobs", show = "N", value = "a number", check = check_jobs,
    help = "labs at a time; else 1, since measurements disturb each other" },
  { flag = "--sandbox", show = "WHEN", value = "a word", check = check_sandbox,
    help = "auto (the default): labs run in a sandbox if there can be one; require; off" },
  { flag = "--resume", help = "continue DIR, or the newest unfinished batch in OUT; of --slurm also: collect" },
  { flag = "--dry-run", key = "dry", help = "print what would run, in order, and run nothing" },
  { flag = "--out", show = "DIR", value = "a folder", help = "the batch goes to DIR/batch/DATE-NAME; else out" },
  { flag = "--junit", show = "FILE", value = "a file", help = "the outcome as JUnit XML" },
  { flag = "--json", show = "FILE", value = "a file", help = "the outcome as JSON" },
}, options.SLURM)

batch.usage = [[
usage: moonwarp batch [CURRICULUM.lua] [options]
       moonwarp batch [CURRICULUM.lua] --slurm [options] [-- options of sbatch]
       moonwarp batch --resume [DIR] [options]

Runs the labs of a curriculum (else the studies), each in its own process with its limits. A GPU
runs one lab at a time, whoever started it.]]

batch.example = "moonwarp batch --only reduction --device cpu --dry-run"

batch.notes = [[
exit status: 0 all passed, 3 a check or a gate failed or is unclear, 1 a lab crashed, failed, ran into a
limit or is still queued, 2 wrong use, 4 no such device, 130 interrupted
Ctrl-C ends the running labs in order, a second Ctrl-C at once; --resume continues
--slurm queues the labs and ends; --resume collects their verdicts]]

-- ---- what to run --------------------------------------------------------------------------------

local function curriculum_path(word)
  local file = word or core.home() .. "/experiments/curriculum.lua"
  if files.exists(file) then return file end
  options.fail("there is no curriculum '%s'; it is a Lua file that returns a table of labs", file)
end

-- Sandboxes, and a word about what labs do without.
local function open_boxes(when, what)
  local boxes = sandbox.new(when or "auto")
  if boxes.problem and when ~= "off" then exit.complain("labs %s without a sandbox: %s", what, boxes.problem) end
  for _, gap in ipairs(boxes.gaps) do exit.complain("the sandbox has a gap: %s", gap) end
  return boxes
end

-- boxes(): sandboxes for scripts that are described, asked for only if there are some.
local function curriculum_of(parsed, boxes)
  return require("moonwarp.lab.curriculum").load(curriculum_path(parsed[1]), function(lab)
    return boxes():of_description(lab)
  end)
end

-- That of a batch whose labs run elsewhere.
local function distant_curriculum_of(parsed)
  local boxes
  return curriculum_of(parsed, function()
    boxes = boxes or open_boxes(parsed.sandbox, "are described")
    return boxes
  end)
end

-- The head of a new ledger, and what is known of the devices: found, or of this machine's.
local function plan_of(parsed, curriculum, found)
  local asked = parsed.device and lists.unique(lists.map(parsed.device, devices.id))
  local steps
  steps, found = require("moonwarp.lab.plan").make(curriculum, { only = parsed.only, devices = asked, found = found })
  -- A device that was asked for and is not there is an error, not a lab that is skipped.
  local bad = lists.find(asked or {}, function(id) return not found[id].usable end)
  if bad then failure.raise_as("no_device", "%s", found[bad].reason) end
  local has_ranks = lists.find(steps, function(step) return step.mpi end)
  return { name = curriculum.name, curriculum = curriculum.path, steps = steps, jobs = parsed.jobs or 1,
           mpirun = has_ranks and require("moonwarp.slurm.site").of(parsed).mpirun or nil,
           sandbox = parsed.sandbox, argv = lists.append({ "batch" }, parsed.words) }, found
end

-- ---- --dry-run ----------------------------------------------------------------------------------

local function limits_of(step)
  local words = {}
  if step.time_limit then words[#words + 1] = "at most " .. amount.clock(step.time_limit) end
  if step.memory_limit then words[#words + 1] = "memory " .. units.format(step.memory_limit, "iB", 3) end
  if #step.gates > 0 then words[#words + 1] = units.count(#step.gates, "gate") end
  if #step.needs > 0 then words[#words + 1] = "needs " .. table.concat(step.needs, ", ") end
  if step.retries > 0 then words[#words + 1] = units.count(step.retries, "retry", "retries") end
  return #words > 0 and ": " .. table.concat(words, "; ") or ""
end

local function command_of(step)
  local words = { "moonwarp run", path.word(step.study or step.path) }
  if step.device then words[#words + 1] = "--device " .. step.device end
  if step.check and step.check ~= "" then words[#words + 1] = "--check=" .. step.check end
  lists.append(words, lists.map(step.params, function(setting) return "-p " .. path.word(setting) end))
  return table.concat(words, " ")
end

local function print_plan(head, expected)
  for i, step in ipairs(head.steps) do
    print(("%2d. %s on %s%s"):format(i, step.name, step.device or "no device here", limits_of(step)))
    print("    " .. command_of(step))
    if expected[step.id] then print("    about " .. amount.clock(expected[step.id])) end
  end
end

-- ---- running ------------------------------------------------------------------------------------

-- Runs to the end, or to the second Ctrl-C. True if it was interrupted.
local function work(running)
  local outcome, problem = host.call(running.run, running)
  if outcome == "done" then return false end
  if outcome == "failed" then
    pcall(running.kill, running) -- it may be what failed before
    error(problem, 0)
  end
  if host.call(running.stop, running) ~= "done" then running:kill() end
  return true
end

-- What a finished batch wrote stays as it is.
local function write_outcome(result, parsed, was_finished)
  local own, problems = result.folder .. "/result.json", {}
  if not (was_finished and require("lfs").attributes(own)) then problems[1] = summary.write(result, own) end
  if parsed.json then problems[#problems + 1] = summary.write(result, parsed.json) end
  if parsed.junit then
    problems[#problems + 1] = files.replace(parsed.junit, require("moonwarp.lab.junit").text(result))
  end
  for _, problem in ipairs(problems) do exit.complain(problem) end
  return #problems == 0
end

local function screen_of(book, root)
  return require("moonwarp.lab.screen").new {
    total = #book.head.steps, expected = host.terminal(1) and ledger.past_seconds(root) or nil }
end

-- Runs the rest of a batch by a function that says whether it was interrupted, and shows what it came to.
local function conclude(running, parsed, run)
  local was_finished, interrupted = running.book:is_over(), false
  if not was_finished then
    running.book:take_room()
    interrupted = run(running)
    running:note_part((interrupted or not running:is_complete()) and "pause" or "finish")
  end
  running.screen:close()
  local result = summary.of(running, interrupted)
  local is_sweep = running.book.head.sweep and not was_finished and #running:jobs_in_queue() == 0
  if not is_sweep then print(summary.text(result, host.columns())) end
  running.book:give_room()
  local written = write_outcome(result, is_sweep and {} or parsed, was_finished)
  running.book:close()
  if is_sweep then return require("moonwarp.sweep.array").join(running) end
  return result.exit == exit.OK and not written and 1 or result.exit
end

local UNCOUNTED <const> = "memory_limit does not count files in /tmp and /dev/shm of a sandbox, and shared memory that "
  .. "no process has touched lately: no control group can be made here; in systemd-run --user --scope there may be one"

local function run_book(book, parsed, root, found, boxes)
  local is_limited = boxes and lists.find(book.head.steps, function(step) return step.memory_limit end)
  if is_limited and not host.counts_memory() then exit.complain(UNCOUNTED) end
  local running = require("moonwarp.lab.batch").new(book, { jobs = parsed.jobs or book.head.jobs, found = found,
                                                            screen = screen_of(book, root), sandbox = boxes })
  return conclude(running, parsed, work)
end

local function begin(parsed, root)
  local boxes = open_boxes(parsed.sandbox, "run")
  local head, found = plan_of(parsed, curriculum_of(parsed, function() return boxes end))
  if parsed.dry then
    print_plan(head, ledger.past_seconds(root))
    return exit.OK
  end
  return run_book(ledger.create(root, head), parsed, root, found, boxes)
end

-- ---- --slurm ------------------------------------------------------------------------------------

local function check_slurm(parsed, is_slurm)
  if not is_slurm then
    options.reject_slurm(parsed)
    if parsed.rest then options.fail("words after -- are options of sbatch, for --slurm") end
  elseif parsed.jobs then
    options.fail("option '--jobs': with --slurm it is --array-limit that says how many jobs run at a time")
  end
end

-- Folders of which sbatch hears: this one, and the results'.
local function check_folder(folder)
  if folder:sub(1, 1) ~= "/" then folder = ("%s/%s"):format(require("lfs").currentdir(), folder) end
  local at = folder:find "[\\%c]"
  if not at then return end
  options.fail("the folder %s has a %s, which sbatch does not take in names; use another one, or --out DIR for the "
    .. "results", folder:gsub("%c", "?"), folder:find("%c", at) == at and "control character" or "backslash")
end

-- The scripts, as they are; what else is to be said goes next to them.
local function print_scripts(running)
  for _, array in ipairs(running:prepare()) do
    io.stdout:write((files.read(array.file)))
    exit.complain("nothing is queued: sbatch %s does that; moonwarp batch --resume %s collects the results",
      path.word(array.file), path.word(running.book.folder))
  end
  return exit.OK
end

-- Of a node nothing is known: a lab runs on the first of its devices.
local function any_device()
  return setmetatable({}, { __index = function() return { usable = true } end })
end

-- Tasks of a lab are started by srun, each on its node.
local function check_sandbox_of_tasks(parsed, steps)
  local apart = parsed.sandbox == "require" and lists.find(steps, function(step) return step.tasks or step.mpi end)
  if apart then
    options.fail("lab '%s' has %d tasks, which run without a sandbox; --sandbox require excludes it", apart.name,
      apart.tasks or 1)
  end
end

local function queue(running)
  local ok, problem = failure.catch(running.submit, running)
  running:note_part "pause"
  if failure.status(problem) == "interrupted" then
    exit.complain("moonwarp batch --resume %s finds what is in the queue", path.word(running.book.folder))
  end
  if not ok then error(problem, 0) end
  if #running:jobs_in_queue() > 0 then
    print(("moonwarp batch --resume %s collects the results"):format(path.word(running.book.folder)))
  end
  return exit.OK
end

--- Queues the labs of a curriculum.
---@param parsed table      of the command line
---@param curriculum table  as lab/curriculum.lua loads it
---@param more table?       more fields of batch.json
---@return integer status
function batch.submit(parsed, curriculum, more)
  local site, root = require("moonwarp.slurm.site").of(parsed), parsed.out or "out"
  for _, name in ipairs { "json", "junit" } do
    if parsed[name] then
      options.fail("option '--%s': with --slurm the outcome is known to --resume, which takes it", name)
    end
  end
  if not parsed.dry then require("moonwarp.slurm.queue").check() end
  check_folder(root)
  local head = plan_of(parsed, curriculum, any_device())
  check_sandbox_of_tasks(parsed, head.steps)
  head.slurm = site
  local book = ledger.create(root, lists.merged(head, more))
  if parsed.dry then book:note("dry", {}) end
  local running = require("moonwarp.slurm.submission").new(book, screen_of(book, root))
  running:collect() -- a lab that no device takes is skipped
  local status = (parsed.dry and print_scripts or queue)(running)
  book:close()
  return status
end

-- Takes the verdicts that there are; then queues the rest, unless Slurm has ended a lab since: the user reads why,
-- and comes back, perhaps with other options. The scripts of a dry run are the user's to queue.
local function go_on(running)
  local problem = running:collect()
  if running.book:is_dry() then
    if not running:is_complete() then
      exit.complain("%s is a dry run, of which --resume queues nothing: sbatch does, with each script in %s/slurm",
        running.book.folder, running.book.folder)
    end
  elseif problem and not running:is_complete() then
    exit.complain("squeue does not answer: %s; nothing is queued before it does", problem)
  elseif not running.has_killed then
    running:submit()
  end
  return false
end

local function resume_slurm(parsed, book, root)
  if parsed.site or parsed.array_limit then
    options.fail("option '--%s': --resume keeps the batch's own site; further options of sbatch come after --",
      parsed.site and "site" or "array-limit")
  end
  local when = book.head.sandbox or "auto" -- its elements read it
  if parsed.sandbox and parsed.sandbox ~= when then
    options.fail("option '--sandbox': --resume keeps that of the batch, '%s'; a new batch takes another", when)
  end
  require("moonwarp.slurm.queue").check()
  check_folder(book.folder)
  local words = require("moonwarp.slurm.site").words(parsed)
  return conclude(require("moonwarp.slurm.submission").new(book, screen_of(book, root), words), parsed, go_on)
end

-- ---- --resume -----------------------------------------------------------------------------------

local function resumed_folder(word, root)
  if word then
    local folder = word:gsub("(.)/+$", "%1")
    if files.exists(folder .. "/batch.json") then return folder end
    options.fail("'%s' holds no batch; --resume wants a folder OUT/batch/DATE-NAME, or nothing", word)
  end
  return ledger.unfinished(root)
    or options.fail("there is no unfinished batch in %s/batch; --out DIR names another place", root)
end

local function resume(parsed, root)
  for _, flag in ipairs { "only", "device", "dry" } do
    if parsed[flag] then
      options.fail("option '--%s': --resume continues a batch as it was begun", flag == "dry" and "dry-run" or flag)
    end
  end
  local folder = resumed_folder(parsed[1], root)
  local book = ledger.open(folder)
  root = folder:match("^(.*)/batch/[^/]+$") or root
  check_slurm(parsed, book.head.slurm ~= nil)
  if book:is_over() then exit.complain("nothing of %s is left to run", folder) else book:note("resume", {}) end
  if book.head.slurm then return resume_slurm(parsed, book, root) end
  if book:is_over() then return run_book(book, parsed, root, {}) end
  local boxes = open_boxes(parsed.sandbox or book.head.sandbox, "run")
  local words = lists.map(book.head.steps, function(step) return step.device end)
  return run_book(book, parsed, root, devices.look(words), boxes)
end

--- The command batch.
---@param parsed table
---@return integer status
function batch.run(parsed)
  local root = parsed.out or "out"
  if parsed.resume then return resume(parsed, root) end
  check_slurm(parsed, parsed.slurm)
  if parsed.slurm then return batch.submit(parsed, distant_curriculum_of(parsed)) end
  return begin(parsed, root)
end

return batch
