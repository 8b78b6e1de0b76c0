-- SPDX-License-Identifier: MIT
--
-- The least time of each launch of a study on the CPU device, for builds.lua: of the same kernel with the same grid,
-- block, shared memory, macros, numbers and sizes of arrays. Writes a line with tabs for each: file, kernel, the rest,
-- engine, calls, seconds. Launches into streams, which return before they are done, and into graphs are left out.
--
--   moonwarp run launches.lua --device cpu -- STUDY.lua OUT

local mw = require "moonwarp"
local core = require "moonwarp.core"

local study, out = arg[1], arg[2]
local device <const> = mw.device "cpu"
local kernel <const> = device:module({ source = "__global__ void k() {}" }).k
local launch_class <const> = debug.getmetatable(kernel:prepare { grid = 1, block = 1 })

local queued <const>, shared <const> = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })
local is_capturing = false
local seconds, calls, engines = {}, {}, {}

-- ---- what is not timed -----------------------------------------------------------------------------

local function replace(object, name, make)
  local methods <const> = debug.getmetatable(object).methods
  methods[name] = make(methods[name])
end

replace(kernel, "prepare", function(prepare)
  return function(self, options)
    local launch = prepare(self, options)
    queued[launch], shared[launch] = options.stream, options.shared
    return launch
  end
end)

replace(device, "capture", function(capture)
  return function(...)
    is_capturing = true
    local results <const> = table.pack(pcall(capture, ...))
    is_capturing = false
    return assert(results[1], results[2]) and table.unpack(results, 2, results.n)
  end
end)

-- ---- what is ---------------------------------------------------------------------------------------

local function argument_text(value)
  return core.type(value) == "array" and value:nbytes() .. "b" or tostring(value)
end

local function defines_text(options)
  local list <const> = {}
  for name, value in pairs(options.defines or {}) do list[#list + 1] = ("%s=%s "):format(name, value) end
  table.sort(list)
  return table.concat(list)
end

local function key_of(launch, ...)
  local of <const> = launch:kernel()
  local options <const>, words = of:options(), { ... }
  for i, value in ipairs(words) do words[i] = argument_text(value) end
  local sizes <const> = ("%s, shared %d"):format(tostring(launch):match "': (.*)", shared[launch] or 0)
  return ("%s\t%s\t%s%s: %s"):format(options.file or "-", of:name(), defines_text(options), sizes,
    table.concat(words, " "))
end

local call <const>, clock <const> = launch_class.__call, core.clock

function launch_class.__call(launch, ...)
  if is_capturing or queued[launch] then return call(launch, ...) end
  local begun <const> = clock()
  call(launch, ...)
  local took <const> = clock() - begun
  local key <const> = key_of(launch, ...)
  calls[key] = (calls[key] or 0) + 1
  if took < (seconds[key] or math.huge) then -- a study that counts accesses makes the same launches by fibers, too
    seconds[key], engines[key] = took, launch:kernel():engine()
  end
end

-- ---- the study, which runs after this file ---------------------------------------------------------

local function write()
  local file <close> = assert(io.open(out, "w"))
  for key, least in pairs(seconds) do
    file:write(("%s\t%s\t%d\t%.9f\n"):format(key, engines[key], calls[key], least))
  end
end

debug.getregistry()[write] = setmetatable({}, { __gc = write }) -- when the program ends
_G.arg = { [0] = study }
return dofile(study)
