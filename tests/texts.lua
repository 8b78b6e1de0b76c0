-- SPDX-License-Identifier: MIT
--
-- What others may write, of letters that a reader may look at more than once, and what reads it. A reader writes some
-- texts into a folder, and gives the function that reads them, which says why it refuses them, if it does.

local damage = require "tests.damage"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local support = require "tests.support"

local texts = {}

--- Bytes of a text that each reader takes.
texts.EACH = 64000

--- What long texts are made of. After the first five: what is searched for an end, or from one.
texts.KINDS = { "blanks", "tabs", "feeds", "letters", "brackets", "pairs", "dots", "slashes", "quotes", "backslashes",
                "commas", "comments", "groups", "frames", "curves", "rounds", "colons", "digits", "hashes", "ends" }

local PIECES <const> = { blanks = " ", tabs = "\t", feeds = "\n", letters = "a", brackets = "[", pairs = "[]",
                         dots = ".", slashes = "/", quotes = '"', backslashes = "\\", commas = ",", comments = "<!--",
                         groups = "<g>", frames = "# frame 1: ", curves = "_plot_1", rounds = "(", colons = ":1",
                         digits = "1", hashes = "# ", ends = "value." }

--- A text of a kind, between two letters: behind blanks something has to come.
---@param kind string
---@param size integer
---@return string
function texts.of(kind, size)
  local piece = PIECES[kind]
  return "a" .. piece:rep((size - 2) // #piece) .. "x"
end

-- ---- what is written ------------------------------------------------------------------------------

-- In JSON's quotation marks. Blanks, which it has to escape, are left as they are where they are in nobody's way.
local function quoted(text, also)
  return (text:gsub('["\\' .. also .. "]", { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n" }))
end

local function each_quoted(list, form, also)
  return lists.map(list, function(text) return (form:gsub("@", (quoted(text, also or ""):gsub("%%", "%%%%")))) end)
end

local FORM <const> = '{"schema":"moonwarp-record/1","study":"s","status":"complete","exit":0,"records":[],"charts":[],'
  .. '"tables":[],"pictures":[],"sources":[],"remarks":[%s],"checks":[%s]}'

-- One half where texts may have lines, the other in a name.
local function record_of(list)
  local half = #list // 2
  return FORM:format(
    table.concat(each_quoted(table.move(list, 1, half, 1, {}), '{"text":"@"}'), ","),
    table.concat(each_quoted(table.move(list, half + 1, #list, 1, {}), '{"ok":true,"what":"@"}'), ","))
end

local RUN <const> = '{"kind":"run","value":{"schema":"moonwarp-record/1","study":"s"}}\n'
local HEAD <const> = '{"schema":"moonwarp-batch/1","name":"n","date":"d","curriculum":"c","jobs":1,"steps":[%s]}'
local END <const> = '{"kind":"end","id":"a","attempt":1,"date":"d","verdict":"passed","gates":[%s]}'
local SVG <const> = '<svg viewBox="0 0 4 4">Produced by GNUPLOT<g>%s</g></svg>'

local function put(folder, name, text)
  os.execute(("rm -rf '%s'/* && mkdir -p '%s/slurm' '%s/source'"):format(folder, folder, folder))
  support.write(("%s/%s"):format(folder, name), text)
end

-- ---- what reads it --------------------------------------------------------------------------------

local function read_run(folder)
  return function() return select(2, require("moonwarp.results.store").read(folder)) end
end

-- The text of the usage error that a function raises.
local function refusal(body, ...)
  local arguments = table.pack(...)
  return function()
    local ok, problem = pcall(body, table.unpack(arguments))
    if not ok and failure.status(problem) ~= "usage" then error(problem, 0) end
    return not ok and problem.text or nil
  end
end

local function must_hold(fault)
  if fault then error(fault, 0) end
end

--- Those that refuse a text of more than 64 KiB in a word, and take shorter ones.
texts.STRICT = {
  record = function(folder, list)
    put(folder, "record.json", record_of(list))
    return read_run(folder)
  end,
  journal = function(folder, list)
    local lines = each_quoted(list, '{"kind":"check","value":{"ok":true,"what":"@"}}\n', "\n")
    put(folder, "journal.jsonl", RUN .. table.concat(lines))
    return read_run(folder)
  end,
  note = function(folder, list)
    put(folder, "slurm/a.end", END:format(table.concat(each_quoted(list, '{"ok":true,"text":"@"}'), ",")))
    return function() return select(2, require("moonwarp.slurm.notes").read(folder, "a.end")) end
  end,
  plan = function(folder, list)
    local steps = each_quoted(list, '{"id":"sN","name":"s","path":"p","retries":0,"title":"@"}')
    for i, step in ipairs(steps) do steps[i] = step:gsub("N", i, 1) end
    put(folder, "batch.json", HEAD:format(table.concat(steps, ",")))
    return refusal(require("moonwarp.lab.ledger").head, folder)
  end,
  ["-p"] = function(_, list)
    return refusal(require("moonwarp.base.parameter").read, lists.map(list, function(text, i)
      return ("n%d=%s"):format(i, text)
    end))
  end,
}

--- Those that read on, or the end only.
texts.LENIENT = {
  ["journal that was cut"] = function(folder, list)
    put(folder, "journal.jsonl", RUN .. quoted(table.concat(list), "\n"))
    return read_run(folder)
  end,
  ["journal of a batch"] = function(folder, list)
    put(folder, "journal.jsonl", table.concat(each_quoted(list, '{"kind":"end","id":"a","message":"@"}\n', "\n"))
      .. quoted(list[1], "\n"))
    support.write(folder .. "/batch.json", HEAD:format "")
    return function() require("moonwarp.report.labs").read(folder) end
  end,
  log = function(folder, list)
    put(folder, "output.txt", table.concat(list, "\n"))
    return function()
      local step = { id = "a", name = "a", needs = {}, gates = {} }
      require("moonwarp.lab.verdict").of(step, { exit = 1, signal = 0, seconds = 1 }, folder)
    end
  end,
  ["tool's log"] = function(_, list)
    local text = "========= " .. table.concat(list, "\n========= ")
    return function()
      require("moonwarp.tools.sanitizer_report").read(text, "cuda:check")
      require("moonwarp.tools.ncu_report").read(text, text, text)
      must_hold(damage.fault(function() require("moonwarp.session").warn(text) end))
    end
  end,
  source = function(folder, list)
    put(folder, "source/a.cu", table.concat(list, "\n"))
    local run = { folder = folder, anchor = "a", tag = "t", study = "s", sources = { { name = "a.cu" } },
                  warnings = { { file = "a.cu", line = 1, text = "w" } } }
    return function()
      local source = require "moonwarp.report.source"
      source.draw(run, source.store())
    end
  end,
  script = function(_, list)
    local text = table.concat(list, "\n") .. "x\n" -- a line with something in it is shown
    return function() require("moonwarp.base.syntax").explain(text, "s.lua:1: unexpected symbol") end
  end,
  film = function(_, list)
    local text = "# frame 1: a\n" .. table.concat(list, "\n")
    return function() require("moonwarp.plot.film").frames(text) end
  end,
  picture = function(_, list) -- as large as one may be
    local text = SVG:format(table.concat(list):sub(1, 512 << 10))
    return function() require("moonwarp.report.embed").draw(text, "l", "p", "c") end
  end,
}

--- What reads a run that is in order; beside: a whole one.
texts.COMMANDS = {
  commands = function(folder, list, beside)
    put(folder, "record.json", record_of(list))
    return function() must_hold(damage.by_commands(folder, beside)) end
  end,
  report = function(folder, list, beside)
    put(folder, "record.json", record_of(list))
    return function() must_hold(damage.by_report { folder, beside }) end
  end,
}

--- Seconds of the processor that a reader takes, of two times the shorter one, and why it refuses.
---@param prepare function  of one of these tables
---@param ... any           folder, list of texts, beside
---@return number seconds
---@return string? reason
function texts.seconds(prepare, ...)
  local read, least, reason = prepare(...), math.huge, nil
  for _ = 1, 2 do
    collectgarbage()
    local begun = os.clock()
    reason = read()
    least = math.min(least, os.clock() - begun)
  end
  return least, reason
end

return texts
