-- SPDX-License-Identifier: MIT
--
-- Words of a command line that are nearly right, and the way out that the message names.
-- luacheck: std +busted

local support = require "tests.support"
local labs = require "tests.support.labs"
local quoted, shell = labs.quoted, labs.shell

-- { words, exit status, what the output has }
local CASES = {
  { "run copy", 2, "there is no study and no file 'copy'; did you mean 'copy.lua'?" },
  { "run copy.lau", 2, "there is no study and no file 'copy.lau'; did you mean 'copy.lua'?" },
  { "run sub/coyp.lua", 2, "there is no study and no file 'sub/coyp.lua'; did you mean 'sub/copy.lua'?" },
  { "run memcpy", 2, "unknown study 'memcpy'; did you mean 'memcopy'?" },
  { "run none/at/all.lua", 2, "there is no file 'none/at/all.lua'" },
  { "run copy.lua n=64", 2, "'n=64' is one word too many; a parameter is set by -p n=64" },
  { "run copy.lua more", 2, "'more' is one word too many\n" },
  { "run copy.cu 512 1", 2,
    "'512' is one word too many; a program's arguments come after --, as in moonwarp run copy.cu -- 512\n" },
  { "run copy.cu more.cpp n=512", 2, "; a program's arguments come after --, as in moonwarp run copy.cu -- n=512\n" },
  { "run copy.lua -pn=64", 0, "n is 64" },
  { "run copy.lua -pn", 2, "unknown option '-pn'" },
  { "run copy.lua -qn=64", 2, "unknown option '-q'" },
  { "run copy.lua --device gpu", 2, "unknown device 'gpu'; a GPU is cuda, or cuda:0" },
  { "run $(ls -d out/copy/*)", 2, "is the folder of a run; moonwarp rerun out/copy/" },
  { "export $(ls -d out/copy/*)/record.json", 0, "n,x" },
  { "report $(ls -d out/copy/*)/data.dat --output r.html", 0, "r.html, 1 run, " },
  { "plot copy.lua", 2, "there is no run in 'copy.lua'" },
  { "help run", 0, "usage: moonwarp run STUDY|FILE.lua" },
  { "help rnu", 2, "unknown command 'rnu'; did you mean 'run'?" },
  { "help", 0, "moonwarp run STUDY|FILE.lua" },
  { "help", 0, "moonwarp run PROGRAM.cu" },
  { "run copy", 2, "there is no study and no file 'copy'; did you mean 'copy.lua'?" },
}

describe("a word that is nearly right", function()
  if not labs.program then return pending "needs the program" end

  it("gets an answer that names the way out", function()
    support.with_folder(function(folder)
      local text = [[local mw = require "moonwarp"
        local n = mw.arg("n", 8) print("n is " .. n) mw.record { n = n, x = 1.5, device = "cpu" }]]
      assert(os.execute(("mkdir '%s/sub'"):format(folder)))
      support.write(folder .. "/copy.lua", text)
      support.write(folder .. "/sub/copy.lua", text)
      local function moonwarp(words)
        return shell(("cd %s && %s %s 2>&1 </dev/null"):format(quoted(folder), quoted(labs.program), words))
      end
      assert.are.equal(0, (moonwarp "run copy.lua"))
      for _, case in ipairs(CASES) do
        local status, output = moonwarp(case[1])
        assert.are.equal(case[2], status, case[1] .. ": " .. output)
        assert.is_truthy(output:find(case[3], 1, true), case[1] .. ": " .. output)
        os.execute(("cd '%s' && ls -d out/copy/* | tail -n +2 | xargs rm -rf"):format(folder))
      end
    end)
  end)
end)
