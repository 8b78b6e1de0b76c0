-- SPDX-License-Identifier: MIT
--
-- moonwarp report: stored runs as one HTML file.

local exit = require "moonwarp.base.exit"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local session = require "moonwarp.session"

local report = { most = 10000, least = 1, wants = "report wants a folder with runs, as out" }

report.options = {
  { flag = "--output", show = "FILE", value = "a file", help = "the file to write; else report.html" },
  { flag = "--against", show = "DIR", value = "a folder", help = "earlier runs to compare with" },
  { flag = "--title", show = "TEXT", value = "a text", help = "the heading" },
  { flag = "--open", help = "show it in the browser" },
}

report.usage = [[
usage: moonwarp report DIR... [options]

One HTML file that needs no other file, from any number of runs. DIR is a run's folder, a
folder with runs below it, the folder of a batch, or a study whose runs are in out. Runs that did
not end, and folders without a run, are shown as such; a DIR without a run is exit status 1.]]

report.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp report out --output report.html]]

local function earlier_of(folder)
  if not folder then return nil end
  local found = require("moonwarp.report.material").runs({ folder }, session.current:out())
  if #found.runs == 0 then options.fail("option '--against': %s: %s", folder, found.missing[1].reason) end
  return found.runs
end

local function say(name, found, size)
  local units = require "moonwarp.base.units"
  print(("report: %s, %s, %s"):format(name, units.count(#found.runs, "run"), units.format(size, "B", 3)))
  for _, one in ipairs(found.missing) do exit.complain("%s: %s", one.folder, one.reason) end
end

--- The command.
---@param parsed table
---@return integer status
function report.run(parsed)
  local earlier = earlier_of(parsed.against)
  local words = table.move(parsed, 1, #parsed, 1, {})
  local found = require("moonwarp.report.material").gather(words, session.current:out())
  if #found.runs + #found.batches == 0 then
    options.fail("there is nothing to report: %s", table.concat(lists.map(found.missing, function(one)
      return ("%s: %s"):format(one.folder, one.reason)
    end), "; "))
  end
  local text = require("moonwarp.report.page").draw(found, { title = parsed.title, earlier = earlier })
  local name = parsed.output or "report.html"
  local reason = files.replace(name, text) -- a browser may be looking at the last one
  if reason then
    failure.raise_as("io", "the report cannot be written: %s; choose another place with --output FILE", reason)
  end
  say(name, found, #text)
  if parsed.open then require("moonwarp.cli.drawing").open(name) end
  return #found.missing > 0 and exit.FAILED or exit.OK
end

return report
