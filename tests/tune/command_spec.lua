-- SPDX-License-Identifier: MIT
--
-- moonwarp tune and tuned: the rungs of a study that have a space, runs that are killed, best values that are kept.

local support = require "tests.support"
local cjson = require "cjson"
local labs = require "tests.support.labs"
local small_study = require "tests.support.small_study"
local changed, quoted, shell = small_study.changed, labs.quoted, labs.shell

local TUNED <const> = changed(small_study.TEXT, [[block = 64, over = { "n" }, each = 16 }]],
  [[block = 64, over = { "n" }, each = 16,
  space = { { "block", { 32, 64 } }, { "each", { 4, 16, 64 } } }, where = function(v) return v.block + v.each < 128 end,
  variant = function(v) return { block = v.block, each = v.each } end }]])

-- A script that dies of its fourth variant, unless it is told to live.
local SCRIPT <const> = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local y, made = dev:array("f32", 64), 0
local m = dev:module { source = "__global__ void f(float *y, float a) { y[threadIdx.x] = a; }" }
local result = mw.tune { name = "fill", space = { a = { 1, 2, 3, 4, 5, 6 } }, output = y, min_time = 1e-4,
  launch = function(v)
    made = made + 1
    if made == 4 and not arg[1] then os.execute "kill -9 $PPID" end
    local go = m.f:prepare { grid = 1, block = 64 }
    return function() go(y, v.a) end
  end, check = function(v, look) look(y, v.a) end }
print("made", made, "tried", result.tried)
]]

-- Works in a folder with the files: body(words) runs the program and returns status and output.
local function with_files(files, body)
  support.with_folder(function(folder)
    for name, text in pairs(files) do support.write(folder .. "/" .. name, text) end
    body(function(words)
      return shell(("cd %s && MOONWARP_TUNED=%s/tuned.json %s %s 2>&1 </dev/null"):format(quoted(folder),
        quoted(folder), quoted(labs.program), words))
    end, folder)
  end)
end

