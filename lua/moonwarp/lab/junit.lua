-- SPDX-License-Identifier: MIT
--
-- A batch as JUnit XML, which CI systems read: a test case for each lab on a device, and one for
-- each of its gates. Checks and gates are failures; crashes, limits and script errors are errors.
-- Depends on lab.verdict.

local verdict = require "moonwarp.lab.verdict"

local junit = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["\n"] = "&#10;",
                   ["\r"] = "", ["\t"] = "&#9;" }

-- XML 1.0 has no control characters, and a lab may print any byte.
local function clean(text)
  local parts = {}
  local at = 1
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if bad then parts[#parts + 1] = "?" end
    at = (bad or #text) + 1
  end
  return (table.concat(parts):gsub("[%z\1-\8\11\12\14-\31\127]", "?"):gsub("\239\191[\190\191]", "?"))
end

local function attribute(text)
  return (clean(text):gsub('[&<>"\n\r\t]', ENTITIES))
end

local function content(text)
  return (clean(text):gsub("[&<>\r]", ENTITIES))
end

local function element(kind, row, output)
  local message = attribute(row.message or row.verdict)
  return ('      <%s message="%s" type="%s">%s</%s>'):format(kind, message, attribute(row.verdict),
    content(output), kind)
end

local function kind_of(row)
  if row.verdict == "passed" then return nil end
  if row.verdict == "skipped" or row.verdict == "not run" then return "skipped" end
  return verdict.WEAK[row.verdict] and "failure" or "error"
end

local function gates_text(row)
  local lines = {}
  for _, one in ipairs(row.gates or {}) do
    lines[#lines + 1] = ("gate %s: %s: %s"):format(one.ok and "passed" or "failed", one.text,
      one.message or ("share %.3g"):format(one.share))
  end
  return table.concat(lines, "\n")
end

local function case(row, output)
  local kind = kind_of(row)
  local lines = { ('    <testcase name="%s" classname="%s.%s" time="%.3f">'):format(attribute(row.name),
    attribute(row.suite), attribute(row.device or "none"), row.seconds or 0) }
  if kind == "skipped" then
    lines[2] = ('      <skipped message="%s"/>'):format(attribute(row.message or row.verdict))
  elseif kind then
    lines[2] = element(kind, row, output)
  end
  local gates = gates_text(row)
  if gates ~= "" then lines[#lines + 1] = ("      <system-out>%s</system-out>"):format(content(gates)) end
  lines[#lines + 1] = "    </testcase>"
  return table.concat(lines, "\n"), kind
end

local function output_of(result, row)
  if not row.folder then return "" end
  return verdict.tail(("%s/%s/output.txt"):format(result.folder, row.folder))
end

local SUITE = '  <testsuite name="%s" tests="%d" failures="%d" errors="%d" skipped="%d" time="%.3f" timestamp="%s">'

--- The XML text.
---@param result table  of summary.of
---@return string
function junit.text(result)
  local cases, counts, time = {}, { failure = 0, error = 0, skipped = 0 }, 0
  for i, row in ipairs(result.labs) do
    row.suite = result.name
    local kind
    cases[i], kind = case(row, output_of(result, row))
    row.suite = nil
    if kind then counts[kind] = counts[kind] + 1 end
    time = time + (row.seconds or 0)
  end
  local head = SUITE:format(attribute(result.name), #cases, counts.failure, counts.error, counts.skipped, time,
    result.date:gsub("Z$", ""))
  return table.concat({ '<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", head,
                        table.concat(cases, "\n"), "  </testsuite>", "</testsuites>", "" }, "\n")
end

return junit
