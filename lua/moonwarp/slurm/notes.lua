-- SPDX-License-Identifier: MIT
--
-- What a batch and the jobs that run its labs leave each other in slurm/ in the batch's folder, on a file system that
-- their nodes share:
--   array-N.json, array-N.sh   of the batch: which labs each element of an array runs; the script
--   array-N-INDEX.txt          what an element printed
--   ID.end                     of an element: the verdict of an attempt (ID.2.end, ... of further attempts)
-- A note is whole or not there: it is written under another name, brought to the disk, and renamed.

local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.lab.batch_schema"

local notes = {}

local MOST <const> = 16 << 20 -- bytes of a note

--- The file of a note; without a name their folder.
---@param folder string  of the batch
---@param name string?   "array-1.sh", "mine-cpu.end"
---@return string
function notes.file(folder, name)
  return ("%s/slurm/%s"):format(folder, name or "")
end

--- Writes a note; an error if it cannot be.
---@param folder string
---@param name string
---@param values table|string  an object is written as JSON
---@return string file
function notes.write(folder, name, values)
  local file = notes.file(folder, name)
  local part = ("%s.%s.part"):format(file, os.getenv "SLURM_JOB_ID" or "new")
  local reason = files.write(part, type(values) == "string" and values or json.stored(values) .. "\n")
  if not reason then reason = select(2, host.sync(part)) end
  if not reason then reason = select(2, os.rename(part, file)) end
  if reason then error(("a note cannot be written: %s"):format(reason), 0) end
  host.sync(notes.file(folder)) -- it is there already; this brings its name to the disk
  return file
end

--- Reads a note; nil if it is not there or not in order: its folder is open to labs and nodes.
---@param folder string
---@param name string
---@return table?
---@return string? problem  of one that is there
function notes.read(folder, name)
  local text = files.read_below({ folder = folder }, "slurm/" .. name, MOST)
  if not text then return nil end
  local value, reason = json.decode(text)
  local problem = value == nil and (reason or "null") or schema.note_problem(name:match "%.(%a+)$", value)
  if problem then return nil, problem end
  return value
end

--- The names of all notes. Reading the folder, and not asking for names, makes a client of NFS look at the server.
---@param folder string
---@return table<string, boolean>
function notes.names(folder)
  return lists.set(files.entries(notes.file(folder)))
end

return notes
