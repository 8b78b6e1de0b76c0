-- SPDX-License-Identifier: MIT
--
-- The script of a job: lines for sbatch, the site's modules and variables, one command. It runs by hand as it is:
-- sbatch FILE.

local lists = require "moonwarp.base.lists"
local path = require "moonwarp.base.path"

local script = {}

-- A word of sbatch as it reads the line of a script: by blanks, with quotation marks.
local function word(text)
  if not text:find "[%s\"'\\#]" then return text end
  return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

-- A text in which the shell sets variables, as in "/tmp/$USER/cache".
local function expanded(text)
  return '"' .. text:gsub('[\\"`]', "\\%0") .. '"'
end

-- Words of the command line as one line each: "--mem" "4G" stay together.
local function option_lines(words)
  local lines = {}
  for _, one in ipairs(words) do
    if one:sub(1, 1) == "-" or #lines == 0 then
      lines[#lines + 1] = "#SBATCH " .. word(one)
    else
      lines[#lines] = lines[#lines] .. " " .. word(one)
    end
  end
  return lines
end

--- The text of a script.
---@param site table        of slurm.site
---@param words string[]    of sbatch
---@param command string[]  what is run in the end, in place of the shell
---@return string
function script.text(site, words, command)
  local lines = lists.append({ "#!/bin/bash" }, option_lines(words))
  if #site.modules > 0 then -- where bash is no login shell, module is a function of /etc/profile
    lines[#lines + 1] = "type module >/dev/null 2>&1 || . /etc/profile"
    lines[#lines + 1] = ("module load %s || exit 1"):format(table.concat(lists.map(site.modules, path.quote), " "))
  end
  lists.append(lines, site.setup)
  if site.cache then lines[#lines + 1] = "export MOONWARP_CACHE=" .. expanded(site.cache) end
  -- Such a job may lack cores of its node that the site keeps for the system: no other job has them.
  if lists.has(words, "--exclusive") then lines[#lines + 1] = "export MOONWARP_EXCLUSIVE=1" end
  lines[#lines + 1] = 'export MOONWARP_CPU_WORKERS="${MOONWARP_CPU_WORKERS:-$SLURM_CPUS_ON_NODE}"'
  lines[#lines + 1] = "exec " .. table.concat(lists.map(command, path.quote), " ")
  return table.concat(lines, "\n") .. "\n"
end

return script
