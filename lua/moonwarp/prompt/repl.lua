-- SPDX-License-Identifier: MIT
--
-- The prompt: reads, runs, prints. A line that is an expression is printed; one that is not
-- finished continues at the next prompt. Ctrl-C discards the line or ends the running code; exit, quit, q
-- and Ctrl-D leave.

local exit = require "moonwarp.base.exit"
local help = require "moonwarp.prompt.help"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local syntax = require "moonwarp.base.syntax"
local session = require "moonwarp.session"
local show = require "moonwarp.base.show"

local repl = {}

local FIRST, MORE = "moonwarp> ", "       >> "

local function history_file()
  local state = os.getenv("XDG_STATE_HOME")
  if not state or state:sub(1, 1) ~= "/" then state = (os.getenv("HOME") or "") .. "/.local/state" end
  return state .. "/moonwarp/history"
end

-- "= x" was Lua 5.1's way to print x.
local function compile(text)
  local expression = text:match("^%s*=(.*)$") or text
  local chunk = load("return " .. expression, "=(prompt)")
  if chunk then return chunk end
  return load(text, "=(prompt)")
end

-- A chunk, with its text; false after Ctrl-C, nil at the end of the input.
local function read_chunk()
  local text = host.read_line(FIRST)
  if not text then return text end
  while true do
    local chunk, message = compile(text)
    if chunk then return text, chunk end
    if message:sub(-5) ~= "<eof>" then return text, nil, syntax.explain(text, message) end -- else it is unfinished
    local line = host.read_line(MORE)
    if not line then return line == nil and text or false, nil, message end
    text = text .. "\n" .. line
  end
end

local function print_error(message)
  io.stderr:write(tostring(message), "\n")
end

-- The values of an expression, but for tables, charts and reports that their call has printed.
local function print_outcome(outcome, ...)
  if outcome ~= "done" then return print_error(outcome == "failed" and (...) or outcome) end
  local texts, given = {}, table.pack(...)
  for i = 1, given.n do
    if not lists.has(session.current.shown, given[i]) then texts[#texts + 1] = show.value(given[i]) end
  end
  if #texts > 0 then print(table.concat(texts, "\t")) end
end

-- ---- words of the prompt ------------------------------------------------------------------------

local LEAVE = lists.set { "exit", "quit", "q" }

-- "q", "exit()"; not if the user has a variable of this name.
local function leaves(text)
  local word = text:match "^%s*(%a+)%s*$" or text:match "^%s*(%a+)%s*%(%s*%)%s*$"
  return word and LEAVE[word] and rawget(_G, word) == nil
end

-- "help bench" is help "bench".
local function asks(text)
  return _G.help == help.value and text:match "^%s*help%s+([%a_][%w_.:]*)%s*$"
end

-- ---- the loop -----------------------------------------------------------------------------------

local function run_one()
  local text, chunk, message = read_chunk()
  if text == nil then return false end
  if text == false then return true end
  if leaves(text) then return false end
  if text:find("%S") then host.remember(text) end
  local word = asks(text)
  if word then chunk = function() help.value(word) end end
  local current = session.current
  current.shown = {}
  current.options.script, current.options.text = nil, nil -- mw.run's, if an interruption has cut short its end
  if chunk then print_outcome(host.call(chunk)) else print_error(message) end
  session.current:settle_findings()
  return true
end

-- Closes the run's record.
local function finish()
  local folder, problem = session.current:finish { status = session.current:ending().status, exit = exit.OK }
  if problem then exit.complain(problem) elseif folder then print("results: " .. folder) end
end

--- Opens a prompt, until it is left.
function repl.run()
  _G.mw, _G.help = require "moonwarp", help.value
  if host.terminal(0) then
    local greeting = "moonwarp %s, %s. mw is loaded; Tab completes, help explains, exit leaves."
    print(greeting:format(_G.mw.version, _VERSION))
  end
  host.open_editor(history_file(), require("moonwarp.prompt.complete").line)
  repeat
    local outcome, go_on = host.call(run_one)
    if outcome == "failed" then error(go_on, 0) end
  until go_on == false -- an interruption may also come while no code of the user runs
  finish()
end

return repl
