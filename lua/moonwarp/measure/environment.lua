-- SPDX-License-Identifier: MIT
--
-- What a measurement was made on and by: the device, the machine without its name, the programs,
-- the revision of the script; and what state the machine was in. Everything is read, nothing is set.
-- What cannot be found out is absent.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"

local environment = {}

local read = files.read

-- ---- the machine --------------------------------------------------------------------------------

-- What a pattern finds in a file.
local function found(file, pattern)
  return (read(file) or ""):match(pattern)
end

--- The machine, without its name.
---@return table  cpu, cores, memory (bytes), kernel, os
function environment.machine()
  local _, cores = (read "/proc/cpuinfo" or ""):gsub("%f[^\n%z]processor%s*:", "")
  local kib, release = found("/proc/meminfo", "MemTotal:%s*(%d+)"), "/etc/os-release"
  return { cpu = found("/proc/cpuinfo", "model name%s*:%s*([^\n]*)"), cores = cores > 0 and cores or nil,
           memory = kib and math.tointeger(kib) * 1024, kernel = found("/proc/sys/kernel/osrelease", "^[^\n]+"),
           os = found(release, 'PRETTY_NAME="([^"\n]*)"') or found(release, "PRETTY_NAME=([^\n]*)") }
end

--- What Slurm gave the job that this process is in; nil outside of one. A job that has not all cores of its node may
--- share it with others, unless it asked for all of it ($MOONWARP_EXCLUSIVE).
---@return table?  job, node, cores, of (the node's), shared
function environment.allocation()
  local job, cores = os.getenv "SLURM_JOB_ID", math.tointeger(tonumber(os.getenv "SLURM_CPUS_ON_NODE" or ""))
  if not job then return nil end
  local all = environment.machine().cores
  return { job = job, node = os.getenv "SLURMD_NODENAME", cores = cores, of = all,
           shared = cores and all and cores < all and not os.getenv "MOONWARP_EXCLUSIVE" or nil }
end

-- ---- the script ---------------------------------------------------------------------------------

local function output_of(command)
  local pipe <const> = io.popen(command .. " 2>/dev/null </dev/null")
  local output <const> = pipe and pipe:read "a" or ""
  return output, pipe and pipe:close()
end

-- Settings of a repository that say how its files look on the disk; others of its settings name programs that git runs.
local KEPT <const> = "'^core[.](filemode|symlinks|ignorecase|autocrlf|eol)$'"

-- The settings above, as a configuration file has them.
local function harmless_settings(git)
  local lines = { "[core]" }
  for key, value in output_of(("%s config --get-regexp %s"):format(git, KEPT)):gmatch "core%.(%l+) (%w+)\n" do
    lines[#lines + 1] = ("%s = %s"):format(key, value)
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Whether files differ from a revision; nil: unknown. git reads them, and runs what the settings of the repository and
-- of its submodules name (core.fsmonitor, hooks, filter.*.clean). So it is given an empty repository of our own with
-- this one's objects, index and files, and no submodules.
local function is_changed(git, revision, top, objects, index)
  local own <const>, guard = path.temporary()
  local _ <close> = guard
  if path.make(own .. "/refs") or files.write(own .. "/HEAD", revision .. "\n")
    or files.write(own .. "/config", harmless_settings(git)) then
    return nil
  end
  local variables = { "GIT_DIR=" .. own, "GIT_WORK_TREE=" .. top, "GIT_OBJECT_DIRECTORY=" .. objects,
                      "GIT_INDEX_FILE=" .. index, "GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_NOSYSTEM=1",
                      "GIT_CONFIG_GLOBAL=/dev/null" }
  local changed, is_known = output_of(("env %s git -C %s status --porcelain --untracked-files=no "
    .. "--ignore-submodules=all"):format(table.concat(lists.map(variables, path.quote), " "), path.quote(top)))
  if is_known then return changed ~= "" end
end

local ASKED <const> = " rev-parse --path-format=absolute HEAD --show-toplevel --git-path objects --git-path index"

local revisions = {}

--- The git revision of a folder, and whether files that git knows were changed since; nil outside of
--- a repository, or without git. Asked once a folder.
---@param folder string
---@return table?  revision, dirty (nil: unknown)
function environment.revision(folder)
  if revisions[folder] == nil then
    local git = "git -C " .. path.quote(folder)
    local revision, top, objects, index = output_of(git .. ASKED):match "^(%x+)\n([^\n]+)\n([^\n]+)\n([^\n]+)\n$"
    local dirty
    if revision then dirty = is_changed(git, revision, top, objects, index) end
    revisions[folder] = revision and { revision = revision, dirty = dirty } or false
  end
  return revisions[folder] or nil
end

local function script_folder(script)
  return script and (script:match "^(.*)/[^/]*$" or ".") or "."
end

-- The words of the command line from the program's name on.
local function command_words()
  local given, first = rawget(_G, "arg"), 0
  if type(given) ~= "table" then return nil end
  while given[first - 1] do first = first - 1 end
  local words = lists.map(table.move(given, first, #given, 1, {}), tostring)
  return #words > 0 and words or nil
end

-- ---- all of it ----------------------------------------------------------------------------------

local function device_fields(device)
  local properties, state = device:properties(), device:state()
  return { id = properties.id, name = properties.name, uuid = properties.uuid,
           arch = properties.arch, driver = properties.driver, kernel_driver = state.driver,
           multiprocessors = properties.multiprocessors, memory = properties.memory_total,
           clock_max = state.clock_max or properties.clock,
           memory_clock_max = state.memory_clock_max or properties.memory_clock,
           peak_bandwidth = properties.peak_bandwidth, power_limit = state.power_limit,
           governor = state.governor }
end

--- Everything that a record says about its origin, as plain tables.
---@param device userdata?
---@param script string?   the path of the script
---@return table  date (UTC, ISO 8601), moonwarp, lua, device, machine, slurm, compiler, git, argv
function environment.collect(device, script)
  if device ~= nil and core.type(device) ~= "device" then
    failure.invalid("mw.environment: a device is wanted, got %s; as in mw.environment(mw.device())",
      core.type(device) or type(device))
  end
  return { date = os.date "!%Y-%m-%dT%H:%M:%SZ", moonwarp = core.version, lua = _VERSION,
           device = device and device_fields(device), machine = environment.machine(),
           slurm = environment.allocation(), compiler = (core.compiler()),
           git = environment.revision(script_folder(script)), argv = command_words() }
end

-- ---- while something is measured ----------------------------------------------------------------

-- Seconds that all cores have worked, seconds that there were, both since the machine began; from
-- proc(5): user, nice, system, idle, iowait, irq, softirq, steal in hundredths of a second.
local function machine_time()
  local list, all = {}, 0
  for number in (found("/proc/stat", "^[^\n]+") or ""):gmatch "%d+" do list[#list + 1] = math.tointeger(number) end
  for i = 1, math.min(#list, 8) do all = all + list[i] end
  if #list < 8 then return nil end
  return (all - list[4] - list[5]) / 100, all / 100
end

--- Reads the state of a device and how busy the machine is; called again, gives what came of it.
---@param device userdata?
---@return fun(): table?, number?  state { before =, after = }, and others' share of all cores, 0 to 1
function environment.watch(device)
  local before = device and device:state()
  local busy, all = machine_time()
  local own = os.clock()
  return function()
    local own_now, busy_now, all_now = os.clock(), machine_time()
    local state = device and { before = before, after = device:state() }
    if not (busy and busy_now) or all_now - all < 0.1 then return state, nil end
    local others = (busy_now - busy - (own_now - own)) / (all_now - all)
    return state, math.max(0.0, math.min(others, 1.0))
  end
end

return environment
