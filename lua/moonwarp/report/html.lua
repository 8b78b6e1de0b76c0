-- SPDX-License-Identifier: MIT
--
-- Markup, made of functions named as the elements: html.p { class = "note", "a < b" }. Texts are
-- escaped by construction: only what these functions return goes into a page as it is, so nothing
-- that a record holds can become markup.

local lists = require "moonwarp.base.lists"
local utf8text = require "moonwarp.base.utf8text"

local html = {}

local Markup = { __name = "markup" }

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }
local UNKNOWN <const> = "\u{FFFD}" -- the replacement character
local VOID = { meta = true, br = true, img = true }
local OPEN_ENDED = { td = true, tr = true } -- HTML closes them by what follows

--- A text for a page: between tags, or in an attribute's quotation marks.
---@param text any
---@return string
function html.escape(text)
  -- Bytes that are not UTF-8 would spoil the rest of the page. Messages may hold any bytes.
  local clean = utf8text.valid(tostring(text)):gsub("[%z\1-\8\11\12\14-\31\127]", UNKNOWN)
  return (clean:gsub("[&<>\"']", ENTITIES))
end

--- A string that is markup already.
---@param text string
---@return table markup
function html.raw(text)
  return setmetatable({ text = text }, Markup)
end

--- Whether a value is markup.
---@param value any
---@return boolean
function html.is_markup(value)
  return getmetatable(value) == Markup
end

-- Conditions leave nil between children, where # and ipairs may stop.
local function last_of(given)
  local last = 0
  for key in pairs(given) do
    if math.type(key) == "integer" and key > last then last = key end
  end
  return last
end

local function add(parts, child)
  if child == nil or child == false then return end
  if html.is_markup(child) then
    parts[#parts + 1] = child.text
  elseif type(child) == "table" then
    for i = 1, last_of(child) do add(parts, child[i]) end
  else
    parts[#parts + 1] = html.escape(child)
  end
end

--- Several pieces as one: markup, texts (escaped) and lists of them; false and nil are nothing.
---@param children table
---@return table markup
function html.join(children)
  local parts = {}
  add(parts, children)
  return html.raw(table.concat(parts))
end

-- HTML wants quotation marks only around some values; tens of thousands of cells are smaller without.
local function quoted(value)
  local text = html.escape(value)
  return text:find("^[%w%-_.#]+$") and text or ('"%s"'):format(text)
end

-- Sorted, so that the same records make the same page; "_" becomes "-", true gives a bare name.
local function attributes(given)
  local names = lists.keys(lists.named(given))
  for i, name in ipairs(names) do
    local value, word = given[name], name:gsub("_", "-")
    local text = value and value ~= true and "=" .. quoted(value) or ""
    names[i] = value and (" %s%s"):format(word, text) or ""
  end
  return table.concat(names)
end

local function element(name, given)
  local head = ("<%s%s"):format(name, attributes(given))
  if VOID[name] then return html.raw(head .. ">") end
  if name == "path" then return html.raw(head .. " />") end
  local parts = { head .. ">" }
  for i = 1, last_of(given) do add(parts, given[i]) end
  if not OPEN_ENDED[name] then parts[#parts + 1] = ("</%s>"):format(name) end
  return html.raw(table.concat(parts))
end

return setmetatable(html, { __index = function(self, name)
  local function made(given) return element(name, given) end
  rawset(self, name, made)
  return made
end })
