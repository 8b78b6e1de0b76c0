-- SPDX-License-Identifier: MIT
--
-- moonwarp report: stored runs as one HTML file.
-- Depends on cli.options, files, path, units, report.material, report.page.

local files = require "moonwarp.base.files"
local options = require "moonwarp.cli.options"

local report = { most = 10000, least = 1, wants = "report wants a folder with runs, as out" }

report.options = {
  { flag = "--output", show = "FILE", value = "a file", help = "where the report goes; else report.html" },
  { flag = "--against", show = "DIR", value = "a folder", help = "earlier runs to compare with" },
  { flag = "--title", show = "TEXT", value = "a text", help = "the heading" },
  { flag = "--open", help = "show it in the browser" },
}

report.usage = [[
usage: moonwarp report DIR... [options]

One HTML file that needs nothing beside it, from any number of runs. DIR is a run's folder, a
folder with runs below it, the folder of a batch, or a study whose runs are in out. Runs that did
not end, and folders without a run, are shown as such.]]

local function show(name)
  local quoted = require("moonwarp.base.path").quote(name)
  local opened = os.execute(("{ xdg-open %s || open %s; } >/dev/null 2>&1 &"):format(quoted, quoted))
  if not opened then io.stderr:write("moonwarp: no browser could be started\n") end
end

local function earlier_of(folder)
  if not folder then return nil end
  local runs = require("moonwarp.report.material").runs({ folder }).runs
  if #runs == 0 then options.fail("option '--against': there is no run in %s", folder) end
  return runs
end

local function say(name, found, size)
  local units = require "moonwarp.base.units"
  print(("report: %s, %d %s, %s"):format(name, #found.runs, #found.runs == 1 and "run" or "runs",
    units.format(size, "B", 3)))
  for _, one in ipairs(found.missing) do
    io.stderr:write(("moonwarp: %s: %s\n"):format(one.folder, one.reason))
  end
end

--- The command.
---@param parsed table
---@return integer? status
function report.run(parsed)
  local earlier = earlier_of(parsed.against)
  local found = require("moonwarp.report.material").gather(table.move(parsed, 1, #parsed, 1, {}))
  local text = require("moonwarp.report.page").draw(found, { title = parsed.title, earlier = earlier })
  local name = parsed.output or "report.html"
  local reason = files.replace(name, text) -- a browser may be looking at the last one
  if reason then
    io.stderr:write(("moonwarp: the report cannot be written: %s; choose another place with --output FILE\n")
      :format(reason))
    return 1
  end
  say(name, found, #text)
  if parsed.open then show(name) end
end

return report
