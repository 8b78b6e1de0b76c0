-- SPDX-License-Identifier: MIT
--
-- A gnuplot that does not do what is asked: it costs the pictures, with a reason, and nothing else.

local support = require "tests.support"

-- What a script prints that draws a chart by this gnuplot, a shell script.
local function drawn_by(gnuplot)
  local output
  support.with_folder(function(folder)
    support.write(folder .. "/gnuplot", "#!/bin/sh\n" .. gnuplot)
    os.execute(("chmod +x '%s/gnuplot'"):format(folder))
    output = support.child_passes(([[
      local mw = require "moonwarp"
      require("moonwarp.session").current.options.out = %q .. "/out"
      require("moonwarp.plot.gnuplot").LIMIT = 0.3
      mw.record { device = "cpu", x = 1, y = 2 }
      local made = mw.plot { x = "x", y = "y", name = "p" }
      assert(made.gp and made.dat and made.reason and not made.png)
    ]]):format(folder), { env = { PATH = folder .. ":" .. os.getenv "PATH" } })
  end)
  return output
end

local function says(output, words)
  assert.is_truthy(output:find(words, 1, true), output)
  assert.is_nil(output:find "\27")
end

describe("a gnuplot", function()
  it("that does not end is killed, with its children", function()
    says(drawn_by "sleep 1000", "no pictures: 'gnuplot' did not finish within 0.3 s")
  end)

  it("that floods its errors is killed", function()
    says(drawn_by "yes '\27[31mword' >&2", "no pictures: 'gnuplot' ")
  end)

  it("that fails is quoted, in a line without control characters", function()
    says(drawn_by "printf 'one\\n\\033[31mtwo' >&2; exit 3", "no pictures: gnuplot failed: one ?[31mtwo")
    local output = drawn_by "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 3"
    says(output, "no pictures: gnuplot failed: xxx")
    assert.is_true(#output < 8000)
  end)

  it("that dies of a signal is named by it", function()
    says(drawn_by "kill -SEGV $$", "no pictures: gnuplot was killed by signal 11")
  end)

  it("that leaves nothing is not believed", function()
    says(drawn_by "exit 0", "no pictures: gnuplot left no whole pictures")
  end)
end)
