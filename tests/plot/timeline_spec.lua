-- SPDX-License-Identifier: MIT
--
-- mw.timeline: the rows in the terminal, the data, the pictures, the trace.

local support = require "tests.support"
local mw = support.mw
local fails = support.fails

local function has_gnuplot()
  return os.execute "command -v gnuplot >/dev/null 2>&1"
end

local function with_timeline(spec, body)
  support.with_folder(function(folder)
    if spec.quiet == nil then spec.quiet = true end
    body(support.into(folder, mw.timeline, spec), folder)
  end)
end

local function span(lane, kind, from, to, label)
  return { lane = lane, kind = kind, from = from, to = to, label = label }
end

local SPANS = {
  span("stream 1", "copy in", 10, 10.001), span("stream 1", "kernel", 10.001, 10.003, "piece 1"),
  span("stream 2", "copy in", 10.001, 10.002), span("stream 2", "kernel", 10.003, 10.004),
}

-- ---- a reader of JSON, which shares nothing with the writer ----------------------------------------

local read_value

local function read_list(text, at, close, item)
  local list = {}
  at = text:match("^%s*()", at)
  while text:sub(at, at) ~= close do
    at = text:match("^%s*()", item(list, at))
    if text:sub(at, at) == "," then at = text:match("^%s*()", at + 1) end
  end
  return list, at + 1
end

local function read_string(text, at)
  local from, stop = at + 1, at + 1
  while text:sub(stop, stop) ~= '"' do
    assert(stop <= #text, "a string without an end")
    assert(not text:sub(stop, stop):find "%c", "a control character in a string")
    stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
  end
  local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }
  local raw = text:sub(from, stop - 1):gsub("\\u(%x%x%x%x)", function(hex) return utf8.char(tonumber(hex, 16)) end)
  return raw:gsub("\\(.)", function(c) return escapes[c] or c end), stop + 1
end

