-- SPDX-License-Identifier: MIT
--
-- A folder with a curriculum and its scripts, batches that run in it, and what is said of a curriculum.
-- $MOONWARP_PROGRAM is what was built.

local busted = require "busted"
local assert = require "luassert"
local support = require "tests.support"
local cjson = require "cjson"

local labs = {}

local function absolute(path)
  return path:sub(1, 1) == "/" and path or require("lfs").currentdir() .. "/" .. path
end

labs.program = absolute(os.getenv "MOONWARP_PROGRAM" or "build/moonwarp")

--- A word for the shell.
---@param text string
---@return string
function labs.quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Runs a command of the shell.
---@param command string
---@return integer status
---@return string output  both streams
function labs.shell(command)
  local pipe = assert(io.popen("{ " .. command .. "; } 2>&1"))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

-- Of another user than root, whose home is the folder: what it is in front of runs as uid 65534.
local LESS <const> = "chown -R 65534:65534 %s && chmod 755 %s && env HOME=%s MOONWARP_CACHE=%s/cache "
  .. "setpriv --reuid 65534 --regid 65534 --clear-groups env "

--- Who commands can be run as: this user, and beside root one without its rights, where there is one.
---@return table[]  { name, as }: as(folder) is what stands in front of a command that works in the folder
function labs.users()
  local users = { { name = "this user", as = function() return "env " end } }
  if labs.shell(("setpriv --reuid 65534 --regid 65534 --clear-groups test -x %s -a -r %s/lua/moonwarp/init.lua"):format(
    labs.quoted(labs.program), labs.quoted(support.core.home()))) == 0 and labs.shell "[ $(id -u) = 0 ]" == 0 then
    users[2] = { name = "user 65534", as = function(folder) return (LESS:gsub("%%s", labs.quoted(folder))) end }
  end
  return users
end

-- Of those who test: the queue of tests/support/slurm.lua, what a build with sanitizers reads.
local ENV = '{ "STAND_IN", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS" }'

-- The limit of time is for a test that hangs: a busy machine does not reach it.
local function write(folder, list)
  local lines = { ("return { defaults = { devices = \"cpu\", time_limit = 600, env = %s },"):format(ENV) }
  for _, lab in ipairs(list) do
    lines[#lines + 1] = ("  { script = \"%s.lua\", name = \"%s\", %s },"):format(lab[1], lab[1], lab[2])
    support.write(("%s/%s.lua"):format(folder, lab[1]), 'local mw = require "moonwarp"\n' .. lab[3])
  end
  lines[#lines + 1] = "}"
  support.write(folder .. "/labs.lua", table.concat(lines, "\n"))
end

--- Writes labs into a folder of their own; each runs on the CPU device, and its script knows mw.
---@param list table[]  { name, fields (text of Lua), script (text) }
---@param body fun(folder: string, batch: function)  batch(words, environment) runs in the folder and returns status,
---                                                  output, and what --json says
function labs.with(list, body)
  support.with_folder(function(folder)
    write(folder, list)
    body(folder, function(words, environment)
      local status, output = labs.shell(("cd %s && %s %s batch %s --out out --json r.json </dev/null"):format(
        labs.quoted(folder), environment or "", labs.quoted(labs.program), words or "labs.lua"))
      local file = io.open(folder .. "/r.json")
      local result = file and cjson.decode(file:read "a")
      if file then file:close() end
      return status, output, result
    end)
  end)
end

--- `it` of a test that needs a sandbox: it is skipped where there can be none.
---@param name string
---@param body function
function labs.it_sandboxed(name, body)
  local problem = require("moonwarp.lab.sandbox").new("auto").problem
  if problem then busted.pending(("%s (%s)"):format(name, problem)) else busted.it(name, body) end
end

-- ---- curricula ----------------------------------------------------------------------------------

local function with_file(text, body)
  support.with_folder(function(folder)
    support.write(folder .. "/mine.lua", "")
    support.write(folder .. "/labs.lua", text)
    body(folder .. "/labs.lua", folder)
  end)
end

--- The curriculum that a file of this text holds, beside a script mine.lua.
---@param text string
---@return table
function labs.load(text)
  local result
  with_file(text, function(path) result = require("moonwarp.lab.curriculum").load(path) end)
  return result
end

--- The file is rejected with these lines, in which it is called FILE and its folder DIR.
---@param text string
---@param ... string
function labs.rejected(text, ...)
  local wanted = table.concat({ ... }, "\n")
  with_file(text, function(path, folder)
    local ok, problem = pcall(require("moonwarp.lab.curriculum").load, path)
    assert.is_false(ok)
    assert.is_true(require("moonwarp.base.failure").status(problem) == "usage", tostring(problem))
    local said = problem.text:gsub(path:gsub("%p", "%%%0"), "FILE"):gsub(folder:gsub("%p", "%%%0"), "DIR")
    assert.are.equal(wanted, said)
  end)
end

return labs
