-- SPDX-License-Identifier: MIT
--
-- moonwarp repl: reads, runs, prints. A line that is an expression is printed; one that is not
-- finished continues at the next prompt. Ctrl-C discards the line or ends the running code, Ctrl-D leaves.

local host = require "moonwarp.host"
local show = require "moonwarp.base.show"

local repl = { most = 0 }

local FIRST, MORE = "moonwarp> ", "       >> "

repl.usage = [[
usage: moonwarp repl

A prompt. mw is moonwarp; expressions are printed; Tab completes globals, fields and methods; an
unfinished statement continues at the next prompt. Ctrl-C discards the line or ends the running
code, Ctrl-D leaves.
The history is kept in $XDG_STATE_HOME/moonwarp/history, else ~/.local/state/moonwarp/history.]]

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
    if chunk or message:sub(-5) ~= "<eof>" then return text, chunk, message end -- else it is unfinished
    local line = host.read_line(MORE)
    if not line then return line == nil and text or false, nil, message end
    text = text .. "\n" .. line
  end
end

local function print_error(message)
  io.stderr:write(tostring(message), "\n")
end

local function print_outcome(outcome, ...)
  if outcome ~= "done" then return print_error(outcome == "failed" and (...) or outcome) end
  local values = table.pack(...)
  for i = 1, values.n do values[i] = show.value(values[i]) end
  if values.n > 0 then print(table.concat(values, "\t")) end
end

local function run_one()
  local text, chunk, message = read_chunk()
  if text == nil then return false end
  if text == false then return true end
  if text:find("%S") then host.remember(text) end
  if chunk then print_outcome(host.call(chunk)) else print_error(message) end
  return true
end

--- The command.
function repl.run()
  _G.mw = require "moonwarp"
  if host.terminal(0) then
    local greeting = "moonwarp %s, %s. mw is loaded; Tab completes, Ctrl-D leaves."
    print(greeting:format(_G.mw.version, _VERSION))
  end
  host.open_editor(history_file(), require("moonwarp.cli.complete").line)
  repeat
    local outcome, go_on = host.call(run_one)
    if outcome == "failed" then error(go_on, 0) end
  until go_on == false -- an interruption may also come while no code of the user runs
end

return repl
