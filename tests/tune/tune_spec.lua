-- SPDX-License-Identifier: MIT
--
-- mw.tune: spaces, searches, the winner and its ties, variants that are left out, runs that are killed.

local mw = require "moonwarp"
local support = require "tests.support"
local bench = require "moonwarp.measure.bench"
local jobs = require "moonwarp.tune.job"
local search = require "moonwarp.tune.search"
local session = require "moonwarp.session"
local space = require "moonwarp.tune.space"
local stats = require "moonwarp.measure.stats"
local fails_with = support.fails_with

local SIDES <const> = { { "bx", { 1, 2, 4, 8, 16, 32, 64 } }, { "by", { 1, 2, 4, 8, 16, 32 } },
                        { "unroll", { 1, 2, 4, 8, 16 } } }

-- A bowl whose least value is that of { 16, 4, 2 }.
local function bowl(v)
  local function far(a, b) return math.log(a / b, 2) ^ 2 end
  return 1 + far(v.bx, 16) + far(v.by, 4) + 0.5 * far(v.unroll, 2)
end

local function new_space(where, groups) return space.new("mw.tune", SIDES, where, groups) end

describe("a space of variants", function()
  it("has its combinations in order, the first parameter slowest", function()
    local all = space.new("mw.tune", { by = { 1, 2 }, bx = { 8, 16 } }, function(v) return v.bx * v.by ~= 32 end)
    assert.are.equal(3, #all.variants)
    assert.are.same({ "bx = 8, by = 1", "bx = 8, by = 2", "bx = 16, by = 1" },
      { all:text(1), all:text(2), all:text(3) })
    assert.are.equal(3, all:find { bx = 16, by = 1 })
    assert.is_nil(all:find { bx = 16, by = 2 })
    assert.are.same({ 1, 2 }, all:along(1, { 2 }))
  end)

  it("has neighbours: another value, or two sides that change against each other", function()
    local all = new_space(function(v) return v.bx * v.by == 64 and v.unroll < 4 end)
    local texts = {}
    for i, other in ipairs(all:neighbours(all:find { bx = 16, by = 4, unroll = 1 })) do texts[i] = all:text(other) end
    table.sort(texts)
    assert.are.same({ "bx = 16, by = 4, unroll = 2", "bx = 32, by = 2, unroll = 1", "bx = 8, by = 8, unroll = 1" },
      texts)
  end)

  it("says what is wrong with it", function()
    local function rejects(text, given, where, groups)
      fails_with(function() space.new("mw.tune", given, where, groups) end, text)
    end
    rejects("mw.tune: 'space' is empty; give it values, as in { bx = { 16, 32 } }", {})
    rejects("mw.tune: parameter 'bx' must be a list of values such as { 16, 32 }, got an empty table", { bx = {} })
    rejects("mw.tune: parameter 'bx' must be a list of values such as { 16, 32 }, got number", { bx = 16 })
    rejects("mw.tune: parameter 't': records have a 't' of their own; take another name", { t = { 1 } })
    rejects("mw.tune: parameter 'bx' has the value 16 twice", { bx = { 16, 16 } })
    rejects("mw.tune: parameter 'bx': a value is a number, a text or a truth value, got table", { bx = { {} } })
    rejects("mw.tune: parameter 'bx': a value is a number, a text or a truth value, got nan", { bx = { 0 / 0 } })
    rejects("mw.tune: 'where' leaves none of the 2 combinations of 'space'", { bx = { 1, 2 } },
      function() return false end)
    rejects("mw.tune: 'groups' names 'bz', which is no parameter; did you mean 'bx'?", { bx = { 1 } }, nil, { "bz" })
    rejects("mw.tune: parameter 'bx' has a hole: one of its elements is nil", { bx = { 16, nil, 64 } })
    rejects("mw.tune: 'space' has a hole: one of its elements is nil", { { "bx", { 1 } }, nil, { "by", { 1 } } })
    rejects("mw.tune: 'groups' has a hole: one of its elements is nil", { bx = { 1 } }, nil, { nil, "bx" })
    rejects("mw.tune: 'groups' leaves out 'by', which would never change; give it a group: { \"by\" }",
      { bx = { 1 }, by = { 1 } }, nil, { "bx" })
    local many = {}
    for i = 1, 400 do many[i] = i end
    rejects("mw.tune: 'space' has 160000 combinations, 100000 at most are taken", { a = many, b = many })
  end)
end)

describe("a search", function()
  -- The best that a search finds, how many variants it tries, and their order.
  local function run(name, options)
    local all = new_space(nil, { { "bx", "by" }, { "unroll" } })
    local seen, order, best = {}, {}, math.huge
    options = { seed = options.seed or 1, most = options.most or #all.variants, start = 1 }
    search.run(name, all, options, function(list)
      local values = {}
      for k, i in ipairs(list) do
        if not seen[i] and #order >= options.most then return nil end
        if not seen[i] then order[#order + 1] = i end
        seen[i], values[k] = true, bowl(all.variants[i])
        best = math.min(best, values[k])
      end
      return values
    end)
    return best, #order, table.concat(order, " ")
  end

  it("finds the least value: all variants, groups, and local search in a quarter of them", function()
    local best, tried = run("brute force", {})
    assert.are.same({ 1, 210 }, { best, tried })
    for _, name in ipairs { "groups", "local", "annealing" } do
      for seed = 1, 5 do assert.are.equal(1, (run(name, { seed = seed, most = 52 })), name) end
    end
  end)

  it("comes near it by chance", function()
    for _, name in ipairs { "random", "halving" } do
      local best, tried = run(name, { most = 52 })
      assert.is_true(best < 4)
      assert.are.equal(52, tried)
    end
  end)

  it("tries the same variants with the same seed, and others with another", function()
    for _, name in ipairs { "random", "local", "annealing", "halving" } do
      local _, _, first = run(name, { seed = 7, most = 40 })
      local _, _, again = run(name, { seed = 7, most = 40 })
      local _, _, other = run(name, { seed = 8, most = 40 })
      assert.are.equal(first, again)
      assert.are_not.equal(first, other)
    end
  end)
end)

describe("a tuning", function()
  local dev = support.devices()[1]

  -- A result of turns around a time, as mw.bench gives it.
  local function result_of(time, spread)
    local samples = {}
    for i = 1, 15 do samples[i] = time * (1 + spread * ((i * 7) % 15 - 7) / 7) end
    local t = stats.summary(samples)
    t.samples, t.turns = samples, { 1, 4, 7, 10, 13 }
    return bench.restore(t)
  end

  -- A job over SIDES with times by a function, measured by nobody.
  local function tune(options, time, more)
    local result
    support.with_folder(function(folder)
      support.into(folder, function()
        options.space, options.quiet = options.space or SIDES, true
        local job = jobs.new("mw.tune", session.current, dev, options)
        local all = job.space.variants
        function job.make(i)
          local go = time(all[i])
          return go and function()
            if more and more.fails and more.fails(all[i], job.is_final) then error "out of scratch" end
            return go
          end, "too large"
        end
        function job.verify(i) return more and more.verify and more.verify(all[i]), more and more.error(all[i]) end
        function job.measure(list)
          local results = {}
          job.is_final = #list > 1
          for k, one in ipairs(list) do results[k] = result_of(one.fn(), 0.002) end
          return results
        end
        result = jobs.run(session.current, job)
      end)
    end)
    return result
  end

  it("names the best, and all that tie with it", function()
    local result = tune({}, function(v) return 1e-3 * (bowl(v) + (v.bx == 16 and v.by == 4 and 0 or 0.5)) end)
    assert.are.same({ bx = 16, by = 4, unroll = 2 }, result.best.v)
    assert.are.equal(0, #result.ties)
    assert.are.equal(210, result.tried)
    -- all of one block are alike within 0.3 %
    local alike = tune({}, function(v)
      return 1e-3 * (v.bx == 16 and v.by == 4 and 1 + v.unroll * 1e-4 or bowl(v) + 0.5)
    end)
    assert.are.same({ bx = 16, by = 4, unroll = 1 }, alike.best.v)
    assert.are.equal(4, #alike.ties)
    assert.is_true(alike.ties[1].ratio.low <= 1.01)
    -- the simplest is what the script says
    local last = tune({ prefer = function(v) return -v.unroll end }, function(v)
      return 1e-3 * (v.bx == 16 and v.by == 4 and 1 + v.unroll * 1e-4 or bowl(v) + 0.5)
    end)
    assert.are.equal(16, last.best.v.unroll)
  end)

  it("leaves out what cannot be made or is wrong, with the reason", function()
    local result = tune({}, function(v) return v.bx < 64 and 1e-3 * bowl(v) end, {
      verify = function(v) return v.bx == 16 and "wrong: it differs" or nil end, error = function() return 0 end })
    assert.is_true(result.best.v.bx ~= 16 and result.best.v.bx ~= 64)
    local reasons = {}
    for _, row in ipairs(result.rows) do reasons[row.v.bx] = row.reason end
    assert.are.same({ [16] = "wrong: it differs", [64] = "too large" }, reasons)
    local none = tune({}, function() return nil end)
    assert.is_nil(none.best)
    assert.are.equal(210, #none.rows)
  end)

  it("leaves out a best one that is wrong when it is looked at again", function()
    local looks = 0
    local result = tune({}, function(v) return 1e-3 * bowl(v) end, { error = function() return 0 end,
      verify = function(v)
        if not (v.bx == 16 and v.by == 4 and v.unroll == 2) then return nil end
        looks = looks + 1
        return looks == 2 and "wrong: a race" or nil
      end })
    assert.are_not.same({ bx = 16, by = 4, unroll = 2 }, result.best.v)
  end)

  it("has other objectives: the error under a bound of time, and the front of two", function()
    local function time(v) return 1e-3 * bowl(v) end
    local more = { error = function(v) return 1 / (v.bx * v.by * v.unroll) end }
    local error = tune({ objective = "error", within = 2e-3 }, time, more)
    assert.is_true(error.best.t.value <= 2e-3)
    assert.are.same({ bx = 16, by = 4, unroll = 4 }, error.best.v)
    local both = tune({ objective = { "t", "error" } }, time, more)
    assert.are.same({ bx = 16, by = 4, unroll = 2 }, both.best.v)
    assert.are.same(both.best.v, both.front[1].v)
    for i = 2, #both.front do
      assert.is_true(both.front[i].value > both.front[i - 1].value)
      assert.is_true(both.front[i].error < both.front[i - 1].error)
    end
    assert.are.same({ bx = 64, by = 32, unroll = 16 }, both.front[#both.front].v)
  end)

  it("goes on after an error of a variant that is timed, and keeps its own values", function()
    support.with_folder(function(folder)
      support.into(folder, function()
        local result = mw.tune { space = { a = { 1, 2, 3 } }, quiet = true, min_time = 1e-4, launch = function(v)
          local a, calls = v.a, 0
          v.a = 7
          return function()
            calls = calls + 1
            if a == 2 and calls > 3 then error "out of scratch" end
            mw.device("cpu"):synchronize()
          end
        end }
        assert.is_true(result.best.v.a == 1 or result.best.v.a == 3)
        assert.is_nil(result.rows[1].reason)
        assert.is_truthy(result.rows[2].reason:find "out of scratch")
      end)
    end)
  end)

  -- Tunes a = 1 to 3 in a folder of its own, by what `go` does for a at its n-th call.
  local function tune_calls(go, more)
    local result
    support.with_folder(function(folder)
      support.into(folder, function()
        local options = { space = { a = { 1, 2, 3 } }, quiet = true, min_time = 1e-4, launch = function(v)
          return function()
            go(v.a)
            mw.device("cpu"):synchronize()
          end
        end }
        for name, value in pairs(more or {}) do options[name] = value end
        result = mw.tune(options)
      end)
    end)
    return result
  end

  -- It was the end of the tuning.
  it("goes on after an error of one of the best in turn, whichever it is", function()
    for _, bad in ipairs { 1, 2, 4 } do
      local result = tune({}, function(v)
        return 1e-3 * (v.bx == 16 and v.by == 4 and 1 + v.unroll * 1e-4 or bowl(v) + 0.5)
      end, { error = function() return 0 end, verify = function() end, fails = function(v, is_final)
        return is_final and v.bx == 16 and v.by == 4 and v.unroll == bad
      end })
      assert.are.equal(bad == 1 and 2 or 1, result.best.v.unroll)
      assert.are.equal(3, #result.ties)
      for _, row in ipairs(result.rows) do
        local is_bad = row.v.bx == 16 and row.v.by == 4 and row.v.unroll == bad
        assert.are.equal(is_bad, row.reason ~= nil and row.value == nil)
      end
    end
  end)

  it("goes on where one of the best cannot be made again, or fails in a longer measurement", function()
    local made = {}
    local function launch(v)
      made[v.a] = (made[v.a] or 0) + 1
      if v.a == 2 and made[2] > 1 then return nil, "no room is left" end
      return function() mw.device("cpu"):synchronize() end
    end
    for _, name in ipairs { "brute force", "halving" } do
      made = {}
      local result = tune_calls(nil, { launch = launch, search = name, most = 3, name = name })
      assert.is_true(result.best.v.a ~= 2)
      for _, row in ipairs(result.rows) do assert.are.equal(row.v.a == 2 and made[2] > 1, row.reason ~= nil) end
    end
    local calls = 0
    local halved = tune_calls(function()
      calls = calls + 1
      if calls > 40 then error "out of scratch" end
    end, { search = "halving", most = 3 })
    assert.are.equal(3, #halved.rows)
    assert.is_nil(halved.best)
  end)

  -- They were given the space's own tables.
  it("gives each function a variant of its own", function()
    local function spoils(result)
      return function(v)
        v.a, v.b = 9, 9
        return result
      end
    end
    local y <close> = mw.device("cpu"):zeros("f32", 4)
    local result = tune_calls(function() end, { where = spoils(true), prefer = spoils(1), bytes = spoils(1),
      flops = spoils(1), check = spoils(true), output = y })
    local seen = {}
    for i, row in ipairs(result.rows) do seen[i] = row.v end
    assert.are.same({ { a = 1 }, { a = 2 }, { a = 3 } }, seen)
  end)

  it("says which function gives no number, before anything is measured in vain", function()
    local count = 0
    local function go() count = count + 1 end
    for name, text in pairs { prefer = "mw.tune: 'prefer' must give a number, got nil for a = 1",
                              bytes = "mw.tune: 'bytes' must give a number of at least 0, got nil for a = 1",
                              flops = "mw.tune: 'flops' must give a number of at least 0, got nil for a = 1" } do
      fails_with(function() tune_calls(go, { [name] = function() end, name = name }) end, text)
    end
    fails_with(function() tune_calls(go, { prefer = function() return 0 / 0 end, name = "nan" }) end,
      "mw.tune: 'prefer' must give a number, got nan for a = 1")
    assert.is_true(count <= 2)
  end)

  it("looks for the kernel and at the size before it searches", function()
    local function rejects(text, more)
      fails_with(function() tune_calls(function() error "it has searched" end, more) end, text)
    end
    rejects("mw.tune: there is no kernel file 'none.cu'; a kernel is its file, and its name after a colon",
      { kernel = "none.cu:f", size = 1 })
    rejects("mw.tune: a size is a number or its sides by name, as in { nx = 1024, ny = 1024 }, got n = nan",
      { kernel = "none.cu:f", size = 0 / 0 })
    rejects("mw.tune: a size is a number or its sides by name, as in { nx = 1024, ny = 1024 }, got nx = table",
      { kernel = "none.cu:f", size = { nx = {} } })
    rejects("mw.tune: a size has one side at least, as in { n = 1024 }", { kernel = "none.cu:f", size = {} })
    fails_with(function() mw.tuned("none.cu:f", { n = 0 / 0 }) end, "mw.tuned: a size is a number or its sides by name")
  end)

  it("says what is wrong with its options", function()
    local function rejects(text, options)
      fails_with(function() mw.tune(options) end, text)
    end
    local function launch() return function() end end
    rejects("mw.tune: unknown option 'lanch'; did you mean 'launch'?", { lanch = launch })
    rejects("mw.tune: needs 'launch', a function of a variant that returns one that launches it",
      { space = { a = { 1 } } })
    rejects("mw.tune: needs 'space', as in { bx = { 16, 32 }, by = { 4, 8 } }", { launch = launch })
    rejects("mw.tune: option 'objective': there is no 'speed'; there is t, energy, error", { launch = launch,
      space = { a = { 1 } }, objective = "speed" })
    rejects("mw.tune: option 'objective' has a hole: one of its elements is nil", { launch = launch,
      space = { a = { 1 } }, objective = { nil, "t" } })
    rejects("mw.tune: option 'search': there is no 'locl'; did you mean 'local'?", { launch = launch,
      space = { a = { 1 } }, search = "locl" })
    rejects("mw.tune: option 'start' is no variant of 'space' that 'where' leaves", { launch = launch,
      space = { a = { 1 } }, start = { a = 2 } })
    rejects("mw.tune: a 'check' needs 'output', what a variant writes: it is filled with NaN before it runs",
      { launch = launch, space = { a = { 1 } }, check = 1 })
    local y <close> = mw.device("cpu"):zeros("f32", 4)
    rejects("mw.tune: 'check' is 'output' itself, which is always equal; give what is right, from another way",
      { launch = launch, space = { a = { 1 } }, output = y, check = y })
    rejects("mw.tune: option 'output' has a hole: one of its elements is nil", { launch = launch,
      space = { a = { 1 } }, output = { y, nil, y } })
    rejects("mw.tune: 'kernel' and 'size' go together: the best values are kept for both", { launch = launch,
      space = { a = { 1 } }, kernel = "x.cu" })
    support.with_folder(function(folder)
      support.into(folder, function()
        rejects("mw.tune: 'launch' must return a function that launches, or nil and why the device cannot, got number",
          { name = "a", space = { a = { 1 } }, launch = function() return 1 end })
        rejects("mw.tune: 'check' must compare by its second argument", { name = "b", space = { a = { 1 } },
          launch = launch, output = y, check = function() end })
        rejects("mw.tune: 'compile' must return the options of dev:module", { space = { a = { 1 } }, launch = launch,
          name = "c", compile = function() return 7 end })
      end)
    end)
  end)
end)
