-- SPDX-License-Identifier: MIT
--
-- What check mode has found, as data (core/bind/finding.c) and in words. The device counts over its life; a session
-- takes what has been added since it began, a run what has been added since the run before.

local core = require "moonwarp.core"
local lists = require "moonwarp.base.lists"
local place = require "moonwarp.measure.tool_place"
local sheet = require "moonwarp.base.sheet"
local units = require "moonwarp.base.units"
local utf8text = require "moonwarp.base.utf8text"

local findings = {}

-- ---- data ---------------------------------------------------------------------------------------

local finding_type, list_type = { __name = "finding" }, { __name = "findings" }

local OPERATIONS <const> = "race between operations"

local reported = {} -- by compute-sanitizer

--- Adds what a device does not know itself.
---@param list table[]  as of core.findings
function findings.add(list)
  lists.append(reported, list)
end

--- What has been found in this process: by devices, then by compute-sanitizer.
---@return table[] list
function findings.all()
  return lists.append(core.findings(), lists.map(reported, place.placed))
end

-- Whose list a finding is in, to which others are added at its end.
local function list_of(one)
  return one.kind == OPERATIONS and OPERATIONS or one.device
end

--- How often each finding of this process has been met.
---@return integer[] counts  in the order of findings.all, by list
function findings.counts()
  local counts = {}
  for _, one in ipairs(findings.all()) do
    local list = list_of(one)
    counts[list] = counts[list] or {}
    table.insert(counts[list], one.count)
  end
  return counts
end

--- Whether a finding was printed when it was met: a race between operations outside check mode, which fails no run.
---@param one table
---@return boolean
function findings.is_told(one)
  return one.kind == OPERATIONS and one.warning
end

local function marked(list)
  for _, one in ipairs(list) do setmetatable(one, finding_type) end
  return setmetatable(list, list_type)
end

--- What has been found since counts were taken, with how often it has been met since.
---@param counts table   of findings.counts
---@return table[] list
function findings.since(counts)
  local number = {}
  return marked(lists.map(findings.all(), function(one)
    local list = list_of(one)
    number[list] = (number[list] or 0) + 1
    one.count = one.count - ((counts[list] or {})[number[list]] or 0)
    return one.count > 0 and one or nil
  end))
end

-- ---- places -------------------------------------------------------------------------------------

local function place_of(party)
  return party.line and ("%s:%d"):format(party.file, party.line) or ""
end

-- Findings of one kind at the same lines are one, whatever kernel they are in: instances of a template.
local function key_of(one)
  local places = lists.map(one.parties, function(party) return party.line and place_of(party) end)
  table.sort(places)
  if #places == 0 then places = { one.kernel, one.object } end
  return table.concat({ one.kind, tostring(one.intended), table.unpack(places) }, "\0")
end

--- Findings by place: the first of each, with the kernels and the count of all.
---@param list table[]
---@return table[] groups
function findings.grouped(list)
  local groups, by_key = {}, {}
  for _, one in ipairs(list) do
    local key = key_of(one)
    local group = by_key[key]
    if not group then
      group = setmetatable(lists.merged(one, { count = 0, kernels = {} }), finding_type)
      groups[#groups + 1], by_key[key] = group, group
    end
    group.count = group.count + one.count
    if one.kernel and not lists.has(group.kernels, one.kernel) then table.insert(group.kernels, one.kernel) end
  end
  return groups
end

-- ---- words --------------------------------------------------------------------------------------

local function at(dims)
  return ("(%s)"):format(table.concat(dims, ","))
end

local function who_of(party)
  if not party.thread then return party.stream and "in " .. party.stream or "" end
  local block = party.block and ("block %s, "):format(at(party.block)) or ""
  return ("by %sthread %s"):format(block, at(party.thread))
end

-- "  write by block (0,0,0), thread (32,0,0)  red.cu:7  s[t] += s[t + h];", in columns.
local PARTY <const> = { { cell = "verb" }, { cell = who_of, gap = " " }, { cell = place_of }, { cell = "text" } }

local function others(kernels)
  local more = #kernels - 1
  return more == 0 and "" or more == 1 and (" and '%s'"):format(kernels[2]) or (" and %d other kernels"):format(more)
end

--- The reason that marks a race as intended; nil if none is given.
---@param one table
---@return string?
function findings.reason(one)
  for _, party in ipairs(one.parties) do
    local reason = utf8text.trim((party.text or ""):match "moonwarp: race%-ok(.*)$" or "")
    if reason ~= "" then return reason end
  end
end

-- "race in global memory: kernel 'a' and 'b', "; of a race between operations without kernels.
local function subject_of(one)
  if not one.kernel then return one.kind .. ": " end
  return ("%s: kernel '%s'%s, "):format(one.kind, one.kernel, others(one.kernels or { one.kernel }))
end

local function intended_line(one)
  local reason = findings.reason(one)
  return ("intended %s%s, %s%s"):format(subject_of(one), place_of(one.parties[1]), units.count(one.count, "time"),
    reason and ": " .. reason or "")
end

local function text_of(one)
  if one.intended then return intended_line(one) end
  local warning = one.warning and not findings.is_told(one) and "warning: " or ""
  local lines = { ((warning .. subject_of(one) .. (one.object or "")):gsub(", $", "")) }
  lists.append(lines, sheet.lines(sheet.of(PARTY, one.parties), { indent = "  " }))
  local seed = one.seed and (", first by seed:%d"):format(one.seed) or ""
  local remark = one.remark and one.remark .. "; " or ""
  lines[#lines + 1] = ("  %s%s; %s%s"):format(units.count(one.count, "time"), seed, remark, one.remedy)
  return table.concat(lines, "\n")
end

finding_type.__tostring = text_of

function list_type.__tostring(self)
  if #self == 0 then return "no findings" end
  return table.concat(lists.map(findings.grouped(self), text_of), "\n")
end

--- Gives what the method findings of a device returns its text.
---@param methods table<string, table>  by class
function findings.install(methods)
  local of_device = methods.device.findings
  methods.device.findings = function(self, ...)
    local own = of_device(self, ...)
    local id = self:id()
    return marked(lists.append(own, lists.map(reported, function(one)
      return one.device == id and place.placed(one) or nil
    end)))
  end
end

return findings
