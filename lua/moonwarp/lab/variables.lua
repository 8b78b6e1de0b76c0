-- SPDX-License-Identifier: MIT
--
-- What a lab gets of the environment: what is named here, and what its curriculum adds. All else stays with the user,
-- who may have tokens and passwords there.

local variables = {}

--- Names that pass; * stands for any end. Besides the system's: what compilers, Lua, CUDA, MPI and Slurm read.
variables.PASSED = {
  "PATH", "HOME", "LANG", "LC_*", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "LIBRARY_PATH", "COMPILER_PATH", "CPATH",
  "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LUA_PATH*", "LUA_CPATH*", "CUDA_*", "NCCL_*", "NVSHMEM_*", "OMPI_*",
  "OPAL_PREFIX", "PRTE_*", "PMIX_*", "SLURM_*", "SLURMD_*", "MOONWARP_*",
}

local SECRET = "SLURM_JWT" -- the user's key to the cluster

local MOST, LONGEST = 100, 1 << 16

local function is_name(value)
  return type(value) == "string" and value:find "^[%a_][%w_]*$" ~= nil
end

-- "NAME" in a list, or NAME = value, as a word; nil if it is neither.
local function word_of(key, value)
  if math.type(key) == "integer" then return is_name(value) and value or nil end
  local text = (type(value) == "string" or type(value) == "number") and tostring(value)
  return is_name(key) and text and #text < LONGEST and not text:find "%z" and ("%s=%s"):format(key, text) or nil
end

--- The field env of a lab as words: "NAME" lets one more pass, "NAME=value" sets one.
---@param value any
---@return string[]? words
---@return string wanted
function variables.read(value)
  local wanted = ('names and values of at most %d variables, as in { "UCX_TLS", OMP_NUM_THREADS = 4 }'):format(MOST)
  local words = {}
  for key, one in pairs(type(value) == "table" and value or { value }) do
    local word = word_of(key, one)
    if not word or #words == MOST then return nil, wanted end
    words[#words + 1] = word
  end
  table.sort(words)
  return words, wanted
end

--- The environment of a process that runs a lab's text, for host.spawn.
---@param words string[]?  of variables.read
---@param own string[]     "NAME=value", ours, which win
---@return { pass: string[], env: string[] }
function variables.of(words, own)
  local pass, env = table.move(variables.PASSED, 1, #variables.PASSED, 1, {}), { SECRET }
  for _, word in ipairs(words or {}) do
    local into = word:find("=", 1, true) and env or pass
    into[#into + 1] = word
  end
  return { pass = pass, env = table.move(own, 1, #own, #env + 1, env) }
end

return variables
