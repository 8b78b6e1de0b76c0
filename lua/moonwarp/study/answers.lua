-- SPDX-License-Identifier: MIT
--
-- Is what a rung computes right? Of an odd case every element is compared with the host. At the
-- measured size the first variant of an answer is compared with samples of it (cell, spot) or proven
-- (prove), and becomes the reference of the others; an answer may have its reference computed
-- (reference), equal an existing array (equal), or be known to the host at any size (only host).
-- Each is checked once more after its timing, since a race need not show in the first run; of a large
-- reference only three bands are still kept then.
-- On an odd case an access outside of all arrays is an error, too, if the device can continue after it.

local core = require "moonwarp.core"
local blame = require "moonwarp.study.blame"
local case = require "moonwarp.study.case"
local check = require "moonwarp.measure.check"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local lists = require "moonwarp.base.lists"
local session = require "moonwarp.session"

local answers = {}

local BAND, WHOLE = 1 << 20, 1 << 24 -- elements
local BY_HOST <const> = 1 << 22 -- elements that a host computes in a few seconds
local CORNERS, SAMPLES = 8, 68

-- ---- names --------------------------------------------------------------------------------------

--- "32 x 8" of a block; nil without a block.
---@param block any
---@return string?
function answers.block_text(block)
  if not block then return nil end
  return table.concat(lists.of(block), " x ")
end

--- "nx = 67, ny = 33, f64" of a case.
---@param c table
---@return string
function answers.sides_text(c)
  local parts = lists.map(lists.keys(c.sides), function(name)
    local value = c.sides[name]
    return name ~= "type" and (type(value) == "string" and value or ("%s = %s"):format(name, value)) or nil
  end)
  return table.concat(lists.append(parts, { c.type }), ", ")
end

--- "an element per thread, block 32 x 8" of a variant; the rung's name without a block.
---@param rung table
---@param block any
---@return string
function answers.variant_text(rung, block)
  return #rung.blocks > 1 and block and ("%s, block %s"):format(rung.name, answers.block_text(block)) or rung.name
end

-- ---- expected values ------------------------------------------------------------------------------

--- The array that a rung writes.
---@param study table
---@param rung table
---@param c table
---@return userdata
function answers.output(study, rung, c)
  local answer = study.answer_named[rung.answer]
  local name = rung.output or answer.output or study.head.output
  local array = name and rawget(c, name)
  if array then return array end
  blame.fail(rung, nil, name and "the case has no array '%s'; %s"
    or "needs 'output', the array that it writes; the answer or the study may have it", name,
    case.hint(c) or "the name is that of 'output', of the rung, the answer or the study")
end

--- An array of a case that an answer names.
---@param answer table
---@param c table
---@param name string
---@return userdata
function answers.array(answer, c, name)
  local array = rawget(c, name)
  if array then return array end
  blame.fail(answer, nil, "the case has no array '%s'", name)
end
local array_named = answers.array

--- The bytes that a call moves, by 'bytes'.
---@param c table
---@param rung table
---@param answer table
---@return number
function answers.bytes(c, rung, answer)
  local how, sum = answer.bytes, 0
  if type(how) == "function" then return how(c, rung) end
  for name in (how or ""):gmatch "%S+" do
    if not rawget(c, name) then blame.fail(answer, "bytes", "the case has no array '%s'", name) end
    sum = sum + c[name]:nbytes()
  end
  return sum
end