describe("moonwarp tune", function()
  if not support.program() then return pending "needs the program" end

  it("tunes the rungs of a study that have a space, and keeps the best", function()
    with_files({ ["mine.lua"] = TUNED, ["saxpy.cu"] = small_study.KERNELS }, function(run, folder)
      local status, output = run "tune mine.lua --device cpu -p n=5000 -p seconds=0.0001"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("a loop: the best of 5 variants is block = ", 1, true), output)
      local rows = cjson.decode(support.read(support.run(folder .. "/out") .. "/record.json")).records
      local searched = 0
      for _, row in ipairs(rows) do
        assert.are.equal("a loop", row.tuning)
        searched = searched + (row.stage == "search" and 1 or 0)
      end
      assert.are.equal(5, searched)
      local _, list = run "tuned list"
      assert.is_truthy(list:find("\nsaxpy.cu:a loop  .*  n = 5000, type = f32  block = %d+, each = %d+  "), list)
      local _, found = run [[-e 'mw.device "cpu"; local v, e = mw.tuned("saxpy.cu:a loop", { n = 4000, type = "f32" })
        print(v.block, e.size.n, mw.tuned("saxpy.cu:a loop", { m = 1 }), mw.tuned("saxpy.cu", 1))']]
      assert.is_truthy(found:find("saxpy.cu:a loop has not been tuned for n = 4000, type = f32: its values are those",
        1, true), found)
      assert.is_truthy(found:find "%d+\t5000\tnil\tnil\tit has not been tuned", found)
      support.write(folder .. "/saxpy.cu", small_study.KERNELS .. "\n")
      _, found = run [[-e 'mw.device "cpu"; print(mw.tuned("saxpy.cu:a loop", { n = 5000, type = "f32" }))']]
      assert.is_truthy(found:find("nil\tits source has changed since it was tuned", 1, true), found)
      local _, export = run "tuned export saxpy.cu"
      assert.are.equal(support.read(folder .. "/tuned.json"), export)
      for _, action in ipairs { "forget", "list", "export" } do
        assert.are.same({ 2, "moonwarp: unknown kernel 'saxpi.cu'; did you mean 'saxpy.cu'?\n" },
          { run(("tuned %s saxpi.cu"):format(action)) })
      end
      assert.are.equal(export, (select(2, run "tuned export saxpy")))
      assert.are.same({ 0, "1 entry forgotten\n" }, { run "tuned forget saxpy.cu" })
      assert.are.same({ 0, "no entries\n" }, { run "tuned list" })
      assert.are.same({ 0, '{"schema": "moonwarp-tuned/1", "tuned": []}\n' }, { run "tuned export" })
    end)
  end)

  it("says which variant is wrong, and goes on", function()
    local wrong = changed(small_study.KERNELS, "y[i] += a * x[i];\n}\n\n", [[y[i] += a * x[i];
}

extern "C" __global__ void wrong(float *y, const float *x, float a, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * a;
}

]])
    with_files({ ["mine.lua"] = changed(TUNED, "return { block", [[if v.each == 64 then return { kernel = "none" } end
      if v.each == 4 then return { kernel = "wrong" } end
      return { block]]), ["saxpy.cu"] = wrong }, function(run)
      local status, output = run "tune mine.lua --device cpu -p n=5000 -p seconds=0.0001 --rung 2"
      assert.are.equal(3, status, output)
      assert.is_truthy(output:find "the best of 5 variants is block = %d+, each = 16", output)
      assert.is_truthy(output:find "Left out: differs from 'a loop', which", output)
    end)
  end)

  it("says what it cannot tune", function()
    with_files({ ["mine.lua"] = small_study.TEXT, ["saxpy.cu"] = small_study.KERNELS }, function(run)
      local status, output = run "tune mine.lua --device cpu -p n=5000"
      assert.are.equal(2, status)
      assert.is_truthy(output:find("mine: there is no rung with a 'space' to tune", 1, true), output)
      assert.is_nil(output:find("chosen rungs", 1, true), output)
      assert.are.same({ 2, "moonwarp: unknown action 'lst'; did you mean 'list'?\n" }, { run "tuned lst" })
      assert.are.same({ 2, "moonwarp: option '--seed' wants a whole number, got 'x'\n" },
        { run "tune mine.lua --seed x" })
    end)
  end)

  -- All variants were measured first, and none had an energy.
  it("says at once that a device has no counter of energy", function()
    with_files({ ["mine.lua"] = TUNED, ["saxpy.cu"] = small_study.KERNELS }, function(run)
      local status, output = run "tune mine.lua --device cpu -p n=5000 --objective energy"
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find("objective 'energy': cpu has no counter of energy; take 't'", 1, true), output)
    end)
  end)

  it("says what is wrong with a rung's space", function()
    for _, one in ipairs { { "variant = function", "fields = function",
                             "rung 2 'a loop': 'space' and 'variant' go together: variant(v, c) returns" },
                           { "{ block = v.block, each", "{ blocks = v.block, each",
                             "rung 2 'a loop': what 'variant' returns: unknown option 'blocks'; did you mean 'block'" },
                           { "{ 32, 64 } }, { \"each\"", "{ 32, 64 } }, { \"t\"",
                             "rung 2 'a loop': parameter 't': records have a 't' of their own; take another name" } } do
      with_files({ ["mine.lua"] = changed(TUNED, one[1], one[2]), ["saxpy.cu"] = small_study.KERNELS }, function(run)
        local _, output = run "tune mine.lua --device cpu -p n=5000 -p seconds=0.0001"
        assert.is_truthy(output:find(one[3], 1, true), output)
      end)
    end
  end)

  it("goes on with what a run that was killed has measured", function()
    with_files({ ["fill.lua"] = SCRIPT }, function(run)
      assert.are.equal(137, (run "run fill.lua"))
      local status, output = run "tune fill.lua --resume -- live"
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("fill: 3 variants are known from out/fill/", 1, true), output)
      -- those that were left, and of all the best ones in turn
      local made, tried = output:match "made\t(%d+)\ttried\t(%d+)"
      assert.are.equal("6", tried)
      assert.is_true(tonumber(made) >= 4 and tonumber(made) <= 5, made)
      -- of a run that came to its end nothing is left to do
      status, output = run "tune fill.lua --resume -- live"
      assert.are.equal(0, status)
      assert.is_truthy(output:find("fill begins anew: .*: it has come to its end", 1), output)
    end)
  end)

  -- An empty folder was the newest one; a folder that a script or a parameter names was another script, or another
  -- parameter.
  it("passes over runs that have none of its rows, and takes a folder that is named", function()
    local script = changed(SCRIPT, "made == 4 and not arg[1]", "made == 4 and not arg[1] and from == ''")
    script = changed(script, "local dev =", [[local from, early = mw.arg("from", ""), mw.arg("early", false)
if early then mw.record { x = 1 } end
if early then os.exit(9) end
local dev =]])
    script = changed(script, "min_time =", "resume = from ~= '' and from or nil, min_time =")
    with_files({ ["fill.lua"] = script }, function(run, folder)
      assert.are.equal(137, (run "run fill.lua"))
      local first = support.run(folder .. "/out"):match "out/.*"
      assert.are.equal(9, (run "run fill.lua -p early=true"))
      assert.are.equal(9, (run "run fill.lua -p early=true"))
      local _, output = run("run fill.lua -p from=" .. first)
      assert.is_truthy(output:find("fill: 3 variants are known from " .. first, 1, true), output)
      support.write(folder .. "/fill.lua", script .. "\n-- resumes " .. first)
      _, output = run("run fill.lua -p from=" .. first)
      assert.is_truthy(output:find("fill: 3 variants are known from " .. first, 1, true), output)
      support.write(folder .. "/fill.lua", script)
      _, output = run "tune fill.lua --resume -- live"
      assert.is_truthy(output:find("fill: 3 variants are known from " .. first, 1, true), output)
      local status
      status, output = run "run fill.lua -p from=out/none"
      assert.are.equal(1, status)
      assert.is_truthy(output:find("mw.tune: cannot resume: out/none holds no record of a run", 1, true), output)
    end)
  end)

  it("has rungs of studies only", function()
    with_files({ ["fill.lua"] = SCRIPT }, function(run)
      local status, output = run "tune fill.lua --rung 9 -- live"
      assert.are.equal(2, status)
      assert.is_truthy(output:find("option '--rung' is for studies; the script tunes with mw.tune, which has no rungs",
        1, true), output)
    end)
  end)

  -- Each wrote the file that it had read, without what others had added meanwhile.
  it("keeps the values of tunings that end at once", function()
    with_files({}, function(run, folder)
      local code = [[local store = require "moonwarp.tune.store"
for i = 1, 20 do
  store.keep { kernel = KEY .. "-" .. i .. ".cu", source = "", device = "cpu", size = { n = 1 }, values = { a = 1 },
               objective = "t", value = 1, tried = 1, date = "" }
end]]
      local parts = {}
      for key = 1, 6 do
        support.write(("%s/%d.lua"):format(folder, key), ("local KEY = %d\n"):format(key) .. code)
        parts[key] = ("MOONWARP_TUNED=tuned.json %s run %d.lua &"):format(quoted(labs.program), key)
      end
      shell(("cd %s && { %s wait; }"):format(quoted(folder), table.concat(parts, " ")))
      assert.are.equal(120, #cjson.decode(support.read(folder .. "/tuned.json")).tuned)
      local _, list = run "tuned list"
      assert.is_truthy(list:find("6-20.cu", 1, true), list)
    end)
  end)

  it("knows the variants of a pass by its parameters, and a tuning by its name", function()
    local script = changed(SCRIPT, [[local dev =]], [[local n = mw.arg("n", 1)
local dev =]])
    script = changed(script, "made == 4", "n == 2 and made == 3")
    with_files({ ["fill.lua"] = script, ["twice.lua"] = script .. "mw.tune { name = 'fill', space = { a = { 1 } }, "
      .. "launch = function() return function() end end }" }, function(run)
      assert.are.equal(137, (run "run fill.lua -p n=1,2"))
      local _, output = run "tune fill.lua -p n=1,2 --resume -- live"
      assert.is_truthy(output:find("fill: 6 variants are known.*fill: 2 variants are known"), output)
      local status
      status, output = run "run twice.lua"
      assert.are.equal(1, status)
      assert.is_truthy(output:find("mw.tune: this run has a tuning 'fill' already; give this one a name of its own",
        1, true), output)
    end)
  end)
end)
