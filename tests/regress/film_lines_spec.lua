-- SPDX-License-Identifier: MIT
--
-- A film of a 1-D field: each frame is a line.

local support = require "tests.support"
local mw = support.mw
local fails = support.fails

describe("a film of lines", function() support.each_device(function(dev)
  local NAN <const> = 0 / 0

  local function drawn(spec, rows, body)
    support.with_folder(function(folder)
      support.into(folder, function()
        spec.name, spec.quiet = "f", true
        local film = mw.film(spec)
        for i, row in ipairs(rows) do
          local array <close> = dev:array("f64", row)
          film:add(array, "t = " .. i)
        end
        local made = film:draw()
        body(made, support.read(made.dat), support.read(made.gp))
      end)
    end)
  end

  it("has the values of each frame, and one scale with room above and below", function()
    local rows = { { 0, 1, 2.5 }, { 1, NAN, 10 } }
    drawn({ label = "u (m)", pictures = false }, rows, function(_, data, script)
      assert.is_truthy(data:find("# frame 0: t = 1\n0 1 2.5\n\n\n# frame 1: t = 2\n1 nan 10\n", 1, true), data)
      assert.is_truthy(script:find("set yrange [-0.3:10.3]\n", 1, true), script)
      assert.is_truthy(script:find("set ylabel 'u (m)'\n", 1, true), script)
      assert.is_truthy(script:find("data index 1 matrix using 1:3 with lines", 1, true), script)
      assert.is_nil(script:find("with image", 1, true))
    end)
    drawn({ low = -1, high = 3, ylabel = "height", pictures = false }, rows, function(_, _, script)
      assert.is_truthy(script:find("set yrange [-1:3]\n", 1, true), script)
      assert.is_truthy(script:find("set ylabel 'height'\n", 1, true), script)
    end)
  end)

  -- The line lay on the frame, and no range held a value that 1 does not change.
  it("is in the middle where all values are equal", function()
    for value, range in pairs { [3] = "2:4", [1e20] = "9.99e%+19:1.001e%+20" } do
      drawn({ pictures = false }, { { value, value } }, function(_, _, script)
        assert.is_truthy(script:find("set yrange %[" .. range .. "%]\n"), script)
      end)
    end
  end)

  it("is drawn by gnuplot, also where all values are equal", function()
    if not os.execute "command -v gnuplot >/dev/null 2>&1" then
      pending "needs gnuplot"
      return
    end
    for _, rows in ipairs { { { 0, 1, 2 }, { 2, 1, 0 } }, { { 5, 5 }, { 5, 5 } }, { { NAN, NAN }, { NAN, 1 } } } do
      drawn({}, rows, function(made)
        assert.is_nil(made.reason)
        local _, frames = support.read(made.gif):gsub("\x21\xf9\x04....\x00", "")
        assert.are.equal(2, frames)
      end)
    end
  end)

  it("has frames of one kind", function()
    local line <close> = dev:zeros("f32", 4)
    local field <close> = dev:zeros("f32", 2, 3)
    local short <close> = dev:zeros("f32", 1)
    fails(function() mw.film():add(line):add(field) end,
      "film:add: the film has 1-D frames, got an array of 2 x 3 elements")
    fails(function() mw.film():add(field):add(line) end,
      "film:add: the film has 2-D frames, got an array of 4 elements")
    fails(function() mw.film():add(short) end, "film:add: the array has 1 element, a picture needs 2 at least")
  end)
end) end)
