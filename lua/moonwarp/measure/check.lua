-- SPDX-License-Identifier: MIT
--
-- Checks a result: compares an array with the expected values, within a tolerance that depends on the
-- element type and the length of its sums.
--
-- The tolerance of an element: |got - expected| <= absolute + relative * |expected|; NaN equals NaN.
--   integers, { exact = true }   0
--   floats                       4 eps, a few roundings of an elementwise formula
--   { sum = n }                  4 eps sqrt(n) of the largest magnitude: the error of a sum of n terms
--                                in any order is at most about n eps and in practice grows with
--                                sqrt(n) (N. Higham, "Accuracy and Stability of Numerical Algorithms",
--                                2002, chapter 4; N. Higham and T. Mary, "A new approach to
--                                probabilistic rounding error analysis", 2019)
-- eps is the distance from 1 to the next number of the type: f64 2^-52, f32 2^-23, f16 2^-10,
-- bf16 2^-7.

local core = require "moonwarp.core"
local checking = require "moonwarp.measure.checking"
local comparison = require "moonwarp.measure.comparison"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local schema = require "moonwarp.base.schema"
local units = require "moonwarp.base.units"

local check = {}

local ROUNDINGS = 4

local SPEC = {
  relative = "number", absolute = "number", sum = "number", exact = "boolean", most = "number",
  name = "string", quiet = "boolean", rms = "boolean",
}

-- ---- what is expected, as an array of the same type and shape -----------------------------------

-- 0-based position to 1-based indices, x first.
local function indices_of(position, shape)
  local indices = {}
  for d, size in ipairs(shape) do
    indices[d] = position % size + 1
    position = position // size
  end
  return indices
end

-- The values of a function, x first.
local function computed(expected, count, shape)
  local values = {}
  for k = 0, count - 1 do
    local indices = indices_of(k, shape)
    local value = expected(table.unpack(indices))
    if type(value) ~= "number" then
      failure.invalid("mw.check: the function must return a number, got %s for [%s]", type(value),
        table.concat(indices, ", "))
    end
    values[k + 1] = value
  end
  return values
end

local function expected_array(got, expected, shape)
  local copy = got:device():pageable(got:dtype(), table.unpack(shape))
  if type(expected) == "number" then return copy:fill(expected) end
  local is_flat, values = type(expected) == "function", expected
  if is_flat then values = computed(expected, #got, shape) end
  local flat <close> = is_flat and copy:view(1, #copy) or nil
  local ok, problem = pcall(copy.upload, flat or copy, values)
  if ok then return copy end
  copy:close()
  local reason = failure.text(problem)
  failure.invalid("mw.check: what is expected: %s", reason:match "^bad argument #%d+ to 'upload' %((.*)%)$" or reason)
end

local function check_pair(got, expected, shape)
  if got:dtype() ~= expected:dtype() then
    failure.invalid("mw.check: got an array of %s, expected one of %s", got:dtype(), expected:dtype())
  end
  local here, there = table.concat(shape, " x "), table.concat({ expected:shape() }, " x ")
  if here ~= there then failure.invalid("mw.check: the shapes differ: got %s, expected %s", here, there) end
end

-- ---- tolerance ----------------------------------------------------------------------------------

local RANGES = { relative = { 0 }, absolute = { 0 }, sum = { 0 }, most = { 0 } }

-- Returns absolute and relative tolerance and their reason in words.
local function tolerance_of(options, dtype, largest)
  local eps = dtypes[dtype].eps or 0
  if options.relative or options.absolute then
    return options.absolute or 0.0, options.relative or 0.0, "as given"
  end
  if options.exact or eps == 0 then return 0.0, 0.0, "exact" end
  if options.sum then
    local relative = ROUNDINGS * eps * math.sqrt(math.max(options.sum, 1))
    return relative * largest(), relative, ("%s sums of %.15g terms"):format(dtype, options.sum)
  end
  return 0.0, ROUNDINGS * eps, dtype .. " rounding"
end

-- ---- the report ---------------------------------------------------------------------------------

local report_type = {}
report_type.__index = report_type
report_type.__name = "check report"

local function short(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value ~= value then return "nan" end
  return ("%.17g"):format(value):len() <= 10 and ("%.17g"):format(value) or ("%.10g"):format(value)
end

local function element_line(entry)
  local line = ("  [%s]: expected %s, got %s"):format(table.concat(entry.index, ", "),
    short(entry.expected),
    short(entry.got))
  local nan = entry.got ~= entry.got and entry.expected == entry.expected
  return nan and line .. " (never written?)" or line
end

-- Off by a little everywhere is rounding that the tolerance does not know of; anything else is a bug.
local function verdict(report)
  if not report.small or report.tolerance_why == "exact" then return nil end
  return "  the errors are of rounding's size: if each element is a sum of n terms, pass { sum = n }"
end

function report_type.__tostring(self)
  if self.why then return ("check %s: %s"):format(self.name, self.why) end
  if self.ok then
    return ("check %s: all %d elements are right (%s)"):format(self.name, self.count,
      self.tolerance_why)
  end
  local lines = { ("check %s: %d of %d elements are wrong"):format(self.name, self.wrong,
    self.count) }
  for _, entry in ipairs(self.first) do lines[#lines + 1] = element_line(entry) end
  if self.wrong > #self.first then lines[#lines + 1] = ("  and %d more"):format(self.wrong - #self.first) end
  lines[#lines + 1] = ("  largest error %s, relative %s; tolerance %s + %s of the value (%s)"):format(
    units.digits(self.max_abs, 3), units.digits(self.max_rel, 3), units.digits(self.absolute, 3),
    units.digits(self.relative, 3), self.tolerance_why)
  lines[#lines + 1] = verdict(self)
  return table.concat(lines, "\n")
end

-- ---- comparing ----------------------------------------------------------------------------------

local function indexed(first, shape)
  return lists.map(first, function(entry)
    return { index = indices_of(entry[1], shape), expected = entry[2], got = entry[3] }
  end)
end

-- Whether every error is of rounding's size compared with the largest magnitude; a NaN on one side never is.
local function is_small(found, largest, dtype)
  local eps = dtypes[dtype].eps
  if found.wrong == 0 or not eps then return false end
  local function is_nan(entry) return entry[2] ~= entry[2] or entry[3] ~= entry[3] end
  return not lists.find(found.first, is_nan) and found.max_absolute < 1000 * eps * largest()
end

local function compare(got, expected, options, shape)
  local dtype = got:dtype()
  local function largest() return core.largest(expected) end
  local absolute, relative, why = tolerance_of(options, dtype, largest)
  local found = comparison.run(got, expected, absolute, relative, math.tointeger(options.most or 5) or 5,
    options.rms)
  return setmetatable({
    ok = found.wrong == 0, wrong = found.wrong, count = #got, first = indexed(found.first, shape),
    dtype = dtype, name = options.name or tostring(got), small = is_small(found, largest, dtype),
    max_abs = found.max_absolute, max_rel = found.max_relative,
    rms = found.rms, absolute = absolute, relative = relative, tolerance_why = why,
  }, report_type)
end

local KINDS = { array = true, table = true, number = true, ["function"] = true }

local function check_expected(value)
  if KINDS[schema.kind(value)] then return end
  failure.invalid("mw.check: the expected values must be an array, a table, a number or a function, got %s",
    schema.kind(value))
end

local function mention(session, report)
  session:note_check({ what = report.name, ok = report.ok, wrong = report.wrong, count = report.count,
    dtype = report.dtype, max_abs = report.max_abs, max_rel = report.max_rel, absolute = report.absolute,
    relative = report.relative, text = not report.ok and tostring(report) or nil })
end

local function tell(session, report, options)
  mention(session, report)
  if report.ok then return end
  session:fail_check()
  if options.quiet then return end
  io.stderr:write(tostring(report), "\n")
  session:note_shown(report)
end

-- Where launches have left out blocks, results are not whole.
local function leave_out(report, options)
  report.ok, report.why = true, "not compared: launches have left out blocks (blocks:N of --check)"
  if not options.quiet then io.stderr:write(tostring(report), "\n") end
  return true, report
end

local function check_truth(session, holds, options)
  if not options.name then failure.invalid('mw.check: a truth value needs a name, as in { name = "it is found" }') end
  local report = setmetatable({ ok = holds, name = options.name, why = holds and "it holds" or "it does not hold" },
    report_type)
  tell(session, report, options)
  return holds, report
end

--- Compares an array with the expected values. When elements are wrong it says so on standard error
--- (first wrong ones with their indices, counts, largest errors) and the program ends with exit
--- code 3.
--- Options: relative, absolute (tolerances), exact (true: every bit of the value), sum (each
--- element is a sum of this many terms), most (how many wrong elements are shown, 5), name (what the
--- report calls the array), quiet, rms (true: the report has the root of the mean square of the errors).
---@param session table   that notes it
---@param got userdata|boolean  an array on any device; or whether something holds that has a name
---@param expected any    an array of the same type and shape, a table, a number (of every element),
---                       or a function of the indices i[, j[, k[, l]]]
---@param options table?
---@return boolean ok
---@return table report   ok, wrong, count, first { { index, expected, got } }, max_abs, max_rel, rms,
---                       absolute, relative, tolerance_why; tostring gives the words
function check.run(session, got, expected, options)
  options = schema.options("mw.check", options, SPEC)
  schema.check_numbers("mw.check", options, RANGES)
  if type(got) == "boolean" then return check_truth(session, got, options) end
  if schema.kind(got) ~= "array" then
    failure.invalid("mw.check: an array or a truth value is wanted, got %s", schema.kind(got))
  end
  check_expected(expected)
  local shape = { got:shape() }
  if schema.kind(expected) == "array" then check_pair(got, expected, shape) end
  local made <close> = schema.kind(expected) ~= "array" and expected_array(got, expected, shape) or nil
  local report = compare(got, made or expected, options, shape)
  if not report.ok and checking.is_sampled(session:device()) then return leave_out(report, options) end
  tell(session, report, options)
  return report.ok, report
end

--- The expected values of an array, as one that is to be closed.
---@param got userdata
---@param expected any    as of check.run; of an array a copy
---@return userdata
function check.expected(got, expected)
  check_expected(expected)
  if schema.kind(expected) == "array" then return expected:clone() end
  return expected_array(got, expected, { got:shape() })
end

--- How an array differs from the expected values; nothing is noted.
---@param got userdata
---@param expected userdata  of the same type and shape
---@param options table
---@return table report       as of check.run
function check.report(got, expected, options)
  return compare(got, expected, options, { got:shape() })
end

--- Counts what could not be compared as a failed check, and says so.
---@param session table
---@param name string   of the check
---@param why string
function check.fail(session, name, why)
  tell(session, setmetatable({ ok = false, name = name, why = why }, report_type), {})
end

return check
