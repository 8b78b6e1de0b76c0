-- SPDX-License-Identifier: MIT
--
-- Every command of README.md and docs/tutorial.md runs, on the CPU device and at small sizes; every parameter, rung and
-- part in a command of a study's page is one that the study has.

local labs = require "tests.support.labs"
local lists = require "moonwarp.base.lists"
local studies = require "moonwarp.lab.studies"
local support = require "tests.support"

local HOME <const> = support.core.home()

if not support.program() then
  describe("the commands of the documents", function() pending "needs the program" end)
  return
end

-- ---- those of README and tutorial, which run --------------------------------------------------------------------

local TYPED <const> = { "^moonwarp %l", "^make", "^%-p %l", "^%-%-%l" }

-- What is typed, in order of appearance, once each: moonwarp and make with words, and options alone.
local function commands_of(text)
  local found = {}
  local function add(command)
    command = command:gsub("^%$ ", ""):gsub("^build/", ""):gsub("%s+#.*$", "")
    if lists.find(TYPED, function(one) return command:find(one) end) then found[command] = true end
  end
  for block in text:gmatch "\n```%a+\n(.-)\n```" do
    for line in block:gmatch "[^\n]+" do add(line) end
  end
  for command in text:gsub("\n```%a+\n.-\n```", ""):gmatch "`([^`]+)`" do add((command:gsub("%s+", " "))) end
  return lists.keys(found)
end

-- Their words here; false: of the Makefile, or described and no command. A and B are the folders of two runs, and what
-- is measured may differ between them, so that compare ends with 0 or 5.
local README <const> = {
  ["make demo"] = false, ["make check"] = false, ["make help"] = false,
  ["moonwarp run copy.lua"] = "run copy.lua -p n=64", ["-p n=1024,2048"] = "run copy.lua -p n=64,128",
  ["--check"] = "run copy.lua -p n=64 --check", ["--counters"] = "run copy.lua -p n=64 --counters",
  ["moonwarp new NAME"] = "new mine", ["moonwarp list"] = "list",
  ["moonwarp run program.cu"] = false, -- of docs/programs.md
  ["moonwarp run nbody"] = "run nbody -p smallest=64 -p largest=64 -p seconds=0 -p rungs=2 -p parts=ladder",
  ["moonwarp compare A B"] = "compare A B",
}
local TUTORIAL <const> = {
  ["make"] = false, ["--device cpu"] = false, ["--device cuda:1"] = false,
  ["moonwarp run first.lua"] = "run first.lua -p n=1000", ["moonwarp info"] = "info",
  ["moonwarp cache stat"] = "cache stat", ["moonwarp run --check"] = "run first.lua --check -p n=1000",
  ["moonwarp run first.lua -p n=1e7"] = "run first.lua -p n=1e3",
  ["-p n=1e5,1e6,1e7"] = "run first.lua -p n=1e2,1e3,1e4",
  ["-p n=1e5,1e6"] = "run first.lua -p n=1e2,1e3", ["moonwarp compare"] = "compare A B",
  ["moonwarp run --engines"] = "run first.lua --engines -p n=1000",
  ["moonwarp run saxpy.lua"] = "run saxpy.lua -p n=1000 -p seconds=0",
  ["moonwarp list saxpy.lua"] = "list saxpy.lua", ["moonwarp run saxpy.lua --help"] = "run saxpy.lua --help",
  ["-p n=1e7"] = "run saxpy.lua -p n=1e3 -p seconds=0",
  ["-p rungs=1,3 -p shapes=32x1,512x1"] =
    "run saxpy.lua -p rungs=1,3 -p shapes=32x1,512x1 -p n=1000 -p seconds=0",
}

-- The files that a document has the reader save, benchmarks of a hundredth of a second.
local function save(folder, text, files)
  for name, pattern in pairs(files) do
    local body
    for block in text:gmatch "\n```%a+\n(.-)\n```" do body = block:find(pattern) and block or body end
    support.write(("%s/%s"):format(folder, name), (assert(body, name):gsub("max_time = [%d.]+", "max_time = 0.01")))
  end
end

