-- SPDX-License-Identifier: MIT
--
-- The command line: words in, exit status out. Each command is a file in cli/, loaded when it is
-- asked for, so that `moonwarp -e ''` stays quick. Called by core/host/main.c.

local options = require "moonwarp.cli.options"

local cli = {}

--- Exit statuses.
cli.OK, cli.FAILED, cli.USAGE, cli.CHECK, cli.NO_DEVICE, cli.INTERRUPTED = 0, 1, 2, 3, 4, 130

local COMMANDS = { "run", "rerun", "batch", "list", "compare", "history", "plot", "export", "report", "info",
                   "repl", "cache" }

local SUMMARY = [[
moonwarp: a GPU performance laboratory scripted in Lua

usage:
  moonwarp run STUDY|FILE.lua [options]   run a study or a script; -p name=v sets its parameters
  moonwarp rerun DIR                      what made a stored run, again
  moonwarp batch [CURRICULUM]             the labs of a curriculum, each in a process of its own
  moonwarp list [STUDY...]                the studies, with their parameters
  moonwarp compare A B                    is B faster? status 5 where something is slower
  moonwarp history STUDY                  measurements over all stored runs
  moonwarp plot DIR...                    charts of stored runs, several on one
  moonwarp export DIR...                  stored runs as CSV, JSON, Markdown or for gnuplot
  moonwarp report DIR...                  stored runs as one HTML file
  moonwarp info                           devices, compilers, cache
  moonwarp repl                           a prompt (also: moonwarp alone, at a terminal)
  moonwarp -e CODE [options]              run one piece of Lua
  moonwarp cache stat|clear               the cache of compiled code
  moonwarp COMMAND --help                 more about a command
  moonwarp --version

exit status: 0 done, 1 error in a script, 2 wrong use, 3 a check failed, 4 no such device,
5 compare found something slower, 130 interrupted]]

local function print_and_leave(text)
  print(text)
  return cli.OK
end

local function command_of(word)
  if word == "describe" then return require "moonwarp.cli.describe" end -- for other commands: no help names it
  for _, name in ipairs(COMMANDS) do
    if name == word then return require("moonwarp.cli." .. name) end
  end
  local hint = word:match("%.lua$") and ("to run it: moonwarp run %s"):format(word)
    or "moonwarp --help lists them"
  options.fail_unknown("command", word, COMMANDS, hint)
end

-- The words behind the first, as a list.
local function rest_of(words, from)
  return table.move(words, from, #words, 1, {})
end

local function dispatch(words)
  local first = words[1]
  if first == nil then
    local host = require "moonwarp.host"
    if not host.terminal(0) then options.fail("a command is wanted; moonwarp --help lists them") end
    return require("moonwarp.cli.repl").run {}
  end
  if first == "--help" or first == "-h" or first == "help" then return print_and_leave(SUMMARY) end
  if first == "--version" or first == "-v" then
    return print_and_leave("moonwarp " .. require("moonwarp.core").version)
  end
  if first == "-e" then return require("moonwarp.cli.run").code(words) end
  if first:sub(1, 1) == "-" then
    options.fail_unknown("option", first, { "--help", "--version", "-e" })
  end
  return command_of(first).run(rest_of(words, 2))
end

--- Runs the command line.
---@param words string[]   [0] is the program's name
---@return integer status
function cli.main(words)
  local outcome, result = require("moonwarp.host").call(options.attempt, dispatch, words)
  if outcome == "done" and not options.is_usage(result) then return result end
  io.stdout:flush()
  io.stderr:write("moonwarp: ", tostring(result), "\n")
  if outcome == "interrupted" then return cli.INTERRUPTED end
  return outcome == "done" and cli.USAGE or cli.FAILED
end

return cli
