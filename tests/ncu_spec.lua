-- SPDX-License-Identifier: MIT
--
-- Structural counters of a GPU: what is made of the pages of ncu's reports (tests/check/ncu), and how ncu is run, by a
-- stand-in over the fake driver. $MOONWARP_PROGRAM is what was built.

local fake = require "tests.fake"
local files = require "moonwarp.base.files"
local labs = require "tests.labs"
local lists = require "moonwarp.base.lists"
local report = require "moonwarp.measure.ncu_report"
local support = require "tests.support"
local core = support.core

local RECORDED <const> = core.home() .. "/tests/check/ncu"

local function page(name)
  return files.read(("%s/%s.csv"):format(RECORDED, name))
end

local function has(output, text)
  assert.is_truthy(output:find(text, 1, true), ("'%s' is not in\n%s"):format(text, output))
end

-- "load_requests 2, load_sectors 8": all that is counted, by name.
local function counted(one)
  return table.concat(lists.map(lists.keys(one), function(name)
    return math.type(one[name]) == "integer" and name ~= "line" and ("%s %d"):format(name, one[name]) or nil
  end), ", ")
end

local function lines_of(launch)
  return table.concat(lists.map(launch.lines, function(line)
    return ("%s:%d %s"):format(line.file, line.line, counted(line))
  end), "\n")
end

-- ---- reports ------------------------------------------------------------------------------------

describe("a report of ncu", function()
  local launches, problem = report.read(page "raw", page "sass", page "lines")

  it("is read by launches", function()
    assert.is_nil(problem)
    assert.are.same({ "transpose", "scaled<float, 3>", "transpose" },
      lists.map(launches, function(one) return one.kernel end))
    assert.are.same({ { 2, 2, 1 }, { 32, 8, 1 }, "cuda:0", "ncu" },
      { launches[1].grid, launches[1].block, launches[1].device, launches[1].source })
    assert.are.same(launches[1], launches[3])
  end)

  it("has totals from the metrics of a launch, and lanes and barriers from its instructions", function()
    assert.are.equal("atomic_requests 0, barriers 32, lanes 16384, load_requests 128, load_sectors 512, requests 512, "
      .. "shared_atomic_requests 0, shared_load_conflicts 3970, shared_load_requests 128, shared_load_wavefronts 4098, "
      .. "shared_store_conflicts 0, shared_store_requests 128, shared_store_wavefronts 128, store_requests 128, "
      .. "store_sectors 512", counted(launches[1]))
    assert.are.equal("atomic_requests 1, barriers 0, lanes 152, load_requests 2, load_sectors 8, requests 5, "
      .. "shared_atomic_requests 0, shared_load_conflicts 0, shared_load_requests 0, shared_load_wavefronts 0, "
      .. "shared_store_conflicts 0, shared_store_requests 0, shared_store_wavefronts 0, store_requests 2, "
      .. "store_sectors 5", counted(launches[2]))
  end)

  it("has lines, whose instructions are told apart", function()
    assert.are.equal([[
/tmp/a/k.cu:4 lanes 8192, load_requests 128, load_sectors 512, requests 256, shared_store_conflicts 0, ]]
      .. [[shared_store_requests 128, shared_store_wavefronts 128
/tmp/a/k.cu:5 barriers 32
/tmp/a/k.cu:7 lanes 8192, requests 256, shared_load_conflicts 3968, shared_load_requests 128, ]]
      .. [[shared_load_wavefronts 4096, store_requests 128, store_sectors 512]], lines_of(launches[1]))
  end)

  it("has no request of an instruction that all lanes skip, or of local memory", function()
    assert.are.equal([[
/tmp/a/k.cu:12 lanes 44, load_requests 2, load_sectors 8, requests 2
/tmp/a/k.cu:13 lanes 44, requests 2, store_requests 2, store_sectors 5
/tmp/a/k.cu:14 atomic_requests 1, lanes 20, requests 1
/tmp/a/k.cu:15 lanes 44, requests 2, shared_store_conflicts 0, shared_store_requests 2, shared_store_wavefronts 2]],
      lines_of(launches[2]))
  end)

  it("leaves out what was not measured", function()
    local list = report.read(page "raw":gsub('"4,098"', '"n/a"'), page "sass", page "lines")
    assert.are.equal(3970, list[1].shared_load_conflicts)
    assert.is_nil(list[1].shared_load_wavefronts)
  end)

  it("of an older version has no shapes in columns of their own", function()
    local names = { "ID", "Process ID", "Kernel Name" }
    for axis in ("xyz"):gmatch "." do
      lists.append(names, { "launch__grid_dim_" .. axis, "launch__block_dim_" .. axis })
    end
    local raw = '"' .. table.concat(names, '","') .. '"\n"","","","","block","","block","","block"\n'
      .. '"0","2489696","k(int, double3 *)","4,096","256","2","1","1","1"'
    local one = report.read(raw, "", "")[1]
    assert.are.same({ "k", { 4096, 2, 1 }, { 256, 1, 1 } }, { one.kernel, one.grid, one.block })
  end)

  it("without lines has totals", function()
    local list = assert(report.read(page "raw", page "sass", "==WARNING== Unable to open source file"))
    assert.are.same({ 512, 16384, {} }, { list[1].load_sectors, list[1].lanes, list[1].lines })
  end)

  it("has no lines of instructions that are of two", function()
    local other = page("lines"):gsub("/tmp/a/k%.cu", "/tmp/b/k.cu")
    local list = assert(report.read(page "raw", page "sass", page "lines" .. "\n" .. other))
    assert.are.same({ 16384, {} }, { list[1].lanes, list[1].lines })
  end)

  it("is taken without lines if its pages differ", function()
    for wanted, sass in pairs {
      ["its page 'source' has 2 launches, its page 'raw' 3: lines are not known"] = page "sass":match "^(.*)\n\n",
      ["its page 'source' has 0 launches, its page 'raw' 3: lines are not known"] = "garbage\n\"\"\"\"\n",
      ["its page 'source' has 3 launches, its page 'raw' 3: lines are not known"] =
        page("sass"):gsub('Name","transpose', 'Name","other'),
    } do
      local list, why = report.read(page "raw", sass, page "lines")
      assert.are.equal(wanted, why)
      assert.are.same({ 512, {} }, { list[1].load_sectors, list[1].lines })
      assert.is_nil(list[1].lanes)
    end
  end)

  it("is rejected if a launch is cut off", function()
    local list, why = report.read(page("raw"):sub(1, -40), page "sass", page "lines")
    assert.is_nil(list)
    assert.are.equal("a row of its page 'raw' is not whole", why)
    assert.are.same({}, (report.read("", "", "")))
  end)
end)

