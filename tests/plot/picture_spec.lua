-- SPDX-License-Identifier: MIT
--
-- mw.picture and the words it shares with mw.film: places of the axes, marks, aspect; a film in the terminal.

local support = require "tests.support"
local film = require "moonwarp.plot.film"
local mw = support.mw
local fails = support.fails

local LIVE = [[
local mw = require "moonwarp"
local film = mw.film { name = "f", live = true, pictures = false }
local field <close> = mw.device("cpu"):array("f64", { { 0, 0 }, { 0, 4 } })
film:add(field, "t =\0270"):draw()
]]

-- What the script's film writes with the output as the command makes it.
local function live(command, environment)
  local screen
  support.with_folder(function(folder)
    support.write(folder .. "/s.lua", LIVE)
    command = command:format(("cd %s && env %s '%s' run s.lua --device cpu"):format(folder, environment,
      support.program()))
    screen = support.typed(command .. "; echo the end", { { "the end", "" } })
  end)
  return (screen:gsub("\r\n", "\n"))
end

describe("mw.picture", function() support.each_device(function(dev)
  local function drawn(rows, spec)
    local field <close> = dev:array("f64", rows)
    local script, data
    support.with_folder(function(folder)
      spec.name, spec.quiet, spec.pictures = "p", true, false
      support.into(folder, function()
        local made = mw.picture(field, spec)
        script, data = support.read(made.gp), support.read(made.dat)
      end)
    end)
    return script, data
  end

  it("has axes of its coordinates, marks and an aspect, and no GIF", function()
    local script, data = drawn({ { 1, 2, 3 }, { 4, 5, 6 } }, { x = { 0, 0.5 }, y = { 100, 50 }, aspect = 0.6,
      marks = { { x = 0.1, y = 60, label = "it's" }, { x = 0.5, y = 100 } } })
    local function has(text) assert.is_truthy(script:find(text, 1, true), script) end
    has "plot data index 0 matrix using (0+0.25*$1):(100+-50*$2):3 with image\n"
    has "set size ratio 0.6\n"
    has 'set label "it\'s" at first 0.1, first 60 left offset 2,0 front'
    has "set label '' at first 0.5, first 100 right offset -2,0 front"
    assert.is_nil(script:find("gif", 1, true))
    assert.is_truthy(data:find("\n1 2 3\n4 5 6\n", 1, true), data)
  end)

  it("of a 1-D field is a line along x", function()
    local script = drawn({ 1, 2, 3 }, { x = { -1, 1 } })
    assert.is_truthy(script:find("plot data index 0 matrix using (-1+1*$1):3 with lines", 1, true), script)
  end)

  it("has files of its own without a name, and is drawn again with one", function()
    local field <close> = dev:zeros("f32", 3)
    support.with_folder(function(folder)
      support.into(folder, function()
        local function made(name) return mw.picture(field, { name = name, quiet = true, pictures = false }).gp end
        assert.are.equal(made "p", made "p")
        assert.are_not.equal(made(), made())
      end)
    end)
  end)

  it("rejects what is no axis, no mark and no field", function()
    local field <close> = dev:zeros("f32", 2, 2)
    for _, ends in ipairs { {}, { 1 }, { 1, 1 }, { 1, 2, 3 }, { 0, math.huge } } do
      fails(function() mw.picture(field, { x = ends }) end,
        "mw.picture: option 'x' must be { first, last }, the places of the first and the last element")
    end
    fails(function() mw.film { marks = { { x = 1 } } } end, "mw.film: option 'marks'[1].y must be a number, got nil")
    fails(function() mw.picture(field, { aspect = 0 }) end,
      "mw.picture: option 'aspect' must be at least 0.05, got 0")
    fails(function() mw.picture(field, { live = true }) end, "mw.picture: unknown option 'live'; it takes "
      .. "aspect, device, high, label, low, marks, name, pictures, quiet, title, x, xlabel, y, ylabel")
    fails(function() mw.picture(3) end, "mw.picture: an array is wanted, got number")
  end)
end) end)

describe("a live film", function()
  it("is a field in letters, the first row at the bottom", function()
    local size = { width = 8, height = 4, unicode = true }
    assert.are.same({ "██▒▒", "    " }, film.letters({ { 0, 0 / 0 }, { 4, 2 } }, 0, 4, 1, { width = 4, height = 9,
      unicode = true }))
    assert.are.same({ "    ▄▄██", "  ██████" }, film.letters({ { 0, 2, 3, 4 } }, 0, 4, 0.5, size))
    assert.are.same({ "#" }, film.letters({ { 9, 9 }, { 9, 9 } }, 0, 4, 20, { width = 1, height = 1 }))
  end)

  it("draws each frame over the one before in a terminal of any width", function()
    for columns, rows in pairs { [9] = "    ####\n    ####\n        \n        \n", [2] = "#\n" } do
      local screen = live("stty cols " .. columns .. " rows 24; %s", "TERM=xterm LC_ALL=C")
      local caption = columns > 5 and "t =?0" or ""
      local lines = select(2, rows:gsub("\n", "")) + 1
      local frame = caption .. "\n" .. rows
      assert.is_truthy(screen:find(("%s\r\27[%dA\27[J%s"):format(frame, lines, frame), 1, true), screen)
    end
  end)

  it("writes nothing where the output is no terminal, or cannot move its cursor", function()
    for _, screen in ipairs { live("%s | cat", "TERM=xterm LC_ALL=C"), live("%s", "TERM=dumb LC_ALL=C") } do
      assert.is_nil(screen:find("#", 1, true) or screen:find("\27", 1, true), screen)
      assert.is_truthy(screen:find("results: ", 1, true), screen)
    end
  end)
end)