local function run_all(document, wanted, files)
  local text = support.read(("%s/%s"):format(HOME, document))
  assert.are.same(lists.keys(wanted), commands_of(text))
  support.with_folder(function(folder)
    save(folder, text, files)
    local runs = {}
    local function run(words)
      words = words:gsub("%f[%u][AB]%f[%U]", function(letter) return runs[letter == "A" and 1 or 2] end)
      if words:find "^r" then words = words .. " --device cpu" end
      local status, output = labs.shell(("cd %s && MOONWARP_CXX=%s %s %s </dev/null"):format(labs.quoted(folder),
        labs.quoted(HOME .. "/tests/cxx-o0"), labs.quoted(labs.program), words))
      assert.is_true(status == 0 or status == 5 and words:find "^compare" ~= nil, words .. ": " .. output)
      runs[#runs + 1] = not words:find "%-%-[ce]" and output:match "\nresults: (%S+)" or nil
    end
    local is_last = function(command) return (wanted[command] or ""):find "^compare" ~= nil end
    for _, last in ipairs { false, true } do
      for command, words in pairs(wanted) do
        if words and is_last(command) == last then run(words) end
      end
    end
    if document ~= "README.md" then return end
    for _, words in ipairs { "history copy", "plot A B", "export A", "rerun A" } do run(words) end
  end)
end

describe("the commands of the documents", function()
  it("run: README.md", function()
    run_all("README.md", README, { ["copy.lua"] = "local A   =" })
  end)

  it("run: docs/tutorial.md", function()
    run_all("docs/tutorial.md", TUTORIAL, { ["first.lua"] = "mw%.table { \"threads\", \"t\", \"T_tot\"",
      ["saxpy.cu"] = "saxpy_vector%(float", ["saxpy.lua"] = "mw%.study {" })
  end)
end)

-- ---- those of the studies' pages ----------------------------------------------------------------------------------

-- What is wrong with "-p rungs=1,9" of a study; nil if nothing is.
local function problem_of(study, name, values)
  local spec = lists.find(study.params, function(one) return one.name == name end)
  if not spec then return "no such parameter" end
  local known = name == "parts" and study.parts or name == "rungs" and {}
    or spec.choices and lists.map(spec.choices, tostring)
  for _, rung in ipairs(name == "rungs" and study.rungs or {}) do
    known[#known + 1], known[#known + 2] = rung.name, rung.number and tostring(rung.number)
  end
  known = known and lists.map(known, function(text) return (text:gsub(" ", "_")) end) -- as words that were quoted
  for value in (known and values or ""):gmatch "[^,]+" do
    if not lists.has(known, value) then return ("no '%s'"):format(value) end
  end
end

it("the parameters, rungs and parts on the studies' pages are the studies' own", function()
  local names, of, problems, count = studies.names(), {}, {}, 0
  for i, study in ipairs(studies.describe(names)) do of[names[i]] = study end
  for _, page in ipairs(names) do
    for line in io.lines(("%s/docs/studies/%s.md"):format(HOME, page)) do
      local study = of[line:match "moonwarp run ([%w-]+)"] or of[page]
      local unquoted = line:gsub('"([^"]*)"', function(text) return (text:gsub(" ", "_")) end)
      for name, values in unquoted:gmatch "%-p ([%w_]+)=([^%s`]*)" do
        local problem = problem_of(study, name, values)
        count = count + 1
        problems[#problems + 1] = problem and ("%s.md: -p %s=%s: %s"):format(page, name, values, problem)
      end
    end
  end
  assert.are.same({}, problems)
  assert.is_true(count > 50)
end)

local function capitalised(text) return (text:gsub("^%l", string.upper)) end

it("a study's page, its rows in tables and its lab ask the study's own question", function()
  local index, readme = support.read(HOME .. "/docs/studies/README.md"), support.read(HOME .. "/README.md")
  local titles, names = {}, studies.names()
  for _, lab in ipairs(dofile(HOME .. "/experiments/curriculum.lua")) do titles[lab.study] = lab.title end
  for i, study in ipairs(studies.describe(names)) do
    local page = support.read(("%s/docs/studies/%s.md"):format(HOME, names[i]))
    local question = capitalised(study.question)
    assert.are.equal(question, page:match "^# [^\n]+\n\n([^\n]+)\n", names[i])
    assert.is_truthy(index:find(("](%s.md) | %s |"):format(names[i], study.question), 1, true), names[i])
    local row = readme:match(("\n| %%[%s%%]%%b() | ([^|]+) |"):format((names[i]:gsub("%-", "%%-"))))
    assert.are.equal(question, row or question, names[i])
    assert.are.equal(question, titles[names[i]] or question, names[i])
  end
end)

-- The names in the first column of a page's tables that link to studies.
local function listed(page, link)
  local list = {}
  for name in support.read(HOME .. page):gmatch("\n| %[([%w-]+)%]%(" .. link) do list[#list + 1] = name end
  return list
end

it("README.md and the curriculum list studies in the order of the index", function()
  local index, place = listed("/docs/studies/README.md", "[%w-]+%.md%)"), {}
  for i, name in ipairs(index) do place[name] = i end
  local taught = lists.map(dofile(HOME .. "/experiments/curriculum.lua"), function(lab) return lab.study end)
  assert.are.same(index, taught)
  local last = 0
  for _, name in ipairs(listed("/README.md", "docs/studies/")) do
    assert.is_true(place[name] > last, name)
    last = place[name]
  end
  assert.is_true(last > 0)
end)

-- ---- headings of the studies' pages ---------------------------------------------------------------------------

local HEADINGS <const> = { "Theory", "Run it", "What was measured", "What to notice", "What the sources get wrong",
  "Tasks", "Sources" }
-- Of a study that is about more than its ladder, further ones between these.
local FURTHER <const> = { ["multi-gpu"] = { ["Order between devices"] = true,
  ["A host thread for each GPU, and compute modes"] = true } }
local MAY_LACK <const> = { ["What the sources get wrong"] = true }

it("the studies' pages have one set of headings, in one order", function()
  for _, name in ipairs(studies.names()) do
    local found, next_one = {}, 1
    for heading in support.read(("%s/docs/studies/%s.md"):format(HOME, name)):gmatch "\n## ([^\n]+)" do
      if not (FURTHER[name] or {})[heading] then found[#found + 1] = heading end
    end
    for _, heading in ipairs(HEADINGS) do
      if found[next_one] == heading then
        next_one = next_one + 1
      else
        assert.is_true(MAY_LACK[heading], ("%s.md: %s"):format(name, heading))
      end
    end
    assert.are.equal(#found + 1, next_one, name)
  end
end)
