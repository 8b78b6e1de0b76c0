-- SPDX-License-Identifier: MIT
--
-- Check mode finds nothing in the kernels of the studies, on the odd sizes: of some studies in `make check`, of all in
-- `make stress`. $MOONWARP_PROGRAM is what was built.

local support = require "tests.support"
local labs = require "tests.support.labs"
local studies = require "moonwarp.lab.studies"

-- Further words of the command line.
local WORDS <const> = { reduction = "-p ops=sum,length", gemm = "-p precisions=f32,tf32", ["multi-gpu"] = "-p n=4096",
                        ["fourier-search"] = "-p n=8192 -p most=8 -p lengths=4096 -p parts=ladder",
                        montecarlo = "-p paths=1000 -p most=4096" }

local SAMPLE = { cumsum = true, graphs = true, streams = true }

describe("check mode of the study", function()
  for _, name in ipairs(support.program() and studies.names() or {}) do
    if not support.whole and not SAMPLE[name] then goto continue end
    it(name .. " finds no error", function()
      support.with_folder(function(folder)
        local status, output = labs.shell(("%s run --check --device cpu %s %s --out %s </dev/null"):format(
          labs.quoted(labs.program), name, WORDS[name] or "", labs.quoted(folder)))
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find("check mode: no errors found", 1, true), output)
      end)
    end)
    ::continue::
  end
end)
