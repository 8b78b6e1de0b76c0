-- SPDX-License-Identifier: MIT
--
-- What a picture shows beside its points: labels of levels, a key, ticks, the order of series.

local support = require "tests.support"
local mw = support.mw

local HAS_GNUPLOT = os.execute "command -v gnuplot >/dev/null 2>&1"

-- Draws records without pictures; the script and the data that are left.
local function drawn(spec)
  local made
  support.with_folder(function(folder)
    spec.quiet, spec.pictures = true, false
    made = support.into(folder, mw.plot, spec)
    for _, ending in ipairs { "gp", "dat" } do made[ending] = support.read(made[ending]) end
  end)
  return made
end

local function rows(names)
  local list = {}
  for i, name in ipairs(names) do
    for x = 1, 3 do list[#list + 1] = { device = "cpu", x = 2 ^ x, y = x * i, name = name } end
  end
  return list
end

describe("a picture", function()
  it("names levels at an end of their lines, in their colours, and not on top of each other", function()
    local gp = drawn { x = "x", y = "y", records = rows { "a" }, peak = 4, lines = { { value = 3.9, label = "triad" },
                       { value = 3.8, label = "source" }, { value = 3.7, label = "other" } } }.gp
    assert.is_truthy(gp:find("set label 'peak (4)' at graph 0.995, first 4 right offset character 0, 0.75 textcolor "
      .. "rgb '#000000' front", 1, true), gp)
    assert.is_truthy(gp:find("arrow from graph 0, first 4 to graph 1, first 4 nohead lc rgb '#000000'", 1, true), gp)
    local seen = {}
    for side, value, offset in gp:gmatch "set label [^\n]- at graph (%S+), first (%S+) %a+ offset character 0, (%S+)" do
      local middle = value + offset * 0.3 -- of a label, whose letters are so high
      for _, other in ipairs(seen) do assert.is_true(other[1] ~= side or math.abs(other[2] - middle) > 0.25, gp) end
      seen[#seen + 1] = { side, middle }
    end
    assert.are.equal(4, #seen + select(2, gp:gsub("NaN with lines lc [^\n]- title ", "")), gp)
  end)

  it("names a level in its key where its label would cover a point or another level", function()
    local records = {}
    for i, y in ipairs { 4.41, 3.95, 3.95, 3.95, 4.4, 4.1 } do
      records[i] = { device = "cpu", x = 2 ^ (i - 1), y = y, name = "one value" }
      records[i + 6] = { device = "cpu", x = 2 ^ (i - 1), y = 2 + i / 4, name = "uniform" }
    end
    local gp = drawn { x = "x", y = "y", by = "name", records = records, logx = 2, logy = 10, peak = 4.81,
                       lines = { { value = 4.22, label = "copy of the library" } } }.gp
    assert.is_truthy(gp:find("set label 'peak (4.810)'", 1, true), gp)
    assert.is_nil(gp:find("set label 'copy of the library", 1, true), gp)
    assert.is_truthy(gp:find("NaN with lines lc [^\n]- title 'copy of the library %(4.220%)'"), gp)
  end)

  it("has no key for a single series, and one below the axis's label for more", function()
    local one = drawn { x = "x", y = "y", by = "name", records = rows { "a" }, peak = 9 }.gp
    assert.is_truthy(one:find("\nunset key\n", 1, true))
    local two = drawn { x = "x", y = "y", by = "name", records = rows { "a", "b" }, peak = 9 }.gp
    local axis = two:match "set bmargin at screen ([%d.]+)"
    local key = two:match "set key at screen 0.5, screen ([%d.]+) center top"
    assert.is_true(axis - key > 50 / 350, two) -- two lines of letters and a row of the key
  end)

  it("has its series in the order of the numbers in their names, else as they come", function()
    local function names(list)
      local found = {}
      local data = drawn({ x = "x", y = "y", by = "name", records = rows(list) }).dat
      for name in data:gmatch "# series %d+: ([^\n]+)" do found[#found + 1] = name end
      return found
    end
    assert.are.same({ "name = 64", "name = 256", "name = 1024" }, names { 1024, 64, 256 })
    assert.are.same({ "n = 2", "n = 10" }, names { "n = 10", "n = 2" })
    assert.are.same({ "name = -2", "name = -1", "name = 0.5" }, names { 0.5, -1, -2 })
    assert.are.same({ "tiled", "naive 2", "naive 1" }, names { "tiled", "naive 2", "naive 1" })
  end)

  -- gnuplot's own labels were 1e-05 beside 0.0001.
  it("has ticks of one form", function()
    local list = {}
    for x = 1, 4 do list[x] = { device = "cpu", x = x, y = 10.0 ^ -x / 10 } end
    local gp = drawn { x = "x", y = "y", logy = 10, records = list }.gp
    assert.is_truthy(gp:find("set ytics ('1e-5' 1e-05, '1e-4' 0.0001, '1e-3' 0.001, '1e-2' 0.01)", 1, true), gp)
  end)

  it("has room between its outermost points and the frame, unless limits are given", function()
    local script = drawn({ x = "x", y = "y", records = rows { "a" } }).gp
    local low, high = script:match "$frame << [^\n]+\n(%S+) %S+\n(%S+)"
    assert.is_true(tonumber(low) < 2 and tonumber(high) > 8)
    local gp = drawn({ x = "x", y = "y", records = rows { "a" }, xmin = 2, xmax = 8 }).gp
    assert.is_truthy(gp:find("set xrange [2:8]", 1, true))
  end)

  -- gnuplot takes the logarithm of an end, which by rounding lay beyond itself.
  it("has ticks and points at the ends of logarithmic axes", function()
    local list = {}
    for i = 6, 7 do list[i - 5] = { device = "cpu", x = 2^i, y = 10.0 ^ (2 * i - 11) } end
    local spec = { x = "x", y = "y", logx = 2, logy = 10, xmin = 64, xmax = 128, records = list, name = "p" }
    local gp = drawn(spec).gp
    local low, high = gp:match "set xrange %[(%S+):(%S+)%]"
    assert.is_true(tonumber(low) < 64 and tonumber(high) > 128, gp)
    low, high = gp:match "$frame << [^\n]+\n%S+ (%S+)\n%S+ (%S+)"
    assert.is_true(tonumber(low) < 10 and tonumber(high) > 1000, gp)
    if not HAS_GNUPLOT then return end
    support.with_folder(function(folder)
      spec.pictures = true
      local svg = support.read(support.into(folder, mw.plot, spec).svg)
      for _, label in ipairs { 64, 128, 10, 1000 } do
        assert.is_truthy(svg:find(("%%f[%%d]%d%%f[%%D]</?"):format(label)), label)
      end
    end)
  end)

  it("names the levels of a ladder above its bars", function()
    local made
    support.with_folder(function(folder)
      local spec = { x = "y", by = "name", quiet = true, pictures = false, level = 2,
        lines = { { value = 0.5, label = "old" } }, records = { { device = "cpu", y = 1, name = "a" } } }
      made = support.read(support.into(folder, mw.ladder, spec).gp)
    end)
    assert.is_truthy(made:find("set label 'level %(2%)' at first 2, first [-%d.]+ right [^\n]+ rgb '#000000'"), made)
    assert.is_truthy(made:find("set label 'old %(0.5000%)' at first 0.5, first [-%d.]+ left"), made)
    assert.is_truthy(made:find("\nunset key\n", 1, true))
  end)

  it("leaves the names of a ladder's bars out of the lines of levels", function()
    local data
    support.with_folder(function(folder)
      local function bar(y, name) return { device = "cpu", y = y, name = name } end
      local spec = { x = "y", by = "name", quiet = true, pictures = false, level = 1, lines = { 9.9 },
        records = { bar(1, "a"), bar(10, "a name that reaches beyond the line") } }
      data = support.read(support.into(folder, mw.ladder, spec).dat)
    end)
    local function pieces(block)
      local lines = (data .. "\n\n"):match(("# block %d: [^\n]*\n[^\n]*\n(.-)\n\n\n"):format(block))
      return select(2, lines:gsub("\n\n", "")) + 1
    end
    assert.are.same({ 2, 1 }, { pieces(1), pieces(2) }, data)
  end)

  it("draws the data file beside it, by its name only", function()
    if not HAS_GNUPLOT then
      pending "needs gnuplot"
      return
    end
    support.with_folder(function(folder)
      local made = support.into(folder, mw.plot, { x = "x", y = "y", records = rows { "a" }, quiet = true, name = "p" })
      local run = support.run(folder)
      support.write(made.dat, (support.read(made.dat):gsub("\n8 3\n", "\n8 3.25\n")))
      assert.is_true(os.execute(("cd '%s' && gnuplot p.gp"):format(run)))
      assert.is_truthy(support.read(made.svg):find("y: 3.25", 1, true))
      support.write(run .. "/h.gp", "set terminal svg\nset output 'h.svg'\nset key autotitle columnhead\n"
        .. "plot 'p.dat' using 1:2 with lines\n")
      assert.is_true(os.execute(("cd '%s' && gnuplot h.gp"):format(run)))
      assert.is_truthy(support.read(run .. "/h.svg"):find(">y<", 1, true))
    end)
  end)
end)

describe("a film", function()
  it("of a strip fills its picture", function()
    local film = require "moonwarp.plot.film"
    local function drawing(nx, ny)
      local picture = { name = "f", title = "T", device = "d", nx = nx, ny = ny, low = 0, high = 1, xlabel = "x",
                        ylabel = "y", label = "", delay = 0.1 }
      local made = film.drawing(picture, { { name = "t", "0 1", "1 0" } })
      return made.ratio, made.settings[1]
    end
    local square, equal = drawing(64, 64)
    local strip, own = drawing(4096, 4)
    assert.are.equal("set size ratio 1", equal)
    assert.are.equal("set size noratio", own)
    assert.is_true(strip < square / 2)
    assert.are.equal("set size noratio", select(2, drawing(4, 4096)))
  end)
end)
