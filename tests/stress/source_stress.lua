-- SPDX-License-Identifier: MIT
--
-- Broken sources: the project's own kernels with tokens deleted, doubled and swapped, cut short, unbalanced, nested
-- deep, with long lines, zero bytes, bad UTF-8, giant macros, files that include themselves and others that are
-- missing. Each is loaded: it is a module, or an error with a status and a message that names the source and a line.
-- Every process is accounted for: it says so of each of its sources, and ends with status 0. $SOURCES sets their
-- number (840).

local core = require "moonwarp.core"
local lfs = require "lfs"

local sources = math.tointeger(tonumber(os.getenv "SOURCES" or 840))
local PER_PROCESS <const> = 20
local seed = math.tointeger(tonumber(os.getenv "SEED" or 1))
math.randomseed(seed)
local random = math.random

local program = io.popen "readlink /proc/$PPID/exe":read "l"
local folder = io.popen "mktemp -d":read "l"

local function read(name)
  local file <close> = assert(io.open(name, "rb"))
  return file:read "a"
end

local function write(name, text)
  local file <close> = assert(io.open(name, "wb"))
  file:write(text)
end

-- ---- tokens -------------------------------------------------------------------------------------

-- Words, white space and single marks: together the whole text.
local function tokens_of(text)
  local list, at = {}, 1
  while at <= #text do
    local token = text:match("^[%w_]+", at) or text:match("^%s+", at) or text:sub(at, at)
    list[#list + 1] = token
    at = at + #token
  end
  return list
end

local originals = {}
for _, where in ipairs { "/kernels", "/tests/kernels" } do
  for name in lfs.dir(core.home() .. where) do
    if name:find "%.cu$" then originals[#originals + 1] = read(core.home() .. where .. "/" .. name) end
  end
end
table.sort(originals)

local function any(list) return list[random(#list)] end

-- Somewhere in the text, at the beginning of a line.
local function insert_line(text, line)
  local starts = { 1 }
  for at in text:gmatch "\n()" do starts[#starts + 1] = at end
  local at = any(starts)
  return text:sub(1, at - 1) .. line .. "\n" .. text:sub(at)
end

-- Somewhere after an opening brace, which is mostly in a function.
local function insert_statement(text, statement)
  local places = {}
  for at in text:gmatch "{()" do places[#places + 1] = at end
  local at = #places > 0 and any(places) or 1
  return text:sub(1, at - 1) .. statement .. text:sub(at)
end

local function edit(text, change)
  local list = tokens_of(text)
  for _ = 1, random(3) do change(list, random(#list)) end
  return table.concat(list)
end

-- ---- mutations: function(text, name of the file) ------------------------------------------------

local MARKS = { "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", "#", "\\", "\"", "'", "/*", "*/", "//", "::", "@",
                "`", "R\"(", "__global__", "template", "operator", "__syncthreads()", "goto", "extern \"C\" {", "\\\n" }

local mutations = {
  function(text) return edit(text, function(list, at) list[at] = "" end) end,
  function(text) return edit(text, function(list, at) list[at] = list[at] .. " " .. list[at] end) end,
  function(text)
    return edit(text, function(list, at)
      local other = random(#list)
      list[at], list[other] = list[other], list[at]
    end)
  end,
  function(text) return edit(text, function(list, at) list[at] = any(MARKS) end) end,
  function(text) return edit(text, function(list, at) list[at] = any(tokens_of(any(originals))) end) end,
  function(text) return text:sub(1, random(#text)) end,
  function(text) return text:sub(random(#text)) end,
  function(text)
    local open, close = table.unpack(any { { "(", ")" }, { "{", "}" }, { "[", "]" } })
    return insert_statement(text, open:rep(random(0, 600)) .. "1" .. close:rep(random(0, 600)) .. ";")
  end,
  function(text)
    local depth = random(2000)
    return insert_statement(text, any {
      ("if (1) "):rep(depth) .. ";", ("for (;;) {"):rep(depth) .. "__syncthreads();" .. ("}"):rep(depth),
      "int mw_q = " .. ("-~"):rep(depth) .. "1;", "int mw_q = " .. ("1 ? 1 : "):rep(depth) .. "1;",
      ("do "):rep(depth) .. ";" .. (" while (0);"):rep(depth), "int " .. ("*"):rep(depth) .. "mw_q;" })
  end,
  function(text)
    return insert_line(text, any { "// ", "int mw_q = 1", "#define MW_Q ", "\"" } .. ("+1"):rep(random(50000)))
  end,
  function(text)
    local at = random(#text)
    return text:sub(1, at) .. ("\0"):rep(random(3)) .. text:sub(at + 1)
  end,
  function(text)
    local at = random(#text)
    return text:sub(1, at) .. any { "\xff", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "\xef\xbb\xbf", "\x1b[2J",
                                    "\r", "\x7f", "\u{202e}", "\u{1F600}" } .. text:sub(at + 1)
  end,
  function(text)
    local lines = { "#define MW_0 1 +" }
    for i = 1, random(6) do lines[i + 1] = ("#define MW_%d %s"):format(i, ("MW_%d "):format(i - 1):rep(random(9))) end
    return table.concat(lines, "\n") .. "\n" .. insert_statement(text, ("int mw_q = MW_%d 1;"):format(#lines - 1))
  end,
  function(text, name) return insert_line(text, ('#include "%s"'):format(name)) end,
  function(text) return insert_line(text, any { "#error broken", "#if", "#endif", "#else", "#elif", "#if 1", "#line 0",
    "#line 1 \"/dev/zero\"", "#pragma unroll(", "#undef __global__", "#define float double float", "#define if while",
    "#include", "#include \"", "#include <", "#include \".\"", "#include MW_NOT_DEFINED", "#define MW_Q(" }) end,
  function(text) return insert_line(text, any { '#include "missing.h"', "#include <missing/as/well.cuh>",
    '#include "/nowhere/at/all"', ('#include "%s"'):format(("x"):rep(5000)), "#include <cub/cub.cuh>" }) end,
}

-- ---- processes ----------------------------------------------------------------------------------

-- Says of each source what came of it, on a line of its own.
local CHILD = [[
local mw = require "moonwarp"
for i = mw.arg("first", 1), mw.arg("last", 1) do
  local name = ("%%s/s%%d.cu"):format(%q, i)
  local ok, problem = pcall(function()
    local m <close> = mw.device(mw.arg("on", "cpu")):module { file = name, cache = false }
  end)
  local status = ok and "module" or mw.type(problem) == "error" and problem.status or "raised"
  print(("SOURCE %%d %%s %%s"):format(i, status, ok and "" or (tostring(problem):gsub("%%c", " "))))
end
print "END"
]]

local function make_sources()
  for i = 1, sources do
    local name = ("s%d.cu"):format(i)
    local text = mutations[(i - 1) % #mutations + 1](any(originals), name)
    if random(4) == 1 then text = any(mutations)(text, name) end
    write(folder .. "/" .. name, text)
  end
  write(folder .. "/child.lua", CHILD:format(folder))
end

-- One line for xargs per process: where it runs, and its first and last source. NVRTC gets every fourth.
local function make_list()
  local lines, nvrtc = {}, pcall(require("moonwarp").device, "cuda:sm_90")
  for first = 1, sources, PER_PROCESS do
    local on = nvrtc and #lines % 4 == 3 and "cuda:sm_90" or "cpu"
    lines[#lines + 1] = ("%s %d %d"):format(on, first, math.min(first + PER_PROCESS - 1, sources))
  end
  write(folder .. "/list", table.concat(lines, "\n") .. "\n")
  return lines
end

local RUN = [[cd '%s' && mkdir tmp && MOONWARP_CACHE=$PWD/cache MOONWARP_CXX=${MOONWARP_CXX:-'%s/tests/cxx-o0'} \
  MOONWARP_COMPILE_SECONDS=20 TMPDIR=$PWD/tmp xargs -P "$(nproc)" -L 1 sh -c '
    timeout -k 5 600 "%s" run child.lua --out out -p on="$0" -p first="$1" -p last="$2" >log.$1 2>&1 </dev/null
    echo "STATUS $?" >>log.$1' <list]]

-- ---- accounts -----------------------------------------------------------------------------------

local counts, failed = {}, 0

local function fail(...)
  failed = failed + 1
  print((...):format(select(2, ...)))
end

-- What every message has: the source's name and a line of it. A message about a whole file has none.
local function is_clear(message, i)
  local name = ("s%d.cu"):format(i)
  return message:find(name .. "[:(]%d+") or message:find(name, 1, true) and message:find "[:(]%d+%)?:"
    or message:find("processor time", 1, true) or message:find("wrote more than", 1, true)
    or message:find("compiler crashed", 1, true) or message:find("kernel '", 1, true)
end

local function check_process(line)
  local on, first, last = line:match "^(%S+) (%d+) (%d+)$"
  local log, seen = read(("%s/log.%s"):format(folder, first)), {}
  for i, status, message in log:gmatch "SOURCE (%d+) (%S+) ([^\n]*)" do
    i = math.tointeger(tonumber(i))
    seen[i] = true
    counts[status] = (counts[status] or 0) + 1
    if status == "raised" then fail("source %d on %s: not an error value: %s", i, on, message) end
    if status ~= "module" and not is_clear(message, i) then
      fail("source %d on %s: no line of it is named: %s", i, on, message:sub(1, 400))
    end
  end
  for i = tonumber(first), tonumber(last) do
    if not seen[i] then fail("source %d on %s: nothing is known of it: %s", i, on, log:sub(-400)) end
  end
  if not log:find "END\n.*STATUS 0\n$" then fail("sources from %s on %s: %s", first, on, log:sub(-400)) end
end

make_sources()
local lines = make_list()
os.execute(RUN:format(folder, core.home(), program))
for _, line in ipairs(lines) do check_process(line) end
local left = io.popen(("ls '%s/tmp' | wc -l"):format(folder)):read "n"
if left > 0 then fail("%d folders of compilations are left", left) end

local words = {}
for status, count in pairs(counts) do words[#words + 1] = count .. " " .. status end
table.sort(words)
print(("%d broken sources in %d processes: %s; %d not as expected"):format(sources, #lines, table.concat(words, ", "),
  failed))
if failed == 0 then os.execute(("rm -rf '%s'"):format(folder)) else print("kept: " .. folder) end
os.exit(failed == 0 and 0 or 1)
