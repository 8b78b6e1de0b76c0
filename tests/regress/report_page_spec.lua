-- SPDX-License-Identifier: MIT
--
-- Pages of the report that once lost something: a part of their own, or what stood where they were written.

local support = require "tests.support"
local html = require "moonwarp.report.html"
local runs = require "tests.report_runs"

local function has(text, part)
  assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text))
end

describe("markup", function()
  -- The first absent child ended the list of them.
  it("keeps the children after one that is absent", function()
    assert.are.equal("<p>abc</p>", html.p { { nil, "a", false, { "b" } }, nil, "c", nil }.text)
  end)
end)

describe("moonwarp report", function()
  if not support.program() then
    pending "needs the program"
    return
  end

  local function moonwarp(words, environment)
    local pipe <close> = assert(io.popen(("%s'%s' report %s 2>&1; echo status $?"):format(environment or "",
      support.program(), words)))
    return pipe:read "a"
  end

  it("draws in letters where there is no room for pictures", function()
    support.with_folder(function(folder)
      runs.write(folder .. "/one", runs.make(1))
      local output = moonwarp(("'%s/one' --output '%s/r.html'"):format(folder, folder), "TMPDIR=/nope ")
      has(output, "r.html, 1 run, ")
      has(output, "status 0")
      local text = support.read(folder .. "/r.html")
      has(text, "Drawn in letters: mktemp: ")
      has(text, "/nope/")
    end)
  end)

  -- A page of 0 runs was written.
  it("wants a run that it can read", function()
    support.with_folder(function(folder)
      assert(os.execute(("mkdir '%s/broken'"):format(folder)))
      support.write(folder .. "/broken/record.json", "{ no JSON")
      has(moonwarp(("/nope '%s/broken' --output '%s/r.html'"):format(folder, folder)), ("moonwarp: there is nothing to "
        .. "report: /nope: there is no such folder; %s/broken: it holds no record that can be read"):format(folder))
      has(moonwarp "/nope", "status 2")
      has(moonwarp "nowhere", "nothing to report: nowhere: there is no such folder, and no study of this name in out\n")
      assert.is_nil(io.open(folder .. "/r.html"))
    end)
  end)

  -- A file took the place of the device or the link.
  it("writes into a pipe or through a link, and puts no file in its place", function()
    support.with_folder(function(folder)
      runs.write(folder .. "/one", runs.make(1))
      local output = moonwarp(("'%s/one' --output /dev/full"):format(folder))
      has(output, "moonwarp: the report cannot be written: /dev/full: No space left on device; choose another")
      assert.are.equal("char device", require("lfs").attributes("/dev/full", "mode"))
      require("lfs").link("target.html", folder .. "/link.html", true)
      has(moonwarp(("'%s/one' --output '%s/link.html'"):format(folder, folder)), "status 0")
      assert.are.equal("link", require("lfs").symlinkattributes(folder .. "/link.html", "mode"))
      has(support.read(folder .. "/target.html"), "<!DOCTYPE html>")
    end)
  end)
end)
