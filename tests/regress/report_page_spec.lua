-- SPDX-License-Identifier: MIT
--
-- Pages of the report that once lost something: a part of their own, or what stood where they were written.

local support = require "tests.support"
local html = require "moonwarp.report.html"
local runs = require "tests.support.report_runs"

local function has(text, part)
  assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text))
end

describe("markup", function()
  -- The first absent child ended the list of them.
  it("keeps the children after one that is absent", function()
    assert.are.equal("<p>abc</p>", html.p { { nil, "a", false, { "b" } }, nil, "c", nil }.text)
  end)
end)

-- A page of the runs below a folder.
local function drawn(folder)
  local found = require("moonwarp.report.material").gather({ folder }, "out")
  return require("moonwarp.report.page").draw(found, {})
end

local function count(text, part)
  local _, times = text:gsub(part:gsub("%p", "%%%0"), "")
  return times
end

describe("the sources of a run", function()
  -- A run in a folder, with these files below source/.
  local function kept(folder, name, texts)
    local run = runs.make(1)
    run.sources = {}
    runs.write(("%s/%s"):format(folder, name), run)
    assert(os.execute(("mkdir -p '%s/%s/source/sub'"):format(folder, name)))
    for file, text in pairs(texts) do
      support.write(("%s/%s/source/%s"):format(folder, name, file), text)
      table.insert(run.sources, { name = file, from = "/elsewhere/" .. file })
    end
    table.sort(run.sources, function(a, b) return a.name < b.name end)
    return run, ("%s/%s"):format(folder, name)
  end

  it("are in the page, once each, as text", function()
    support.with_folder(function(folder)
      for _, name in ipairs { "one", "two" } do
        local run, place = kept(folder, name, { ["mine.lua"] = "if a < b then </script> end -- the script",
                                                ["sub/k.cu"] = "x<<<1, 2>>>() // kernel of " .. name })
        run.date = name == "one" and "2026-01-01T00:00:00Z" or "2026-01-02T00:00:00Z"
        runs.write(place, run)
      end
      local text = drawn(folder)
      assert.are.equal(1, count(text, "if a &lt; b then &lt;/script&gt; end -- the script"))
      for _, part in ipairs { "Source: mine.lua, sub/k.cu", "x&lt;&lt;&lt;1, 2&gt;&gt;&gt;() // kernel of one",
                              "// kernel of two", "<code>mine.lua</code>: as in <a href=" } do has(text, part) end
      local anchor = text:match '<code>mine.lua</code>: as in <a href="?#([^">]+)'
      assert.is_truthy(text:find('id="?' .. anchor:gsub("%p", "%%%0")), anchor)
    end)
  end)

  it("are only texts of the run, and not too large", function()
    support.with_folder(function(folder)
      support.write(folder .. "/secret", "the secret")
      local run, place = kept(folder, "one", { ["large.lua"] = ("x"):rep(70000), ["good.lua"] = "a good script",
        ["k.cubin"] = "\127ELF\0code" })
      assert(os.execute(("ln -s '%s/secret' '%s/source/link.lua' && mkfifo '%s/source/pipe.lua'"):format(folder, place,
        place)))
      for _, name in ipairs { "../../secret", folder .. "/secret", "link.lua", "pipe.lua", "none.lua" } do
        table.insert(run.sources, { name = name })
      end
      runs.write(place, run)
      local text = drawn(folder)
      has(text, "a good script")
      has(text, "large.lua (70.0 kB) is left out, too large for this report")
      has(text, "k.cubin (9 B) is left out, not a text")
      assert.is_nil(text:find("ELF", 1, true))
      assert.is_nil(text:find("the secret", 1, true))
      assert.is_nil(text:find("cannot be shown", 1, true))
    end)
  end)
end)

describe("the first sentence", function()
  it("counts runs by how they ended", function()
    support.with_folder(function(folder)
      for i, status in ipairs { "complete", "failed", "failed", "check failed", "interrupted" } do
        local run = runs.make(1)
        run.status, run.checks, run.records = status, {}, {}
        runs.write(("%s/%d"):format(folder, i), run)
      end
      has(drawn(folder), "5 runs of 1 study: 1 complete, 1 with a failed check, 2 failed, 1 interrupted; ")
    end)
  end)
end)

describe("a lab without a run", function()
  it("shows its last lines", function()
    support.with_folder(function(folder)
      local place = folder .. "/batch/a"
      assert(os.execute(("mkdir -p '%s/crash-cpu' '%s/fine-cpu'"):format(place, place)))
      support.write(place .. "/batch.json", [[{"name":"night","steps":[{"id":"crash-cpu","name":"crash"},
        {"id":"fine-cpu","name":"fine"}]}]])
      support.write(place .. "/journal.jsonl", [[
{"kind":"end","id":"crash-cpu","folder":"crash-cpu","verdict":"crashed"}
{"kind":"end","id":"fine-cpu","folder":"fine-cpu","verdict":"passed"}
{"kind":"end","id":"../../x","folder":"../../x","verdict":"crashed"}
{"kind":"end","id":"pipe-cpu","folder":"pipe-cpu","verdict":"killed"}
{"kind":"finish"}
]])
      local lines = {}
      for i = 1, 100 do lines[i] = ("line %d of <it>"):format(i) end
      support.write(place .. "/crash-cpu/output.txt", table.concat(lines, "\n") .. "\n")
      support.write(place .. "/fine-cpu/output.txt", "all is well\n")
      assert(os.execute(("mkdir '%s/pipe-cpu' && mkfifo '%s/pipe-cpu/output.txt'"):format(place, place)))
      local text = drawn(folder)
      has(text, "Last lines of crash-cpu")
      has(text, "line 81 of &lt;it&gt;\nline 82")
      has(text, "line 100 of &lt;it&gt;</pre>")
      assert.is_nil(text:find("line 80 of", 1, true))
      assert.is_nil(text:find("all is well", 1, true))
      has(text, "3 of 4 labs failed")
    end)
  end)
end)

describe("a picture", function()
  local SVG = [[<svg viewBox="0 0 640 400" xmlns="http://www.w3.org/2000/svg"><desc>Produced by GNUPLOT 5.4</desc><g>
<g fill="rgb(27,31,37)" font-size="12.00"><text>my pieces</text></g>
<g fill="rgb(87,96,106)" font-size="12.00"><text>stream 7</text></g>
<g fill="rgb(87,96,106)" font-size="7.00"><text>a small lane</text></g></g></svg>]]

  -- A timeline was an image of 640 px on 400: letters of 8 px, and its title twice.
  it("of vectors is in the page, with its title once", function()
    support.with_folder(function(folder)
      local run = runs.make(1)
      run.charts, run.tables, run.pictures = {}, {}, { { name = "pieces", title = "my pieces, D", files = { "svg" } } }
      runs.write(folder .. "/one", run)
      support.write(folder .. "/one/pieces.svg", SVG)
      local text = drawn(folder)
      has(text, "<text>stream 7</text>")
      has(text, "<b>my pieces, D</b>")
      assert.is_nil(text:find("<text>my pieces", 1, true))
      assert.is_nil(text:find('font-size="?12'))
      assert.is_truthy(text:find('font-size="7"', 1, true))
      assert.is_nil(text:find("data:image/svg", 1, true))
    end)
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
