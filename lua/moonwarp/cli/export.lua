-- SPDX-License-Identifier: MIT
--
-- moonwarp export DIR...: stored runs as CSV, JSON, Markdown or gnuplot's columns.

local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local runs = require "moonwarp.cli.runs"

local export = { least = 1, wants = "export wants a run; moonwarp export --help says which" }

local FORMS = { "csv", "json", "md", "dat" }

export.options = {
  { flag = "--csv", help = "comma-separated values, one row per record (the default)" },
  { flag = "--json", help = "the whole records, samples included: a list of runs" },
  { flag = "--md", help = "a Markdown table" },
  { flag = "--dat", help = "columns for gnuplot" },
  { flag = "--counters", help = "the structural counters instead of the records, by kernel and by line" },
  { flag = "--output", show = "FILE", value = "a file", help = "the file to write; else the terminal" },
  runs.OUT,
}

export.usage = [[
usage: moonwarp export DIR|STUDY... [options]

Writes stored runs in another form. DIR is a run's folder or one with runs below it, STUDY all of
its runs in out.]]

export.example = [[
moonwarp run memcopy -p n=512 -p parts=ladder
moonwarp export memcopy --csv --output memcopy.csv]]

local function form_of(parsed)
  local chosen = lists.filter(FORMS, function(form) return parsed[form] end)
  if #chosen > 1 then options.fail("options '--%s' and '--%s' exclude each other", chosen[1], chosen[2]) end
  return chosen[1] or "csv"
end

--- The command.
---@param parsed table
---@return integer? status
function export.run(parsed)
  local results, form, list = require "moonwarp.results.export", form_of(parsed), runs.all(parsed)
  if parsed.counters and form == "json" then
    options.fail("options '--json' and '--counters' exclude each other: the whole records have both")
  end
  local text = results[form](parsed.counters and results.counters(list) or list)
  if not parsed.output then
    io.write(text)
    return 0
  end
  local problem = require("moonwarp.base.files").write(parsed.output, text)
  if problem then options.fail("cannot write %s", problem) end
end

return export
