-- SPDX-License-Identifier: MIT
--
-- A shell, or the command given as words, whose sbatch is a Slurm cluster of this machine: make cluster.

local cluster = require "tests.support.cluster"
local path = require "moonwarp.base.path"

local obstacle = cluster.obstacle()
if obstacle then error(obstacle, 0) end

local words = {}
for i, word in ipairs(arg) do words[i] = path.quote(word) end
local command = #words > 0 and table.concat(words, " ") or os.getenv "SHELL" or "sh"

local status
cluster.with({}, function(c)
  if #words == 0 then print("a Slurm cluster of two cores is up; it ends with this shell") end
  status = select(3, os.execute(("export SLURM_CONF=%s/slurm.conf; %s"):format(c.folder, command)))
end)
os.exit(status)
