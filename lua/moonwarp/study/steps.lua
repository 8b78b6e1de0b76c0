-- SPDX-License-Identifier: MIT
--
-- An answer that is another one applied several times: the host applies its cell, the device launches a rung of it
-- between two arrays.

local answers = require "moonwarp.study.answers"
local blame = require "moonwarp.study.blame"
local failure = require "moonwarp.base.failure"

local steps = {}

-- The indices of an element by its place, x first.
local function indices_of(place, shape)
  local list = {}
  for d, side in ipairs(shape) do
    list[d] = place % side + 1
    place = place // side
  end
  return table.unpack(list)
end

-- All elements of the array that the base's cell reads, after so many applications of it. What is NaN after one,
-- because a kernel does not write it, stays as it was.
local function by_host(answer, base, c)
  local array, at = answers.array(answer, c, answer.from), answers.readers(base, c)
  local shape, values = { array:shape() }, array:view(1, #array):totable()
  for _ = 1, answer.steps do
    local before, after = values, {}
    at[answer.from] = answers.reader(answer, answer.from, before, shape)
    for place, old in ipairs(before) do
      local value = base.cell(c, at, indices_of(place - 1, shape))
      after[place] = value == value and value or old
    end
    values = after
  end
  return answers.reader(answer, answer.from, values, shape)
end

--- An array after several launches of a rung, between two copies of it, which the case keeps.
---@param launcher fun(name: string, c: table): function?, string?
---@param rung string
---@param c table
---@param from string
---@param to string     the array that the rung writes
---@param count integer
---@return userdata array
function steps.by_device(launcher, rung, c, from, to, count)
  local now = c:keep(c[from]:clone())
  local other = count > 0 and c:keep(c[from]:clone())
  for _ = 1, count do
    local go, reason = launcher(rung, c:with { [from] = now, [to] = other })
    if not go then failure.invalid("%s", reason) end
    go()
    now, other = other, now
  end
  return now
end

-- What so many calls of the base do, in the rate's unit.
local function work_of(study, base, count)
  local work = base.work or study.work
  return function(c, rung) return count * (work or answers.bytes)(c, rung, base) end
end

--- Completes an answer that has 'steps': the rung is the first of its 'needs'.
---@param study table
---@param answer table   steps, of, from, needs; gets host, reference, work, bytes and tolerance where it has none
function steps.complete(study, answer)
  local count, base = answer.steps, study.answer_named[answer.of]
  if math.type(count) ~= "integer" or count < 1 then
    blame.fail(answer, "steps", "an integer of at least 1 is wanted, got %s", count)
  end
  if not (answer.of and answer.from and answer.needs) then
    blame.fail(answer, nil, "'steps' needs 'of' (an answer), 'from' (an array) and 'needs' (a rung of one step)")
  end
  blame.unknown(answer, "of", "there is no answer", answer.of, study.answer_named)
  if not base.cell then blame.fail(answer, "of", "the answer '%s' has no 'cell'", base.name) end
  answer.bytes, answer.tolerance = answer.bytes or base.bytes, answer.tolerance or base.tolerance
  answer.output, answer.work = answer.output or base.output, answer.work or work_of(study, base, count)
  answer.host = function(c) return by_host(answer, base, c) end
  answer.reference = function(c, launcher)
    return steps.by_device(launcher, answer.needs[1], c, answer.from, answer.output or study.head.output, count)
  end
end

return steps