function read_value(text, at)
  at = text:match("^%s*()", at)
  local c = text:sub(at, at)
  if c == '"' then return read_string(text, at) end
  if c == "[" then
    return read_list(text, at + 1, "]", function(list, here)
      list[#list + 1], here = read_value(text, here)
      return here
    end)
  end
  if c == "{" then
    return read_list(text, at + 1, "}", function(object, here)
      local key
      key, here = read_string(text, here)
      object[key], here = read_value(text, assert(text:match("^%s*:()", here), "no colon"))
      return here
    end)
  end
  local number, after = text:match("^(-?%d+%.?%d*[eE]?[-+]?%d*)()", at)
  return assert(tonumber(number), "no value at " .. text:sub(at, at + 20)), after
end

local function events_of(made)
  local trace, stop = read_value(support.read(made.trace), 1)
  assert.are.equal("\n", support.read(made.trace):sub(stop))
  local names, complete = {}, {}
  for _, event in ipairs(trace.traceEvents) do
    if event.name == "thread_name" then names[event.tid] = event.args.name end
    if event.ph == "X" then complete[#complete + 1] = event end
  end
  return complete, names, trace
end

local function near(expected, got)
  assert.is_true(math.abs(expected - got) < 1e-6, ("%g expected, got %g"):format(expected, got))
end

-- The only timeline below a folder, in letters.
local function text_of(folder, width)
  local run = assert(require("moonwarp.results.store").read(support.run(folder)))
  return require("moonwarp.plot.timeline").text(run.pictures[1], { width = width, unicode = true, colour = false })
end

-- ---- tests --------------------------------------------------------------------------------------

describe("mw.timeline", function()
  it("draws rows of letters, with times from the first begin", function()
    with_timeline({ spans = SPANS, title = "two streams" }, function(_, folder)
      local lines = {}
      for line in text_of(folder, 99):gmatch "[^\n]+" do lines[#lines + 1] = line end
      assert.is_truthy(lines[1]:find "^two streams, ")
      assert.are.equal("  stream 1 " .. ("c"):rep(22) .. ("k"):rep(44) .. ("."):rep(22), lines[2])
      assert.are.equal("  stream 2 " .. ("."):rep(22) .. ("c"):rep(22) .. ("."):rep(22) .. ("k"):rep(22), lines[3])
      assert.are.equal("           0 to 4.000 ms   c copy in   k kernel", lines[4])
    end)
  end)

  it("writes the spans by kind, in the unit of the longest", function()
    with_timeline({ spans = SPANS, name = "by kind", pictures = false }, function(made, folder)
      assert.are.equal(support.run(folder) .. "/by-kind.dat", made.dat)
      local text = support.read(made.dat)
      assert.is_truthy(text:find('\n"from (ms)" "to (ms)" "lane, counted from below"\n', 1, true))
      local numbers = {}
      for from, to, lane in text:gmatch "\n([%d.e-]+) ([%d.e-]+) (%d+)" do
        numbers[#numbers + 1] = ("%.3f %.3f %s"):format(from, to, lane)
      end
      assert.are.same({ "0.000 1.000 2", "1.000 2.000 1", "1.000 3.000 2", "3.000 4.000 1" }, numbers)
      assert.is_truthy(text:find("# kind 0: copy in\n", 1, true))
      assert.is_truthy(text:find("# kind 1: kernel\n", 1, true))
      assert.is_nil(made.png)
    end)
  end)

  it("writes a trace: complete events in microseconds, one thread per lane", function()
    with_timeline({ spans = SPANS, pictures = false }, function(made)
      local events, names, trace = events_of(made)
      assert.are.equal("ms", trace.displayTimeUnit)
      assert.are.same({ "stream 1", "stream 2" }, names)
      assert.are.equal(4, #events)
      local second = events[2]
      assert.are.equal("piece 1", second.name)
      assert.are.equal("kernel", second.cat)
      assert.are.equal(1, second.tid)
      near(1000, second.ts)
      near(2000, second.dur)
      near(0, events[1].ts)
      assert.are.equal("copy in", events[3].name)
      assert.are.equal(2, events[3].tid)
    end)
  end)

  it("keeps quotes, backslashes and line ends of names in the trace", function()
    local lane = 'a "lane"\\ of\n50 % é'
    with_timeline({ spans = { span(lane, "k\nk", 0, 1) }, pictures = false }, function(made)
      local events, names = events_of(made)
      assert.are.equal(lane, names[1])
      assert.are.equal("k\nk", events[1].cat)
      assert.is_truthy(support.read(made.dat):find("# kind 0: k k\n", 1, true))
    end)
  end)

  it("takes events for times, and one engine a kind", function()
    local dev = support.devices()[1]
    local marks = {}
    for i = 1, 3 do marks[i] = dev:event():record() end
    dev:synchronize()
    local spans = { span("a", "k", marks[2], marks[3]), span("b", "k", marks[1], marks[2]) }
    with_timeline({ spans = spans, pictures = false }, function(made)
      local events = events_of(made)
      near(1e6 * marks[3]:since(marks[2]), events[1].dur)
      near(1e6 * marks[2]:since(marks[1]), events[2].dur)
    end)
    local waits = { span("a", "in", 0, 2), span("b", "in", 0, 5), span("b", "out", 5, 6), span("a", "out", 2, 8) }
    with_timeline({ spans = waits, engines = true, pictures = false }, function(made)
      local seen = {}
      for i, event in ipairs((events_of(made))) do
        seen[i] = ("%s %.0f %.0f"):format(event.cat, event.ts / 1e6, event.dur / 1e6)
      end
      assert.are.same({ "in 0 2", "in 2 3", "out 5 1", "out 6 2" }, seen)
    end)
    assert.are.equal(0, waits[2].from) -- the caller's spans are as they were
  end)

  it("takes spans without length, also at the very end or nothing else", function()
    local ends = { span("a", "k", 0, 1), span("b", "e", 1, 1) }
    with_timeline({ spans = ends }, function(made, folder)
      assert.is_truthy(text_of(folder, 92):find("  b " .. ("."):rep(87) .. "e\n", 1, true))
      near(0, events_of(made)[2].dur)
    end)
    with_timeline({ spans = { span("a", "k", 5, 5) } }, function(made, folder)
      assert.is_truthy(text_of(folder, 92):find("  a k" .. ("."):rep(87) .. "\n    0 to 0 s", 1, true))
      if has_gnuplot() then assert.is_nil(made.reason) end
    end)
  end)

  it("takes many lanes and names of any length and kind", function()
    local spans = {}
    for i = 1, 132 do spans[i] = span("multiprocessor " .. i, "block", i, i + 3) end
    spans[133] = span(("long "):rep(40), "block", 1, 2)
    spans[134] = span("100 % done_{x} 'q'", "50 %", 1, 2)
    with_timeline({ spans = spans }, function(made)
      local _, rows = made.chart:gsub("\n", "")
      assert.are.equal(135, rows)
      for line in made.chart:gmatch "\n([^\n]+)" do assert.is_true(utf8.len(line) <= 120, line) end
      local _, names = events_of(made)
      assert.are.equal(("long "):rep(40), names[133])
      if has_gnuplot() then
        assert.is_nil(made.reason)
        assert.are.equal("\x89PNG", support.read(made.png):sub(1, 4))
        assert.is_truthy(support.read(made.svg):find("100 % done_{x}", 1, true))
      end
    end)
  end)

  it("gives each kind its own letter", function()
    local spans = {}
    for i, kind in ipairs { "copy", "compute", "co", "c", "", "42" } do spans[i] = span("a", kind, i, i + 1) end
    with_timeline({ spans = spans, pictures = false }, function(made)
      local seen = {}
      for letter in made.chart:match("0 to (.*)$"):gmatch "   (%w) " do
        assert.is_nil(seen[letter])
        seen[letter] = true
      end
    end)
  end)

  it("names the device it is given", function()
    local dev = support.devices()[1]
    with_timeline({ spans = SPANS, device = dev, pictures = false }, function(made)
      assert.is_truthy(made.chart:find(dev:id(), 1, true))
    end)
  end)

  it("does without gnuplot, and says so", function()
    support.with_folder(function(folder)
      for _, tool in ipairs { "env", "timeout", "mkdir", "sh", "lua5.4" } do
        os.execute(("ln -s \"$(command -v %s)\" '%s/' 2>/dev/null"):format(tool, folder))
      end
      local output = support.child_passes(([[
        local mw = require "moonwarp"
        require("moonwarp.session").current.options.out = %q
        local made = mw.timeline { spans = { { lane = "a", kind = "k", from = 0, to = 1 } }, name = "t" }
        print(made.reason ~= nil, made.png, made.svg)
      ]]):format(folder .. "/made"), { env = { PATH = folder } })
      assert.is_truthy(output:find("no pictures: gnuplot is not installed", 1, true), output)
      assert.is_truthy(output:find("true\tnil\tnil", 1, true), output)
      local names = {}
      for _, name in ipairs(support.files(support.run(folder .. "/made"))) do
        if not name:find("/source/", 1, true) then names[#names + 1] = name:match "[^/]+$" end
      end
      table.sort(names)
      assert.are.same({ "data.dat", "record.json", "t.dat", "t.gp", "t.trace.json" }, names)
    end)
  end)

  it("rejects what is not a span, at the script's line", function()
    local function rejected(spans, text)
      fails(function() mw.timeline { spans = spans } end, "mw.timeline: " .. text)
    end
    local none = "option 'spans' is needed: a list of { lane =, kind =, from =, to = }"
    rejected(nil, none)
    rejected({}, none)
    rejected({ 3 }, "option 'spans'[1] must be a table, got number")
    rejected({ SPANS[1], { lane = "a", kind = "k", from = 1 } }, "span 2 has no 'to'")
    rejected({ { lane = "a", kind = "k", form = 1 } }, "span 1: unknown option 'form'; did you mean 'from'?")
    rejected({ { lane = 1 } }, "span 1: option 'lane' must be a string, got number")
    rejected({ span("a", "k", 2, 1) }, "span 1 ends before it begins: from 2 to 1 s")
    rejected({ span("a", "k", 0 / 0, 1) }, "span 1: 'from' must be a finite time")
    rejected({ span("a", "k", 0, 1 / 0) }, "span 1: 'to' must be a finite time")
    local nine = {}
    for i = 1, 9 do nine[i] = span("a", "k" .. i, 0, 1) end
    rejected(nine, "9 kinds of spans, a chart shows 8 at most")
    fails(function() mw.timeline(1) end, "mw.timeline: options must be a table, got number")
    fails(function() mw.timeline { span = SPANS } end, "mw.timeline: unknown option 'span'; did you mean 'spans'?")
    local _, message = pcall(function() mw.timeline { spans = { 3 } } end)
    assert.is_truthy(tostring(message):find "timeline_spec%.lua:%d+: ", tostring(message))
  end)
end)
