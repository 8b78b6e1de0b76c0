-- SPDX-License-Identifier: MIT
--
-- moonwarp explain RUN: what bounds each kernel of a run, by what evidence, and what to try.

local causes = require "moonwarp.results.causes"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"
local runs = require "moonwarp.cli.runs"
local session = require "moonwarp.session"
local store = require "moonwarp.results.store"
local units = require "moonwarp.base.units"
local work = require "moonwarp.results.work"

local explain = { most = 100, least = 1,
  wants = "explain wants a run, or a kernel file; moonwarp explain --help says more" }

local MOST <const> = 3 -- causes of a kernel

explain.options = {
  { flag = "--only", show = "WORD", value = "a word", help = "kernels with the word in their name" },
  { flag = "--all", help = "every cause that takes 5 % of the time, not the first three" },
  { flag = "--json", help = "the result as JSON" },
  runs.OUT,
}

explain.usage = [[
usage: moonwarp explain RUN...|FILE.cu [options]

What bounds each kernel of a run, the slowest kernel first: the share of its time that each resource takes by itself,
the evidence, what to try, and the study that shows it. RUN is the folder of a run, or a study, whose newest run is
taken; of several the counters of one explain the times of another. FILE.cu: the newest run in out with that file.
Shares are of ceilings that moonwarp ceilings has measured.]]

explain.example = [[
moonwarp ceilings
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp explain memcopy]]

-- ---- which runs ---------------------------------------------------------------------------------

local function has_source(run, name)
  return lists.find(run.sources, function(source) return source.name:match "[^/]*$" == name end) ~= nil
end

-- The newest run in out that has used the file.
local function run_with(file)
  local name, newest = file:match "[^/]*$", nil
  for _, folder in ipairs(store.below(session.current:out())) do
    local run = store.read(folder)
    if run and has_source(run, name) and not (newest and newest.date > run.date) then newest = run end
  end
  if newest then return newest end
  options.fail("no run in %s has used %s: moonwarp new writes a script that runs its kernels, which explain then takes",
    session.current:out(), file)
end

-- ---- what is told -------------------------------------------------------------------------------

local function shape(launch)
  local function dims(list)
    local last = list[3] ~= 1 and 3 or list[2] ~= 1 and 2 or 1
    return table.concat(list, " x ", 1, last)
  end
  return ("%s, grid %s, block %s%s"):format(launch.kernel, dims(launch.grid), dims(launch.block),
    launch.count > 1 and (", %d times"):format(launch.count) or "")
end

local function head_of(one)
  local first = one.launches and one.launches[1]
  local more = first and #one.launches > 1 and (" and %d more"):format(#one.launches - 1) or ""
  return ("%s: %s%s"):format(one.name, units.format(one.t, "s", 4),
    first and (" (%s%s)"):format(shape(first), more) or "")
end

local function as_words(found)
  return ("  %-12s %3.0f %%  %s\n                      try: %s (moonwarp run %s)"):format(found.cause,
    100 * found.share, found.evidence, found.try, found.study)
end

-- What is not known of the work, and how it gets known; each once.
local function missing_of(list)
  local ceilings, texts = {}, {}
  local function add(text) if not lists.has(texts, text) then texts[#texts + 1] = text end end
  for _, one in ipairs(list) do
    lists.append(ceilings, one.missing)
    local script = path.word(one.run.argv and one.run.argv[1] or one.run.study)
    if one.is_gpu and not work.is_counted(one) then
      add(("accesses, bytes and operations that ncu counts: moonwarp run %s --counters"):format(script))
    elseif not one.is_gpu and not (one.bytes and one.flops) then
      add "bytes and operations: give mw.bench { bytes =, flops = } what a call moves and computes"
    end
    for _, launch in ipairs(one.launches or {}) do
      if launch.row and launch.row.varies then
        add(("counters of %s by itself: they are the mean over launches that do different things"):format(
          shape(launch)))
      end
    end
    if not one.launches then add(("launches: this run has none; moonwarp run %s again"):format(script)) end
  end
  ceilings = lists.unique(ceilings)
  if #ceilings > 0 then
    add(("ceilings of %s: moonwarp ceilings %s"):format(list[1].device_name or "the device",
      table.concat(ceilings, " ")))
  end
  return texts
end

local function print_text(list, missing, everything)
  for _, one in ipairs(list) do
    print(head_of(one))
    for i = 1, everything and #one.causes or math.min(MOST, #one.causes) do print(as_words(one.causes[i])) end
    if #one.causes == 0 then print "  nothing that is known takes 5 % of its time" end
  end
  for i, text in ipairs(missing) do print((i == 1 and "not known: " or "           ") .. text) end
end

local function as_json(list, missing)
  local json = require "moonwarp.base.json"
  local rows = lists.map(list, function(one)
    local found = lists.map(one.causes, function(cause)
      return { cause = cause.cause, share = cause.share, evidence = cause.evidence, try = cause.try,
               study = cause.study }
    end)
    return { name = one.name, t = one.t, kernels = one.launches and json.as_list(lists.map(one.launches, shape)),
             causes = json.as_list(found) }
  end)
  return json.encode { work = rows, missing = json.as_list(missing) }
end

--- The command.
---@param parsed table
function explain.run(parsed)
  local words = table.move(parsed, 1, #parsed, 1, {})
  local taken = lists.map(words, function(word)
    return word:find "%.cuh?$" and run_with(word) or runs.latest(word)
  end)
  require "moonwarp.plot.kinds" -- whose charts a record may have
  local list = lists.filter(work.of(taken), function(one)
    return not parsed.only or one.name:find(parsed.only, 1, true) ~= nil
  end)
  if #list == 0 then
    options.fail(parsed.only and "no kernel has '%s' in its name" or "%s has no times of kernels: its script records "
      .. "no result of mw.bench, and ncu has counted nothing", parsed.only or taken[1].folder)
  end
  for _, one in ipairs(list) do one.causes, one.missing = causes.of(one) end
  local missing = missing_of(list)
  if parsed.json then print(as_json(list, missing)) else print_text(list, missing, parsed.all) end
end

return explain
