-- SPDX-License-Identifier: MIT
--
-- What a tool of compute-sanitizer has written, as findings of check mode. The text is read, not the XML: it alone has
-- the nearest allocation, template arguments, how many errors were left out, and the line that says it is whole.

local lists = require "moonwarp.base.lists"
local tool = require "moonwarp.tools.tool"

local sanitizer_report = {}

local REMEDIES <const> = {
  bounds = "guard the access by the array's length",
  misaligned = "begin at a multiple of the type's size",
  uninitialised = "write it first: by fill, by a copy, or in the kernel",
  ["race in shared memory"] = "put __syncthreads() between the two accesses",
  barrier = "let all threads of the block reach the same barrier",
  mask = "let the mask name exactly the lanes that take part",
  fault = "no thread may come to a trap, a failed assertion or an instruction with operands that are not allowed",
}

local FAR <const> = 1 << 30 -- bytes from an array, beyond which an access has nothing to do with it

-- ---- parts of a record --------------------------------------------------------------------------

-- "behind(int *, int)+0xc0 in /a/k.cu:70"
local function place_of(text)
  local name, rest = text:match "^(.-)%+0x%x+(.*)$"
  local file, line = (rest or ""):match "^ in (.+):(%d+)$"
  return { kernel = tool.kernel_name(name or text), file = file, line = math.tointeger(tonumber(line)) }
end

local function numbers_of(text)
  return lists.map({ text:match "^(%d+),(%d+),(%d+)$" }, math.tointeger)
end

-- 0 for a text that is no count: the log may be damaged.
local function integer(text) return math.tointeger(tonumber((text:gsub(",", "")))) or 0 end

-- The fields of a record's lines below the first: place, kernel, thread, block, address, its array, and the problem
-- with it.
local function details(lines)
  local got = {}
  for _, line in ipairs(lines) do
    local at, frame = line:match "^%s+at (.+)$", line:match "^%s+Device Frame: (.+)$"
    local thread, block = line:match "^%s+by thread %(([%d,]+)%) in block %(([%d,]+)%)"
    local address, wrong = line:match "^%s+Access to 0x(%x+) is (.+)$"
    local base, size = line:match "nearest allocation at 0x(%x+) of size ([%d,]+) bytes"
    if at then got.place = place_of(at) end
    if frame then got.kernel = place_of(frame).kernel end
    if thread then got.thread, got.block = numbers_of(thread), numbers_of(block) end
    if address then got.address, got.wrong = tonumber(address, 16), wrong end
    if base then got.base, got.size = tonumber(base, 16), integer(size) end
  end
  return got
end

local function finding(kind, kernel, parties, more)
  return lists.merged({ kind = kind, kernel = kernel, remedy = REMEDIES[kind], intended = false, count = 1,
                        parties = parties }, more)
end

local function one_party(kind, lines, verb, bytes, object)
  local got = details(lines)
  if not got.place or not got.thread then return nil end
  local party = { verb = verb, bytes = bytes, file = got.place.file, line = got.place.line, thread = got.thread,
                  block = got.block }
  return { finding(kind, got.kernel or got.place.kernel, { party }, { object = object and object(got) }) }
end

-- ---- records ------------------------------------------------------------------------------------

local function place_in(space)
  return function(got)
    if not got.address then return nil end -- the log is cut
    local offset = got.base and got.size and got.address - got.base
    if not offset or math.abs(offset) > FAR then
      return ("address 0x%x%s"):format(got.address, space == "global" and "" or (" of %s memory"):format(space))
    end
    return ("offset %d of an array of %d bytes"):format(offset, got.size)
  end
end

local function read_access(lines)
  local space, verb, bytes = lines[1]:match "^Invalid __(%a+)__ (%a+) of size ([%d,]+) bytes"
  if not space then return nil end
  local wrong = details(lines).wrong or ""
  return one_party(wrong:find "misaligned" and "misaligned" or "bounds", lines, verb, integer(bytes), place_in(space))
end

local function read_uninitialised(lines)
  local space, bytes = lines[1]:match "^Uninitialized __(%a+)__ memory read of size ([%d,]+) bytes"
  return space and one_party("uninitialised", lines, "read", integer(bytes), function()
    return space ~= "global" and space .. " memory" or nil
  end)
end

