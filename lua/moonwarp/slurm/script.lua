-- SPDX-License-Identifier: MIT
--
-- The script of a job array: words for sbatch, the site's modules and variables, one command. It runs by hand as it is:
-- sbatch FILE.

local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local notes = require "moonwarp.slurm.notes"
local path = require "moonwarp.base.path"

local script = {}

-- A word of sbatch as it reads the line of a script: by blanks, with quotation marks.
local function word(text)
  if not text:find "[%s\"'\\#]" then return text end
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

--- The words of sbatch for an array. The site's come after ours, and win. SIGINT comes before a job's time limit, so
--- that a lab has the time to write its record.
---@param array table       array (its number), name, elements, tasks
---@param folder string     the batch's, from the root
---@param site table        of slurm.site
---@return string[]
function script.words(array, folder, site)
  local limit = site.array_limit and "%" .. site.array_limit or ""
  local output = notes.file(folder:gsub("%%", "%%%%"), ("array-%d-%%a.txt"):format(array.array)) -- %% is a percent sign
  local words = { "--job-name=" .. array.name, ("--array=1-%d%s"):format(#array.elements, limit), "--output=" .. output,
                  "--open-mode=append", "--chdir=" .. require("lfs").currentdir(), "--no-requeue", "--signal=B:INT@10" }
  return lists.append(lists.append(words, array.tasks and { "--ntasks=" .. array.tasks }), site.options)
end

--- The text of a script.
---@param array table
---@param folder string
---@param site table
---@return string
function script.text(array, folder, site)
  local words = script.words(array, folder, site)
  -- An option and its value, as --mem 4G, stay on one line.
  local lines = { "#!/bin/bash", (("#SBATCH " .. table.concat(lists.map(words, word), "\n#SBATCH "))
    :gsub("\n#SBATCH ([^%-])", " %1")) }
  if #site.modules > 0 then -- where bash is no login shell, module is a function of /etc/profile
    lines[#lines + 1] = "type module >/dev/null 2>&1 || . /etc/profile"
    lines[#lines + 1] = ("module load %s || exit 1"):format(table.concat(lists.map(site.modules, path.quote), " "))
  end
  lists.append(lines, site.setup)
  -- The shell sets variables in it, as in "/tmp/$USER/cache".
  if site.cache then lines[#lines + 1] = 'export MOONWARP_CACHE="' .. site.cache:gsub('[\\"`]', "\\%0") .. '"' end
  -- Such a job may lack cores of its node that the site keeps for the system: no other job has them.
  if lists.has(words, "--exclusive") then lines[#lines + 1] = "export MOONWARP_EXCLUSIVE=1" end
  lines[#lines + 1] = 'export MOONWARP_CPU_WORKERS="${MOONWARP_CPU_WORKERS:-$SLURM_CPUS_ON_NODE}"'
  lines[#lines + 1] = ("exec %s element %s %d\n"):format(path.quote(host.program()), path.quote(folder), array.array)
  return table.concat(lines, "\n")
end

return script
