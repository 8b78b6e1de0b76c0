-- SPDX-License-Identifier: MIT
--
-- A study that is a folder: its files require each other by name while it runs, and nothing else is changed by what
-- they are called.

local labs = require "tests.support.labs"
local support = require "tests.support"

local STUDY <const> = [[
local mw = require "moonwarp"
local mesh = require "mesh"
local study, p = mw.study { question = "is a folder read?", kernels = "k.cu", rate = "T_eff", output = "y",
  type = "f32", odd = { { n = 7 } }, params = { { "n", 100, "elements" } } }
function study.arrays(c) return { y = c.dev:array("f32", c.n) } end
study:answer("ones", { bytes = "y", cell = function() return require "late".one end })
study:rung { 1, mesh.name, kernel = "ones", block = 64, over = { "n" } }
study:part { "all", cases = { { n = p.n } }, table = { "rung", "n" } }
study:finally(function()
  print(require "lfs".currentdir ~= nil, mw.version ~= nil, package.loaded.own, pcall(require, "stray"))
end)
return study]]

local FILES <const> = {
  ["init.lua"] = STUDY, ["mesh.lua"] = 'local name, path = ... assert(path:find "mesh%.lua$")\n'
    .. 'return { name = require("part-of").name .. name }', ["part-of.lua"] = 'return { name = "of the " }',
  ["late.lua"] = 'return { one = require "sub.one" }', ["sub/one.lua"] = "return 1",
  ["../stray.lua"] = "return 1", ["lfs.lua"] = 'error "lfs of the folder"', ["cjson.lua"] = 'error "cjson"',
  ["moonwarp.lua"] = 'error "moonwarp of the folder"',
  ["k.cu"] = 'extern "C" __global__ void ones(float *y, int n) {\n'
    .. "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 1;\n}",
}

if not support.program() then
  describe("a study that is a folder", function() pending "needs the program" end)
  return
end

local function in_folder(body)
  support.with_folder(function(folder)
    os.execute(("mkdir -p %s/mesh-study/sub"):format(folder))
    for name, text in pairs(FILES) do support.write(("%s/mesh-study/%s"):format(folder, name), text) end
    body(function(words, place)
      return labs.shell(("cd %s/%s && MOONWARP_CXX=%s %s %s </dev/null"):format(labs.quoted(folder), place or "",
        labs.quoted(support.core.home() .. "/tests/cxx-o0"), labs.quoted(labs.program), words))
    end, folder)
  end)
end

local function has(output, text) assert.is_truthy(output:find(text, 1, true), text .. " is not in: " .. output) end

describe("a study that is a folder", function()
  it("requires its files by name, described, run, swept and run again", function()
    in_folder(function(moonwarp, folder)
      local status, output = moonwarp "list mesh-study/init.lua"
      assert.are.equal(0, status, output)
      has(output, "is a folder read?")
      output = select(2, moonwarp "list mesh-study/")
      has(output, "mesh-study     is a folder read?")
      local WAYS <const> = { ["mesh-study"] = ".", [""] = "mesh-study/", ["./"] = "mesh-study/init.lua -p n=10,20" }
      for place, words in pairs(WAYS) do
        status, output = moonwarp(("run --device cpu --out %s/out %s"):format(labs.quoted(folder), words), place)
        assert.are.equal(0, status, output)
        has(output, "of the mesh")
        has(output, "true\ttrue\tnil\tfalse\t")
        has(output, "/out/mesh-study/2")
      end
      os.execute(("rm -r %s/mesh-study"):format(folder))
      status, output = moonwarp "rerun out --out again"
      assert.are.equal(0, status, output)
      has(output, "of the mesh")
    end)
  end)

  it("leaves nothing of them behind", function()
    in_folder(function(moonwarp)
      local status, output = moonwarp([[-e 'local folder = require "moonwarp.study.folder"
        local count = #package.searchers
        do local open <close> = folder.open "mesh-study/init.lua" assert(require "late".one == 1) end
        print(#package.searchers == count, package.loaded.late, pcall(require, "late"))
        print(folder.open "mesh-study/mesh.lua")']])
      assert.are.equal(0, status, output)
      has(output, "true\tnil\tfalse\t")
      has(output, "\nnil\n")
      status, output = moonwarp [[-e 'package.loaded.mesh = 5 print(mw.run "mesh-study", require "mesh")' --device cpu]]
      assert.are.equal(0, status, output)
      has(output, "of the mesh")
      has(output, "\ntrue\t5\n")
    end)
  end)

  it("is named by file and line where one of them is wrong", function()
    in_folder(function(moonwarp, folder)
      support.write(folder .. "/mesh-study/part-of.lua", "return {\n  name = }")
      local status, output = moonwarp "run mesh-study --device cpu"
      assert.are.equal(1, status, output)
      has(output, "mesh-study/part-of.lua:2: unexpected symbol near '}'")
    end)
  end)
end)
