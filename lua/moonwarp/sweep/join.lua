-- SPDX-License-Identifier: MIT
--
-- A sweep whose passes other processes have run, as the elements of a job array: what they have left (sweep/part.lua)
-- stands in for the script, pass by pass, so that the table, the charts and the exit status are those of a sweep in
-- this process.

local execution = require "moonwarp.sweep.execution"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local parameter = require "moonwarp.base.parameter"
local part = require "moonwarp.sweep.part"
local passes = require "moonwarp.sweep.passes"
local path = require "moonwarp.base.path"
local record = require "moonwarp.results.record"
local remark = require "moonwarp.results.remark"
local session = require "moonwarp.session"
local utf8text = require "moonwarp.base.utf8text"

local join = {}

-- ---- what a pass has left -----------------------------------------------------------------------

-- What it has printed; its files are those of the sweep's run. Of its end the program has said nothing (session.lua).
local function output_of(left)
  local text = utf8text.clean(files.read_plain(left.output) or "")
  if not left.folder then return text end
  return (text:gsub((left.folder:gsub("%W", "%%%0")), (session.current:folder():gsub("%%", "%%%%"))))
end

local OWN <const> = { ["record.json"] = true, ["journal.jsonl"] = true, ["data.dat"] = true, ["remarks.txt"] = true }

local function copy_files(folder, into)
  for _, name in ipairs(files.entries(folder)) do
    if not OWN[name] then
      os.execute(("cp -R %s %s/"):format(path.quote(folder .. "/" .. name), path.quote(into)))
    end
  end
end

local TAKE <const> = {
  record = record.take,
  remark = function(current, value) remark.keep(current, value.text) end,
}

local function take_lines(current, left)
  if left.folder then copy_files(left.folder, current:folder()) end
  for _, line in ipairs(left.lines) do
    if left.folder and TAKE[line.kind] then
      TAKE[line.kind](current, line.value)
    elseif not line.kind:match "^slice" and line.kind ~= "end" then
      current:mention(line.kind, line.value)
    end
  end
  current.failed_checks, current.found = current.failed_checks + left.failed_checks, current.found + left.found
end

-- The error that ended a pass, as its process has said it.
local function problem_of(ended)
  local problem = failure.new(ended.status or "script", ended.text or ended.outcome, ended.where)
  problem.reason, problem.traceback = ended.reason, (ended.message or ""):sub(#tostring(problem) + 1)
  return problem
end

-- What the last pass shows sees the records that there were when it asked.
local function show(current, put_off, before)
  local all = current.records
  for _, one in ipairs(put_off) do
    current.records = table.move(all, 1, before + one.records, 1, {})
    require("moonwarp")[one.what](one.spec)
  end
  current.records = all
end

local function take(current, left)
  local before = #current.records
  current.declared = left.declared
  io.write(output_of(left))
  take_lines(current, left)
  if left.ended.outcome ~= "done" then error(problem_of(left.ended), 0) end
  if current.more then current.put_off = left.put_off else show(current, left.put_off, before) end
end

-- ---- all of them --------------------------------------------------------------------------------

-- A text as a value of the type of another.
local function like(value, text)
  local number = type(value) == "number" and tonumber(text)
  return math.type(value) == "float" and number and number + 0.0 or number or text
end

-- What the passes have left, but for combinations that are none, since a parameter takes all of its values at once; and
-- those parameters. A process that was killed has said neither them nor its own; others have.
local function read(parts, parameters)
  local lefts = lists.map(parts, part.read)
  local known = lists.find(lefts, function(left) return left.ended.outcome == "done" end) or lefts[1]
  local whole = lists.map(parameters, function(one)
    local texts = known.pass and known.pass[one.name]
    return texts and #texts > 1 and one.name or nil
  end)
  return lists.map(lefts, function(left)
    local picks, values = passes.picked(parameters, left.number), {}
    if lists.find(whole, function(name) return picks[name] > 1 end) then return nil end
    for _, one in ipairs(parameters) do values[one.name] = one.values[picks[one.name]] end
    left.declared = left.declared or lists.map(known.declared or {}, function(entry)
      local text = not lists.has(whole, entry.name) and values[entry.name]
      return { name = entry.name, value = text and like(entry.value, text) or entry.value }
    end)
    return left
  end), lists.set(whole)
end

-- In place of the script.
local function chunk_of(parts, parameters)
  local lefts, whole, place
  return function()
    local current = session.current
    if not lefts then
      lefts, whole = read(parts, parameters)
      local first = lists.find(lefts, function(left) return left.folder end)
      if first then current.run = require("moonwarp.results.journal").open(current, first) end
      current.is_prepared, place = true, 0
      current:empty_json()
    end
    for name, texts in pairs(current.pass) do
      if #texts > 1 and not whole[name] then
        current.pass[name], current.swept[name], current.more = { texts[1] }, true, true
      end
    end
    place = place + 1
    take(current, assert(lefts[place], "nothing is left of a pass"))
  end
end

--- Makes one run of what passes have left, in their order.
---@param script string   its path
---@param parsed table    the command line of the sweep
---@param parts table[]   of part.read
---@return integer status
function join.run(script, parsed, parts)
  return execution.run(chunk_of(parts, parameter.read(parsed.p)), parsed,
    { script = script, text = files.read(script), argv = lists.append({ "run" }, parsed.words) })
end

return join
