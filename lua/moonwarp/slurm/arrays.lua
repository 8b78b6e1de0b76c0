-- SPDX-License-Identifier: MIT
--
-- Job arrays of a batch: which labs are in which, their files, and their way into the queue. Labs that need others are
-- in later arrays than those; labs that want several tasks are apart from those that want one, since all elements of an
-- array get the same. An array is { number, name, elements (lists of ids), job (nil: not known) }.

local core = require "moonwarp.core"
local failure = require "moonwarp.base.failure"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local notes = require "moonwarp.slurm.notes"
local path = require "moonwarp.base.path"
local queue = require "moonwarp.slurm.queue"
local script = require "moonwarp.slurm.script"

local arrays = {}

--- Those that a batch has queued, as its journal has them.
---@param lines table[]  of the journal
---@return table[]
function arrays.of(lines)
  local found, by_number = {}, {}
  for _, line in ipairs(lines) do
    if line.kind == "queue" then
      lists.entry(found, by_number, line.array, { number = line.array, name = line.name, elements = line.elements })
    elseif line.kind == "job" and by_number[line.array] then
      by_number[line.array].job = line.job
    end
  end
  return found
end

-- ---- which labs ---------------------------------------------------------------------------------

-- Steps of the same depth of needs and the same number of tasks, the least depth first. Needs come before in steps.
local function groups_of(steps)
  local depth, groups, by_key = {}, {}, {}
  for _, step in ipairs(steps) do
    depth[step.id] = 1
    for _, need in ipairs(step.needs) do
      depth[step.id] = math.max(depth[step.id], 1 + (depth[need] or 0))
    end
    local group = lists.entry(groups, by_key, ("%d/%d"):format(depth[step.id], step.tasks or 1),
      { depth = depth[step.id], tasks = step.tasks, place = #groups, ids = {} })
    group.ids[#group.ids + 1] = step.id
  end
  table.sort(groups, function(a, b)
    if a.depth ~= b.depth then return a.depth < b.depth end
    return a.place < b.place
  end)
  return groups
end

local function chunks(list, most)
  local all = {}
  for i = 1, #list, most do all[#all + 1] = table.move(list, i, math.min(i + most - 1, #list), 1, {}) end
  return all
end

-- Letters of an array's name that no other has.
local function mark()
  local file <close> = assert(io.open("/dev/urandom", "rb"))
  return (file:read(4):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

--- New arrays for labs.
---@param steps table[]     of the plan, each after those it needs
---@param first integer     the number of the first array
---@param batch string      the name of the batch's folder
---@param site table        of slurm.site
---@return table[]          with tasks
function arrays.new(steps, first, batch, site)
  local most, made = nil, {}
  for _, group in ipairs(groups_of(steps)) do
    most = most or queue.most_elements()
    for _, elements in ipairs(chunks(chunks(group.ids, site.labs_per_job), most)) do
      local number = first + #made
      made[#made + 1] = { number = number, elements = elements, tasks = group.tasks,
                          name = ("mw-%s-%s-%d"):format(path.safe(batch), mark(), number) }
    end
  end
  return made
end

-- ---- into the queue -----------------------------------------------------------------------------

--- What is wrong with a folder of which sbatch is to hear.
---@param folder string
---@return string? problem
function arrays.folder_problem(folder)
  local at = folder:find "[\\%c]"
  if at then
    return ("the folder %s has a %s, which sbatch does not take in names"):format(folder:gsub("%c", "?"),
      folder:find("%c", at) == at and "control character" or "backslash")
  end
end

-- Words of sbatch; the site's come after ours, and win. In the name of the output, %% is a percent sign.
local function words_of(array, folder, site)
  local limit = site.array_limit and "%" .. site.array_limit or ""
  local output = notes.file(folder:gsub("%%", "%%%%"), ("array-%d-%%a.txt"):format(array.number))
  local words = lists.append({ "--job-name=" .. array.name, ("--array=1-%d%s"):format(#array.elements, limit),
    "--output=" .. output, "--open-mode=append", "--chdir=" .. require("lfs").currentdir(), "--no-requeue",
    ("--signal=B:INT@%d"):format(math.ceil(site.warning)) }, array.tasks and { "--ntasks=" .. array.tasks })
  return lists.append(words, site.options)
end

--- The file of an array's script.
---@param array table
---@param folder string  the batch's, from the root
---@return string
function arrays.script(array, folder)
  return notes.file(folder, ("array-%d.sh"):format(array.number))
end

--- Writes an array's files: what each element runs, and the script.
---@param array table
---@param folder string
---@param site table
---@param lab_of fun(id: string): table  what an element has to know of a lab: id, attempt, tries, needs
function arrays.write(array, folder, site, lab_of)
  local elements = lists.map(array.elements, function(ids) return lists.map(ids, lab_of) end)
  notes.write(folder, ("array-%d.json"):format(array.number), { elements = elements })
  local command = { host.program(), "element", folder, ("%d"):format(array.number) }
  notes.write(folder, ("array-%d.sh"):format(array.number), script.text(site, words_of(array, folder, site), command))
end

--- Looks for an array in the queue by its name.
---@param array table       gets its job
---@return boolean? found   nil: squeue does not answer
function arrays.find(array)
  local rows = queue.look { array.name }
  if not rows then return nil end
  if rows[1] then array.job = rows[1].job end
  return rows[1] ~= nil
end

-- sbatch may fail though the job is queued, as where the controller's answer is late.
local function find_soon(array, site)
  local deadline = core.clock() + site.patience
  repeat
    if arrays.find(array) then return true end
    host.wait({}, math.min(1, site.poll))
  until core.clock() >= deadline
  return false
end

-- Sbatch's words for a controller that did not answer; all others are rejections.
local UNANSWERED = { "[Tt]imed out", "Unable to contact", "no answer", "Connection", "Communication", "no number" }

--- Queues an array whose files are written; an error in sbatch's words if it is rejected.
---@param array table       gets its job
---@param folder string
---@param site table
---@param after string[]    jobs that must have ended before
---@return table? interruption  of queue.submit; the job's number may then be missing
function arrays.queue(array, folder, site, after)
  local reason, interruption
  local words = words_of(array, folder, site)
  if #after > 0 then words[#words + 1] = "--dependency=afterany:" .. table.concat(after, ":") end
  array.job, reason, interruption = queue.submit(arrays.script(array, folder), words)
  if array.job or interruption then return interruption end
  local is_unknown = lists.find(UNANSWERED, function(pattern) return reason:find(pattern) end)
  if not is_unknown then
    failure.raise_as("usage", "sbatch rejects %s: %s; moonwarp batch --resume %s tries again, also with other options",
      arrays.script(array, folder), reason, folder)
  elseif not find_soon(array, site) then
    failure.raise_as("io", "sbatch does not say whether %s is queued: %s; moonwarp batch --resume %s finds out",
      array.name, reason, folder)
  end
end

--- The jobs' output of an element.
---@param array table
---@param index integer
---@param folder string
---@return string file
function arrays.output(array, index, folder)
  return notes.file(folder, ("array-%d-%d.txt"):format(array.number, index))
end

return arrays
