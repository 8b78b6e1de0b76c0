-- SPDX-License-Identifier: MIT
--
-- moonwarp batch: a curriculum's labs, each in its own process. docs/lab.md explains them.

local core = require "moonwarp.core"
local amount = require "moonwarp.lab.amount"
local devices = require "moonwarp.lab.devices"
local exit = require "moonwarp.cli.exit"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local ledger = require "moonwarp.lab.ledger"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.cli.options"
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

batch.options = {
  { flag = "--only", show = "TAG|NAME", value = "a tag or the name of a lab", many = true,
    help = "these labs, and what they need" },
  { flag = "--device", show = "ID", value = "a device", many = true,
    check = function(text) return options.device(text, true) end,
    help = core.device_forms() .. "; each lab runs on those it accepts" },
  { flag = "--jobs", show = "N", value = "a number", check = check_jobs,
    help = "labs at a time; else 1, since measurements disturb each other" },
  { flag = "--sandbox", show = "WHEN", value = "a word", check = check_sandbox,
    help = "auto (the default): labs run in a sandbox if there can be one; require; off" },
  { flag = "--resume", help = "continue DIR, or the newest unfinished batch in OUT" },
  { flag = "--dry-run", key = "dry", help = "print what would run, in order, and run nothing" },
  { flag = "--out", show = "DIR", value = "a folder", help = "the batch goes to DIR/batch/DATE-NAME; else out" },
  { flag = "--junit", show = "FILE", value = "a file", help = "the outcome as JUnit XML" },
  { flag = "--json", show = "FILE", value = "a file", help = "the outcome as JSON" },
}

batch.usage = [[
usage: moonwarp batch [CURRICULUM.lua] [options]
       moonwarp batch --resume [DIR] [options]

Runs the labs of a curriculum (else the studies), each in its own process with its limits. A GPU
runs one lab at a time, whoever started it.]]

batch.example = "moonwarp batch --only reduction --device cpu --dry-run"

batch.notes = [[
exit status: 0 all passed, 3 a check or a gate failed, 1 a lab crashed, failed or ran into a limit,
2 wrong use, 4 no such device, 130 interrupted
Ctrl-C ends the running labs in order, a second Ctrl-C at once; --resume continues]]

-- ---- what to run --------------------------------------------------------------------------------

local function curriculum_path(word)
  local path = word or core.home() .. "/experiments/curriculum.lua"
  if files.exists(path) then return path end
  options.fail("there is no curriculum '%s'; it is a Lua file that returns a table of labs", path)
end


local function plan_of(parsed, boxes)
  local curriculum = require("moonwarp.lab.curriculum").load(curriculum_path(parsed[1]),
    function(path) return boxes:view(path) end)
  local asked = parsed.device and lists.unique(lists.map(parsed.device, devices.id))
  local steps, found = require("moonwarp.lab.plan").make(curriculum, { only = parsed.only, devices = asked })
  return { name = curriculum.name, curriculum = curriculum.path, steps = steps, jobs = parsed.jobs or 1,
           sandbox = parsed.sandbox,
           argv = lists.append({ "batch" }, parsed.words) }, found, asked
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

-- As a shell takes it; plain words without quotation marks.
local function shell_word(text)
  return text:find "[^%w_./,:=+%-]" and require("moonwarp.base.path").quote(text) or text
end

local function command_of(step)
  local words = { "moonwarp run", shell_word(step.study or step.path) }
  if step.device then words[#words + 1] = "--device " .. step.device end
  if step.check and step.check ~= "" then words[#words + 1] = "--check=" .. step.check end
  lists.append(words, lists.map(step.params, function(setting) return "-p " .. shell_word(setting) end))
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

local function run_book(book, parsed, root, found, boxes)
  local was_finished, interrupted = book:is_over(), false
  local screen = require("moonwarp.lab.screen").new {
    total = #book.head.steps, expected = host.terminal(1) and ledger.past_seconds(root) or nil }
  local running = require("moonwarp.lab.batch").new(book,
    { jobs = parsed.jobs or book.head.jobs, found = found, screen = screen, sandbox = boxes })
  if not was_finished then
    interrupted = work(running)
    running:note_part(interrupted and "pause" or "finish")
  end
  screen:close()
  local result = summary.of(running, interrupted)
  print(summary.text(result, host.columns()))
  local written = write_outcome(result, parsed, was_finished)
  book:close()
  return result.exit == exit.OK and not written and 1 or result.exit
end

local function begin(parsed, root)
  local boxes = sandbox.new(parsed.sandbox or "auto")
  local head, found, asked = plan_of(parsed, boxes)
  -- A device that was asked for and is not there is an error, not a lab that is skipped.
  local bad = lists.find(asked or {}, function(id) return not found[id].usable end)
  if bad then failure.raise_as("no_device", "device '%s' is not usable: %s", bad, found[bad].reason) end
  if parsed.dry then
    print_plan(head, ledger.past_seconds(root))
    return exit.OK
  end
  return run_book(ledger.create(root, head), parsed, root, found, boxes)
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
      options.fail("option '--%s': --resume goes on with a batch as it was begun", flag == "dry" and "dry-run" or flag)
    end
  end
  local folder = resumed_folder(parsed[1], root)
  local book = ledger.open(folder)
  root = folder:match("^(.*)/batch/[^/]+$") or root
  if book:is_over() then
    exit.complain("nothing of %s is left to run", folder)
    return run_book(book, parsed, root, {})
  end
  local boxes = sandbox.new(parsed.sandbox or book.head.sandbox or "auto")
  local words = lists.map(book.head.steps, function(step) return step.device end)
  book:note("resume", {})
  return run_book(book, parsed, root, devices.look(words), boxes)
end

--- The command batch.
---@param parsed table
---@return integer status
function batch.run(parsed)
  return (parsed.resume and resume or begin)(parsed, parsed.out or "out")
end

return batch
