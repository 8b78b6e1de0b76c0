-- SPDX-License-Identifier: MIT
--
-- A batch as JUnit XML, which CI systems read: a test case for each lab on a device. Checks and gates
-- are failures; crashes, limits and script errors are errors. There are two schemas about, of Ant's
-- JUnit task and of Jenkins' xUnit plugin; this is valid by both, so what the gates said is in the
-- suite's output: the first has none in a case.

local files = require "moonwarp.base.files"
local utf8text = require "moonwarp.base.utf8text"
local verdict = require "moonwarp.lab.verdict"

local junit = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["\n"] = "&#10;",
                   ["\r"] = "", ["\t"] = "&#9;" }

local function attribute(value)
  return (utf8text.clean(value):gsub('[&<>"\n\r\t]', ENTITIES))
end

local function content(value)
  return (utf8text.clean(value):gsub("[&<>\r]", ENTITIES))
end

local function element(kind, row, output)
  local message = attribute(row.message or row.verdict)
  return ('      <%s message="%s" type="%s">%s</%s>'):format(kind, message, attribute(row.verdict),
    content(output), kind)
end


-- Lines of what each gate said.
local function gates_of(row, into)
  for _, one in ipairs(row.gates or {}) do
    local word = one.ok and "passed" or one.unclear and "unclear" or "failed"
    into[#into + 1] = ("%s: gate %s: %s: %s"):format(row.id, word, one.text,
      one.message or one.share and ("share %.3g"):format(one.share) or "it holds")
  end
end

local function case(row, suite, output)
  local kind = verdict.kind(row.verdict)
  local lines = { ('    <testcase name="%s" classname="%s.%s" time="%.3f">'):format(attribute(row.name),
    attribute(suite), attribute(row.device or "none"), row.seconds or 0) }
  if kind == "skipped" then
    lines[2] = ('      <skipped message="%s"/>'):format(attribute(row.message or row.verdict))
  elseif kind then
    lines[2] = element(kind, row, output)
  end
  lines[#lines + 1] = "    </testcase>"
  return table.concat(lines, "\n"), kind
end

local function output_of(result, row)
  if not row.folder then return "" end
  return verdict.tail(("%s/%s/output.txt"):format(result.folder, row.folder))
end

local function host_name()
  local name = files.read "/proc/sys/kernel/hostname"
  return name and name:match "[^\n]+" or "localhost"
end

local SUITE = '  <testsuite name="%s" package="moonwarp" id="0" hostname="%s" timestamp="%s" tests="%d" '
  .. 'failures="%d" errors="%d" skipped="%d" time="%.3f">'

--- The XML text.
---@param result table  of summary.of
---@return string
function junit.text(result)
  local cases, gates, counts, time = {}, {}, { failure = 0, error = 0, skipped = 0 }, 0
  for i, row in ipairs(result.labs) do
    local kind
    cases[i], kind = case(row, result.name, output_of(result, row))
    gates_of(row, gates)
    if kind then counts[kind] = counts[kind] + 1 end
    time = time + (row.seconds or 0)
  end
  local head = SUITE:format(attribute(result.name), attribute(host_name()), (result.date:gsub("Z$", "")), #cases,
    counts.failure, counts.error, counts.skipped, time)
  return table.concat({ '<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", head, "    <properties/>",
                        table.concat(cases, "\n"),
                        ("    <system-out>%s</system-out>"):format(content(table.concat(gates, "\n"))),
                        "    <system-err/>", "  </testsuite>", "</testsuites>", "" }, "\n")
end

return junit
