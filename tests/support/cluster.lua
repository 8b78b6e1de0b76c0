-- SPDX-License-Identifier: MIT
--
-- A Slurm cluster of a test's own: munged, slurmctld and one slurmd for each node, all on this machine, on free ports,
-- with keys, sockets and states in one folder. Each runs below a supervisor of the program, which ends it, and the jobs
-- that came from it, with the test, however that ends. A daemon that is killed begins again after a second, as under
-- systemd.

local busted = require "busted"
local core = require "moonwarp.core"
local labs = require "tests.support.labs"
local lists = require "moonwarp.base.lists"
local support = require "tests.support"
local _, host = pcall(require, "moonwarp.host")

local cluster = {}
cluster.__index = cluster

local PATH <const> = "PATH=$PATH:/usr/sbin:/sbin " -- where Debian's daemons are
local REGISTER <const> = 100 -- looks at the queue after which nodes are asked to register
local PATIENCE <const> = 60 -- seconds until the nodes are idle on a busy machine

--- Why there can be no cluster here, or nil.
---@return string?
function cluster.obstacle()
  if not (host and host.spawn) then return "needs the program" end
  for _, name in ipairs { "munged", "slurmctld", "slurmd", "sbatch" } do
    if labs.shell(PATH .. "command -v " .. name) ~= 0 then return name .. " is not installed: make check-cluster" end
  end
end

--- `it` of a test that begins a cluster: it is skipped where there can be none.
---@param name string
---@param body function
function cluster.it(name, body)
  local problem = cluster.obstacle()
  if problem then busted.pending(("%s (%s)"):format(name, problem)) else busted.it(name, body) end
end

-- ---- configuration ------------------------------------------------------------------------------

local CONFIGURATION <const> = [[
ClusterName=test
SlurmctldHost=%s(127.0.0.1)
SlurmctldPort=%d
SlurmUser=%s
SlurmdUser=%s
AuthType=auth/munge
AuthInfo=socket=%s/munge.socket
StateSaveLocation=%s/state
SlurmdSpoolDir=%s/spool-%%n
SlurmctldPidFile=%s/slurmctld.pid
SlurmdPidFile=%s/%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=3
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000
]]

local NODE <const> = "NodeName=node%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d RealMemory=65536 State=UNKNOWN"

local function word_of(command)
  local _, output = labs.shell(command)
  return output:match "^[^\n.]+"
end

-- The ports that have a listener here.
local function taken_ports()
  local taken = {}
  for _, name in ipairs { "/proc/net/tcp", "/proc/net/tcp6" } do
    local file <close> = io.open(name)
    for line in file and file:lines() or function() end do
      local port = line:match "^%s*%d+: %x+:(%x+)"
      if port then taken[tonumber(port, 16)] = true end
    end
  end
  return taken
end

-- One in a range that the system chooses none of by itself.
local function free_port(taken)
  local port
  repeat port = math.random(20000, 31999) until not taken[port]
  taken[port] = true
  return port
end

local function configuration(folder, options)
  local machine, user, taken, lines = word_of "uname -n", word_of "id -un", taken_ports(), {}
  for i = 1, options.nodes or 1 do
    lines[i] = NODE:format(i, machine, free_port(taken), options.cpus or 2)
  end
  lines[#lines + 1] = "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
  return CONFIGURATION:format(machine, free_port(taken), user, user, folder, folder, folder, folder, folder)
    .. table.concat(lists.append(lists.append({}, options.settings or {}), lines), "\n")
end

-- ---- daemons --------------------------------------------------------------------------------------

-- Keeps a daemon running, which its command does not leave in the background.
function cluster:keep(name, command)
  local script = ("cd %s; while :; do %s%s & echo $! >%s.pid; wait $!; sleep 1; done"):format(labs.quoted(self.folder),
    PATH, command, name)
  table.insert(self.daemons, host.spawn { argv = { "/bin/sh", "-c", script },
                                          log = ("%s/%s.log"):format(self.folder, name) })
end

-- Waits until a command succeeds; else says what the daemons have said last.
function cluster:await(command)
  local limit = core.clock() + PATIENCE
  while self:shell(command) ~= 0 do
    if core.clock() > limit then
      local _, said = labs.shell(("tail -n 5 %s/*.log"):format(self.folder))
      error(("the cluster is not ready, %s: %s"):format(command, said))
    end
    os.execute "sleep 0.05"
  end
end

-- Each waits for the one before: what fails first is tried again after seconds only.
function cluster:start(options)
  local folder, conf, nodes = self.folder, self.folder .. "/slurm.conf", options.nodes or 1
  support.write(conf, configuration(folder, options))
  labs.shell(("cd %s && chmod 755 . && mkdir state && umask 077 && head -c 1024 /dev/urandom >munge.key")
    :format(folder))
  self:keep("munged", "munged -F --key-file=$PWD/munge.key --socket=$PWD/munge.socket --pid-file=$PWD/munge.own.pid "
    .. "--seed-file=$PWD/munge.seed --log-file=$PWD/munge.log")
  self:await("test -S " .. folder .. "/munge.socket")
  self:keep("slurmctld", "slurmctld -D -f " .. conf)
  self:await "scontrol ping"
  for i = 1, nodes do self:keep("node" .. i, ("slurmd -D -N node%d -f %s"):format(i, conf)) end
  self:await(("[ $(sinfo -h -t idle -o %%D) = %d ]"):format(nodes))
end

function cluster:stop()
  for _, daemon in ipairs(self.daemons) do daemon:close() end
end

--- The process of a daemon.
---@param name string  "slurmctld", "munged", "node1"
---@return string
function cluster:pid(name)
  return (support.read(("%s/%s.pid"):format(self.folder, name)):match "%d+")
end

--- Kills a daemon, which begins again after a second; the jobs of a node go on.
---@param name string
function cluster:kill(name)
  labs.shell("kill -KILL " .. self:pid(name))
end

-- ---- commands -------------------------------------------------------------------------------------

--- Runs a command of the shell to which this is the cluster.
---@param command string
---@return integer status
---@return string output
function cluster:shell(command)
  return labs.shell(("export SLURM_CONF=%s/slurm.conf; %s"):format(self.folder, command))
end

--- Waits until no job is in the queue. A controller that was killed takes jobs for running whose end came meanwhile,
--- until their nodes register: by themselves they do so after minutes.
function cluster:drain()
  local looks = 0
  support.eventually("an empty queue", function()
    looks = looks + 1
    if looks % REGISTER == 0 then self:shell "scontrol reconfigure" end
    local status, output = self:shell "squeue -h"
    return status == 0 and output == ""
  end)
end

--- Runs a function with a cluster.
---@param options table  nodes (1), cpus of each (2), settings: lines of slurm.conf, as "MaxArraySize=100"
---@param body fun(c: table)
function cluster.with(options, body)
  support.with_folder(function(folder)
    local self <close> = setmetatable({ folder = folder, daemons = {} }, cluster)
    self:start(options)
    body(self)
  end)
end

cluster.__close = cluster.stop

return cluster
