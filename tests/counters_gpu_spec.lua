-- SPDX-License-Identifier: MIT
--
-- The comparison of a GPU's counters with the CPU device's (tests/check/counters_gpu.lua), over the fake driver: the
-- stand-in for ncu prints what the CPU device has counted. $MOONWARP_PROGRAM is what was built.

local cases = require "tests.counters_cases"
local core = require "moonwarp.core"
local fake = require "tests.fake"
local labs = require "tests.labs"
local lists = require "moonwarp.base.lists"
local report = require "moonwarp.measure.ncu_report"
local support = require "tests.support"
local mw = support.mw
local project = require "tests.counters_project"

local KERNELS <const> = core.home() .. "/tests/kernels/counters.cu"
local STAND_IN <const> = core.home() .. "/tests/check/ncu"
local OPCODES <const> = { load = "LDG.E", store = "STG.E", shared_load = "LDS", shared_store = "STS",
                          atomic = "REDG.E.ADD", shared_atomic = "ATOMS.ADD" }

if not fake.is_possible() or not support.has_nvrtc() then
  pending("needs a C compiler, the sources of the fake driver and NVRTC")
  return
end

local function row_of(fields)
  return '"' .. table.concat(lists.map(fields, tostring), '","') .. '"\n'
end

-- ---- the pages of a report ----------------------------------------------------------------------

local METRICS <const> = {
  ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = "load_requests",
  ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = "load_sectors",
  ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = "store_requests",
  ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = "store_sectors",
  ["smsp__inst_executed_op_shared_ld_pred_on_any.sum"] = "shared_load_requests",
  ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = "shared_load_wavefronts",
  ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = "shared_load_conflicts",
  ["smsp__inst_executed_op_shared_st_pred_on_any.sum"] = "shared_store_requests",
  ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = "shared_store_wavefronts",
  ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = "shared_store_conflicts",
  ["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"] = "atomic_requests",
  ["smsp__inst_executed_op_shared_atom_pred_on_any.sum"] = "shared_atomic_requests",
}

local function raw_page(launches)
  local metrics = lists.map(report.metrics(), function(name) return name:find "^launch" and nil or name end)
  local rows = { row_of(lists.append({ "ID", "Kernel Name", "Block Size", "Grid Size" }, metrics)) }
  for i, one in ipairs(launches) do
    local values = lists.map(metrics, function(name) return one[METRICS[name]] or 0 end)
    rows[i + 1] = row_of(lists.append({ i - 1, one.kernel .. "(float *)", "(32, 1, 1)", "(1, 1, 1)" }, values))
  end
  return table.concat(rows)
end

