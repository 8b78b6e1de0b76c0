-- SPDX-License-Identifier: MIT
--
-- Whole files: reading, writing, replacing. Failures come back as a reason.
-- Depends on lfs (to replace).

local files = {}

--- The whole of a file, or nil and why not.
---@param name string
---@return string? text
---@return string? reason
function files.read(name)
  local file, reason = io.open(name, "rb")
  if not file then return nil, reason end
  local text
  text, reason = file:read("a")
  file:close()
  return text, reason
end

--- Writes a whole file; nil, or why it is not there whole.
---@param name string
---@param text string
---@return string? reason
function files.write(name, text)
  local file, reason = io.open(name, "wb")
  if not file then return reason end
  local written, closed
  written, reason = file:write(text)
  if not written then
    file:close()
    return ("%s: %s"):format(name, reason)
  end
  closed, reason = file:close()
  if not closed then return ("%s: %s"):format(name, reason) end
end

-- A pipe, a device or a link: another file in its place would not be it.
local function is_no_file(name)
  local mode = require("lfs").symlinkattributes(name, "mode")
  return mode and mode ~= "file"
end

--- The same, but a plain file has its old content, or is not there, until it has all of the new.
---@param name string
---@param text string
---@return string? reason
function files.replace(name, text)
  if is_no_file(name) then return files.write(name, text) end
  local temporary = name .. ".part"
  local reason = files.write(temporary, text)
  if not reason then
    local renamed
    renamed, reason = os.rename(temporary, name)
    if renamed then return nil end
  end
  os.remove(temporary)
  return reason
end

return files