--- Reads a list of all elements of an array by their indices, x first.
---@param answer table
---@param name string        of the array
---@param values number[]    x fastest
---@param shape integer[]
---@return fun(i: integer, j: integer?, k: integer?, l: integer?): number
function answers.reader(answer, name, values, shape)
  local nx, ny, nz, nl = shape[1], shape[2] or 1, shape[3] or 1, shape[4] or 1
  return function(i, j, k, l)
    local x, y, z, w = i or 0, j or 1, k or 1, l or 1
    local given = l and 4 or k and 3 or j and 2 or 1
    local is_inside = x >= 1 and x <= nx and y >= 1 and y <= ny and z >= 1 and z <= nz and w >= 1 and w <= nl
    local value = is_inside and given == #shape and values[(((w - 1) * nz + z - 1) * ny + y - 1) * nx + x]
    if value then return value end
    blame.fail(answer, nil, "at.%s(%s): the array has %s elements, and x comes first: at.%s(%s)", name,
      table.concat(lists.map({ i, j, k, l }, tostring), ", "), table.concat(shape, " x "), name,
      ("ix, iy, iz, iw"):sub(1, 4 * #shape - 2))
  end
end

-- Readers of a case's arrays by name: at.A(i, j), x first; of the whole on the host, or element by element.
local function readers(answer, c, whole)
  return setmetatable({}, { __index = function(at, name)
    local array = array_named(answer, c, name)
    local read = whole and answers.reader(answer, name, array:view(1, #array):totable(), { array:shape() })
      or function(...) return array:get(...) end
    at[name] = read
    return read
  end })
end

--- The same of the whole.
---@param answer table
---@param c table
---@return table<string, fun(...): number>
function answers.readers(answer, c) return readers(answer, c, true) end

local function cell_of(answer, c, at, ...)
  local value = answer.cell(c, at, ...)
  if type(value) == "number" then return value end
  blame.fail(answer, "cell", "must return a number, got %s", type(value))
end

-- All elements of the array that a rung writes, as mw.check takes them.
local function by_host(answer, c, rung, out)
  if answer.host then return answer.host(c, rung, out) end
  local at = readers(answer, c, true)
  return function(...) return cell_of(answer, c, at, ...) end
end

local PRIMES = { 7919, 104729, 1299709, 15485863 }

-- Positions next to the corners, and others spread over the array, each with its value.
local function spots_of(answer, c, out)
  if answer.spot then return answer.spot(c) end
  local shape, at, list = { out:shape() }, readers(answer, c, false), {}
  for k = 0, SAMPLES - 1 do
    local spot = {}
    for d, side in ipairs(shape) do
      local near_corner = (k >> (d - 1)) % 2 == 0 and math.min(2, side) or math.max(side - 1, 1)
      spot[d] = k < CORNERS and near_corner or math.min(side, 2 + k * PRIMES[d] % math.max(side - 2, 1))
    end
    spot.value = cell_of(answer, c, at, table.unpack(spot))
    list[#list + 1] = spot
  end
  return list
end

-- ---- one comparison ------------------------------------------------------------------------------

local function options_of(answer, c, rung, first, name)
  local options = answer.equal and { exact = true } or answer.tolerance and answer.tolerance(c, rung, first) or {}
  options.name = name
  return options
end

-- What an output holds before a run: NaN, in integers the largest number of the signed type of their size.
local function poison(dtype)
  local kind = dtypes[dtype]
  return kind.eps and 0 / 0 or (1 << (8 * kind.size - 1)) - 1
end

-- Fills an output with poison, or with what an answer that adds to it starts from.
local function reset(answer, c, out)
  if answer.start then answer.start(c, out) else out:fill(poison(out:dtype())) end
end

--- The same of the output of a rung.
---@param study table
---@param rung table
---@param c table
function answers.reset(study, rung, c)
  reset(study.answer_named[rung.answer], c, answers.output(study, rung, c))
end

-- Runs a variant once, on a new output. A rung may have streams that neither wait for the default one nor are waited
-- for by what reads its output.
local function run_once(answer, c, out, go)
  reset(answer, c, out)
  c.dev:synchronize()
  go()
  c.dev:synchronize()
end

-- Calls a check of a variant (rung, block, case, go) with the variant's name; errors name it too.
local function judged(fn, study, one, ...)
  local sides = answers.sides_text(one.case)
  return blame.on(one.rung, sides, fn, ("%s, %s"):format(answers.variant_text(one.rung, one.block), sides), study, one,
    ...)
end

-- The answer of a variant, and its output.
local function answer_of(study, one)
  return study.answer_named[one.rung.answer], answers.output(study, one.rung, one.case)
end

-- Calls a function with one that checks as mw.check does, an array or a list of numbers; whether all was right, and how
-- often it was called.
local function all_right(c, name, what, fn)
  local all, count = true, 0
  fn(function(got, expected, options)
    options, count = options or {}, count + 1
    options.name = options.name and ("%s: %s"):format(name, options.name) or name .. what
    local list <close> = type(got) == "table" and c.dev:array(c.type, got) or nil
    local ok = check.run(session.current, list or got, expected, options)
    all = ok and all
    return ok
  end)
  return all, count
end

local function is_also_right(answer, c, name)
  return not answer.also or (all_right(c, name, ": what else must hold", function(look) answer.also(c, look) end))
end

-- ---- odd cases -----------------------------------------------------------------------------------

-- The array that an output must equal, which is not the output itself.
local function equal_of(answer, c, out)
  local array = array_named(answer, c, answer.equal)
  if array ~= out then return array end
  blame.fail(answer, "equal", "'%s' is the output itself, which is always equal to it; name an array that rungs do not "
    .. "write", answer.equal)
end

-- A kernel that writes nothing leaves NaN, too.
local function check_numbers(answer, array)
  if not dtypes[array:dtype()].eps or core.largest(array) > 0 then return end
  local flat <close> = array:view(1, #array)
  if lists.find(flat:totable(), function(value) return value == value end) then return end
  blame.fail(answer, nil, "what it expects is NaN in every element, as the output is before a rung has run; does "
    .. "study.arrays fill the inputs?")
end

-- What a rung must leave, from the case's arrays as they are before a rung has written to any of them.
local function wanted_of(answer, c, rung, out)
  local wanted = c:keep(answer.equal and equal_of(answer, c, out):clone()
    or check.expected(out, by_host(answer, c, rung, out)))
  check_numbers(answer, wanted)
  return wanted
end

-- Counts a wrong output of an answer; whether all were like the first one, which is kept.
local function note_wrong(wrong, answer, out, options)
  local seen = wrong[answer.name] or { count = 0, is_same = true, output = out:clone() }
  local first = seen.output
  wrong[answer.name], seen.count = seen, seen.count + 1
  local is_alike = out:dtype() == first:dtype() and #out == #first
  seen.is_same = seen.is_same and is_alike and check.report(out, first, options).ok
end

-- The answers that may be wrong themselves: all of several rungs agree, and not with what is wanted.
local function doubtful(study, wrong, rungs)
  return lists.map(lists.keys(wrong), function(name)
    local answer, seen = study.answer_named[name], wrong[name]
    local count = #lists.map(rungs, function(rung) return rung.answer == name or nil end)
    local by = answer.steps and "steps" or answer.host and "host" or answer.cell and "cell" or "equal"
    return seen.is_same and seen.count == count and count > 1 and { answer = name, count = count, by = by } or nil
  end)
end

-- One variant of an odd case; expected: the wanted values, by answer and output; wrong: outputs that were, by answer.
local function compare_odd(name, study, one, expected, wrong)
  local rung, c = one.rung, one.case
  local go, reason = case.launcher(rung, c, one.block)
  if not go then return nil, reason end
  local answer, out = answer_of(study, one)
  expected[answer] = expected[answer] or {}
  expected[answer][out] = expected[answer][out] or wanted_of(answer, c, rung, out)
  run_once(answer, c, out, go)
  local ok = check.run(session.current, out, expected[answer][out], options_of(answer, c, rung, nil, name))
  if not ok then note_wrong(wrong, answer, out, options_of(answer, c, rung)) end
  return is_also_right(answer, c, name) and ok, "differs from the host for " .. answers.sides_text(c)
end

-- The same. A kernel's fault is a wrong result if the device can continue after it.
local function check_odd(name, study, one, expected, wrong)
  local done, ok, reason = failure.catch(compare_odd, name, study, one, expected, wrong)
  if done then return ok, reason end
  if study.gpu or failure.status(ok) ~= "fault" then error(ok, 0) end
  check.fail(session.current, name, ok)
  return false, "faults for " .. answers.sides_text(one.case)
end

--- Checks rungs in all of their blocks on an odd case, every element, against the host.
---@param study table
---@param rungs table[]
---@param new_case fun(): table   an odd case; another one after a rung that is wrong, which may have written anywhere
---@param wrong fun(rung: table, reason: string)    called for each that is
---@param skip fun(rung: table, block: any, reason: string)   called for variants that the device does not take
---@return table[] doubtful   answers that none of their rungs agree with, though all leave the same: answer (its name),
---                           count (of rungs), by (its field that says what is wanted)
function answers.check_odd(study, rungs, new_case, wrong, skip)
  local c, expected, outputs = new_case(), {}, {}
  local _ <close> = setmetatable({}, { __close = function()
    c:close()
    for _, seen in pairs(outputs) do seen.output:close() end
  end })
  for _, rung in ipairs(rungs) do
    for _, block in ipairs(case.blocks(rung, c)) do
      local ok, reason = judged(check_odd, study, { rung = rung, block = block, case = c }, expected,
        outputs)
      if ok == false then
        c:close()
        c, expected = new_case(), {}
      end
      if ok == nil then
        skip(rung, block, reason)
      elseif not ok then
        wrong(rung, reason)
        break
      end
    end
  end
  return doubtful(study, outputs, rungs)
end

-- ---- mistakes ------------------------------------------------------------------------------------

local function is_right_once(study, one)
  local c, answer, out = one.case, answer_of(study, one)
  local go, reason = case.launcher(one.rung, c, one.block)
  if not go then failure.invalid("%s", reason) end
  local expected = wanted_of(answer, c, one.rung, out)
  run_once(answer, c, out, go)
  return check.report(out, expected, options_of(answer, c, one.rung)).ok
end

local function shown_by(_, study, one, kinds)
  session.current:settle_findings()
  local done, is_right = failure.catch(is_right_once, study, one)
  if not done and failure.status(is_right) ~= "fault" then error(is_right, 0) end
  for _, finding in ipairs(session.current:expect_findings()) do
    if not finding.warning then kinds[finding.kind] = true end
  end
  if not done then kinds["a fault"] = true elseif not is_right then kinds["a wrong result"] = true end
end

--- What an odd case shows of the mistake of a rung, in all of its blocks.
---@param study table
---@param rung table
---@param new_case fun(): table
---@param kinds table<string, boolean>  gets the kinds of findings of check mode, "a wrong result", "a fault"
function answers.show_mistake(study, rung, new_case, kinds)
  local blocks <close> = new_case()
  for _, block in ipairs(case.blocks(rung, blocks)) do
    local c <close> = new_case() -- the rung may have written anywhere
    judged(shown_by, study, { rung = rung, block = block, case = c }, kinds)
  end
end

-- ---- the measured size ---------------------------------------------------------------------------

-- What is known of an answer on one case, its reference: array, by (what made it), why it may be trusted, and the rung
-- that made it, or the array that it was made for. This is the one that does not come from the first variant.
local function own_reference(study, answer, c, rung, out)
  if answer.equal then
    return { array = equal_of(answer, c, out), by = answer.equal, why = "which it must equal" }
  elseif answer.reference then
    local scope = c:with { kept = {} }
    reset(answer, c, out)
    local array = answer.reference(scope, function(name, on, block) return study:launcher(name, on, block) end)
    if array == out then array = scope:keep(out:clone()) end -- which rungs write
    return { array = array, scope = scope, by = table.concat(answer.needs or { "its reference" }, ", "),
             why = "checked on odd sizes" }
  elseif answer.host and not (answer.spot or answer.prove) then
    if #out > BY_HOST then
      blame.fail(answer, "host", "it would compute %d elements for %s; give 'spot' as well, samples of a large array",
        #out, answers.sides_text(c))
    end
    local array = check.expected(out, answer.host(c, rung, out))
    return { array = array, owned = true, out = out, by = "the host", why = "which knows all of it" }
  end
end

local function release(reference)
  if reference.owned then reference.array:close() end
  if reference.scope then reference.scope:close() end
  reference.array, reference.owned, reference.scope = nil, nil, nil
end

-- The reference of a variant, unless the first variant is to be one: anew where the host knew that of another array.
local function reference_of(study, answer, one, out)
  local refs, known = one.refs, one.refs[answer]
  if known and known.out and known.out ~= out then release(known) end
  refs[answer] = known and (known.array or known.bands) and known
    or own_reference(study, answer, one.case, one.rung, out)
  return refs[answer]
end

local function check_spots(spots, answer, c, out, rung, name)
  local got, want = {}, {}
  for i, spot in ipairs(spots) do got[i], want[i] = out:get(table.unpack(spot)), spot.value end
  local have <close> = c.dev:array(out:dtype(), got)
  return (check.run(session.current, have, want, options_of(answer, c, rung, nil, name .. ", samples")))
end

-- The first variant of an answer: samples and proofs; what passes is the reference from then on.
local function establish(spots, answer, c, out, rung, go, name)
  local ok, reasons = true, {}
  if spots then
    ok = check_spots(spots, answer, c, out, rung, name)
    reasons[1] = ("%d samples"):format(#spots)
  end
  if answer.prove then
    local is_proven, count = all_right(c, name, ", proof", function(look)
      answer.prove(c, go, function(got, expected, options)
        return look(got, expected, options or options_of(answer, c, rung))
      end)
    end)
    if count == 0 and not spots then -- some cases may have no proof besides the samples
      blame.fail(answer, "prove", "it has compared nothing; its third argument, check, does")
    end
    ok = is_proven and ok
    reasons[#reasons + 1] = "a proof"
    run_once(answer, c, out, go)
  end
  if not ok then return nil, "differs from the host at the measured size" end
  return { array = out:clone(), owned = true, by = ("'%s'"):format(rung.name), rung = rung,
           why = ("which %s confirm%s"):format(table.concat(reasons, " and "),
             #reasons == 1 and answer.prove and "s" or "") }
end

local function against(reference, answer, one, out, name)
  local options = options_of(answer, one.case, one.rung, reference.rung, ("%s, beside %s"):format(name, reference.by))
  options.rms = one.has_error
  return check.run(session.current, out, reference.array, options)
end

local function difference(reference)
  return ("differs from %s, %s"):format(reference.by, reference.why)
end

local function check_measured(name, study, one)
  local rung, c = one.rung, one.case
  local answer, out = answer_of(study, one)
  local reference = reference_of(study, answer, one, out)
  local spots = not reference and (answer.spot or answer.cell) and spots_of(answer, c, out)
  run_once(answer, c, out, one.go)
  local ok, reason
  if not reference then
    one.refs[answer], reason = establish(spots, answer, c, out, rung, one.go, name)
  else
    ok, one.report = against(reference, answer, one, out, name)
    reason = not ok and difference(reference) or nil
  end
  if not is_also_right(answer, c, name) then reason = reason or "leaves wrong what else must hold" end
  return reason == nil, reason
end

local MOST <const> = 10 -- seconds of a call that is wrong, where its rung does not say how many

-- A mistake that is measured: how far off it is, if it ends in time.
local function compare_mistake(_, study, one)
  local c, answer, out = one.case, answer_of(study, one)
  local reference = reference_of(study, answer, one, out)
  if not reference then return false, "nothing is right that it could be compared with" end
  local most = tonumber(one.rung.measure) or MOST
  local done, in_time = failure.catch(core.within, most, run_once, answer, c, out, one.go)
  if done and in_time then
    one.report = check.report(out, reference.array, { rms = true })
    return true
  end
  if c.gpu and done and not core.within(MOST, c.dev.synchronize, c.dev) then
    failure.invalid("a call takes more than %g s, and a kernel on a GPU ends only with the process", most)
  end
  if not done and (c.gpu or failure.status(in_time) ~= "fault") then error(in_time, 0) end
  return false, done and ("a call takes more than %g s"):format(most) or "a mistake that faults at the measured size"
end

--- Runs a variant once at the measured size and checks what it leaves; of a mistake that is measured, sees how far off
--- it is.
---@param study table
---@param one table   rung, block, case, go; refs: references of the case, by answer, which grow; has_error: whether its
---                   error is wanted; gets report, how it differs from the reference
---@return boolean ok
---@return string? reason
function answers.check(study, one)
  return judged(one.rung.mistake and compare_mistake or check_measured, study, one)
end

local function observe(name, _, one)
  local is_right = all_right(one.case, name, ", observed", function(look)
    one.observed = one.rung.observe(one.case, one.go, one.rung, look)
  end)
  return is_right, not is_right and "fails a check of 'observe'" or nil
end

--- Lets a rung observe a variant that is right: fields of its record, and further checks.
---@param study table
---@param one table   rung, block, case, go; gets observed
---@return boolean ok
---@return string? reason
function answers.observe(study, one)
  if not one.rung.observe or one.rung.mistake then return true end
  return judged(observe, study, one)
end

local function check_timed(name, study, one)
  if one.rung.mistake then return true end
  local rung, c, answer, out = one.rung, one.case, answer_of(study, one)
  local reference = reference_of(study, answer, one, out)
  name = name .. ", after its timing"
  run_once(answer, c, out, one.go)
  local ok = reference.bands ~= nil or (against(reference, answer, one, out, name))
  for _, band in ipairs(reference.bands or {}) do
    local got <close> = out:view(band.from, #band.array)
    ok = check.run(session.current, got, band.array, options_of(answer, c, rung, reference.rung, name)) and ok
  end
  ok = is_also_right(answer, c, name) and ok
  return ok, not ok and difference(reference) .. ", after its timing" or nil
end

--- Runs a variant once more after its timing and checks its output: in bands, if only these are kept.
---@param study table
---@param one table
---@return boolean ok
---@return string? reason
function answers.check_timed(study, one)
  return judged(check_timed, study, one)
end

-- ---- memory -------------------------------------------------------------------------------------

--- Gives a large reference back but for its bands: all variants of its answer have been checked.
---@param refs table
---@param answer table
function answers.shrink(refs, answer)
  local reference = refs[answer]
  if not reference or not (reference.owned or reference.scope) or #reference.array <= WHOLE then return end
  local last = #reference.array - BAND + 1
  reference.bands = {}
  for i, from in ipairs { 1, last // 2, last } do
    local view <close> = reference.array:view(from, BAND)
    reference.bands[i] = { from = from, array = view:clone() }
  end
  release(reference)
end

--- Closes all references of a case.
---@param refs table
function answers.close(refs)
  for _, reference in pairs(refs) do
    for _, band in ipairs(reference.bands or {}) do band.array:close() end
    release(reference)
  end
end

return answers
