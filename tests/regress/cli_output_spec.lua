-- SPDX-License-Identifier: MIT
--
-- Output that has nowhere to go: a closed or full standard output, a folder that cannot be made or written. It starts
-- $MOONWARP_PROGRAM itself.

local support = require "tests.support"
local labs = require "tests.support.labs"
local PROGRAM, quoted, shell = labs.program, labs.quoted, labs.shell

describe("a closed standard output", function()
  -- A file that the program opened became descriptor 1, and what was printed went into it.
  it("gets none of the program's own files", function()
    support.with_folder(function(folder)
      support.write(folder .. "/s.lua", [[
        local mw = require "moonwarp"
        print "lost words"
        mw.record { device = "cpu", x = 1 }
        io.write "lost words"]])
      support.write(folder .. "/labs.lua", [[return { { name = "a", script = "s.lua", devices = "cpu" } }]])
      for _, command in ipairs { "run s.lua --out a >&-", "run s.lua --out b <&- >&- 2>&-",
                                 "batch labs.lua --out c >&-" } do
        local status, output = shell(("cd %s && %s %s"):format(quoted(folder), quoted(PROGRAM), command))
        assert.are.equal(0, status, output)
      end
      assert.are.equal(0, (shell(("cd %s && test -s a/s/*/record.json && ! grep -rl 'lost words' a b "
        .. "--exclude=*.lua && ! grep -v '^[0-9]*$' c/batch/*/lock"):format(quoted(folder)))))
    end)
  end)

  -- The record said complete, since it was closed before the output was looked at.
  it("is no failure, but a full one is, and the record says so", function()
    for target, expected in pairs { [">&-"] = "complete", [">/dev/full"] = "failed" } do
      support.with_folder(function(folder)
        local status, output = shell(("cd %s && %s -e 'print(1) mw.record { x = 1 }' %s"):format(quoted(folder),
          quoted(PROGRAM), target))
        local stored = assert(require("moonwarp.results.store").read(support.run(folder .. "/out")))
        assert.are.equal(expected, stored.status)
        assert.are.equal(expected == "complete" and 0 or 1, stored.exit)
        assert.are.equal(stored.exit, status)
        assert.are.equal(status == 1 and "standard output could not be written" or nil, stored.message)
        assert.are.equal(status == 1, output:find("moonwarp: standard output could not be written", 1, true) ~= nil)
      end)
    end
  end)

  -- A file of the program could become its input, too.
  it("leaves nothing to read, either", function()
    local status, output = shell(quoted(PROGRAM) .. " -e 'print((io.read()))' <&-")
    assert.are.equal(0, status)
    assert.are.equal("nil\n", output)
  end)
end)

describe("a pipe without a reader", function()
  -- list starts processes, and SIGPIPE is ignored from then on.
  it("ends the program by SIGPIPE, without a word", function()
    support.with_folder(function(folder)
      local gone = quoted(folder .. "/gone")
      local _, output = shell(("{ { until [ -e %s ]; do sleep 0.01; done; %s list memcopy; echo $? >&2; } |"
        .. " { exec 0<&-; : >%s; }; }"):format(gone, quoted(PROGRAM), gone))
      assert.are.equal("141\n", output)
    end)
  end)
end)

describe("a limit on the size of files", function()
  -- SIGXFSZ ended the program: no message, and a run without an end.
  it("is an error like a full disk", function()
    support.with_folder(function(folder)
      local command = [[cd %s; { (ulimit -f 0; %s -e %s >printed; echo status $?) 2>&1; } | cat]]
      for code, message in pairs { ["mw.record { x = 1 }"] = "journal.jsonl: File too large; choose another place",
                                   ["print 'text'"] = "standard output could not be written" } do
        local _, output = shell(command:format(quoted(folder), quoted(PROGRAM), quoted(code)))
        assert.is_truthy(output:find(message, 1, true), output)
        assert.is_truthy(output:find("status 1", 1, true), output)
      end
    end)
  end)
end)

describe("an output folder that nobody named", function()
  -- It was tried when the first result came, after all that had been measured for it.
  it("is tried before anything is measured", function()
    support.with_folder(function(folder)
      local function run(code)
        return shell(("cd %s && %s -e %s"):format(quoted(folder), quoted(PROGRAM), quoted(code)))
      end
      support.write(folder .. "/out", "")
      local status, output
      for _, code in ipairs { "mw.bench(function() print 'it ran' end) mw.record { x = 1 }", "mw.record { x = 1 }" } do
        status, output = run(code)
        assert.are.equal(2, status)
        assert.are.equal("moonwarp: cannot make the output folder out/code: out is not a folder; "
          .. "choose another with --out DIR\n", output)
      end
      assert.are.same({ 0, "1\n" }, { run "print(1)" })
      os.remove(folder .. "/out")
      status, output = run "mw.record { x = 1 }"
      assert.are.equal(0, status, output)
      shell(("chmod -R a-w %s/out"):format(quoted(folder)))
      if shell(("[ -w %s/out ]"):format(quoted(folder))) ~= 0 then -- root writes anywhere
        status, output = run "mw.record { x = 1 }"
        assert.are.equal(2, status, output)
        assert.is_truthy(output:find("out/code: out/code may not be written to", 1, true), output)
      end
      shell(("chmod -R u+w %s"):format(quoted(folder)))
    end)
  end)
end)
