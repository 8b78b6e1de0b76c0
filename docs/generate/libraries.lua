-- SPDX-License-Identifier: MIT
--
-- Entries of docs/api for the functions of numerical libraries, from the tables that describe them (lua/moonwarp/blas.lua
-- and others; lua/moonwarp/library.lua says what is in one).

local libraries = {}

local function rows_of(name)
  require("moonwarp." .. name)
  for _, table in ipairs(require("moonwarp.library").all) do
    if table.name == "moonwarp." .. name then return table.functions end
  end
end

-- "m n batch?" as "m x n, or m x n x batch".
local function sides_text(sides)
  local forms, form = {}, {}
  for side, mark in sides:gmatch "([%w+]+)(%??)" do
    if mark == "?" then forms[#forms + 1] = table.concat(form, " x ") end
    form[#form + 1] = side:gsub("%+", " + ")
  end
  forms[#forms + 1] = table.concat(form, " x ")
  return table.concat(forms, ", or ")
end

local function array_param(array)
  local text = { sides_text(array[2]) }
  if array.swap then text[#text + 1] = ("the transpose of that with `%s`"):format(array.swap) end
  if array.partly then text[#text + 1] = "a triangle of it is read" end
  if array.writes then
    local reads = array.reads
    text[#text + 1] = reads == true and "read and written"
      or type(reads) == "string" and ("written, and read unless `%s` is 0"):format(reads) or "written"
  end
  return { array[1], "array", table.concat(text, "; ") }
end

-- "f32, f64; on CUDA devices also f32 = f16 f16".
local function types_text(types)
  local both, cuda = {}, {}
  for names, row in pairs(types) do
    local list = row.cpu == false and cuda or both
    local first, rest = names:match "^(%S+)%s*(.*)$"
    local is_one = rest:gsub(first, ""):gsub("i32", ""):match "^%s*$"
    list[#list + 1] = is_one and first or ("%s = %s"):format(first, rest)
  end
  table.sort(both)
  table.sort(cuda)
  local text = "Element types: " .. table.concat(both, ", ")
  if #cuda > 0 then text = text .. "; on CUDA devices also " .. table.concat(cuda, ", ") end
  return text
end

local function option_field(option)
  local default, values = option[2], option.values
  local kind = values and "string" or type(default) == "boolean" and "boolean" or option.integer and "integer" or "number"
  return { option[1], kind, option.help or "", default = tostring(default) }
end

local function options_class(owner, name, row)
  local class = { about = ("Of `%s.%s`."):format(owner, name) }
  for i, option in ipairs(row.options or {}) do class[i] = option_field(option) end
  class[#class + 1] = { "stream", "stream", "the stream of the call", default = "the default stream" }
  return class
end

local function entry_of(owner, name, row, more)
  local params, names = {}, {}
  if row.object then params[1], names[1] = { row.object:sub(1, 1), "library_object", "the " .. row.object }, row.object:sub(1, 1) end
  for _, array in ipairs(row.arrays) do
    params[#params + 1], names[#names + 1] = array_param(array), array[1]
  end
  local class = ("%s_%s"):format(owner, name)
  params[#params + 1] = { "options", class, "", optional = true }
  local entry = {
    owner = owner, name = name, forms = { ("%s.%s(%s[, options])"):format(owner, name, table.concat(names, ", ")) },
    about = ("%s. %s."):format(row.help:gsub("^%l%f[%L]", string.upper), types_text(row.types)), params = params,
    returns = { { "array", row.arrays[1][1] } }, since = "0.11.0",
  }
  for field, value in pairs(more) do entry[field] = value end
  return entry, class, options_class(owner, name, row)
end

--- Puts the entries of a page's `libraries` after its own: { { "blas", { "gemm", { example = ... } }, ... }, ... }, a
--- library with its functions, each with what its entry has beside the table's; an entry that is whole is taken as it is.
---@param page table
function libraries.extend(page)
  for _, list in ipairs(page.libraries or {}) do
    local owner <const> = list[1]
    page.entries[#page.entries + 1] = { heading = "moonwarp." .. owner }
    local rows = rows_of(owner)
    for i = 2, #list do
      local name, more = list[i][1], list[i][2] or {}
      if list[i].about then
        page.entries[#page.entries + 1] = list[i]
      else
        local entry, class, options = entry_of(owner, name, rows[name], more)
        page.entries[#page.entries + 1], page.classes[class] = entry, options
      end
    end
  end
end

return libraries
