-- SPDX-License-Identifier: MIT
--
-- Whole files: reading, writing, replacing, and which there are. Failures come back as a reason.

local files = {}

local MOST = 1 << 30 -- bytes of a file that others left, unless its reader says less

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

--- Whether there is a plain file of a name, and not a link to one.
---@param name string
---@return boolean
function files.is_plain(name)
  return require("lfs").symlinkattributes(name, "mode") == "file"
end

--- The path of a plain file below a folder that others wrote, without a link on its way.
---@param folder string
---@param name string    relative to it: "source/a.cu"
---@return string? path  nil: there is none
function files.below(folder, name)
  if name:find "^/" or name:find "%z" or ("/" .. name .. "/"):find("/../", 1, true) then return nil end
  local path = folder
  for part in name:gmatch "[^/]+" do
    if path ~= folder and require("lfs").symlinkattributes(path, "mode") ~= "directory" then return nil end
    path = ("%s/%s"):format(path, part)
  end
  return files.is_plain(path) and path or nil
end

--- The same as read, of what others may have left: not a pipe, which would wait for ever, nor a link, nor more than
--- memory holds.
---@param name string
---@param most integer?  bytes; else 1 GiB
---@return string? text
---@return string? reason
function files.read_plain(name, most)
  most = most or MOST
  if not files.is_plain(name) then return nil, name .. " is not a plain file" end
  local size <const> = require("lfs").attributes(name, "size") or 0
  if size <= most then return files.read(name) end
  return nil, ("%s has %.1f MiB, and %s at most are read"):format(name, size / 1048576,
    require("moonwarp.base.units").format(most, "iB", 3))
end

--- Writes a whole file; nil, or why it is not there whole.
---@param name string
---@param text string
---@param mode string?   "ab": append
---@return string? reason
function files.write(name, text, mode)
  local file, reason = io.open(name, mode or "wb")
  if not file then return reason end
  local written, problem = file:write(text)
  local closed, late = file:close()
  if not (written and closed) then return ("%s: %s"):format(name, problem or late) end
end

--- Whether there is a plain file of a name.
---@param name string
---@return boolean
function files.exists(name)
  return require("lfs").attributes(name, "mode") == "file"
end

--- What is in a folder, sorted; nothing if it cannot be read. Hidden files are left out.
---@param folder string
---@return string[] names
function files.entries(folder)
  local names, ok, next_entry, handle = {}, pcall(require("lfs").dir, folder)
  for name in ok and next_entry or function() end, handle do
    if name:sub(1, 1) ~= "." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end


--- The same, but a plain file has its old content, or is not there, until it has all of the new.
---@param name string
---@param text string
---@return string? reason
function files.replace(name, text)
  local mode = require("lfs").symlinkattributes(name, "mode")
  -- A pipe, a device or a link: another file in its place would not be it.
  if mode and mode ~= "file" then return files.write(name, text) end
  local temporary = name .. ".part"
  local reason = files.write(temporary, text)
  if not reason then reason = select(2, os.rename(temporary, name)) end
  if reason then os.remove(temporary) end
  return reason
end

return files
