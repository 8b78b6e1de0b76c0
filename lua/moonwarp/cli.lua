-- SPDX-License-Identifier: MIT
--
-- The command line: words in, exit status out. Each command is a file in cli/, loaded when it is
-- asked for, so that `moonwarp -e ''` stays quick. Called by core/host/main.c.

local exit = require "moonwarp.base.exit"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"

local cli = {}

local COMMANDS = { "run", "new", "port", "rerun", "batch", "list", "compare", "history", "plot", "export", "report",
                   "info", "repl", "cache", "tune", "tuned", "ceilings", "explain",
                   "roofline" }

local INNER = { "compile", "describe", "element" } -- which other commands start: no help names them

local SUMMARY = [[
moonwarp: a GPU performance laboratory scripted in Lua

usage:
  moonwarp run STUDY|FILE.lua [options]   run a study or a script; -p name=v sets its parameters
  moonwarp run PROGRAM.cu [-- words]      a CUDA program with its main, without a GPU too
  moonwarp new NAME [FILE.cu]             a first script for a kernel
  moonwarp port PROGRAM.cu                a script of a CUDA program's host part
  moonwarp rerun DIR                      a stored run again, from its own script
  moonwarp tune STUDY                     the best variants of a study's kernels
  moonwarp tuned list|export|forget       what was found
  moonwarp ceilings                       what a device gives at most
  moonwarp explain RUN                    what bounds each kernel, and what to try
  moonwarp roofline RUN...                kernels under the roofs of their device
  moonwarp batch [CURRICULUM]             the labs of a curriculum, each in its own process
  moonwarp list [STUDY...]                the studies, with their parameters
  moonwarp compare A B                    is B faster? status 5 if something is slower
  moonwarp history STUDY                  measurements over all stored runs
  moonwarp plot DIR...                    charts of stored runs, several on one
  moonwarp export DIR...                  stored runs as CSV, JSON, Markdown or for gnuplot
  moonwarp report DIR...                  stored runs as one HTML file
  moonwarp info                           devices, compilers, cache
  moonwarp repl                           a prompt (also: moonwarp without words, at a terminal)
  moonwarp -e CODE [options]              run one piece of Lua
  moonwarp cache stat|clear               the cache of compiled code
  moonwarp COMMAND --help                 more about a command
  moonwarp --version

example:
  moonwarp run memcopy

exit status: 0 done, 1 error in a script, 2 wrong use, 3 a check or a pass of a sweep failed,
4 no such device, 5 compare found something slower, 6 compare --strict something unclear, 130 interrupted]]


local function command_of(word)
  if lists.has(COMMANDS, word) or lists.has(INNER, word) then return require("moonwarp.cli." .. word) end
  local is_file = word:find "%.lua$" or word:find "%.cu$"
  local hint = is_file and "to run it: moonwarp run " .. require("moonwarp.base.path").word(word)
    or "moonwarp --help lists them"
  options.fail_unknown("command", word, COMMANDS, hint)
end

local dispatch
function dispatch(words)
  local first = words[1]
  if first == nil then
    local host = require "moonwarp.host"
    if not host.terminal(0) then options.fail("a command is wanted; moonwarp --help lists them") end
    return options.execute(require "moonwarp.prompt.repl", {})
  end
  if first == "help" and words[2] then return dispatch { words[2], "--help" } end
  local asks_version = first == "--version" or first == "-v"
  if asks_version or first == "--help" or first == "-h" or first == "help" then
    print(asks_version and "moonwarp " .. require("moonwarp.core").version or SUMMARY)
    return exit.OK
  end
  if first == "-e" then return require("moonwarp.cli.run").code(words) end
  if first:sub(1, 1) == "-" then
    options.fail_unknown("option", first, { "--help", "--version", "-e" })
  end
  return options.execute(command_of(first), table.move(words, 2, #words, 1, {}))
end

--- Runs the command line.
---@param words string[]   [0] is the program's name
---@return integer status
function cli.main(words)
  local host = require "moonwarp.host"
  local outcome, result, problem = host.call(dispatch, words)
  if outcome == "done" then return result end
  if lists.has(words, "--mpi") then
    local rank, size = require("moonwarp.base.launcher").place()
    if size > 1 then host.prefix(("[%d] "):format(rank)) end
  end
  exit.complain(exit.text(result, problem))
  return exit.of(outcome, problem)
end

return cli
