-- SPDX-License-Identifier: MIT
--
-- The compiler's warnings about a user's source: printed once in a process, and kept in the record of each run that
-- compiled the source or found it in the cache. The C half gives what
-- core/compile/warnings.h describes (session.lua).


local warning = {}

local printed = {}

-- "red.cu:7: warning: text", and in the next line what stands there.
local function read(log)
  local list = {}
  for line in log:gmatch "[^\n]+" do
    local file, number, text = line:match "^(%S.-):(%d+): warning: (.*)$"
    if file then
      list[#list + 1] = { file = file, line = math.tointeger(number), text = text }
    elseif #list > 0 then
      list[#list].source = line:match "^%s*(.*)$"
    end
  end
  return list
end

local function words(one)
  local head = ("%s:%d: warning: %s\n"):format(one.file, one.line, one.text)
  return one.source and ("%s  %s\n"):format(head, one.source) or head
end

--- Prints and notes the warnings of a module.
---@param session table
---@param log string  of mod:log()
function warning.tell(session, log)
  for _, one in ipairs(read(log)) do
    local text = words(one)
    if not printed[text] then io.stderr:write(text) end
    printed[text] = true
    session:note_warning(text, one)
  end
end

return warning