-- The instructions of a line, with the fields of TITLES. All but one lane
-- of each are those of the first.
local function instructions_of(line, address)
  local list = {}
  for _, kind in ipairs(lists.keys(OPCODES)) do
    local requests, passes = line[kind .. "_requests"], line[kind .. "_wavefronts"] or 0
    if requests > 0 then
      list[#list + 1] = { ("0x%x"):format(address + 16 * #list), OPCODES[kind], requests, 1,
                          line[kind .. "_sectors"] or 0, passes, passes - (line[kind .. "_conflicts"] or 0) }
    end
  end
  if list[1] then list[1][4] = line.lanes - #list + 1 end
  if line.barriers > 0 then
    list[#list + 1] = { ("0x%x"):format(address + 16 * #list), "BAR.SYNC 0x0", line.barriers, 1, 0, 0, 0 }
  end
  return list
end

local TITLES <const> = { "Address", "Source", "inst_executed", "thread_inst_executed_true",
                         "memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared",
                         "memory_l1_wavefronts_shared_ideal" }

local function source_pages(launches)
  local sass, lines, address = {}, {}, 0x1000
  for _, one in ipairs(launches) do
    local name = one.kernel .. "(float *)"
    lists.append(sass, { row_of { "Kernel Name", name }, row_of(TITLES) })
    lists.append(lines, { row_of { "File Path", "/x/counters.cu" }, row_of { "Function Name", name },
                          row_of(lists.append({ "Line No", "Source" }, TITLES)) })
    for _, line in ipairs(one.lines) do
      lines[#lines + 1] = row_of { line.line, "", "-", "-", 0, 0, 0, 0, 0 }
      for _, fields in ipairs(instructions_of(line, address)) do
        sass[#sass + 1] = row_of(fields)
        lines[#lines + 1] = row_of(lists.append({ "", "" }, fields))
      end
      address = address + 0x100
    end
  end
  return table.concat(sass), table.concat(lines)
end

-- ---- runs ---------------------------------------------------------------------------------------

local function launch(device, file, case, templates)
  local go = device:module { file = file, templates = templates }:kernel(case.kernel):prepare {
    grid = case.grid, block = case.block, shared = case.shared }
  go(table.unpack(case.arguments(device)))
  device:synchronize()
end

local function counted()
  local device = mw.device("cpu", { check = { counters = true } })
  local before = #device:counters()
  for _, case in ipairs(cases) do launch(device, KERNELS, case) end
  for _, case in ipairs(project) do
    launch(device, case.file, case, case.kernel:find "<" and { case.kernel } or nil)
  end
  local all = device:counters()
  return table.move(all, before + 1, #all, 1, {})
end

local function compare(launches)
  local status, output
  support.with_folder(function(folder)
    local sass, lines = source_pages(launches)
    for name, text in pairs { raw = raw_page(launches), sass = sass, lines = lines } do
      support.write(("%s/%s.csv"):format(folder, name), text)
    end
    status, output = labs.shell(("PATH=%s:$PATH MOONWARP_LIBCUDA=%s MOONWARP_LIBNVML=%s MOCK_CUDA_LEAKS=1 "
      .. "MOONWARP_HOME=%s STAND_IN_REPORT=%s COUNTERS=1 %s/tests/check-gpu.sh %s </dev/null"):format(
      labs.quoted(STAND_IN), fake.library(), fake.library(), labs.quoted(core.home()), labs.quoted(folder),
      labs.quoted(core.home()), labs.quoted(labs.program)))
  end)
  return status, output
end

describe("the comparison of counters", function()
  local launches = counted()

  it("passes if all are equal", function()
    local status, output = compare(launches)
    assert.are.equal(0, status, output)
    assert.is_truthy(output:find("\nstrided +33 +%d+ +%d+ +all\n"), output)
    assert.is_truthy(output:find("\nloop_skipping +1 +%d+ +%d+ +all\n"), output)
    assert.is_truthy(output:find("\nlaplace.cu laplace2<float>: equal\n", 1, true), output)
    assert.is_truthy(output:find("\n%d%d%d%d passed, 0 failed\n$"), output)
  end)

  it("says what differs, and takes few conflicts more", function()
    local changed = lists.map(launches, function(one) return lists.merged(one) end)
    for _, one in ipairs(changed) do
      if one.kernel == "root_branch" then one.store_requests = 2 * one.store_requests end
      if one.kernel == "copy" then one.load_sectors = one.load_sectors + 1 end
      if one.kernel == "transpose<in_rows>" then
        one.shared_load_conflicts = one.shared_load_conflicts + one.shared_load_requests // 60
      elseif one.kernel == "transpose<padded>" then
        one.shared_load_conflicts = one.shared_load_conflicts + one.shared_load_requests // 40
      end
    end
    local status, output = compare(changed)
    assert.are.equal(3, status, output)
    assert.is_truthy(output:find("\ndivergence.cu root_branch\n  store_requests +cpu +256  ncu +512\n"), output)
    assert.is_truthy(output:find("\ncopy +load_sectors +cpu +1024  ncu +1025\n"), output)
    assert.is_truthy(output:find("\ntranspose<padded> +shared_load_conflicts +cpu +0  ncu +51\n"), output)
    assert.is_truthy(output:find("\n%d%d%d%d passed, 2 failed\n$"), output)
  end)

  it("says that a launch is missing", function()
    local status, output = compare(table.move(launches, 2, #launches, 1, {}))
    assert.are.equal(1, status, output)
    local wanted = ("%d launches, of which ncu has counted %d"):format(#launches, #launches - 1)
    assert.is_truthy(output:find(wanted, 1, true), output)
  end)
end)
