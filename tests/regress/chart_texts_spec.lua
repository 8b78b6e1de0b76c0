-- SPDX-License-Identifier: MIT
--
-- Texts and names that a script gives to pictures: none may cost a picture, or become a command.

local support = require "tests.support"
local mw = support.mw

local HAS_GNUPLOT = os.execute "command -v gnuplot >/dev/null 2>&1"

local TEXTS = { "'tis", "ends with'", "''", "'", '"quoted"', "back\\slash\\", "`touch ran`",
                "a\nb\r\nset output 'ran'", "100 % %s %d", "@macro {a}^b_c", "\27[31m\0\1\127", ("long "):rep(300),
                "\xff\xfe", "é ü", "$data", "# a", "a;b", "<&>]]>", "" }

-- The text wherever a picture can have one.
local PICTURES = {
  plot = function(text)
    local rows = { { x = 1, y = 1, name = text, e = 2 }, { x = 2, y = 2, name = text, e = 3 },
                   { x = 1, y = 3, name = "b" } }
    return mw.plot { x = "x", y = "y", by = "name", low = "y", high = "e", title = text, xlabel = text, ylabel = text,
                     unit = text, xunit = text, peak = { value = 2, label = text }, records = rows, quiet = true }
  end,
  ladder = function(text)
    local rows = { { y = 1, name = text .. "1", share = 0.5 }, { y = 2, name = text .. "2", low = 1.9, high = 2.1 } }
    local name = (text .. "1"):gsub("%c+", " ")
    return mw.ladder { x = "y", by = "name", title = text, xlabel = text, unit = text, low = "low", high = "high",
                       share = "share", level = { value = 2, label = text }, records = rows, quiet = true,
                       marks = { { bar = name, value = 2, label = text } } }
  end,
  timeline = function(text)
    return mw.timeline { title = text, quiet = true, spans = {
      { lane = text, kind = text, from = 0, to = 1, label = text }, { lane = "b", kind = "c", from = 0.5, to = 2 } } }
  end,
}

describe("a text of a picture", function()
  for kind, draw in pairs(PICTURES) do
    -- gnuplot takes two apostrophes at the beginning of a literal for an empty one, and rejected the script.
    it(("leaves a %s its pictures"):format(kind), function()
      if not HAS_GNUPLOT then
        pending "needs gnuplot"
        return
      end
      support.with_folder(function(folder)
        support.into(folder, function()
          for _, text in ipairs(TEXTS) do
            local made = draw(text)
            assert.is_nil(made.reason, text)
            assert.is_nil(support.read(made.svg):find("[%z\1-\8\11\12\14-\31]"), text)
          end
        end)
        assert.is_nil(io.open(support.run(folder) .. "/ran"))
      end)
    end)
  end
end)

describe("the name of a picture", function()
  local rows = { { device = "cpu", x = 1, y = 2, z = 3 } }

  local function plot(spec)
    spec.x, spec.y, spec.records, spec.quiet, spec.pictures = "x", spec.y or "y", rows, true, false
    return mw.plot(spec).dat:match "([^/]+)%.dat$"
  end

  -- data.dat, written when the run ends, took the place of the chart's.
  it("is not that of the run's own data", function()
    support.with_folder(function(folder)
      support.into(folder, function()
        assert.are.equal("data-chart", plot { name = "data" })
        mw.record { a = 1 }
      end)
      local run = support.run(folder)
      assert.is_truthy(support.read(run .. "/data.dat"):find("a", 1, true))
      assert.is_truthy(support.read(run .. "/data-chart.dat"):find('"x" "y"', 1, true))
    end)
  end)

  -- The second one took the first one's place, in the folder and in the record.
  it("is its own, unless the picture is drawn again", function()
    support.with_folder(function(folder)
      support.into(folder, function()
        local names = { plot { name = "a b" }, plot { name = "a-b" }, plot { name = "ä" }, plot { name = "ö" },
                        plot { name = "a b" }, plot { title = "one" }, plot { title = "two" }, plot { title = "one" },
                        plot { name = "a b", y = "z" } }
        local default = names[6]
        assert.are.same({ "a-b", "a-b-2", "plot", "plot-2", "a-b", default, default .. "-2", default, "a-b-3" }, names)
        local made = mw.timeline { name = "a b", quiet = true, pictures = false,
                                   spans = { { lane = "l", kind = "k", from = 0, to = 1 } } }
        assert.are.equal("a-b-4.dat", made.dat:match "[^/]+$")
        assert.is_true(#plot { name = ("n"):rep(1000) } < 200)
      end)
      local run = assert(require("moonwarp.results.store").read(support.run(folder)))
      assert.are.equal(8, #run.charts)
    end)
  end)
end)
