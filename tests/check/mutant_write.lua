-- SPDX-License-Identifier: MIT
--
-- Writes what runs each mutant, for other tools than check mode:
--
--   moonwarp run tests/check/mutant_write.lua -- FOLDER
--
-- FOLDER/NUMBER/ has the kernels and study.lua; FOLDER/list has a line for each: number, kind, file:line, what it is
-- run with, text of the line. Numbers above 1000 are the kernels as they are, for each way in which they are run.

local mutants = require "tests.check.mutants"

local out = arg[1] or error("wanted: the folder to write to", 0)
os.execute(("mkdir -p '%s'"):format(out))
local list <close> = assert(io.open(out .. "/list", "wb"))

local function add(number, mutant)
  local folder = ("%s/%d"):format(out, number)
  os.execute(("mkdir -p '%s'"):format(folder))
  mutants.write(mutant, folder)
  list:write(("%d\t%s\t%s:%d\tstudy.lua %s\t%s\n"):format(number, mutant.kind, mutant.file, mutant.line, mutant.params,
    mutant.after:match "^%s*(.*)"))
end

local seen, count = {}, 0
for i, mutant in ipairs(mutants.list()) do
  add(i, mutant)
  local key = mutant.file .. mutant.study .. mutant.params
  if not seen[key] then
    seen[key], count = true, count + 1
    add(1000 + count, mutants.original(mutant))
  end
end
print(#mutants.list() .. " mutants, " .. count .. " ways to run them")
