-- SPDX-License-Identifier: MIT
--
-- Every probe of tests/regress/classes in each frame and optimised, with each compiler, both at once: alone in its
-- module by the engine that is chosen, and by fibers. Prints what is not right and ends with status 1 if a number is
-- wrong, or an error is none that the case names.

local core = require "moonwarp.core"

local program = io.popen "readlink /proc/$PPID/exe":read "l"
local RUN = "export MOONWARP_CXX=%s; "
  .. "run() { '%s' run '%s/tests/regress/classes/probed_kernels.lua' -- --brief \"$@\"; }; "
  .. "{ run --engines auto --frames plain,barriers,helper,turning && run --engines fiber --per 40; } 2>/dev/null; "
  .. "echo status $?"

local function there(compiler) return os.execute("command -v " .. compiler .. " >/dev/null 2>&1") end

local pipes = {}
for _, compiler in ipairs { "clang++", "g++" } do
  if there(compiler) then pipes[#pipes + 1] = { compiler, io.popen(RUN:format(compiler, program, core.home())) } end
end
local wrong = #pipes == 0
for _, pipe in ipairs(pipes) do
  local output = pipe[2]:read "a"
  print(pipe[1] .. "\n" .. output)
  wrong = wrong or not output:find "status 0\n$" or output:find "[1-9]%d* wrong" or output:find "[1-9]%d* broken"
end
os.exit(wrong and 1 or 0)
