-- SPDX-License-Identifier: MIT
--
-- Ceilings: what they are called, that their kernels compute what is right, and the file that they are kept in. What
-- they are is no matter of a test.

local mw = require "moonwarp"
local support = require "tests.support"
local ceiling = require "moonwarp.measure.ceiling"
local cjson = require "cjson"
local kinds = require "moonwarp.measure.ceiling_kinds"
local labs = require "tests.support.labs"
local session = require "moonwarp.session"

-- In a folder with a file of ceilings of its own.
local function with_file(body)
  local path, measure = ceiling.file.path, kinds.measure
  support.with_folder(function(folder)
    function ceiling.file.path() return folder .. "/ceilings.json" end
    local done, problem = pcall(body, folder .. "/ceilings.json")
    ceiling.file.path, kinds.measure = path, measure
    if not done then error(problem, 0) end
  end)
end

support.each_device("a ceiling", function(dev, _, runs)
  runs("is positive and finite, and its kernel right, on little data", function()
    local failed = session.current.failed_checks
    local m <close> = kinds.new(session.current, dev, true)
    for _, one in ipairs(kinds.list) do
      if not (one.reason and one.reason(dev)) then
        local value = kinds.measure(m, one)
        assert.is_true(value > 0 and value < math.huge, one.name)
      end
    end
    assert.are.equal(failed, session.current.failed_checks)
  end)
end)

