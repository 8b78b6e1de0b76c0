-- SPDX-License-Identifier: MIT
--
-- mw.skip: a script, a pass of a sweep, or a lab that cannot do its work here. $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local labs = require "tests.support.labs"
local quoted, shell, fails = labs.quoted, labs.shell, support.fails

-- Runs code in a folder of its own; results go to out there.
local function run(code, words, body)
  support.with_folder(function(folder)
    local status, output = shell(("cd %s && %s -e %s --device cpu --out out %s </dev/null"):format(quoted(folder),
      quoted(labs.program), quoted(code), words))
    body(status, output, folder)
  end)
end

describe("mw.skip", function()
  it("ends a script with its reason, which is not a failure", function()
    run("mw.skip 'no GPU' print 'went on'", "", function(status, output, folder)
      assert.are.same({ 0, "moonwarp: skipped: no GPU\n" }, { status, output })
      assert.are.equal(0, #support.runs(folder .. "/out"))
    end)
    run("local x <close> = setmetatable({}, { __close = function() print 'closed' end }) "
      .. "coroutine.wrap(function() mw.skip '100 % busy' end)()", "-p later=1", function(status, output)
      assert.are.same({ 0, "closed\nmoonwarp: skipped: 100 % busy\n" }, { status, output })
    end)
  end)

  it("ends a pass of a sweep, which goes on; the run keeps the reason", function()
    local code = "local n = mw.arg('n', 1) if n % 2 == 0 then mw.skip('even') end mw.record { n = n }"
    run(code, "-p n=2,3,4,5 --quiet", function(status, output, folder)
      assert.are.same({ 0, "moonwarp: skipped: even (n = 2)\nmoonwarp: skipped: even (n = 4)\n" }, { status, output })
      local stored = assert(require("moonwarp.results.store").read(support.run(folder .. "/out")))
      assert.are.same({ "skipped: even (n = 2)", "skipped: even (n = 4)" },
        { stored.remarks[1].text, stored.remarks[2].text })
      assert.are.same({ 3, 5, "complete" }, { stored.records[1].n, stored.records[2].n, stored.status })
    end)
  end)

  it("does not hide what went wrong before or afterwards", function()
    run("mw.check(mw.device():zeros('i32', 2), 1) mw.skip 'x'", "", function(status) assert.are.equal(3, status) end)
    run("pcall(mw.skip, 'x') error 'boom'", "", function(status, output)
      assert.are.same({ 1, "moonwarp: (-e):1: boom\n  (-e):1: in main chunk\n" }, { status, output })
    end)
    run("if mw.arg('n', 1) == 1 then mw.skip 'x' end", "-p n=1,2 -p m=1", function(status, output)
      assert.are.same({ 2, "moonwarp: skipped: x (n = 1)\npassed 1 of 2; not passed: n = 1 (skipped)\n"
        .. "moonwarp: unknown parameter 'm'; there is n\n" }, { status, output })
    end)
  end)

  it("is counted at the end of a sweep, with what failed", function()
    local code = "local n = mw.arg('n', 1) if n == 2 then mw.skip 'two' end "
      .. "if n == 3 then mw.device():zeros('f32', -n) end mw.check(n % 5 > 0, nil, { name = 'n', quiet = true })"
    local function sums_up(words, text)
      run(code, words, function(_, output) assert.are.equal(text, output:match "passed [^\n]*", output) end)
    end
    sums_up("-p n=1,2,3,5", "passed 1 of 4; not passed: n = 2 (skipped), n = 3 (failed), n = 5 (check failed)")
    sums_up("-p n=1,4", "passed 2 of 2")
    sums_up("-p n=1,4 --quiet", nil)
    sums_up("-p n=1", nil)
    sums_up("-p n=" .. ("5,"):rep(12) .. "1", "passed 1 of 13; not passed: "
      .. ("n = 5 (check failed), "):rep(9) .. "n = 5 (check failed) and 2 more")
    code = code .. "if n == 7 then error 'boom' end"
    sums_up("-p n=1,7,4,6", "passed 1 of 4; not passed: n = 7 (failed), and 2 not run")
    code = "mw.arg('n', 1)" -- it leaves no results
    sums_up("-p n=1,4", nil)
  end)

  it("wants a reason", function()
    fails(function() support.mw.skip() end, "mw.skip: the reason must be a text, got nil")
    fails(function() support.mw.skip "" end, "mw.skip: the reason must be a text, got an empty one")
  end)

  it("raises its text in a stock interpreter", function()
    local lua = support.stock_interpreter()
    if not lua then pending "needs lua5.4" return end
    local status, output = shell(("%s -e %s"):format(lua,
      quoted "print(pcall(require('moonwarp').skip, 'no GPU'))"))
    assert.are.same({ 0, "false\tskipped: no GPU\n" }, { status, output })
  end)
end)

describe("a lab that skips", function()
  it("is shown as skipped, and its gates are not judged, if it did nothing else", function()
    local gate = 'gates = { record = { k = "a" }, field = "T_tot", at_least = 1, of = { k = "b" } }'
    labs.with({
      { "nothing", gate, "mw.skip 'no GPU'" },
      { "sweep", "params = { n = { 1, 2 } }", "mw.skip('n is ' .. mw.arg('n', 1))" },
      { "partly", "params = { n = { 1, 2 } }", "if mw.arg('n', 1) == 1 then mw.skip 'one' end" },
      { "measured", gate, "mw.record { k = 'a', T_tot = 1.0 } mw.skip 'the rest'" },
      { "behind", 'needs = "nothing"', "" },
    }, function(_, batch)
      local status, output, result = batch()
      local verdicts = {}
      for i, row in ipairs(result.labs) do verdicts[i] = { row.name, row.verdict, row.message } end
      assert.are.same({ { "nothing", "skipped", "no GPU" }, { "sweep", "skipped", "n is 2" },
        { "partly", "passed", "nothing checked" }, { "measured", "gate failed", "no record has k = b" },
        { "behind", "skipped", "it needs nothing-cpu, which did not pass (skipped)" } }, verdicts)
      assert.are.equal(3, status)
      assert.is_truthy(output:find("] nothing on cpu: skipped, 0.", 1, true), output)
      assert.is_truthy(output:find("\nnothing-cpu: skipped: no GPU\n", 1, true), output)
      assert.is_nil(result.labs[1].gates)
    end)
  end)
end)
