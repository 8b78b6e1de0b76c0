-- SPDX-License-Identifier: MIT
--
-- The study build: what nvcc makes, that ptxas' log and the loaded code agree, and that the source needs neither.

local support = require "tests.support"
local labs = require "tests.support.labs"
local store = require "moonwarp.results.store"
local core = require "moonwarp.core"

local has_nvcc = os.execute "nvcc --version >/dev/null 2>&1" == true

describe("the study build", function()
  if not support.program() then return pending "needs the program" end

  local with_nvcc = has_nvcc and support.has_nvrtc() and it or pending

  with_nvcc("builds each kind, and says what ptxas says", function()
    local run = support.study_passes("build", "--device cpu -p n=301 -p limits=32", { untimed = true })
    local ways, spilled = {}, {}
    for _, r in ipairs(run.record.records) do
      if r.group == "ways" then ways[r.what] = r.result end
      if r.group == "ptxas" then spilled[("%s %d"):format(r.kernel, r.limit)] = r.stores > 0 end
    end
    assert.are.equal("right", ways['dev:module "build/saxpy.cu"'])
    assert.are.equal("loaded, not run", ways["dev:module { cubin = }"])
    assert.is_truthy(ways["dev:module { ptx = }"]:find("has no driver, which compiles PTX", 1, true))
    assert.is_truthy(ways["an object, linked by g++"]:find "%S")
    assert.are.equal(ways["an object, linked by g++"], ways["a library, linked by g++"])
    assert.are.same({ ["saxpy 32"] = false, ["reverse 32"] = false, ["mix 32"] = true }, spilled)
    assert.are.equal(4, #run.record.checks)
  end)

  with_nvcc("links with the libraries of an nvcc that is a script elsewhere", function()
    support.with_folder(function(folder)
      support.write(folder .. "/nvcc", '#!/bin/sh\nPATH=${PATH#*:}\nexec nvcc "$@"\n')
      local command = "cd '%s' && chmod +x nvcc && PATH=$PWD:$PATH make -f '%s/kernels/build/Makefile' ARCH=sm_90 alone"
      local status, output = labs.shell(command:format(folder, core.home()))
      assert.are.equal(0, status, output)
    end)
  end)

  with_nvcc("says why an architecture is not compiled for", function()
    local run = support.study_passes("build", "--device cpu -p arch=sm_12", { untimed = true })
    assert.is_truthy(run.remarks:find("Only the source is compiled: cuda:sm_12: no such", 1, true), run.remarks)
  end)

  it("compiles the source where there is no nvcc", function()
    if os.execute "test -e /usr/bin/nvcc" then return pending "nvcc is in /usr/bin" end
    support.with_folder(function(folder)
      local command = "PATH=/usr/bin:/bin MOONWARP_CXX=%s %s run build --device cpu -p n=301 --out %s </dev/null"
      local status, output = labs.shell(command:format(labs.quoted(core.home() .. "/tests/cxx-o0"),
        labs.quoted(labs.program), labs.quoted(folder)))
      assert.are.equal(0, status, output)
      assert.is_truthy(output:find("Only the source is compiled: nvcc is not there.", 1, true), output)
      local record = assert(store.read(support.run(folder)))
      assert.are.equal("1 1", ("%d %d"):format(#record.records, #record.checks))
    end)
  end)
end)