-- ---- runs ---------------------------------------------------------------------------------------

if not fake.is_possible() then
  pending("the fake driver needs a C compiler and its sources")
  return
end

-- Runs in a folder with the files, on a machine that seems to have a GPU; run(line, environment) gives status and
-- output.
local function with(list, body)
  support.with_folder(function(folder)
    for name, text in pairs(list) do support.write(folder .. "/" .. name, text) end
    body(function(line, environment)
      return labs.shell(("cd %s && PATH=%s:$PATH MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s MOCK_CUDA_LEAKS=1 %s %s %s "
        .. "</dev/null"):format(labs.quoted(folder), labs.quoted(RECORDED), fake.library(), fake.library(),
        environment or "", labs.quoted(labs.program), line))
    end, folder)
  end)
end

describe("ncu that the user has started", function()
  it("leaves nothing to be timed", function()
    local script = [[local mw = require "moonwarp"
      local dev = mw.device()
      print(dev:id(), dev:properties().checks, mw.bench(function() dev:synchronize() end).n)]]
    with({ ["s.lua"] = script }, function(run)
      local status, output = run("run s.lua", "NV_COMPUTE_PROFILER_PERFWORKS_DIR=/nowhere")
      assert.are.equal(0, status, output)
      has(output, "note: under ncu nothing is timed, and it reports itself what it finds\n")
      has(output, "cuda:0\ttrue\t0\n")
    end)
  end)
end)
