-- SPDX-License-Identifier: MIT
--
-- Runs specs without busted (a bundle on another machine): the part of busted and
-- luassert that the specs use, TAP as output. `moonwarp run tests/plain.lua -- FILE...`

local plain = {}

-- ---- luassert -----------------------------------------------------------------------------------

local function fail(message, ...)
  error(message and tostring(message) or ("%s"):rep(select("#", ...), " "):format(...), 3)
end

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local positive = {}
local negative = {}

function positive.equal(expected, got, message)
  if expected ~= got then fail(message, "expected", tostring(expected), "got", tostring(got)) end
  return got
end

function positive.near(expected, got, tolerance, message)
  if math.abs(got - expected) > tolerance or got ~= got then
    fail(message, "expected about", tostring(expected), "got", tostring(got))
  end
  return got
end

function positive.same(expected, got, message)
  if not same(expected, got) then fail(message, "tables differ") end
  return got
end

function negative.equal(unwanted, got, message)
  if unwanted == got then fail(message, "got the unwanted", tostring(got)) end
  return got
end

function negative.same(unwanted, got, message)
  if same(unwanted, got) then fail(message, "the tables do not differ") end
  return got
end

local assert_like = setmetatable({
  are = positive, is = positive, are_not = negative, is_not = negative,
  equal = positive.equal, same = positive.same,
}, {
  __call = function(_, value, message, ...)
    if not value then fail(message or "assertion failed") end
    return value, message, ...
  end,
})

assert_like.is_near = positive.near

function assert_like.is_true(value, message)
  if value ~= true then fail(message, "expected true, got", tostring(value)) end
end

function assert_like.is_false(value, message)
  if value ~= false then fail(message, "expected false, got", tostring(value)) end
end

function assert_like.is_nil(value, message)
  if value ~= nil then fail(message, "expected nil, got", tostring(value)) end
end

function assert_like.is_not_nil(value, message)
  if value == nil then fail(message, "expected a value, got nil") end
end

function assert_like.is_truthy(value, message)
  if not value then fail(message, "expected a true value, got", tostring(value)) end
end

function assert_like.is_falsy(value, message)
  if value then fail(message, "expected nil or false, got", tostring(value)) end
end

for _, kind in ipairs { "boolean", "string", "number", "table", "function", "userdata" } do
  assert_like["is_" .. kind] = function(value, message)
    if type(value) ~= kind then fail(message, "expected a " .. kind .. ", got", type(value)) end
  end
end

-- ---- busted -------------------------------------------------------------------------------------

local SKIP = {}
local counts = { passed = 0, failed = 0, skipped = 0 }
local in_test = false
local block -- the enclosing describe: { name =, outer =, before = {}, after = {}, last = {} }

local function full_name(name)
  local outer = block
  while outer do
    if outer.name ~= "" then name = outer.name .. " " .. name end
    outer = outer.outer
  end
  return name
end

-- As busted orders them: `before` from the outermost block inwards, `after` from the innermost outwards.
local function hooks(which)
  local chain, outer = {}, block
  while outer do
    table.insert(chain, which == "before" and 1 or #chain + 1, outer)
    outer = outer.outer
  end
  local list = {}
  for _, one in ipairs(chain) do table.move(one[which], 1, #one[which], #list + 1, list) end
  return list
end

local function report(name, ok, problem)
  local number = counts.passed + counts.failed + counts.skipped + 1
  if not ok and type(problem) == "table" and problem.skip == SKIP then
    counts.skipped = counts.skipped + 1
    print(("ok %d - %s # SKIP %s"):format(number, name, problem.reason or ""))
    return
  end
  counts[ok and "passed" or "failed"] = counts[ok and "passed" or "failed"] + 1
  print(("%s %d - %s"):format(ok and "ok" or "not ok", number, name))
  if not ok then print((tostring(problem):gsub("^", "# "):gsub("\n", "\n# "))) end
end

local function it(name, body)
  in_test = true
  local ok, problem = pcall(function()
    for _, hook in ipairs(hooks "before") do hook() end
    body()
  end)
  for _, hook in ipairs(hooks "after") do
    local fine, late = pcall(hook)
    if ok and not fine then ok, problem = fine, late end
  end
  in_test = false
  report(full_name(name), ok, problem)
end

local function describe(name, body)
  block = { name = name, outer = block, before = {}, after = {}, last = {} }
  local ok, problem = pcall(body)
  for _, hook in ipairs(block.last) do hook() end
  if not ok then report(full_name "(block)", ok, problem) end
  block = block.outer
end

-- In a test: the rest of it is skipped. In a block: a test of that name that is not run.
local function pending(reason)
  local problem = { skip = SKIP, reason = reason }
  if in_test then error(problem, 0) end
  report(full_name(reason), false, problem)
end

local busted = { describe = describe, it = it, pending = pending, insulate = describe }

-- Tests run where they stand in a file, and so do these.
function busted.setup(hook) hook() end

function busted.teardown(hook) table.insert(block.last, hook) end

function busted.before_each(hook) table.insert(block.before, hook) end

function busted.after_each(hook) table.insert(block.after, hook) end

--- Runs spec files.
---@param files string[]
---@return integer failed
function plain.run(files)
  package.loaded.busted, package.loaded.luassert = busted, assert_like
  local globals = setmetatable({ assert = assert_like }, {
    __index = function(_, name) return busted[name] or _G[name] end })
  for _, file in ipairs(files) do
    print("# " .. file)
    local chunk, problem = loadfile(file, "t", globals)
    describe("", chunk or function() error(problem, 0) end)
  end
  print(("%d passed, %d failed"):format(counts.passed, counts.failed))
  return counts.failed
end

if plain.run(arg) > 0 then error("some tests failed", 0) end