describe("ceilings", function()
  local dev = mw.device "cpu"

  -- Measured by nobody: the n-th is n.
  local function count_measured()
    local count = 0
    function kinds.measure()
      count = count + 1
      return count
    end
    return function() return count end
  end

  it("are measured once, and kept", function()
    with_file(function(file)
      local measured = count_measured()
      assert.are.same({ 1, "B/s" }, { dev:ceiling "triad" })
      assert.are.same({ 1, "B/s" }, { dev:ceiling "triad" })
      assert.are.same({ 2, "s" }, { dev:ceiling "launch" })
      assert.are.equal(2, measured())
      local value = cjson.decode(support.read(file))
      local entry = value.ceilings[1]
      assert.are.same({ "moonwarp-ceilings/1", 1 }, { value.schema, #value.ceilings })
      assert.are.same({ triad = 1, launch = 2 }, entry.values)
      assert.are.same({ dev:name(), mw.version, dev:properties().driver, dev:properties().multiprocessors },
        { entry.device, entry.moonwarp, entry.driver, entry.multiprocessors })
    end)
  end)

  -- --again dropped all of them before it looked at the names, and measured those alone.
  it("are measured anew only where it is asked", function()
    with_file(function(file)
      count_measured()
      ceiling.all(session.current, dev, { "triad", "launch" })
      ceiling.all(session.current, dev, { "launch", "launch" }, true)
      assert.are.same({ triad = 1, launch = 3 }, cjson.decode(support.read(file)).ceilings[1].values)
      support.fails_with(function() ceiling.all(session.current, dev, { "lunch" }, true) end, "did you mean 'launch'?")
      assert.are.same({ triad = 1, launch = 3 }, cjson.decode(support.read(file)).ceilings[1].values)
    end)
  end)

  -- One that failed, or Ctrl-C, dropped what had been measured before it.
  it("are kept one by one", function()
    with_file(function(file)
      function kinds.measure(_, one) return one.name == "f32" and error "no more" or 7 end
      support.fails_with(function() ceiling.all(session.current, dev, { "triad", "f32" }) end, "no more")
      assert.are.same({ triad = 7 }, cjson.decode(support.read(file)).ceilings[1].values)
    end)
  end)

  -- In a home that nobody may write to they were measured, and then an error.
  it("hold for the session where no file can keep them", function()
    with_file(function(file)
      local measured = count_measured()
      support.write(file, "")
      function ceiling.file.path() return file .. "/below/ceilings.json" end
      assert.are.same({ 1, "B/s" }, { dev:ceiling "triad" })
      assert.are.same({ 1, "B/s" }, { dev:ceiling "triad" })
      local _, problem = ceiling.all(session.current, dev, { "launch" })
      assert.is_truthy(problem:find("cannot make the folder " .. file .. "/below", 1, true), problem)
      assert.are.equal(2, measured())
      session.current.unkept = {}
    end)
  end)

  it("are those of the device, the driver and the version", function()
    with_file(function(file)
      local measured = count_measured()
      dev:ceiling "triad"
      for _, name in ipairs { "device", "driver", "moonwarp" } do
        local text = support.read(file)
        local entry = cjson.decode(text).ceilings[1]
        support.write(file, (text:gsub(('"%s":"[^"]*"'):format(name), ('"%s":"another"'):format(name))))
        dev:ceiling "triad"
        support.write(file, text)
        assert.are.equal("another" == entry[name], false)
      end
      assert.are.equal(4, measured())
    end)
  end)

  it("are no values that somebody has spoilt, and a file that is none is said", function()
    with_file(function(file)
      local measured = count_measured()
      dev:ceiling "triad"
      support.write(file, (support.read(file):gsub('"triad":1', '"triad":-5')))
      assert.are.equal(2, (dev:ceiling "triad"))
      assert.are.equal(2, measured())
      for text, problem in pairs { ["{"] = "cannot be read", ['{"schema":"moonwarp-tuned/1","ceilings":[]}'] =
        "its schema is not moonwarp-ceilings/1", ['{"schema":"moonwarp-ceilings/1","ceilings":[{}]}'] =
        "ceilings[1].date must be a string" } do
        support.write(file, text)
        support.fails_with(function() dev:ceiling "triad" end, problem)
      end
    end)
  end)

  it("have names, and reasons where a device has none", function()
    support.fails_with(function() dev:ceiling "traid" end,
      "dev:ceiling: there is no ceiling 'traid'; did you mean 'triad'?")
    support.fails_with(function() dev:ceiling() end, "dev:ceiling: there is no ceiling 'nil'")
    assert.are.same({ n = 2, nil, "it has no tensor cores that this is measured by" },
      table.pack(dev:ceiling "tensor_f16"))
    local checks <close> = mw.device("cpu", { check = true })
    assert.are.same({ n = 2, nil, "in check mode nothing is timed" }, table.pack(checks:ceiling "triad"))
  end)

  it("are not believed where a kernel is wrong", function()
    with_file(function()
      local failed = session.current.failed_checks
      local check = require "moonwarp.measure.check"
      local run = check.run
      function check.run() return false end
      local done, problem = pcall(function()
        local m <close> = kinds.new(session.current, dev, true)
        kinds.measure(m, kinds.list[1])
      end)
      check.run = run
      assert.is_false(done)
      assert.is_truthy(tostring(problem):find("the ceiling 'read' of cpu: its kernel computes what is wrong", 1, true))
      assert.are.equal(failed, session.current.failed_checks)
    end)
  end)

  it("are shown by moonwarp ceilings", function()
    if not support.program() then return pending "needs the program" end
    with_file(function(file)
      count_measured()
      ceiling.all(session.current, dev)
      local status, output = labs.shell(("MOONWARP_CEILINGS=%s %s ceilings --device cpu"):format(labs.quoted(file),
        labs.quoted(labs.program)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("read         1 B/s               memory, read", 1, true), output)
      assert.is_truthy(output:find("tensor_f16   none                it has no tensor cores", 1, true), output)
      assert.is_truthy(output:find("atomic       %d+ additions/s +atomic"), output)
      assert.is_truthy(output:find("kept in " .. file, 1, true), output)
      local _, one = labs.shell(("MOONWARP_CEILINGS=%s %s ceilings launch --device cpu"):format(labs.quoted(file),
        labs.quoted(labs.program)))
      assert.is_nil(one:find("triad", 1, true))
      local wrong, said = labs.shell(("MOONWARP_CEILINGS=%s %s ceilings lunch --again --device cpu"):format(
        labs.quoted(file), labs.quoted(labs.program)))
      assert.are.same({ 2, "moonwarp: unknown ceiling 'lunch'; did you mean 'launch'?\n" }, { wrong, said })
    end)
  end)
end)
