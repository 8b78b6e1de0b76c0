-- SPDX-License-Identifier: MIT
--
-- Whole files: reading, writing, replacing, and which there are. Failures come back as a reason. What a lab, a node or
-- whoever left a run may write to is read by read_plain, tail and read_below; by read what is the user's or moonwarp's
-- own.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"

local files = {}

local PATIENCE <const>, PAUSE <const> = 10, 0.005 -- seconds for another process that changes a file; between two looks
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

-- A folder as it is written, or ".", and the name in it.
local function parted(name)
  local folder, last = name:match "^(.*)/([^/]*)$"
  return folder == "" and "/" or folder or ".", last or name
end

local function read(folder, name, shown, most, identity)
  local text, place, size = core.read_plain(folder, name, most)
  if size then
    return nil, ("%s has %.1f MiB, and %s at most are read"):format(shown, size / 1048576,
      require("moonwarp.base.units").format(most, "iB", 3)), size
  end
  if not text then return nil, ("%s %s"):format(shown, place) end
  if identity and place ~= identity then return nil, shown .. " is in another folder than before" end
  return text, nil, place
end

--- The same as read, of what others may have left, and may be changing: not a pipe, which would wait for ever, nor a
--- link, nor more than memory holds.
---@param name string
---@param most integer?  bytes; else 1 GiB
---@return string? text
---@return string? reason
function files.read_plain(name, most)
  local folder <const>, last = parted(name)
  return read(folder, last, name, most or MOST)
end

--- The end of such a file.
---@param name string
---@param most integer  bytes
---@return string  empty if it cannot be read
function files.tail(name, most)
  local folder <const>, last = parted(name)
  return core.read_plain(folder, last, most, true) or ""
end

--- The same as read_plain of a file below a folder that others wrote, without a link on its way.
---@param place table     folder, identity (the one that was met: another folder may have its name by now)
---@param name string     relative to it: "source/a.cu"
---@param most integer?
---@return string? text
---@return string? reason
---@return string|integer? identity  of the folder; the file's size, where it is too large
function files.read_below(place, name, most)
  return read(place.folder, name, ("%s/%s"):format(place.folder, name), most or MOST, place.identity)
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

--- Writes a text file; raises with path and reason if it cannot.
---@param name string
---@param text string
---@return string name
function files.put(name, text)
  local reason = files.write(name, text)
  if reason then failure.raise_as("io", "cannot write " .. reason) end
  return name
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

--- Keeps other processes from changing a file: NAME.lock is locked until the result is closed, or this process ends.
---@param name string
---@return table lock   to be closed; raises if it cannot be had
function files.lock(name)
  local file, reason = io.open(name .. ".lock", "a")
  local deadline, lfs = core.clock() + PATIENCE, require "lfs"
  while file and not lfs.lock(file, "w") do
    if core.interrupted() then core.raise("interrupted", "interrupted") end
    core.pause(PAUSE)
    if core.clock() > deadline then
      reason = ("%s.lock: another process holds it since %d seconds or more; wait for its end, or end it"):format(name,
        PATIENCE)
      file = file:close() and nil
    end
  end
  if not file then failure.raise_as("io", "%s", reason) end
  return file
end

--- Writes a whole file in one step: a plain file has its old content, or is not there, until it has all of the new. It
--- keeps its permissions.
---@param name string
---@param text string
---@return string? reason
function files.replace(name, text)
  local mode = require("lfs").symlinkattributes(name, "mode")
  -- A pipe, a device or a link: another file in its place would not be it.
  if mode and mode ~= "file" then return files.write(name, text) end
  local temporary = name .. ".part"
  local reason = mode and (files.write(temporary, "") or core.keep_mode(name, temporary))
  reason = reason or files.write(temporary, text)
  if not reason then reason = select(2, os.rename(temporary, name)) end
  if reason then os.remove(temporary) end
  return reason
end

return files
