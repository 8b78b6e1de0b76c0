-- SPDX-License-Identifier: MIT
--
-- What a lab may leave instead of the record of its run: a whole one, of every kind of entry, and changes of it. And
-- what reads stored runs, in this process: each must end, without an error of Lua's own, and print nothing that a
-- terminal obeys.

local failure = require "moonwarp.base.failure"
local json = require "moonwarp.base.json"
local options = require "moonwarp.base.options"
local support = require "tests.support"

local damage = {}

-- ---- a run with every kind of entry ---------------------------------------------------------------

-- A script whose runs have every kind of entry, but for pictures: with check mode findings and counters, else times and
-- charts.
local SCRIPT <const> = [[
local mw = require "moonwarp"
local dev = mw.device()
local k = dev:module { source = "__global__ void shift(int *a) { __shared__ int s[64]; int i = threadIdx.x, unused;\n"
  .. "  s[i] = a[i];\n  if (i < 63) a[i] = s[i + 1];\n}\n" }
local a = dev:zeros("i32", 64)
k.shift:launch(1, 64, a)
local quick = { min_time = 1e-4, max_time = 1e-3, quiet = true }
local function timed(value) return mw.bench(function() a:fill(value) end, quick) end
mw.record { threads = 64, kind = "naive", T_tot = 3.5e9, t = timed(1), units = { T_tot = "B/s" }, block = { 32, 2 } }
mw.record { threads = 128, kind = "tiled", T_tot = 7.5e9, t = timed(2), list = { 1, 0 / 0, { deep = "x" } } }
mw.check(a, 2)
mw.check(a, 3)
mw.table { "threads", "T_tot", "t", "block", title = "a table" }
mw.plot { x = "threads", y = "T_tot", by = "kind", name = "line", pictures = false }
mw.ladder { x = "T_tot", by = "kind", name = "bars", pictures = false }
mw.remark "a remark"
]]

local PICTURES <const> = {
  { kind = "timeline", name = "spans", title = "t", device = "d", script = "s", date = "2026-01-01", files = { "svg" },
    lanes = { "a", "b" }, kinds = { "copy", "run" }, spans = {
      { lane = 1, kind = 1, from = 0, to = 1e-3, label = "x" }, { lane = 2, kind = 2, from = 1e-3, to = 2e-3 } } },
  { kind = "film", name = "film", title = "f", device = "d", script = "s", date = "2026-01-01", files = { "gif" },
    nx = 4, ny = 4, low = 0.0, high = 1.0, xlabel = "x", ylabel = "y", label = "T", delay = 0.1 },
}

local END <const> = '{"kind":"end","value":{"status":"complete","exit":0,"seconds":1.5}}'

