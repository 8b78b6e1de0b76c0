-- SPDX-License-Identifier: MIT
--
-- What a batch shows while it works. At a terminal: a line for each lab that ended, and below them,
-- drawn again in place, what runs with a bar each, elapsed and expected time. Elsewhere: a line when
-- a lab begins and one when it ends.

local amount = require "moonwarp.lab.amount"
local chart = require "moonwarp.plot.chart"
local core = require "moonwarp.core"
local exit = require "moonwarp.base.exit"
local host = require "moonwarp.host"
local lists = require "moonwarp.base.lists"
local sheet = require "moonwarp.base.sheet"
local utf8text = require "moonwarp.base.utf8text"

local screen = {}
screen.__index = screen

local REDRAW, QUIET = 0.2, 30 -- seconds
local NARROWEST, BAR = 20, 24 -- columns

--- A screen.
---@param options { total: integer, expected: table<string, number>? }
---@return table
function screen.new(options)
  local live = host.terminal(1) and os.getenv "TERM" ~= "dumb"
  local full, empty = "█", "░"
  if not select(2, chart.size()) then full, empty = "#", "." end
  return setmetatable({ live = live, total = options.total, expected = options.expected or {}, ended = 0,
                        drawn = 0, full = full, empty = empty, waits = {} }, screen)
end

-- ---- lines --------------------------------------------------------------------------------------

local function cut(line, columns)
  return utf8text.cut(line, columns, "~")
end

local function columns()
  return math.max(NARROWEST, host.columns() or 80) - 1 -- the last one makes some terminals begin a line
end

function screen:erase()
  if self.drawn > 0 then io.stdout:write(("\27[%dA\r\27[J"):format(self.drawn)) end
  self.drawn = 0
end

-- A line that stays.
function screen:line(text)
  self:erase()
  io.stdout:write(text, "\n")
  io.stdout:flush()
end

function screen:bar(share, width)
  local filled = math.floor(math.max(0, math.min(1, share)) * width + 0.5)
  return self.full:rep(filled) .. self.empty:rep(width - filled)
end

local function place(step)
  return step.device and ("%s on %s"):format(step.name, step.device) or step.name
end

-- "about 0:30"; without earlier runs the limit, "at most 5:00", is all there is to say. nil if neither is known.
function screen:length(step)
  local expected, limit = self.expected[step.id], step.time_limit
  return expected and "about " .. amount.clock(expected) or limit and "at most " .. amount.clock(limit) or nil
end

-- Name, times and bar, in columns; a narrow terminal gets no bar.
function screen:running_lines(running, width)
  local lines = sheet.lines(sheet.of({ { cell = function(one) return place(one.step) end }, { cell = function(one)
    local elapsed, length = amount.clock(core.clock() - one.began), self:length(one.step)
    return length and ("%s of %s"):format(elapsed, length) or elapsed
  end } }, running), { indent = "  " })
  local widest = utf8text.widest(lines)
  local room = width - widest - 2
  return lists.map(lines, function(line, i)
    local began, expected = running[i].began, self.expected[running[i].step.id]
    if expected and room >= 8 then
      -- What takes longer than it used to is never shown as done.
      local share = math.min(0.99, (core.clock() - began) / expected)
      line = ("%s  %s"):format(utf8text.left(line, widest), self:bar(share, math.min(BAR, room)))
    end
    return cut(line, width)
  end)
end

-- Known times of the remaining steps; nil if one is not known.
function screen:remaining(batch)
  local sum = 0
  for _, step in ipairs(batch.steps) do
    local state = batch.states[step.id]
    if not state.done then
      if not self.expected[step.id] then return nil end
      sum = sum + self.expected[step.id]
    end
  end
  for _, one in ipairs(batch.running) do
    sum = sum - math.min(self.expected[one.step.id], core.clock() - one.began)
  end
  return sum / math.max(1, math.min(batch.jobs, #batch.running))
end

function screen:total_line(batch, width)
  local elapsed, left = core.clock() - batch.began, self:remaining(batch)
  local text = ("%d of %d, %s"):format(self.ended, self.total, amount.clock(elapsed))
  if left then text = ("%s, about %s left"):format(text, amount.clock(left)) end
  local room = width - #text - 2
  if room < 8 then return text end
  return ("%s  %s"):format(self:bar(self.ended / self.total, math.min(BAR, room)), text)
end

--- Draws what runs, at a terminal.
---@param batch table
function screen:draw(batch)
  if not self.live then return end
  local width = columns()
  local lines = self:running_lines(batch.running, width)
  for _, text in pairs(self.waits) do lines[#lines + 1] = cut("  " .. text, width) end
  lines[#lines + 1] = cut(self:total_line(batch, width), width)
  self:erase()
  io.stdout:write(table.concat(lines, "\n"), "\n")
  io.stdout:flush()
  self.drawn = #lines
end

-- ---- what happens -------------------------------------------------------------------------------

--- How long nothing has to be drawn, in seconds.
---@return number
function screen:pause()
  return self.live and REDRAW or QUIET
end

--- Counts a step that an earlier part of this batch has done.
function screen:done_before()
  self.ended = self.ended + 1
end

--- A step began.
function screen:begin(one, state)
  self.waits[one.step.id] = nil
  if self.live then return end
  local again = state.attempts > 1 and (", attempt %d"):format(state.attempts) or ""
  local length = self:length(one.step)
  self:line(("[%d/%d] %s: begins%s%s"):format(self.ended + 1, self.total, place(one.step), again,
    length and ", " .. length or ""))
end

--- An attempt ended, or a step is skipped; final: the last one.
function screen:finish(one, ending, final)
  if final then self.ended = self.ended + 1 end
  local seconds = ending.seconds and ", " .. amount.clock(ending.seconds) or ""
  local message = ending.message and ": " .. ending.message or ""
  local text = ("[%d/%d] %s: %s%s%s"):format(self.ended, self.total, place(one.step), ending.verdict, seconds, message)
  self:line(self.live and cut(text, columns()) or text)
end


--- A step waits for a GPU; said once.
function screen:wait(step, reason)
  if self.waits[step.id] then return end
  self.waits[step.id] = ("%s: waits for the device: %s"):format(place(step), reason)
  if not self.live then self:line(self.waits[step.id]) end
end

--- Something else to say.
function screen:say(text)
  self:erase()
  exit.complain(text)
end

--- Leaves the terminal as it was.
function screen:close()
  self:erase()
  io.stdout:flush()
end

return screen
