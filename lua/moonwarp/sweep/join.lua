-- SPDX-License-Identifier: MIT
--
-- A sweep whose passes other processes have run, as the elements of a job array: what they have left (sweep/part.lua)
-- becomes one run, with the table, the charts and the exit status of a sweep in this process.

local arg = require "moonwarp.arg"
local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local part = require "moonwarp.sweep.part"
local passes = require "moonwarp.sweep.passes"
local path = require "moonwarp.base.path"
local record = require "moonwarp.results.record"
local remark = require "moonwarp.results.remark"
local session = require "moonwarp.session"
local utf8text = require "moonwarp.base.utf8text"

local join = {}

-- ---- what a pass has printed --------------------------------------------------------------------

local function without(text, words, instead)
  return (text:gsub((words:gsub("%W", "%%%0")), ((instead or ""):gsub("%%", "%%%%"))))
end

-- All but what the program has said of its end, which is said of the sweep; its files are those of the sweep's run.
local function output_of(left)
  local text = utf8text.clean(files.read_plain(left.output) or "")
  if left.ended.message then text = without(text, ("moonwarp: %s\n"):format(left.ended.message)) end
  if left.folder then
    text = without(text, ("results: %s\n"):format(left.folder))
    text = without(text, left.folder, session.current:folder())
  end
  return (("\n" .. text):gsub("\nmoonwarp: [^\n]*", ""):sub(2))
end

-- ---- taking over --------------------------------------------------------------------------------

local OWN <const> = { ["record.json"] = true, ["journal.jsonl"] = true, ["data.dat"] = true, ["remarks.txt"] = true }

local function copy_files(left)
  for _, name in ipairs(files.entries(left.folder)) do
    if not OWN[name] then
      os.execute(("cp -R %s %s/"):format(path.quote(left.folder .. "/" .. name),
        path.quote(session.current:folder())))
    end
  end
end

local TAKE <const> = {
  record = function(value) record.take(session.current, value) end,
  remark = function(value) remark.keep(session.current, value.text) end,
}

local function take_lines(left)
  local current = session.current
  if left.folder then copy_files(left) end
  for _, line in ipairs(left.lines) do
    if left.folder and TAKE[line.kind] then
      TAKE[line.kind](line.value)
    elseif not line.kind:match "^slice" and line.kind ~= "end" then
      current:mention(line.kind, line.value)
    end
  end
  current.failed_checks, current.found = current.failed_checks + left.failed_checks, current.found + left.found
end

-- The error that ended a pass.
local function problem_of(ended)
  if not ended.text then return nil end
  local problem = failure.new(ended.status or "script", ended.text, ended.where)
  problem.reason = ended.reason
  return problem
end

local function take(left)
  session.current.pass, session.current.declared = left.pass, left.declared
  io.write(output_of(left))
  take_lines(left)
end

-- ---- all of them --------------------------------------------------------------------------------

-- What is left to show sees the records that were there when the last pass asked for it.
local function show(put_off, first)
  local current, status = session.current, exit.OK
  local all = current.records
  for _, one in ipairs(put_off) do
    current.records = first and table.move(all, 1, first + one.records, 1, {}) or all
    if status == exit.OK then status = passes.show { one } end
  end
  current.records = all
  return status
end

-- The values of a pass by name: one of each parameter that other passes have one of.
local function pass_of(number, parameters, known)
  local picks, pass = passes.picked(parameters, number), {}
  for _, parameter in ipairs(parameters) do
    local values = parameter.values
    pass[parameter.name] = known and #known.pass[parameter.name] > 1 and values or { values[picks[parameter.name]] }
  end
  return pass
end

-- A text as a value of the type of another.
local function like(value, text)
  local number = type(value) == "number" and tonumber(text)
  return math.type(value) == "float" and number and number + 0.0 or number or text
end

-- The parameters of a pass, of the types that another pass has.
local function declared_of(pass, known)
  return lists.map(known and known.declared or {}, function(entry)
    local texts = pass[entry.name]
    return { name = entry.name, value = texts and #texts == 1 and like(entry.value, texts[1]) or entry.value }
  end)
end

-- What all passes have left, but for combinations that are none. A process that was killed has not said which
-- parameters it has; others have.
local function read(parts, parameters)
  local lefts = lists.map(parts, function(one)
    local left = part.read(one.folder, one.message, one.is_killed)
    left.failed_checks = math.max(left.failed_checks, one.fails and 1 or 0) -- its finalizers may have checked something
    left.output, left.number = one.folder .. "/output.txt", one.number
    return left.ended.reason ~= arg.WHOLE and left or nil
  end)
  local known = lists.find(lefts, function(left) return left.pass end)
  for _, left in ipairs(lefts) do
    left.pass = left.pass or pass_of(left.number, parameters, known)
    left.declared = left.declared or declared_of(left.pass, known)
  end
  return lefts
end

-- Takes what passes have left. The first status that ends a sweep, their errors, what the last that came to its end has
-- put off, and the records before it if it is the last of all. An error that ends the sweep is said once. ended: counts
-- them, as passes.note does.
local function take_all(lefts, header, ended)
  local status, problems, put_off, before, said = exit.OK, {}, nil, nil, {}
  for i, left in ipairs(lefts) do
    local count, failed = #session.current.records, session.current.failed_checks
    take(left)
    local own, problem = said[left.ended.text], nil
    if not own then
      own, problem = passes.judge(left.ended.outcome, left.ended.message, problem_of(left.ended), header)
    end
    passes.note(ended, failed, problem or own ~= exit.OK and "failed" or nil)
    if own ~= exit.OK then
      status, said[left.ended.text or ""] = status == exit.OK and own or status, own
    elseif problem then
      problems[#problems + 1] = problem
    else
      put_off, before = left.put_off, i == #lefts and count or nil
    end
  end
  return status, problems, put_off, before
end

--- Makes one run of what passes have left, in their order.
---@param parts table[]       number (of the combination), folder (that --out gave it), message (if it was killed),
---                           is_killed (what it has left counts as far as records go), fails (its checks do)
---@param parameters table[]  of the sweep
---@return integer status
---@return string? reason      if every pass was skipped
function join.run(parts, parameters)
  local current, lefts = session.current, read(parts, parameters)
  local first = lists.find(lefts, function(left) return left.folder end)
  if first then current.run = require("moonwarp.results.journal").open(current, first) end
  current.is_prepared = true
  current:empty_json()
  local ended, reason = { count = 0 }, nil
  local status, problems, put_off, before = take_all(lefts, first and first.header, ended)
  if status == exit.OK then
    if put_off then status = show(put_off, before) else status, reason = passes.end_of(problems) end
  end
  passes.sum_up(ended)
  return status, reason
end

return join
