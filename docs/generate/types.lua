-- SPDX-License-Identifier: MIT
--
-- Type expressions of docs/api: "array" stands for moonwarp.array, "copy_options?" for moonwarp.copy_options?.

local types = {}

-- The names that get the prefix: classes, option and result tables, aliases.
local function known_names(api)
  if api.known then return api.known end
  local known = {}
  for _, page in ipairs(api.pages) do
    if page.self then known[(page.owner:gsub(" ", "_"))] = true end
    for name in pairs(page.classes or {}) do known[name] = true end
  end
  for _, alias in ipairs(api.aliases) do known[alias[1]] = true end
  api.known = known
  return known
end

-- Applies f to the parts of a type that are not string literals.
local function outside_strings(text, f)
  local out, at = {}, 1
  while at <= #text do
    local first, last = text:find('"[^"]*"', at)
    out[#out + 1] = f(text:sub(at, (first or #text + 1) - 1))
    if first then out[#out + 1] = text:sub(first, last) end
    at = (last or #text) + 1
  end
  return table.concat(out)
end

--- As the language server writes it, with the prefix.
---@param api table
---@param text string
---@return string
function types.full(api, text)
  local known = known_names(api)
  return outside_strings(text, function(part)
    return (part:gsub("()([%a_][%w_%.]*)()", function(_, word, after)
      local named = part:sub(after, after) == ":" -- a parameter's name
      return known[word] and not named and "moonwarp." .. word or word
    end))
  end)
end

--- As a reader wants it, without the prefix.
---@param text string
---@return string
function types.short(text)
  return (text:gsub("moonwarp%.", ""))
end

--- Words with commas between; those that are nil, false or empty are left out.
---@return string
function types.joined(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local part = select(i, ...)
    if part and part ~= "" then parts[#parts + 1] = part end
  end
  return table.concat(parts, ", ")
end

return types
