-- SPDX-License-Identifier: MIT
--
-- Ids of devices: what the backends say of them without opening one, and that nothing above core/backend asks a
-- device's id what the device can do.

local lfs = require "lfs"

local support = require "tests.support"
local core = support.core

describe("ids of devices", function()
  it("are listed in words, the best backend's first", function()
    local forms, names = core.device_forms()
    assert.are.equal("cuda, cuda:N or cpu", forms)
    assert.are.equal("cuda cpu", table.concat(names, " "))
  end)

  it("say which device, of which backend and kind", function()
    local function says(word)
      local it = core.device_word(word)
      return it and ("%s %s %s %s"):format(it.id, it.backend, it.kind, it.offline)
    end
    assert.are.equal("cpu cpu cpu false", says "cpu")
    assert.are.equal("cuda:0 cuda gpu false", says "cuda")
    assert.are.equal("cuda:12 cuda gpu false", says "cuda:12")
    assert.are.equal("cuda:sm_90 cuda gpu true", says "cuda:sm_90")
    assert.are.equal("cpu:0/2 cpu cpu false", says "cpu:0/2")
    assert.is_true(core.device_word("cpu:check:0/2").checked)
    for _, word in ipairs { "", "gpu", "cpu:0", "cpu:", "cpu:1/", "cpu:/2", "cpu:check:2", "cuda:0/2", "cuda:",
                            "cuda:x", "cuda:1x", "cuda:sm_", "cuda:sm_x", "cud", "cuda0" } do
      assert.is_nil(says(word), word)
    end
  end)

  it("belong to devices of that kind", function()
    for _, dev in ipairs(support.devices()) do
      assert.are.equal(core.device_word(dev:id()).kind, dev:kind())
      assert.are.equal(dev:kind(), dev:properties().kind)
    end
  end)
end)

-- ---- the sources --------------------------------------------------------------------------------

local FOLDERS = { "lua/moonwarp", "core/bind", "core/host" }

local function sources()
  local list = {}
  for _, folder in ipairs(FOLDERS) do
    local pipe <close> = assert(io.popen(("find '%s/%s' -name '*.lua' -o -name '*.[ch]'"):format(core.home(), folder)))
    for path in pipe:lines() do list[#list + 1] = path end
  end
  return list
end

-- A text that is a backend's name, or a pattern or the beginning of an id.
local function names_a_backend(text, names)
  local word = text:gsub("^%^", "")
  for _, name in ipairs(names) do
    if word:find("^" .. name .. "$") or word:find("^" .. name .. "[:$%%]") then return true end
  end
  return word:find "^sm_[^_]" ~= nil -- sm__cycles is a metric of ncu
end

local function is_comment(line) return line:find "^%s*%-%-" or line:find "^%s*/?%*" end

describe("the sources above core/backend", function()
  if not lfs.attributes(core.home() .. "/core/bind") then
    pending "needs the sources"
    return
  end

  it("compare no device's id", function()
    local _, names = core.device_forms()
    local found, count = {}, 0
    for _, path in ipairs(sources()) do
      local number = 0
      count = count + 1
      for line in io.lines(path) do
        number = number + 1
        for _, text in line:gmatch "([\"'])(.-)%1" do
          -- a kind is what they may ask for
          if not is_comment(line) and not line:find "kind" and names_a_backend(text, names) then
            found[#found + 1] = ("%s:%d: %s"):format(path, number, line)
          end
        end
      end
    end
    assert.is_true(count > 50)
    assert.are.equal("", table.concat(found, "\n"))
  end)
end)
