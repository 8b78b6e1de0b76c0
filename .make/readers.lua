-- SPDX-License-Identifier: MIT
--
-- readers.lua [--print]: core/source is the only reader of C++ statements (core/source/body.h). The program fails where
-- another file of core/ compares tokens with what makes a statement more often than EXCEPTIONS says, or less often:
-- then the number is to be lowered. --print shows the list as it would have to be.

local MAKES <const> = [[ { ; < if else for while do switch case default return break continue goto try ]]

-- Comparisons of each file that still reads tokens. The numbers only shrink.
local EXCEPTIONS <const> = {
  ["core/backend/cpu/program/body.c"] = 6,
  ["core/backend/cpu/program/callgraph.c"] = 8,
  ["core/backend/cpu/program/function.c"] = 1,
  ["core/backend/cpu/program/hidden.c"] = 3,
  ["core/backend/cpu/program/names.c"] = 17,
  ["core/backend/cpu/program/ptx.c"] = 1,
  ["core/backend/cpu/program/routine.c"] = 3,
  ["core/backend/cpu/program/write.c"] = 3,
  ["core/backend/cpu/split/bounds_check.c"] = 1,
  ["core/backend/cpu/split/dependence.c"] = 8,
  ["core/backend/cpu/split/group.c"] = 1,
  ["core/backend/cpu/split/hoist.c"] = 2,
  ["core/backend/cpu/split/inline.c"] = 4,
  ["core/backend/cpu/split/known.c"] = 3,
  ["core/backend/cpu/split/region.c"] = 4,
  ["core/backend/cpu/split/tree.c"] = 7,
  ["core/backend/cpu/split/uniform.c"] = 2,
  ["core/backend/cpu/split/writer.c"] = 2,
  ["core/compile/excerpt.c"] = 1,
  ["core/compile/preprocess.c"] = 4,
  ["core/runtime/host_text.c"] = 4,
}

-- How often a text compares tokens with one of the words: mw_token_is(t, "{"), WORDS("if", "for").
local function comparisons(text)
  text = text:gsub("/%*.-%*/", " "):gsub('"[()]"', '"parenthesis"'):gsub("'[()]'", "0")
  local count = 0
  for _, call in ipairs { "mw_token_is%b()", "WORDS%b()" } do
    for found in text:gmatch(call) do
      for word in found:gmatch '"([^"]*)"' do
        if MAKES:find(" " .. word .. " ", 1, true) then count = count + 1 end
      end
    end
  end
  return count
end

local wrong, list = {}, {}
local pipe <close> = assert(io.popen "find core -name '*.c' | sort")
for path in pipe:lines() do
  local file <close> = assert(io.open(path))
  local count, most = comparisons(file:read "a"), EXCEPTIONS[path] or 0
  if not path:find "^core/source/" and count > 0 then list[#list + 1] = ("  [%q] = %d,"):format(path, count) end
  if not path:find "^core/source/" and count ~= most then
    local way = count > most and "ask the tree (core/source/body.h)" or "lower that number"
    local format = "readers: %s compares tokens with what makes a statement %d times, %d in .make/readers.lua: %s"
    wrong[#wrong + 1] = format:format(path, count, most, way)
  end
end

if arg[1] == "--print" then
  print(table.concat(list, "\n"))
elseif #wrong > 0 then
  io.stderr:write(table.concat(wrong, "\n"), "\n")
  os.exit(1)
end
