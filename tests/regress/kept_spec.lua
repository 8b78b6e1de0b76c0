-- SPDX-License-Identifier: MIT
--
-- Files that are kept for the user. One that was there and could not be read counted as none: `tuned list` said "no
-- entries", and the next change of it wrote a new file in its place. An empty one, as /dev/null, was an error.

local failure = require "moonwarp.base.failure"
local kept = require "moonwarp.base.kept"
local lfs = require "lfs"
local schema = require "moonwarp.base.schema"
local support = require "tests.support"

local function with_file(body)
  support.with_folder(function(folder)
    local file = kept.new { variable = "MOONWARP_NONE", file = "x.json", schema = "x/1", key = "list",
                            entry = schema.fields { n = "integer" } }
    local name = folder .. "/x.json"
    function file.path() return name end
    body(file, name)
  end)
end

local function add(entries) return { { n = #entries + 1 }, table.unpack(entries) } end

describe("a kept file", function()
  it("that cannot be read is an error, and stays as it is", function()
    with_file(function(file, name)
      assert(lfs.mkdir(name))
      for _, fn in ipairs { file.read, function() file:change(add) end } do
        local done, problem = failure.catch(fn, file)
        assert.is_false(done)
        assert.are.equal(name .. " cannot be read: Is a directory", failure.text(problem))
      end
      assert.are.equal("directory", lfs.attributes(name, "mode"))
    end)
  end)

  it("has no entries where there is none, and where it is empty", function()
    with_file(function(file, name)
      assert.are.same({}, file:read())
      support.write(name, "")
      assert.are.same({}, file:read())
      file:change(add)
      file:change(add)
      assert.are.same({ { n = 2 }, { n = 1 } }, file:read())
    end)
  end)
end)
