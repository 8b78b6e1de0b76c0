-- SPDX-License-Identifier: MIT
--
-- moonwarp info: devices and why one is or is not usable, compilers, gnuplot,
-- numerical libraries, the cache.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"

local info = { most = 0 }

info.options = { { flag = "--json", help = "as JSON" } }

info.usage = [[
usage: moonwarp info [--json]

Devices and their properties, why CUDA is or is not usable, compilers and their versions,
numerical libraries, the cache.]]

info.example = "moonwarp info --json"

-- ---- what there is ------------------------------------------------------------------------------

local function first_line(command)
  local pipe <close> = io.popen("{ " .. command .. "; } 2>/dev/null", "r")
  return pipe and pipe:read("l") or nil
end


-- Opening a device gives its properties; one that cannot be opened is listed with the reason.
local function describe(entry)
  local device = { id = entry.id, usable = entry.usable, reason = entry.reason }
  if not entry.usable then return device end
  local opened, handle = pcall(core.device, entry.id)
  if not opened then
    device.usable, device.reason = false, failure.text(handle)
    return device
  end
  local open <close> = handle
  device.name, device.properties = open:name(), open:properties()
  device.memory_free, device.memory_total = open:memory()
  return device
end


-- The files of numerical libraries, each opened: the names of those for one kind of device, or why not.
local function found_for(self, backend)
  local side = self[backend] or {}
  local names = { type(side.library) == "string" and side.library or nil }
  for _, row in pairs(self.functions) do
    for _, types in pairs(row.types or {}) do lists.append(names, { (types[backend] or {}).library }) end
  end
  table.sort(names)
  return lists.map(lists.unique(names), function(files)
    local library, text = core.shared(files)
    return { name = self.name, devices = backend, file = files:match "^%S+", path = library and text or nil,
             reason = not library and text or nil }
  end)
end

local function describe_libraries()
  local list, _, backends = {}, core.device_forms()
  local _ = { require "moonwarp.blas", require "moonwarp.fft", require "moonwarp.nccl", require "moonwarp.rand",
              require "moonwarp.solver", require "moonwarp.sparse" }
  for _, self in ipairs(require("moonwarp.library").all) do
    for _, backend in ipairs(backends) do lists.append(list, found_for(self, backend)) end
  end
  return list
end

-- nvcc's name for the toolkit; NVRTC itself is what compiles kernels, and its version is the CUDA
-- device's.
local TOOLKIT = "nvcc --version | sed -n 's/.*release \\([0-9.]*\\).*/\\1/p'"

local function gather()
  local compiler, missing = core.compiler()
  return {
    version = core.version, lua = _VERSION, home = core.home(), devices = lists.map(core.devices(), describe),
    compiler = compiler, compiler_missing = not compiler and missing or nil,
    cuda_toolkit = first_line(TOOLKIT), gnuplot = first_line "gnuplot --version", cache = core.cache_stat(),
    libraries = describe_libraries(),
  }
end

-- ---- in words -----------------------------------------------------------------------------------

local function bytes(value)
  return units.format(value, "iB", 3)
end

-- Rows of the table below: the property, its label, how it is written.
local PROPERTIES = {
  { "arch", "architecture" }, { "compute_capability", "compute capability" },
  { "multiprocessors", "multiprocessors" }, { "warp_size", "warp size" },
  { "max_threads_per_block", "threads per block, at most" },
  { "shared_per_block", "shared memory per block", bytes }, { "l2_bytes", "L2 cache", bytes },
  { "peak_bandwidth", "peak bandwidth", function(value) return units.format(value, "B/s", 3) end },
  { "clock", "clock", function(value) return units.format(value, "Hz", 3) end },
  { "pci", "PCI bus id" }, { "driver", "driver and compiler" },
}

local ROW <const> = { { cell = 1 }, { cell = 2 } }
local LIBRARY <const> = { { width = 15, cell = "name" }, { width = 5, gap = " ", cell = "devices" },
                          { gap = " ", cell = function(one) return one.path or "none: " .. one.reason end } }

local function print_device(device)
  print(("  %-8s %s"):format(device.id, device.usable and device.name or "not usable: " .. device.reason))
  if not device.usable then return end
  local memory = ("%s, %s free"):format(bytes(device.memory_total), bytes(device.memory_free))
  sheet.print(ROW, lists.append({ { "memory", memory } }, lists.map(PROPERTIES, function(row)
    local value = device.properties[row[1]]
    local is_known = value ~= nil and value ~= 0 and value ~= ""
    return is_known and { row[2], row[3] and row[3](value) or value } or nil
  end)), { indent = "    " })
end

local function print_all(all)
  print(("moonwarp %s, %s, %s"):format(all.version, all.lua, all.home))
  print("\ndevices")
  for _, device in ipairs(all.devices) do print_device(device) end
  print("\ntools")
  sheet.print(ROW, { { "C++ compiler", all.compiler or all.compiler_missing },
    { "CUDA toolkit", all.cuda_toolkit or "none on the PATH (it is optional)" },
    { "gnuplot", all.gnuplot or "none: charts are written as data and scripts only" } }, { indent = "  " })
  print("\nlibraries")
  sheet.print(LIBRARY, all.libraries, { indent = "  " })
  print("\ncache")
  for _, line in ipairs(require("moonwarp.cli.cache").lines()) do print("  " .. line) end
end

--- The command.
---@param parsed table
---@return integer? status
function info.run(parsed)
  local all = gather()
  if parsed.json then print(require("moonwarp.base.json").encode(all)) else print_all(all) end
end

return info
