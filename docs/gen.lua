-- SPDX-License-Identifier: MIT
--
-- Writes docs/api/*.md, docs/measurements.md and the tables of studies and kernels, or what programs read: manual.txt,
-- which the prompt's help shows, and meta/moonwarp.d.lua for the language server. They come from the data in
-- docs/api.lua, docs/api/*.lua and the tables of libraries, from docs/measurements.lua and docs/measurements/*.lua, and
-- from what studies and kernels say of themselves.
--   moonwarp run docs/gen.lua                   writes these pages, and tables into other pages
--   moonwarp run docs/gen.lua -- --into DIR     writes DIR/manual.txt and DIR/meta/moonwarp.d.lua; DIR/meta is there
--   moonwarp run docs/gen.lua -- --check        fails where a page is not what would be written, a name has no entry, or
--                                               a figure is not what its schema allows
-- The same data gives the same bytes.

local folder = arg[0]:match("^(.*)/") or "."
package.path = ("%s/?.lua;%s"):format(folder, package.path)

local markdown = require "generate.markdown"
local definitions = require "generate.definitions"
local libraries = require "generate.libraries"
local manual = require "generate.manual"
local measurements = require "generate.measurements"
local names = require "generate.names"
local studies = require "generate.studies"

local function load_api()
  local api = dofile(folder .. "/api.lua")
  for i, page in ipairs(api.pages) do
    api.pages[i] = dofile(("%s/api/%s.lua"):format(folder, page))
    api.pages[i].name = page
    libraries.extend(api.pages[i])
  end
  return api
end

-- Path and text of every page.
local function pages_of(api, figures)
  local files = studies.pages(folder .. "/..")
  files[#files + 1] = { path = folder .. "/api/README.md", text = markdown.index(api) }
  for _, page in ipairs(api.pages) do
    files[#files + 1] = { path = ("%s/api/%s.md"):format(folder, page.name), text = markdown.page(api, page) }
  end
  files[#files + 1] = { path = folder .. "/measurements.md", text = measurements.page(figures) }
  return files
end

-- The same of what programs read.
local function data_of(api, into)
  return { { path = into .. "/meta/moonwarp.d.lua", text = definitions.text(api) },
           { path = into .. "/manual.txt", text = manual.text(api) } }
end

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text <const> = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

local function stale(files)
  local problems = {}
  for _, file in ipairs(files) do
    if read(file.path) ~= file.text then
      problems[#problems + 1] = file.path .. " is not what docs/gen.lua writes: run `make docs`"
    end
  end
  return problems
end

local api = load_api()
local figures = measurements.load(folder)

if arg[1] == "--check" then
  local problems = stale(pages_of(api, figures))
  for _, found in ipairs { names.problems(api), measurements.problems(figures, folder .. "/..") } do
    table.move(found, 1, #found, #problems + 1, problems)
  end
  for _, problem in ipairs(problems) do io.stderr:write("docs-check: ", problem, "\n") end
  os.exit(#problems == 0)
end

local files = arg[1] == "--into" and data_of(api, arg[2]) or pages_of(api, figures)
for _, file in ipairs(files) do write(file.path, file.text) end
