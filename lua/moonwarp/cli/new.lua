-- SPDX-License-Identifier: MIT
--
-- moonwarp new: a script for a kernel, made of its signature and experiments/new/script.txt. What a signature does not
-- say is guessed there, with a comment; what the kernel must compute is left open, and the script says so.

local core = require "moonwarp.core"
local dtypes = require "moonwarp.base.dtypes"
local failure = require "moonwarp.base.failure"
local files = require "moonwarp.base.files"
local lists = require "moonwarp.base.lists"
local options = require "moonwarp.base.options"
local path = require "moonwarp.base.path"

local new = { most = 2, least = 1, wants = "new wants a name, as in moonwarp new saxpy saxpy.cu" }

new.usage = [[
usage: moonwarp new NAME [FILE.cu]

Writes NAME.lua, which runs as it is: it fills arrays, launches and measures a kernel of FILE.cu, and
draws a chart. What to fill in is marked, above all what the kernel must compute. The kernel is NAME
if there is one, else the first. Without FILE.cu a small NAME.cu is written as well.]]

new.example = "moonwarp new saxpy"

-- By how many sizes there are: what each is, and the blocks.
local SIDES <const> = { "1 << 18", "512", "64" }
local BLOCKS <const> = { "{ 32 }, { 64 }, { 128 }, { 256 }, { 512 }, { 1024 }",
                         "{ 32, 1 }, { 32, 2 }, { 32, 4 }, { 32, 8 }, { 32, 16 }, { 32, 32 }",
                         "{ 32, 1, 1 }, { 32, 2, 2 }, { 32, 4, 2 }, { 32, 4, 4 }, { 32, 8, 4 }" }

-- Integers of these names are taken for sizes; others are 1, with which accesses stay within the arrays.
local SIZES <const> = lists.set { "n", "m", "N", "nx", "ny", "nz", "size", "length", "count", "width", "height", "rows",
                                  "columns", "cols" }

-- Names that the script has of its own, besides Lua's words.
local OWN <const> = lists.set { "mw", "dev", "kernel", "expected", "at", "block", "threads", "shared", "cooperative",
                                "go", "bytes", "t" }

-- "x", "const f32x4*": an array of f32 with 4 numbers per element.
local function parameter_of(name, text, place)
  local kind, lanes, star = text:gsub("^const ", ""):match "^(%a+%d*)x?(%d?)(%*?)$"
  local is_free = not OWN[name] and rawget(_G, name) == nil and load("local " .. name) ~= nil
  return { name = is_free and name or ("%s_%d"):format(name, place), text = text, place = place, lanes = lanes,
           kind = kind, is_array = star == "*", is_size = SIZES[name] and text:find "^[iu]%d+$" ~= nil or false }
end

-- What the script gives for a parameter; sides: the names of the sizes.
local function value_of(p, sides)
  if p.text == "bool" then return "true" end
  if not dtypes[p.kind] or not p.is_array and p.lanes ~= "" then return "nil -- fill in: " .. p.text end
  if p.is_size then return ('mw.arg("%s", %s)'):format(p.name, SIDES[#sides]) end
  if not p.is_array then return dtypes[p.kind].eps and "2" or "1" end
  local each = p.lanes == "" and "" or p.lanes .. " * "
  local is_input = dtypes[p.kind].eps and p.text:find "^const"
  return (is_input and 'dev:array("%s", %s%s):random(%d)' or 'dev:zeros("%s", %s%s)'):format(p.kind, each,
    table.concat(sides, ", "), p.place)
end

-- Texts of the parameters for which `make` gives one, as a list.
local function joined(list, separator, make) return table.concat(lists.map(list, make), separator) end

-- What stands in the script for each word with a dollar sign. What its file says of kernels may be another's.
local function words_of(kernel, name, file)
  local source = files.read(file) or ""
  local names, kinds = kernel:parameters()
  local list = lists.map(names, function(word, i) return parameter_of(word, kinds[i], i) end)
  local sizes = lists.map(list, function(p) return p.is_size and p.name or nil end)
  local sides = #sizes == 0 and { "n" } or table.move(sizes, 1, #SIDES, 1, {})
  local function lines(of_sizes)
    return joined(list, "", function(p)
      return p.is_size == of_sizes and ("local %s = %s\n"):format(p.name, value_of(p, sides)) or nil
    end)
  end
  local bytes = joined(list, " + ", function(p) return p.is_array and p.name .. ":nbytes()" or nil end)
  local output = lists.find(list, function(p) return p.is_array and not p.text:find "^const" end)
  return { name = name, file = file, kernel = kernel:name(), signature = kernel:signature(), blocks = BLOCKS[#sides],
    arguments = (#sizes == 0 and ('local n = mw.arg("n", %s)\n'):format(SIDES[1]) or "") .. lines(true) .. lines(false),
    names = joined(list, ", ", function(p) return p.name end), output = output and output.name or "output",
    bytes = bytes == "" and "0" or bytes, each = source:find "extern%s+__shared__" and 16 or 0,
    cooperative = tostring(source:find "this_grid" ~= nil),
    grid = joined(sides, ", ", function(side, i) return ("mw.ceil_div(%s, block[%d])"):format(side, i) end),
    indices = ("i, j, k"):sub(1, 3 * #sides - 2) }
end

-- Writes a file from a text of experiments/new.
local function write(name, from, words)
  local text, problem = files.read(("%s/experiments/new/%s"):format(core.home(), from))
  if text then problem = files.write(name, (text:gsub("%$(%a+)", words))) end
  if problem then failure.raise_as("io", "%s", problem) end
  print("written: " .. name)
end

--- The command.
---@param parsed table
function new.run(parsed)
  local name, file = parsed[1], parsed[2] or parsed[1] .. ".cu"
  local kernel, script = name:gsub("-", "_"), name .. ".lua"
  if not kernel:find "^[%a_][%w_]*$" then options.fail("a name is of letters, digits, - and _, got '%s'", name) end
  for _, made in ipairs { script, not parsed[2] and file or nil } do
    if files.read(made) then options.fail("there is a '%s' already; take another name", made) end
  end
  if not parsed[2] then write(file, "kernel.txt", { name = kernel }) end
  local module = require("moonwarp").device():module(file)
  local known = module:kernels()
  if #known == 0 then
    options.fail("'%s' has no plain kernel; of a template a script has instances, as in module:kernel \"f<float>\" or "
      .. "\"f<32>\"", file)
  elseif parsed[2] and #known > 1 and not lists.has(known, kernel) then
    print(("'%s' has no plain kernel '%s'; the first is taken, of %s"):format(file, kernel, table.concat(known, ", ")))
  end
  local chosen = module:kernel(lists.has(known, kernel) and kernel or known[1])
  write(script, "script.txt", words_of(chosen, name, file))
  print(("kernel %s; to run it: moonwarp run %s"):format(chosen:name(), path.word(script)))
end

return new
