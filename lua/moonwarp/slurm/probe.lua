-- SPDX-License-Identifier: MIT
--
-- A probe: a job of the same options as the labs' that asks a node whether it sees the batch's folder and this program,
-- and which devices it has. Nothing is queued before its answer. What a partition answered is kept in the cache's
-- folder, so that the next batch does not wait for it.

local core = require "moonwarp.core"
local ending = require "moonwarp.slurm.ending"
local files = require "moonwarp.base.files"
local host = require "moonwarp.host"
local json = require "moonwarp.base.json"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local queue = require "moonwarp.slurm.queue"
local script = require "moonwarp.slurm.script"
local utf8text = require "moonwarp.base.utf8text"

local probe = {}

local KEPT = 7 * 24 * 3600 -- seconds
local LOOK_SECONDS = 0.5
local MOST <const> = 1 << 20 -- bytes of an answer

-- Answers in a file that appears whole: what the program says, or why it cannot run.
local ASK = [[cd "$0" || exit 10
if [ -x "$1" ]; then "$@" >part 2>&1; else echo "there is no $1" >part; fi
echo "$SLURMD_NODENAME" >node
mv part answer]]

-- ---- answers of earlier probes ------------------------------------------------------------------

local function store()
  return core.cache_stat().folder .. "/slurm-probes.json"
end

local function known()
  local value = json.decode(files.read_plain(store()) or "")
  return type(value) == "table" and value or {}
end

-- What an answer depends on; the folder's parent, since each batch has a folder of its own.
local function key_of(site, root, ids)
  local words = lists.append({ host.program(), core.version, root }, ids)
  for _, name in ipairs { "options", "modules", "setup" } do lists.append(words, site[name]) end
  return table.concat(words, "\n")
end

local function keep(key, answer)
  local all = known()
  for name, one in pairs(all) do
    if type(one) ~= "table" or os.time() - (tonumber(one.at) or 0) > KEPT then all[name] = nil end
  end
  answer.at = os.time()
  all[key] = answer
  path.make(core.cache_stat().folder) -- of a first use
  files.replace(store(), json.encode(all) .. "\n") -- what is not kept is asked again
end

-- ---- the job ------------------------------------------------------------------------------------

local function new_folder(root)
  local folder, problem = path.make_new(root, "probe")
  if not folder then options.fail("%s", problem) end
  return folder
end

-- Ends what is left of a probe, however it went: by its name, since an interruption may come before its number.
local function cleanup(self)
  if self.name and not self.answered then queue.cancel { "--name=" .. self.name } end
  for _, name in ipairs { "job.sh", "node", "part", "answer" } do os.remove(self.folder .. "/" .. name) end
  require("lfs").rmdir(self.folder)
end

local function submit(self, site, ids)
  local name = "moonwarp-" .. self.folder:match "[^/]+$"
  local words = { "--job-name=" .. name, "--output=/dev/null", "--chdir=/", "--no-requeue" }
  lists.append(words, site.options)
  local command = lists.append({ "/bin/sh", "-c", ASK, self.folder, host.program(), "element", "--devices" }, ids)
  local file = self.folder .. "/job.sh"
  local problem = files.write(file, script.text(site, words, command))
  if problem then options.fail("%s; choose another place with --out DIR", problem) end
  local reason, interruption
  self.name = name
  self.job, reason, interruption = queue.submit(file, words)
  if interruption then error(interruption, 0) end
  if not self.job then options.fail("sbatch rejects the job: %s", reason) end
end

local function look(self)
  local rows, problem = queue.look { self.name }
  if problem and not self.unanswered then
    self.say(("squeue does not answer: %s; waiting for the probe"):format(problem))
  end
  self.unanswered = problem ~= nil
  if not rows then return end
  local row = rows[1]
  self.row = row or self.row
  self.over_at = (not row or queue.is_ended(row.state)) and (self.over_at or core.clock()) or nil
  local waits = row and row.state == "PENDING" and row.reason ~= "None" and row.reason or nil
  if waits and waits ~= self.waits then self.say(("probe: job %s waits: %s"):format(self.job, waits)) end
  self.waits = waits
end

-- Its answer, once it is there; nil if the job is over for longer than a reader has to wait.
local function await(self, site)
  local looked_at = core.clock()
  while true do
    files.entries(self.folder) -- makes a client of NFS look at the server
    local answer = files.read_plain(self.folder .. "/answer", MOST)
    if answer then return utf8text.clean(answer) end
    if self.over_at and core.clock() - self.over_at >= site.patience then return nil end
    if core.clock() - looked_at >= site.poll then
      look(self)
      looked_at = core.clock()
    end
    host.wait({}, math.min(LOOK_SECONDS, site.poll))
  end
end

local function fail_silent(self, site)
  local row = self.row
  local place = row and row.node ~= "" and " on " .. row.node or ""
  local name = ("%s%s%s"):format(self.job, place, row and (" (%s)"):format(row.state) or "")
  if row and ending.is_forced(row.state) then
    options.fail("the probe, job %s, left no answer: %s", name, ending.text(row.state))
  end
  local other = #site.modules + #site.setup > 0 and ", or the site's modules or setup end the job" or ""
  options.fail("the probe, job %s, left no answer in %s within %g s: the node does not see this folder%s; "
    .. "--out DIR names one on a file system that nodes share", name, self.folder, site.patience, other)
end

local function read(self, text)
  local answer = json.decode(text:sub(utf8text.trim_end(text):match "^.*\n()" or 1))
  if type(answer) == "table" and type(answer.devices) == "table" then return answer end
  local node = utf8text.clean(files.read_plain(self.folder .. "/node", MOST) or ""):match "%S+" or "?"
  options.fail("moonwarp does not run on node %s: %s; install it where nodes see it, or load what it needs with "
    .. "modules in the site file", node, text:match "[^\n]+" or "it says nothing")
end

--- Asks a node, or the answers of earlier probes.
---@param site table        of slurm.site
---@param root string       the folder in which batches are, as every node names it
---@param ids string[]      devices
---@param say fun(text: string)
---@param only_known boolean?  start no job
---@return table<string, table>? found  of each device, as lab.devices.look says it; nil: it is not known
function probe.ask(site, root, ids, say, only_known)
  local key = key_of(site, root, ids)
  local answer = known()[key]
  if answer and os.time() - answer.at <= KEPT then return answer.devices end
  if only_known or not site.probe then return nil end
  local self <close> = setmetatable({ folder = new_folder(root), say = say }, { __close = cleanup })
  submit(self, site, ids)
  say(("probe: job %s asks a node for moonwarp, this folder and its devices"):format(self.job))
  local text = await(self, site) or fail_silent(self, site)
  self.answered = true
  answer = read(self, text)
  keep(key, answer)
  return answer.devices
end

return probe
