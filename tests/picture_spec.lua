-- SPDX-License-Identifier: MIT
--
-- mw.picture, axes that stand for something, marks, and films at the terminal.

local film = require "moonwarp.plot.film"
local labs = require "tests.labs"
local support = require "tests.support"
local mw, fails = support.mw, support.fails

local function in_folder(body)
  support.with_folder(function(folder) support.into(folder, body, folder) end)
end

local function has(text, ...)
  for _, words in ipairs { ... } do assert.is_truthy(text:find(words, 1, true), words .. " is not in: " .. text) end
end

describe("mw.picture", function() support.each_device(function(dev)
  local plane, line

  setup(function()
    plane = dev:array("f32", { { 1, 2, 3 }, { 4, 5, 6 } })
    line = dev:array("f32", { 1, 4, 9, 16, 25 })
  end)
  teardown(function() plane:close() line:close() end)

  it("draws a plane with axes that stand for something, and marks on it", function()
    in_folder(function()
      local made = mw.picture(plane, { name = "p", title = "plane", x = { 0, 4 }, y = { 100, 50 }, aspect = 0.5,
        quiet = true, marks = { { x = 2, y = 75, label = "it's \"here\"" }, { x = 0, y = 50 } } })
      has(support.read(made.dat), "# plane, " .. dev:name(), "1 2 3\n4 5 6\n")
      local script = support.read(made.gp)
      has(script, "using (0 + $1 * 2):(100 + $2 * -50):3 with image", "set size noratio",
        "set label 1 \"it's \\042here\\042\" at first 2, first 75 point", "set label 2 '' at first 0, first 50 point",
        "set xlabel 'x'", "set ylabel 'y'")
      assert.is_nil(script:find("gif", 1, true))
      assert.is_nil(made.gif)
      if os.execute "command -v gnuplot >/dev/null 2>&1" then
        assert.is_nil(made.reason)
        assert.are.equal("\x89PNG", support.read(made.png):sub(1, 4))
        has(support.read(made.svg), "here")
      end
    end)
  end)

  it("draws a line, and keeps elements as they were without these words", function()
    in_folder(function()
      local made = mw.picture(line, { name = "l", x = { -1, 1 }, quiet = true, pictures = false })
      has(support.read(made.gp), "using (-1 + $1 * 0.5):3 with lines")
      made = mw.picture(plane, { name = "e", quiet = true, pictures = false })
      has(support.read(made.gp), "using 1:2:3 with image", "set size ratio -1", "set xlabel 'ix'")
    end)
  end)

  it("rejects what it cannot draw", function()
    fails(function() mw.picture() end, "film:add: an array is wanted, got nil")
    for _, range in ipairs { {}, { 1 }, { 1, 1 }, { 1, "2" }, { 0, math.huge } } do
      fails(function() mw.picture(plane, { x = range }) end,
        "mw.picture: option 'x' must be what the first and the last element stand for, as { 0, 2.5 }")
    end
    fails(function() mw.picture(plane, { aspect = 0 }) end,
      "mw.picture: option 'aspect' must be height over width, from 0.05 to 20, got 0")
    fails(function() mw.film { marks = { { x = 1 } } } end, "mw.film: mark 1 needs x and y")
  end)
end) end)

describe("a stored picture", function()
  if not support.program() then return pending "needs the program" end

  it("is drawn again by moonwarp plot", function()
    support.with_folder(function(folder)
      local function run(words)
        return labs.shell(("cd %s && %s %s </dev/null"):format(labs.quoted(folder), labs.quoted(labs.program), words))
      end
      local status, output = run([[-e 'local a = mw.device"cpu":zeros("f32", 4, 4)
        mw.picture(a, { name = "p", x = { 0, 1 }, quiet = true }) mw.record { n = 1 }' --out out]])
      assert.are.equal(0, status, output)
      local script = support.run(folder .. "/out") .. "/p.gp"
      local before = support.read(script)
      os.remove(script)
      status, output = run "plot out"
      assert.are.equal(0, status, output)
      has(support.read(script), "using (0 + $1 * 0.333", before:match "plot data[^\n]*")
    end)
  end)
end)

describe("a live film", function()
  it("has a frame as shades, upwards, with ? for what is no number", function()
    local rows = { { 0, 0.1, 1 }, { 0, 0, 0 }, { 1, 0, 0 / 0 }, { 0, 0, 0 } }
    assert.are.same({ "@ ?", " .@" }, film.shades(rows, 80, 0, 1))
    assert.are.same({ "  " }, film.shades({ { 5, 5 } }, 1000, 5, 5))
    local wide = {}
    for i = 1, 100 do wide[i] = i end
    assert.are.equal(40, #film.shades({ wide }, 40, 0, 1)[1])
  end)

  local SCRIPT <const> = [[-e 'local f = mw.film { name = "f", live = true, pictures = false }
    local a = mw.device"cpu":array("f32", { { 0, 1, 2 }, { 2, 1, 0 } })
    f:add(a, "first") local from = mw.clock() while mw.clock() - from < 0.06 do end
    f:add(a, "second"):add(a, "third"):draw()']]

  it("is shown where there is a terminal, and nowhere else", function()
    if not support.program() then return pending "needs the program" end
    support.with_folder(function(folder)
      local command = ("cd %s && TERM=%%s %s %s --out out"):format(folder, labs.quoted(labs.program), SCRIPT)
      local screen = support.typed(command:format "xterm", { { "written", "" } })
      has(screen, "first\27[K", "\27[2A", "second\27[K")
      assert.is_nil(screen:find("third\27", 1, true))
      for _, words in ipairs { command:format "dumb", command:format "xterm" .. " --quiet" } do
        assert.is_nil(support.typed(words, {}):find("\27[K", 1, true))
      end
      assert.is_nil(select(2, labs.shell(command:format "xterm" .. " </dev/null | cat")):find("\27", 1, true))
    end)
  end)
end)
