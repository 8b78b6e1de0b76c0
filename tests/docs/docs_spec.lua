-- SPDX-License-Identifier: MIT
--
-- The documents say what is true: every example of docs/api prints what follows its arrows, and every script of
-- README.md and of the pages listed below runs, on the CPU device.

local support = require "tests.support"
local session = require "moonwarp.session"
local study = require "moonwarp.study"
local core, mw = support.core, support.mw

local DOCS = core.home() .. "/docs"

-- ---- running a script with its prints caught ------------------------------------------------------------------

local function joined(...)
  local words = table.pack(...)
  for i = 1, words.n do words[i] = tostring(words[i]) end
  return table.concat(words, " ")
end

local function plain(text)
  return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

-- Runs the text, and gives what it returns to `conclude`; returns what each of its lines printed last.
local function run(text, name, conclude)
  local printed = {}
  local function catch(...)
    printed[debug.getinfo(2, "l").currentline] = joined(...)
  end
  local chunk = assert(load(text, "=" .. name, "t", setmetatable({ print = catch }, { __index = _G })))
  conclude(chunk())
  return printed
end

local function check_arrows(text, name, conclude)
  local printed, number = run(text, name, conclude), 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local wanted = line:match "%-%->%s*(.*)$"
    if wanted then assert.are.equal(plain(wanted), plain(printed[number] or "(nothing)"), name .. ": " .. line) end
  end
end

-- ---- what the command line would have chosen --------------------------------------------------------------------

local function in_session(options, body)
  local before = session.current
  local mine = session.begin(options)
  mine.opened, mine.pass = before.opened, { seconds = { "0" } }
  local ok, message = xpcall(body, debug.traceback)
  mine:finish { status = "complete", exit = 0 } -- else it is written at the end, where its folder is gone
  session.current, before.settled = before, mine.settled -- what it expected is not found once more
  if not ok then error(message, 0) end
  assert.are.equal(0, mine.found)
end

local function in_folder(body)
  support.with_folder(function(folder)
    in_session({ device = "cpu", out = folder, quiet = true, script = folder .. "/example.lua" }, function()
      body(folder)
    end)
  end)
end

-- ---- the pages --------------------------------------------------------------------------------------------------

local libraries = assert(loadfile(DOCS .. "/generate/libraries.lua"))()

-- A page as docs/gen.lua has it.
local function load_page(name)
  local page = dofile(("%s/api/%s.lua"):format(DOCS, name))
  libraries.extend(page)
  return page
end

-- An example returns none of the studies that it begins.
local function drop() pcall(study.conclude) end

describe("docs/api", function()
  support.warm()
  support.no_leaks()
  local api = dofile(DOCS .. "/api.lua")
  for _, page_name in ipairs(api.pages) do
    local page = load_page(page_name)
    for _, entry in ipairs(page.entries) do
      if entry.example then
        it(("runs the example of %s.%s"):format(page_name, entry.name), function()
          in_folder(function()
            check_arrows(page.setup .. "\n" .. entry.example, page_name .. "." .. entry.name, drop)
          end)
        end)
      end
    end
  end
end)

-- ---- entries and names ----------------------------------------------------------------------------------------------

-- The data as docs/gen.lua loads it, with names.lua to judge it.
local function load_api()
  local names = assert(loadfile(DOCS .. "/generate/names.lua"))()
  local api = dofile(DOCS .. "/api.lua")
  for i, page in ipairs(api.pages) do api.pages[i] = load_page(page) end
  return api, names
end

describe("docs-check", function()
  it("finds an entry for every name, and a name for every entry", function()
    local api, names = load_api()
    assert.are.same({}, names.problems(api))
  end)

  it("reports a registered name without an entry", function()
    local api, names = load_api()
    core.methods.array.undocumented = print
    local problems = names.problems(api)
    core.methods.array.undocumented = nil
    assert.are.same({ "array.undocumented has no entry in docs/api" }, problems)
  end)

  it("reports a field of a study's description without an entry", function()
    local api, names = load_api()
    local fields = study.fields
    fields.rung.undocumented = "string"
    local problems = names.problems(api)
    fields.rung.undocumented = nil
    assert.are.same({ "rung_spec.undocumented has no entry in docs/api" }, problems)
  end)

  it("reports a method of a study without an entry, and an entry without a method", function()
    local api, names = load_api()
    local class = study.classes.case
    class.methods.undocumented, class.own.resident = print, true
    local problems = names.problems(api)
    class.methods.undocumented, class.own.resident = nil, nil
    assert.are.same({ "case.undocumented has no entry in docs/api",
      "case.resident has an entry in docs/api, but the library does not have it" }, problems)
  end)

  -- A text of several lines once broke out of its comment, and out of its row.
  it("finds definitions that are Lua, and tables whose rows are whole", function()
    local home, path = core.home(), "/meta/moonwarp.d.lua"
    assert.is_function(loadfile(home .. path) or loadfile(home .. "/build/generated" .. path))
    local broken = {}
    for _, page in ipairs(dofile(DOCS .. "/api.lua").pages) do
      for line in io.lines(("%s/api/%s.md"):format(DOCS, page)) do
        if line:find "^| " and not line:find "|$" then broken[#broken + 1] = page .. ": " .. line end
      end
    end
    assert.are.same({}, broken)
  end)

  it("reports an entry without a name", function()
    local api, names = load_api()
    table.insert(api.pages[2].entries, { name = "vanished" })
    assert.are.same({ "device.vanished has an entry in docs/api, but the library does not have it" },
      names.problems(api))
  end)
end)

-- ---- whole documents ------------------------------------------------------------------------------------------------

-- The fenced blocks of a document: { language, text } in order.
local function blocks_of(path)
  local list = {}
  for language, text in support.read(path):gmatch "\n```(%a+)\n(.-)\n```" do
    list[#list + 1] = { language = language, text = text }
  end
  return list
end

-- A block of C++ whose first line is a comment with a file's name is that file, beside the scripts after it.
-- What its benchmarks measure is printed where no arrow points.
local function run_document(name)
  local bench <const> = mw.bench
  function mw.bench(fn, options)
    local few = { samples = 3, batch = 1 }
    for key, value in pairs(options or {}) do few[key] = value end
    return bench(fn, few)
  end
  local ok, message = xpcall(in_folder, debug.traceback, function(folder)
    for i, block in ipairs(blocks_of(core.home() .. "/" .. name)) do
      local file = block.language == "cpp" and block.text:match "^// ([%w_]+%.cu)\n"
      if file then support.write(folder .. "/" .. file, block.text) end
      if block.language == "lua" then check_arrows(block.text, ("%s, block %d"):format(name, i), study.conclude) end
    end
    assert.are.equal(0, session.current.failed_checks)
  end)
  mw.bench = bench
  if not ok then error(message, 0) end
end

describe("the documents", function()
  support.warm()
  support.no_leaks()
  for _, name in ipairs { "README.md", "docs/tutorial.md", "docs/cpu-device.md", "docs/bringing-cuda-files.md",
                      "docs/porting.md" } do
    it("run: " .. name, function() run_document(name) end)
  end
end)
