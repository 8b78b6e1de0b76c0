-- SPDX-License-Identifier: MIT
--
-- moonwarp port PROGRAM.cu: a script that does what the host part of a CUDA program does, as far as it can be read
-- (port/script.lua); the rest are comments.

local exit = require "moonwarp.base.exit"
local files = require "moonwarp.base.files"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"

local port = { most = 1, least = 1,
               wants = "port wants a CUDA program, as in moonwarp port program.cu --out program.lua" }

port.usage = [[
usage: moonwarp port PROGRAM.cu [options]

Writes a script that does what the host part of a CUDA program does: its arrays, copies, launches,
loops and prints. The kernels stay where they are. What cannot be read stays as a comment with its
line, and the script stops where it needs that.]]

port.example = "moonwarp port program.cu --out program.lua"

port.options = {
  { flag = "--out", show = "FILE", value = "a file", help = "a new file for the script; else it is printed" },
  { flag = "-I", show = "DIR", value = "a folder", many = true, joined = true, key = "includes",
    help = "a folder of the program's headers" },
  { flag = "-D", show = "NAME[=V]", value = "a macro", many = true, joined = true, key = "defines", help = "a macro" },
}

local MISSING <const> = {
  main = "'%s' has no main: moonwarp new %s %s writes a script that runs its kernels",
  kernel = "'%s' has a main and no kernel: port takes the file with both",
}

local function made_of(file, parsed)
  if not file:find "%.cuh?$" and not file:find "%.c[px]*$" then
    options.fail("'%s' is no CUDA program: port wants a file in C++, as in program.cu", file)
  end
  local text, problem = files.read(file)
  if not text then options.fail("%s", problem) end
  local made = require("moonwarp.port.script").make { file = file, text = text, folder = file:match "^(.*)/" or ".",
                                                      includes = parsed.includes, defines = parsed.defines }
  if made.wrong then options.fail("%s", made.wrong) end
  if made.missing then
    options.fail(MISSING[made.missing], file, path.word(file:match "([^/]*)%."), path.word(file))
  end
  return made
end

--- The command.
---@param parsed table
---@return integer? status
function port.run(parsed)
  local file, to = parsed[1], parsed.out
  if to and files.read(to) then options.fail("there is a '%s' already; take another name", to) end
  local made = made_of(file, parsed)
  local text = ("-- The host part of %s, by moonwarp port.\n\n%s"):format(file, made.text)
  local problem = to and files.write(to, text)
  if not to then io.write(text) end
  if problem then options.fail("%s", problem) end
  local left = made.left == 0 and "no comments in place of any" or ("comments in place of %d"):format(made.left)
  exit.complain("'%s': %d statements translated, %s%s", file, made.translated, left,
    to and ("; to run it: moonwarp run %s"):format(path.word(to)) or "")
end

return port