-- A journal's lines of the same run, with turns of contenders.
local function journal_of(record)
  local own, lines = {}, {}
  local lists_of = { record = "records", check = "checks", chart = "charts", table = "tables", remark = "remarks",
                     picture = "pictures", source = "sources", finding = "findings", counters = "counters" }
  for _, key in ipairs { "schema", "study", "date", "device", "device_name", "moonwarp", "argv", "environment" } do
    own[key] = record[key]
  end
  lines[1] = { kind = "run", value = own }
  for kind, list in pairs(lists_of) do
    for _, value in ipairs(record[list] or {}) do lines[#lines + 1] = { kind = kind, value = value } end
  end
  for contender = 1, 2 do
    for turn = 1, 2 do
      lines[#lines + 1] = { kind = "slice", value = { contender = contender, samples = { 1e-3, 2e-3, 1.5e-3 * turn },
        record = turn == 1 and { rung = "r" .. contender, device = "cpu" } or nil,
        work = turn == 1 and { T_eff = 1e9 } or nil } }
    end
  end
  lines[#lines + 1] = { kind = "slices_dropped", value = { contender = 2 } }
  lines[#lines + 1] = { kind = "record", value = { rung = "r1", t = record.records[1].t }, contender = 1 }
  lines[#lines + 1] = json.decode(END)
  return lines
end

local function run_of(folder, words)
  os.execute(("cd '%s' && '%s' run whole.lua %s --quiet --device cpu >/dev/null 2>&1"):format(folder,
    support.program(), words))
  local run = support.run(("%s/%s"):format(folder, words:match "%S+$"))
  return run, assert(json.decode(support.read(run .. "/record.json")))
end

--- A whole run: its record, the lines of its journal, and its folder.
---@param folder string  for what the script leaves
---@return table record
---@return table[] lines
---@return string run
function damage.whole(folder)
  support.write(folder .. "/whole.lua", SCRIPT)
  local run, record = run_of(folder, "--out timed")
  local _, checked = run_of(folder, "--check --counters --out checked")
  record.findings, record.counters, record.checks = checked.findings, checked.counters, checked.checks
  record.warnings, record.pictures = checked.warnings, PICTURES
  record.failures = { { message = "it failed", status = "invalid", params = { n = "3" } } }
  record.params = { n = { "3" } }
  support.write(run .. "/record.json", json.encode(record))
  for _, list in ipairs { "records", "checks", "charts", "tables", "remarks", "pictures", "sources", "findings",
                          "counters", "warnings" } do
    assert(#record[list] > 0, list)
  end
  return record, journal_of(record), run
end

-- ---- changes --------------------------------------------------------------------------------------

--- A generator of numbers from 1 to n: the same everywhere (S. K. Park and K. W. Miller, 1988).
---@param seed integer
---@return fun(n: integer): integer
function damage.random(seed)
  local state = seed * 7919 % 2147483646 + 1
  return function(n)
    state = state * 48271 % 2147483647
    return 1 + state * n // 2147483647
  end
end

local JUNK <const> = {
  1, 0, -1, 7.5, -1e300, 1e300, 1e-300, 2 ^ 53, -2 ^ 63, true, false, "", "x", "1", "/etc/passwd", "../../x", "a\nb",
  "\27[2J\27[31m", "\r2 passed in 0.1 s", "\u{9b}2J\u{202e}abc", "\0", ("x"):rep(300), "%s%d%n", "nan", "$(id)",
  "<script>", "]]>", "passed", {}, { 1 }, { "a", "b" }, { { {} } }, { a = 1 }, { name = "x" },
  { median = 1, samples = { 1 } }, { median = 1e308, samples = { 1e308, -1e308, 1e308 } },
  { median = 0, samples = { 0, 0 } }, { value = 1, low = 2, high = 0 },
  { kind = "ladder" }, { kind = "timeline" }, { kind = "film" },
}

--- A copy of a value and of all tables in it.
---@param value any
---@return any
function damage.copy(value)
  if type(value) ~= "table" then return value end
  local made = {}
  for key, inner in pairs(value) do made[key] = damage.copy(inner) end
  return made
end
local copy = damage.copy

local function keys_of(value)
  local keys = {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

-- Any table in a value, which may be itself.
local function somewhere(value, random)
  local keys = keys_of(value)
  local key = keys[random(math.max(1, #keys))]
  if key == nil or type(value[key]) ~= "table" or random(10) <= 2 then return value end
  return somewhere(value[key], random)
end

local CHANGES = {
  function(at, key, random) at[key] = copy(JUNK[random(#JUNK)]) end,
  function(at, key) at[key] = nil end,
  function(at, key, random, whole) at[key] = copy(somewhere(whole, random)) end,
  function(at, key, random) at[JUNK[20 + random(4)]], at[key] = at[key], JUNK[random(#JUNK)] end,
  function(at, key) if type(at[key]) == "number" then at[key] = -at[key] * 1e30 end end,
  function(at) if #at > 0 then at[#at + 1] = copy(at[1]) end end,
  function(at, key, random) if #at > 0 then table.remove(at, random(#at)) else at[key] = {} end end,
}

--- A changed copy of a value: one to four changes anywhere in it.
---@param value table
---@param random function
---@return table
function damage.changed(value, random)
  local made = copy(value)
  for _ = 1, random(4) do
    local at = somewhere(made, random)
    local keys = keys_of(at)
    CHANGES[random(#CHANGES)](at, keys[random(math.max(1, #keys))] or "x", random, value)
  end
  return made
end

local BYTES <const> = { '"', "{", "}", "[", "]", ",", ":", "\n", "\\", "\\u001b", "\0", "\255", "null", "NaN", "-",
                        "1e999", "0x10", '"a":', ("["):rep(500) }

--- A changed text: bytes that are removed, put in or doubled.
---@param text string
---@param random function
---@return string
function damage.text(text, random)
  for _ = 1, random(3) do
    local at, length, what = random(#text + 1), random(20), random(4)
    local instead = what == 1 and "" or what == 2 and BYTES[random(#BYTES)] or what == 3 and text:sub(at, at + length)
    if instead then
      text = text:sub(1, at - 1) .. instead .. text:sub(what == 2 and at or at + (what == 1 and length or 0))
    else
      text = text:sub(1, at) -- cut
    end
  end
  return text
end

--- The text of a record or a journal, changed as one or as the other.
---@param record table
---@param lines table[]
---@param random function
---@return string name   "record.json" or "journal.jsonl"
---@return string text
function damage.file(record, lines, random)
  local as_record = random(2) == 1
  local value = random(4) > 1 and damage.changed(as_record and record or lines, random) or as_record and record or lines
  local text
  if as_record then
    text = json.encode(value)
  else
    local parts = {}
    for _, key in ipairs(keys_of(value)) do parts[#parts + 1] = json.encode(value[key]) end
    text = table.concat(parts, "\n") .. "\n"
  end
  if random(4) == 1 then text = damage.text(text, random) end
  return as_record and "record.json" or "journal.jsonl", text
end

-- ---- readers --------------------------------------------------------------------------------------

local UNSAFE <const> = { "[%z\1-\8\11\12\14-\31\127]", "\r[^\n]", "\xc2[\x80-\x9f]", "\xe2\x80[\xaa-\xae]" }

-- The function with all that is printed in a list.
local function captured(body)
  local said, before_print, before_write, before_error = {}, print, io.write, io.stderr
  local function say(...)
    for i = 1, select("#", ...) do said[#said + 1] = tostring((select(i, ...))) end
  end
  print, io.write, io.stderr = say, say, { write = function(_, ...) say(...) end } -- luacheck: ignore 121 122
  local ok, problem = xpcall(body, function(problem)
    return failure.status(problem) and problem or debug.traceback(tostring(problem))
  end)
  print, io.write, io.stderr = before_print, before_write, before_error -- luacheck: ignore 121 122
  return ok, problem, table.concat(said, "\n")
end

--- What is wrong with a reader: an error of Lua's own, or words that a terminal obeys. nil if nothing is.
---@param body function
---@return string?
function damage.fault(body)
  local ok, problem, said = captured(body)
  if not ok and not failure.status(problem) then return tostring(problem) end
  if not ok then said = said .. "\n" .. tostring(problem) end
  for _, pattern in ipairs(UNSAFE) do
    local at = said:find(pattern)
    if at then return ("it prints %q"):format(said:sub(math.max(1, at - 20), at + 20)) end
  end
end

local COMMANDS <const> = {
  { "history", "F" }, { "history", "F", "W", "--only", "kind = naive" }, { "export", "F", "--csv" },
  { "export", "F", "W", "--md" }, { "export", "F", "--json" }, { "export", "F", "--dat" },
  { "export", "F", "--counters", "--md" }, { "compare", "W", "F" }, { "compare", "F", "W" },
  { "plot", "F", "--terminal" }, { "plot", "F", "W", "--terminal" },
}

--- The commands that read stored runs, over a folder beside that of a whole run; the first fault of one.
---@param folder string
---@param beside string
---@return string? fault
function damage.by_commands(folder, beside)
  for _, words in ipairs(COMMANDS) do
    local given = {}
    for i = 2, #words do given[i - 1] = words[i] == "F" and folder or words[i] == "W" and beside or words[i] end
    local fault = damage.fault(function() options.execute(require("moonwarp.cli." .. words[1]), given) end)
    if fault then return ("%s: %s"):format(table.concat(words, " "), fault) end
  end
end

--- The report over some folders; what is wrong with it. A part that an error of Lua's spoils counts.
---@param folders string[]
---@return string? fault
function damage.by_report(folders)
  local text
  local fault = damage.fault(function()
    local found = require("moonwarp.report.material").gather(folders, "out")
    text = require("moonwarp.report.page").draw(found, {})
  end)
  if fault then return "report: " .. fault end
  local spoiled = text:match "cannot be shown: [^<]*"
  return spoiled and "report: " .. spoiled
end

local GATES <const> = {
  { record = { kind = "tiled" }, field = "T_tot", at_least = 1, of = { kind = "naive" } },
  { kernel = "shift", field = "sectors_per_request", at_most = 99 },
}

--- What a batch makes of a lab that left a run: its verdict, the table and the JUnit text.
---@param folder string  of the attempt; the run is two folders below it
---@return string? fault
---@return table? ending
function damage.by_batch(folder)
  local verdict, summary, junit = require "moonwarp.lab.verdict", require "moonwarp.lab.summary",
    require "moonwarp.lab.junit"
  local step, ending = { id = "a-cpu", name = "a", tags = {}, needs = {}, gates = GATES, checks = 1, device = "cpu" }
  local fault = damage.fault(function()
    ending = verdict.of(step, { exit = 0, signal = 0, seconds = 1.0 }, folder)
    ending.folder = "a-cpu"
    local book = { head = { name = "labs", date = "2026-01-01T00:00:00Z", curriculum = "labs.lua" }, folder = folder,
                   seconds = function() return 1.0 end }
    local result = summary.of({ book = book, steps = { step }, is_complete = function() return true end,
                                states = { ["a-cpu"] = { attempts = 1, result = ending } } }, false)
    print(summary.text(result))
    print(junit.text(result))
  end)
  return fault, ending
end

return damage
