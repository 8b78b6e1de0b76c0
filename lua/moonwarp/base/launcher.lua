-- SPDX-License-Identifier: MIT
--
-- What the launcher of a job (mpirun, srun) tells each of its processes in the environment, before any MPI is opened.

local launcher = {}

-- OpenMPI's, that of MPICH and of Slurm's PMI, and Slurm's own.
local NAMES <const> = { { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" }, { "PMI_RANK", "PMI_SIZE" },
                        { "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" } }

local function number(name) return math.tointeger(tonumber(os.getenv(name))) end

--- The place of this process among those that were started together.
---@return integer rank
---@return integer size  1 without a launcher
function launcher.place()
  for _, names in ipairs(NAMES) do
    local size = number(names[2])
    if size then return number(names[1]) or 0, size end
  end
  return 0, 1
end

return launcher
