-- SPDX-License-Identifier: MIT
--
-- A lab had the environment of the batch, with the tokens and passwords that its user had there.

local support = require "tests.support"
local labs = require "tests.support.labs"

if not support.program() then
  describe("a lab's environment", function() pending "needs the program" end)
  return
end

local GIVEN <const> = "MY_TOKEN=secret SLURM_JWT=secret LC_TIME=C SLURM_JOB_NAME=j PATHS=secret UCX_TLS=tcp "
  .. "MOONWARP_X=x MOONWARP_LAB=forged"

-- Whoever describes the script runs it, too: both append what they have.
local SCRIPT <const> = [[
local n = mw.arg("n", 1)
os.execute "env | sort; [ ! -w . ] || env >>described"]]

local function has(text, line) return ("\n" .. text):find("\n" .. line .. "\n", 1, true) ~= nil end

local function lab_has(when)
  return function()
    local env = 'params = { n = 1 }, env = { "UCX_TLS", "ASAN_OPTIONS", "LSAN_OPTIONS", THREADS = 4, TEXT = "a b" }'
    labs.with({ { "a", env, SCRIPT }, { "b", "", SCRIPT } }, function(folder, batch)
      local status, output, result = batch("labs.lua --sandbox " .. when, GIVEN)
      assert.are.equal(0, status, output)
      local said = {}
      for _, name in ipairs { "a", "b" } do
        said[name] = support.read(("%s/%s/%s-cpu/output.txt"):format(folder, result.folder, name))
        assert.is_nil(said[name]:find("secret", 1, true), said[name])
        assert.is_true(has(said[name], "LC_TIME=C") and has(said[name], "SLURM_JOB_NAME=j")
          and has(said[name], "MOONWARP_X=x") and has(said[name], "MOONWARP_LAB=" .. name), said[name])
      end
      assert.is_true(has(said.a, "UCX_TLS=tcp") and has(said.a, "THREADS=4") and has(said.a, "TEXT=a b"), said.a)
      assert.is_false(has(said.b, "UCX_TLS=tcp"))
      if when == "off" then assert.is_nil(support.read(folder .. "/described"):find("secret", 1, true)) end
    end)
  end
end

describe("a lab's environment", function()
  labs.it_sandboxed("is a list in a sandbox, and what its curriculum adds", lab_has "require")

  it("is so without a sandbox, also where the lab is described", lab_has "off")

  it("is checked with the curriculum", function()
    local wanted = 'env must be names and values of at most 100 variables, as in { "UCX_TLS", OMP_NUM_THREADS = 4 }'
    for _, env in ipairs { '{ "A=B" }', "{ A = {} }", '{ ["A B"] = 1 }', "{ 5 }", '{ A = "\\0" }', "false" } do
      labs.rejected(('return { { name = "a", script = "mine.lua", env = %s } }'):format(env),
        ("FILE: lab 'a': %s, got %s"):format(wanted, env == "false" and env or "a table"))
    end
    assert.are.same({ "B", "C=1" }, labs.load('return { { name = "a", script = "mine.lua", env = { "B", C = 1 } } }')
      .labs[1].env)
  end)
end)
