-- SPDX-License-Identifier: MIT
--
-- mw.film: what is rejected, the data, the pictures, and fields that are no numbers or all the same.

local support = require "tests.support"
local mw = support.mw
local fails = support.fails

local function has_gnuplot()
  return os.execute "command -v gnuplot >/dev/null 2>&1"
end

local function in_folder(body)
  support.with_folder(function(folder)
    support.into(folder, body, folder)
  end)
end

-- Draws the arrays as a film and hands over what was made and the text of its data.
local function with_film(spec, arrays, body)
  in_folder(function()
    spec.name, spec.quiet = spec.name or "f", true
    local film = mw.film(spec)
    for i, array in ipairs(arrays) do assert.are.equal(film, film:add(array, spec.captions and spec.captions[i])) end
    local made = film:draw()
    body(made, support.read(made.dat), support.read(made.gp))
  end)
end

-- The number of pictures in a GIF: each has a graphic control block of four bytes in front.
local function gif_frames(name)
  local _, count = support.read(name):gsub("\x21\xf9\x04....\x00", "")
  return count
end

local function drawn(made)
  assert.is_nil(made.reason)
  assert.are.equal("\x89PNG", support.read(made.png):sub(1, 4))
  assert.is_truthy(support.read(made.svg):find("</svg>", 1, true))
end

