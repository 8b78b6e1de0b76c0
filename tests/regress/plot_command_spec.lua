-- SPDX-License-Identifier: MIT
--
-- moonwarp plot: which figures of stored runs it finds, and how it draws them.

local support = require "tests.support"
local mw = support.mw

local HAS_GNUPLOT = os.execute "command -v gnuplot >/dev/null 2>&1"

-- A run with a figure of each kind.
local function leave_run(folder)
  support.into(folder, function()
    local dev = mw.device "cpu"
    local rows = { { device = "cpu", x = 1, y = 1 }, { device = "cpu", x = 2, y = 20 } }
    mw.plot { x = "x", y = "y", name = "p", title = "The Roofline", records = rows, quiet = true, pictures = false }
    mw.ladder { x = "y", by = "x", name = "l", title = "rungs", records = rows, quiet = true, pictures = false }
    mw.timeline { name = "t", title = "who was busy", quiet = true, spans = {
      { lane = "a", kind = "copy", from = 0, to = 1 }, { lane = "b", kind = "run", from = 1, to = 2 } } }
    local film = mw.film { name = "f", title = "heat", quiet = true }
    for i = 1, 2 do
      local field <close> = dev:array("f32", { { i, 2 }, { 3, 4 } })
      film:add(field, ("t = %d"):format(i))
    end
    film:draw()
  end)
end

-- Runs the command; its status and output, and the files below a new folder.
local function plot(folder, words)
  local to = folder .. "/to"
  os.execute(("rm -rf '%s'"):format(to))
  local pipe = assert(io.popen(("'%s' plot '%s/out' --to '%s' %s 2>&1"):format(support.program(), folder, to, words)))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output, function(name)
    local file <close> = io.open(to .. "/" .. name)
    return file and file:read "a"
  end
end

describe("moonwarp plot", function()
  local folder

  before_each(function()
    local pipe <close> = assert(io.popen "mktemp -d")
    folder = pipe:read "l"
    leave_run(folder .. "/out")
  end)
  after_each(function() os.execute(("rm -rf '%s'"):format(folder)) end)

  -- Only the name counted, which a reader of the chart does not see.
  it("finds a figure by a word of its title or its name", function()
    for word, name in pairs { roofline = "p", RUNGS = "l", busy = "t", heat = "f" } do
      local status, output, file = plot(folder, "--only " .. word)
      assert.are.equal(0, status, output)
      for _, other in ipairs { "p", "l", "t", "f" } do
        assert.are.equal(other == name, file(other .. ".gp") ~= nil, output)
      end
    end
    local status, output = plot(folder, "--only zz")
    assert.are.equal(2, status)
    assert.is_truthy(output:find("no chart has 'zz' in its name or title; there is p (The Roofline, cpu), ", 1, true),
      output)
  end)

  it("draws timelines and films again as they were", function()
    local run = support.run(folder .. "/out")
    local status, output, file = plot(folder, "--only who")
    assert.are.equal(0, status, output)
    assert.is_truthy(output:find("  a c+%.+\n  b %.+r+\n"), output)
    assert.are.equal(support.read(run .. "/t.dat"), file "t.dat")
    assert.are.equal(support.read(run .. "/t.gp"), file "t.gp")
    status, output, file = plot(folder, "--only heat")
    assert.are.equal(0, status, output)
    assert.are.equal(support.read(run .. "/f.dat"), file "f.dat")
    assert.are.equal(support.read(run .. "/f.gp"), file "f.gp")
    if HAS_GNUPLOT then assert.is_truthy(file "f.svg") end
  end)

  it("takes only numbers from a film's data, which is part of a script", function()
    local run = support.run(folder .. "/out")
    local whole = support.read(run .. "/f.dat")
    support.write(run .. "/f.dat", whole .. "END_OF_DATA\nsystem 'touch ran'\n")
    local status, output, file = plot(folder, "--only heat --one-file")
    support.write(run .. "/f.dat", whole)
    assert.are.equal(0, status, output)
    assert.is_nil(file("f.gp"):find("system", 1, true))
    assert.is_nil(file "ran")
  end)

  it("has logarithmic axes on request", function()
    local _, _, file = plot(folder, "--logy")
    assert.is_truthy(file("p.gp"):find("set logscale y 10", 1, true))
    assert.is_nil(file("p.gp"):find("set logscale x", 1, true))
    assert.is_truthy(file("l.gp"):find("set logscale x 10", 1, true)) -- whose values lie along x
    _, _, file = plot(folder, "--logx --only roofline")
    assert.is_truthy(file("p.gp"):find("set logscale x 10", 1, true))
  end)

  it("leaves a script that needs no other file on request", function()
    for words, is_alone in pairs { [""] = false, ["--one-file"] = true } do
      local _, output, file = plot(folder, words)
      for _, name in ipairs { "p", "l", "t", "f" } do
        local script = assert(file(name .. ".gp"), output)
        assert.are.equal(is_alone, script:find("$data << END_OF_DATA", 1, true) ~= nil)
        if HAS_GNUPLOT then
          os.remove(("%s/to/%s.svg"):format(folder, name))
          if is_alone then os.remove(("%s/to/%s.dat"):format(folder, name)) end
          assert.is_true(os.execute(("cd '%s/to' && gnuplot %s.gp"):format(folder, name)))
          assert.is_truthy(file(name .. ".svg"))
        end
      end
    end
  end)
end)