local function read_barrier(lines)
  local what = lines[1]:match "^Barrier error detected%. (.-)%.?$"
  if not what then return nil end
  return one_party(what == "Invalid arguments" and "mask" or "barrier", lines, "wait", nil, function()
    return what:lower():gsub("%(s%)", "s")
  end)
end

-- "Error: Race reported between Write access at PLACE", then "    and Read access at PLACE [12 hazards]", once or more.
local function read_race(lines)
  local verb, at = lines[1]:match "^%a+: Race reported between (%a+) access at (.+)$"
  if not verb then return nil end
  local first, found = place_of(at), {}
  local function party(word, place) return { verb = word:lower(), file = place.file, line = place.line } end
  for _, line in ipairs(lines) do
    local word, other, hazards = line:match "^%s+and (%a+) access at (.-) %[([%d,]+) hazards?%]$"
    if word then
      found[#found + 1] = finding("race in shared memory", first.kernel,
        { party(verb, first), party(word, place_of(other)) }, { count = integer(hazards) })
    end
  end
  return #found > 0 and found or nil
end

-- A trap, an assertion, an instruction that the device cannot execute.
local function read_fault(lines)
  return one_party("fault", lines, "instruction", nil, function() return lines[1]:lower() end)
end

-- Calls of the driver, which the script hears of itself; copies by the host, whose findings are of 32 bytes.
local function read_call(lines)
  return (lines[1]:find "^Program hit " or lines[1]:find "^Host API ") and {} or nil
end

local READERS <const> = { read_access, read_uninitialised, read_barrier, read_race, read_call, read_fault }

local function read_record(lines)
  for _, reader in ipairs(READERS) do
    local found = reader(lines)
    if found then return found end
  end
end

-- ---- the text -----------------------------------------------------------------------------------

local OUTSIDE <const> = { "^COMPUTE%-SANITIZER", "^Target application returned an error", "^Saved host" }

-- A line that is no part of a record. Notes the counts of a summary: errors, and those that were not printed.
local function is_outside(line, sums)
  local left_out = line:match "^ERROR SUMMARY: ([%d,]+) errors? w%a+ not printed"
  local all = line:match "^ERROR SUMMARY: ([%d,]+) error" or line:match "^RACECHECK SUMMARY: ([%d,]+) hazard"
  if left_out then
    sums.left_out = sums.left_out + integer(left_out)
  elseif all then
    sums.all = (sums.all or 0) + integer(all)
  end
  return left_out or all or lists.find(OUTSIDE, function(pattern) return line:find(pattern) end)
end

-- The records of a text: lists of lines, without the tool's prefix.
local function records_of(text, sums)
  local records, open = {}, nil
  for line in text:gmatch "[^\n]+" do
    line = line:match "^=+ ?(.*)$"
    if line and (line == "" or is_outside(line, sums)) then
      open = nil
    elseif line then
      if not open then
        open = {}
        records[#records + 1] = open
      end
      open[#open + 1] = line
    end
  end
  return records
end

local function key_of(one)
  local words = lists.map(one.parties, function(party)
    return ("%s %s:%s"):format(party.verb, party.file, party.line)
  end)
  table.sort(words)
  return table.concat({ one.kind, one.kernel, table.unpack(words) }, "\0")
end

-- Those of one kind at the same places of a kernel are one; the first has the thread.
local function collect(into, found, device)
  for _, one in ipairs(found) do
    one.device = device
    local key = key_of(one)
    local known = into[key]
    if known then
      known.count = known.count + one.count
    else
      into[key] = one
      into[#into + 1] = one
    end
  end
end

--- What a tool has found.
---@param text string    of its log
---@param device string  the id of the device
---@return table[]? list     findings; nil if the text is not whole, or not understood
---@return string|integer more  why not; else how many errors it has not printed
function sanitizer_report.read(text, device)
  local sums, list, count = { left_out = 0 }, {}, 0
  for _, lines in ipairs(records_of(text, sums)) do
    local found = read_record(lines)
    if not found then return nil, table.concat(lines, "\n") end
    collect(list, found, device)
    count = count + 1
  end
  if not sums.all then return nil, "its report has no summary" end
  if count + sums.left_out ~= sums.all then
    return nil, ("its report counts %d errors and has %d"):format(sums.all, count)
  end
  return lists.map(list, function(one) return one end), sums.left_out
end

return sanitizer_report