describe("a film", function() support.each_device(function(dev)
  local arrays = {}

  local function array(...)
    arrays[#arrays + 1] = dev:array(...)
    return arrays[#arrays]
  end

  after_each(function()
    for _, a in ipairs(arrays) do a:close() end
    arrays = {}
  end)

  it("writes each frame as rows under its caption", function()
    local one, two = array("f64", { { 1, 2.5, 3 }, { 4, 5, 6 } }), array("i32", { { 7, 8, 9 }, { 10, 11, 12 } })
    with_film({ pictures = false, title = "heat", device = dev }, { one, two }, function(made, data, script)
      assert.is_truthy(data:find("# heat, " .. dev:name(), 1, true))
      assert.is_truthy(data:find("\n# frame 0: frame 1\n1 2.5 3\n4 5 6\n\n\n# frame 1: frame 2\n7 8 9\n10 11 12\n", 1,
        true), data)
      assert.is_truthy(script:find("set cbrange [1:12]", 1, true))
      assert.is_nil(made.png or made.svg or made.gif)
    end)
  end)

  it("keeps a frame as the field was when it was added", function()
    local a = array("f32", 2, 2):fill(1)
    in_folder(function()
      local film = mw.film({ name = "f", pictures = false, quiet = true }):add(a, "t = 0")
      a:fill(2)
      local data = support.read(film:add(a, "t =\n1"):draw().dat)
      assert.is_truthy(data:find("# frame 0: t = 0\n1 1\n1 1\n\n\n# frame 1: t = 1\n2 2\n2 2\n", 1, true), data)
    end)
  end)

  it("has one scale of colours, the caller's where given", function()
    local a = array("f64", { { 1, 2 }, { 3, 4 } })
    with_film({ pictures = false, low = -1, high = 10 }, { a }, function(_, _, script)
      assert.is_truthy(script:find("set cbrange [-1:10]", 1, true))
    end)
  end)

  it("draws a GIF with all frames, and the last one by itself", function()
    if not has_gnuplot() then
      pending("needs gnuplot")
      return
    end
    local a = array("f64", 12, 9)
    in_folder(function()
      local film = mw.film { name = "f", quiet = true, title = "It's \"quoted\" $x_2", xlabel = "x {m}", label = "T^a" }
      for i = 1, 5 do film:add(a:random(i), ("it's %d_%d"):format(i, i)) end
      local made = film:draw()
      drawn(made)
      assert.are.equal("GIF89a", support.read(made.gif):sub(1, 6))
      assert.are.equal(5, gif_frames(made.gif))
    end)
  end)

  it("leaves out what is not a number, and draws the rest", function()
    local a = array("f64", { { 1, 0 / 0, 3 }, { math.huge, -math.huge, 5 } })
    with_film({ pictures = has_gnuplot() and true or false }, { a }, function(made, data, script)
      assert.is_truthy(data:find("\n1 nan 3\nnan nan 5\n", 1, true), data)
      assert.is_truthy(script:find("set cbrange [1:5]", 1, true))
      if has_gnuplot() then drawn(made) end
    end)
  end)

  it("draws a field that is the same everywhere, and one without a number", function()
    for value, range in pairs { [3] = "[3:4]", [-2.5] = "[-2.5:-1.5]" } do
      with_film({ pictures = has_gnuplot() and true or false }, { array("f32", 5, 4):fill(value) },
        function(made, _, script)
          assert.is_truthy(script:find("set cbrange " .. range, 1, true))
          if has_gnuplot() then drawn(made) end
        end)
    end
    with_film({ pictures = has_gnuplot() and true or false }, { array("f32", 5, 4):fill(0 / 0) },
      function(made, _, script)
        assert.is_truthy(script:find("set cbrange [0:1]", 1, true))
        if has_gnuplot() then drawn(made) end
      end)
  end)

  it("shows a view of a field that is too large", function()
    local a = array("f32", 1024, 512)
    local film = mw.film { name = "f", quiet = true, pictures = false }
    fails(function() film:add(a) end, "film:add: the array has 1024 x 512 elements, a frame shows 262144 at most; "
      .. "film a smaller field or a view")
    local part <close> = a:view(1, 1024, 2)
    film:add(part)
  end)

  it("rejects what is not a picture", function()
    local film = mw.film()
    fails(function() film:draw() end, "film:draw: there is no frame; film:add(array) adds one")
    fails(function() film:add(3) end, "film:add: an array is wanted, got number")
    fails(function() film:add() end, "film:add: an array is wanted, got nil")
    fails(function() film:add(array("f32", 2, 2, 2)) end, "film:add: a 1-D or 2-D array is wanted")
    fails(function() film:add(array("f32", 5, 1)) end,
      "film:add: the array has 5 x 1 elements, a picture needs 2 x 2 at least")
  end)
end) end)

describe("mw.film", function()
  it("rejects options that it does not know", function()
    fails(function() mw.film { colour = "red" } end, "mw.film: unknown option 'colour'; it takes aspect, delay, "
      .. "device, high, label, live, low, marks, name, pictures, quiet, title, x, xlabel, y, ylabel")
    fails(function() mw.film { tilte = "x" } end, "mw.film: unknown option 'tilte'; did you mean 'title'?")
    fails(function() mw.film { device = "cpu" } end, "mw.film: option 'device' must be a device, got string")
    fails(function() mw.film { low = 2, high = 1 } end, "mw.film: option 'high' must be above 'low', got 1 and 2")
    fails(function() mw.film { delay = -1 } end, "mw.film: option 'delay' must be at least 0, got -1")
    fails(function() mw.film { marks = { { x = 0 / 0, y = 1 } } } end,
      "mw.film: option 'marks'[1] must be a place, with finite x and y")
    fails(function() mw.film "f" end, "mw.film: options must be a table, got string")
  end)

  it("leaves what is printed between its live frames", function()
    local output = support.child_passes [[
      local mw, core = require "moonwarp", require "moonwarp.core"
      require("moonwarp.plot.chart").screen = function() return 40, 7 end
      local seconds = 0
      core.clock = function() seconds = seconds + 1 return seconds end
      local film, a = mw.film { live = true }, mw.device "cpu":array("f32", { 1, 2, 3 })
      film:add(a)
      film:add(a)
      for _, say in ipairs { print, io.write, function(text) io.stdout:write(text) end } do say "said\n" film:add(a) end
    ]]
    local words = {}
    for word in output:gmatch "\27%[%d+A\27%[J[^\n]+" do words[#words + 1] = word:match "frame %d" end
    assert.are.same({ "frame 2" }, words, output)
    assert.are.equal(3, select(2, output:gsub("said\n+frame", "")), output)
  end)

  it("does without gnuplot, and says so", function()
    support.with_folder(function(folder)
      -- a PATH with what the child and the library need, and no gnuplot
      for _, tool in ipairs { "env", "timeout", "mkdir", "sh", "lua5.4", "as", "ld", "g++", "clang++" } do
        os.execute(("ln -s \"$(command -v %s)\" '%s/' 2>/dev/null"):format(tool, folder))
      end
      local output = support.child_passes(([[
        local mw = require "moonwarp"
        require("moonwarp.session").current.options.out = %q
        local made = mw.film({ name = "p" }):add(mw.device "cpu":array("f32", { { 1, 2 }, { 3, 4 } })):draw()
        assert(made.gp and made.dat and made.reason and not made.gif)
      ]]):format(folder), { env = { PATH = folder } })
      assert.is_truthy(output:find("no pictures: gnuplot is not installed", 1, true), output)
      assert.is_truthy(support.read(support.run(folder) .. "/p.gp"):find("data = 'p.dat'", 1, true))
    end)
  end)
end)
