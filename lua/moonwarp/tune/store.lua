-- SPDX-License-Identifier: MIT
--
-- The best values of tunings, in a file of the user's: $MOONWARP_TUNED, else tuned.json in $XDG_CONFIG_HOME/moonwarp,
-- else in /.config/moonwarp. It is { "schema": "moonwarp-tuned/1", "tuned": [ entry, ... ] }; an entry has
--   kernel     "stencil.cu:diffusion", the file as dev:module takes it, and a name
--   source     a hash of the file's text and of the headers next to it
--   device     its name
--   size       sides by name, as in { "nx": 1024, "ny": 1024, "type": "f64" }
--   values     of the parameters, by name
--   objective, value, tried, date

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local json = require "moonwarp.base.json"
local kept = require "moonwarp.base.kept"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"

local store = {}

local tuned = kept.new { variable = "MOONWARP_TUNED", file = "tuned.json", schema = "moonwarp-tuned/1", key = "tuned",
  order = { "kernel", "device", "size" }, entry = schema.fields { kernel = "string", source = "string",
    device = "string", size = "table", values = "table", objective = "string", value = "number", tried = "number",
    date = "string" } }

--- All entries.
---@return table[]
function store.read() return tuned:read() end

--- Entries as the file has them.
---@param entries table[]
---@return string
function store.text(entries) return tuned:text(entries) end

--- Changes the entries, which no other process does meanwhile.
---@param fn fun(entries: table[]): table[]   what there is, and what there shall be
function store.change(fn) tuned:change(fn) end

-- ---- sources ------------------------------------------------------------------------------------

-- Where a kernel file is, as dev:module finds it.
local function find_file(session, file)
  local beside = (session:script_file() or ""):match "^.*/" or ""
  return lists.find({ core.files[file] or file, file, beside .. file, ("%s/kernels/%s"):format(core.home(), file) },
    files.exists)
end

-- FNV-1a, of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo).
local function hash(text, state)
  for at = 1, #text do state = (state ~ text:byte(at)) * 0x100000001b3 end
  return state
end

local function hash_file(name, state, seen)
  local text = not seen[name] and files.read(name)
  if not text then return state end
  seen[name], state = true, hash(text, state)
  for included in text:gmatch '#%s*include%s*"([^"\n]+)"' do
    state = hash_file((name:match "^.*/" or "") .. included, state, seen)
  end
  return state
end

--- The hash of a kernel's source.
---@param who string      what messages begin with
---@param session table
---@param kernel string   "stencil.cu:diffusion", or a file alone
---@return string hash    raises if there is no such file
function store.source(who, session, kernel)
  local file = kernel:match "^(.-):[^/]*$" or kernel
  local found = find_file(session, file)
  if not found then
    failure.invalid("%s: there is no kernel file '%s'; a kernel is its file, and its name after a colon: "
      .. "\"stencil.cu:diffusion\"", who, file)
  end
  return ("%016x"):format(hash_file(found, 0xcbf29ce484222325, {}))
end

-- ---- entries ------------------------------------------------------------------------------------

local function is_same(a, b)
  return a.kernel == b.kernel and a.device == b.device and a.objective == b.objective
    and json.encode(a.size) == json.encode(b.size)
end

--- Keeps an entry, in the place of an older one.
---@param entry table
function store.keep(entry)
  store.change(function(entries)
    return lists.append(lists.map(entries, function(one) return not is_same(one, entry) and one or nil end), { entry })
  end)
end

-- How far two sizes are from each other: the sum of the logarithms of the sides' ratios; nil if they cannot be
-- compared.
local function distance(a, b)
  local sum = 0
  for name in pairs(lists.merged(a, b)) do
    local x, y = a[name], b[name]
    local has_ratio = type(x) == "number" and type(y) == "number" and x > 0 and y > 0
    if not has_ratio and x ~= y then return nil end
    if has_ratio then sum = sum + math.abs(math.log(x / y)) end
  end
  return sum
end

-- Why an entry of the kernel does not hold; else nil, and how far its size is.
local function misfit(entry, wanted)
  if entry.device ~= wanted.device then return "it has been tuned on " .. entry.device end
  if entry.source ~= wanted.source then return "its source has changed since it was tuned" end
  if entry.objective ~= wanted.objective then return "it has been tuned for another objective" end
  local far = distance(entry.size, wanted.size)
  return not far and "it has been tuned for other sides" or nil, far
end

--- The entry of a kernel whose size is the nearest.
---@param wanted table    kernel, source, device, objective, size
---@return table? entry   nil and why not
---@return string? reason
function store.nearest(wanted)
  local found, least, reason = nil, math.huge, "it has not been tuned"
  for _, entry in ipairs(store.read()) do
    if entry.kernel == wanted.kernel then
      local problem, far = misfit(entry, wanted)
      if problem then reason = problem elseif far < least then found, least = entry, far end
    end
  end
  return found, not found and reason or nil
end

return store
