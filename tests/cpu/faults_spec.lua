-- SPDX-License-Identifier: MIT
--
-- Kernels that break a rule on the CPU device: the error names what and where, and the device stays usable.

local support = require "tests.support"
local mw = support.mw
local fails_as, fails_with = support.fails_as, support.fails_with

local FAR = -(1 << 32) -- elements: outside every array, where nothing else lies

describe("a fault on the CPU device", function()
  support.no_leaks()
  local dev = mw.device "cpu"

  for _, engine in ipairs { "auto", "fiber" } do
    describe("by engine " .. engine, function()
      local m

      before_each(function() m = dev:module { file = support.kernel_file "faults.cu", engine = engine } end)

      after_each(function()
        -- whatever happened, the next launch is right
        local x <close> = dev:array("i32", 8)
        m.works:launch(1, 8, x)
        assert.are.same({ 1, 2, 3, 4, 5, 6, 7, 8 }, x:totable())
        m:close()
      end)

      local function faults(fn, ...)
        return fails_as("fault", function()
          fn()
          dev:synchronize()
        end, ...)
      end

      it("far outside names kernel, block, thread, parameter and index", function()
        local x <close> = dev:zeros("f32", 100)
        faults(function() m.write_at:launch(1, 1, x, FAR) end, "kernel 'write_at' wrote outside every array",
          "block (0,0,0)", "thread (0,0,0)", "parameter 1 'x'", "an array of 400 bytes", "index " .. FAR,
          "; --check names the line")
        faults(function() m.read_at:launch(1, 1, x, x, FAR) end, "kernel 'read_at' read outside every array",
          "block (0,0,0)", "thread (0,0,0)", "an array of 400 bytes")
        assert.are.equal(0.0, x:get(1))
      end)

      it("just past the end of an array is seen", function()
        local x <close> = dev:zeros("f32", 100)
        faults(function() m.write_at:launch(1, 1, x, 100) end, "kernel 'write_at' wrote outside every array",
          "just past the end of parameter 1 'x', an array of 400 bytes (offset 400")
      end)

      it("in the few bytes before the guard names the thread that wrote", function()
        local x <close> = dev:zeros("i32", 129)
        faults(function() m.one_thread:launch(4, 32, x, 129) end, "kernel 'one_thread' wrote outside every array",
          "block (2,0,0)", "thread (5,0,0)", "just past the end of parameter 1 'x', an array of 516 bytes (offset 516",
          "index 129")
        local y <close> = dev:zeros("i32", 33)
        faults(function() m.barrier_and_fault:launch(1, 32, y, 33) end, "kernel 'barrier_and_fault' wrote",
          "block (0,0,0)", "thread (3,0,0)", "index 33")
      end)

      it("in the few bytes before the guard that happens but once has no thread", function()
        local x <close> = dev:zeros("i32", 5)
        faults(function() m.once:launch(1, 1, x, 5) end, "kernel 'once' wrote outside every array",
          "block and thread not known (the launch did not do it again when run once more)", "index 5")
      end)

      it("before the start of an array is seen", function()
        local x <close> = dev:zeros("f32", 1024)
        local message = faults(function() m.write_at:launch(1, 1, x, -4096) end,
          "kernel 'write_at' wrote outside every array", "parameter 1 'x'", "index -4096")
        assert.is_truthy(message:find("before the start", 1, true))
      end)

      it("far after one of several arrays names the right one", function()
        local out <close> = dev:zeros("f32", 16)
        local x <close> = dev:zeros("f32", 1 << 14)
        faults(function() m.read_at:launch(1, 1, out, x, 1 << 14) end, "read outside every array",
          "parameter 2 'x', an array of 65536 bytes")
      end)

      it("of one thread names that thread", function()
        local x <close> = dev:zeros("i32", 4 * 32)
        faults(function() m.one_thread:launch(4, 32, x, FAR) end, "kernel 'one_thread' wrote outside every array",
          "block (2,0,0)", "thread (5,0,0)")
      end)

      it("after a barrier names the thread", function()
        local x <close> = dev:zeros("i32", 32)
        faults(function() m.barrier_and_fault:launch(1, 32, x, FAR) end, "kernel 'barrier_and_fault' wrote",
          "block (0,0,0)", "thread (3,0,0)")
      end)

      it("through a null pointer says so", function()
        local x <close> = dev:zeros("i32", 4)
        faults(function() m.null_pointer:launch(1, 2, x, mw.null) end,
          "kernel 'null_pointer' wrote through a null pointer", "block (0,0,0)")
      end)

      it("by a divergent barrier names where the threads wait", function()
        local x <close> = dev:zeros("i32", 32)
        faults(function() m.divergent:launch(1, 32, x) end, "kernel 'divergent'", "block (0,0,0)", "barrier divergence",
          "__syncthreads", "faults.cu:29", "faults.cu:33", "a GPU counts arrivals and may go on")
      end)

      it("through a null pointer that the compiler sees says so", function()
        local x <close> = dev:zeros("i32", 4)
        faults(function() m.constant_null:launch(1, 4, x) end,
          "kernel 'constant_null' wrote through a null pointer", "block (0,0,0)", "thread (2,0,0)")
      end)

      it("by local arrays that jump over the guard below the stack", function()
        local x <close> = dev:zeros("i32", 32)
        faults(function() m.large_array:launch(1, 32, x, 5) end, "kernel 'large_array' overflowed a thread's stack",
          "block (0,0,0)", "use smaller local arrays", "MOONWARP_CPU_STACK")
      end)

      it("by an integer division by zero", function()
        local x <close> = dev:array("i32", { 4, 6 })
        m.divide:launch(1, 2, x, 2)
        assert.are.same({ 2, 3 }, x:totable())
        faults(function() m.divide:launch(1, 2, x, 0) end, "kernel 'divide' divided an integer by zero",
          "block (0,0,0)", "thread (0,0,0)")
      end)

      it("by endless recursion", function()
        local x <close> = dev:zeros("i32", 2)
        faults(function() m.recursion:launch(1, 1, x) end, "kernel 'recursion' overflowed its worker's stack",
          "block (0,0,0)", "less recursion")
        faults(function() m.large_plain:launch(1, 32, x, 5) end, "kernel 'large_plain' overflowed its worker's stack",
          "block (0,0,0)", "use smaller local arrays")
      end)

      it("by __trap", function()
        local x <close> = dev:zeros("i32", 32)
        faults(function() m.trap:launch(1, 32, x) end, "kernel 'trap'", "block (0,0,0)", "thread (7,0,0)", "__trap")
      end)

      it("by a failed assert", function()
        local x <close> = dev:zeros("i32", 32)
        m.asserted:launch(1, 32, x, 32)
        dev:synchronize()
        faults(function() m.asserted:launch(1, 32, x, 5) end, "kernel 'asserted'", "block (0,0,0)", "thread (5,0,0)",
          "threadIdx.x < limit", "faults.cu")
      end)

      it("on a stream comes with the next call that waits for it", function()
        local s <close> = dev:stream()
        local x <close> = dev:zeros("f32", 8)
        m.write_at:prepare { grid = 1, block = 1, stream = s }(x, FAR)
        faults(function() s:synchronize() end, "kernel 'write_at' wrote outside every array")
        s:synchronize()
        m.write_at:prepare { grid = 1, block = 1, stream = s }(x, 3)
        s:synchronize()
        assert.are.equal(1.0, x:get(4))
      end)

      it("inside a graph is reported too", function()
        local x <close> = dev:zeros("f32", 8)
        local g <close> = dev:capture(function() m.write_at:launch(1, 1, x, FAR) end)
        faults(function() g:launch() end, "kernel 'write_at' wrote outside every array")
        g:update(1, x, 2)
        g:launch()
        dev:synchronize()
        assert.are.equal(1.0, x:get(3))
      end)

      it("after fault leaves nothing", function()
        local x <close> = dev:zeros("f32", 8)
        for _ = 1, 50 do
          assert.is_false(pcall(function()
            m.write_at:launch(1, 1, x, FAR)
            dev:synchronize()
          end))
        end
      end)

      it("in a closed array is one", function()
        local x = dev:zeros("f32", 1 << 16)
        local rows <close> = dev:array("u64", { x:address() })
        local stale <close> = dev:module { engine = engine, source = [[
          __global__ void touch(float **rows) { rows[0][threadIdx.x] = 1.0f; }
        ]] }
        stale.touch:launch(1, 4, rows)
        dev:synchronize()
        x:close()
        dev:synchronize()
        faults(function() stale.touch:launch(1, 4, rows) end, "kernel 'touch'", "outside every array", "block (0,0,0)")
      end)
    end)
  end

  it("by a mask that names other lanes is one", function()
    local m <close> = dev:module { engine = "fiber", source = [[
      __global__ void wrong(int *x) { x[threadIdx.x] = __shfl_sync(0x1u, (int)threadIdx.x, 0); }
    ]] }
    local x <close> = dev:zeros("i32", 32)
    fails_with(function() m.wrong:launch(1, 32, x) end, "kernel 'wrong'", "mask 0x00000001",
      "does not name the calling lane")
  end)

  it("by two barriers on one line distinguishes them", function()
    local m <close> = dev:module { name = "line.cu", source = [[
      __global__ void apart(int *x) { if (threadIdx.x < 8) __syncthreads(); else { x[0] = 1; __syncthreads(); } }
    ]] }
    local x <close> = dev:zeros("i32", 32)
    if not dev:properties().driver:find("clang", 1, true) then
      m.apart:launch(1, 32, x)
      return
    end
    fails_with(function() m.apart:launch(1, 32, x) end, "kernel 'apart'", "barrier divergence",
      "thread (0,0,0) waits at line.cu:1 (__syncthreads)",
      "while thread (31,0,0) waits at line.cu:1 (__syncthreads, another one on that line)")
  end)

  it("is not what becomes of a built-in that CUDA has no more", function()
    local lines, texts = {}, {}
    for i, name in ipairs { "__ballot", "__any", "__all" } do
      lines[i] = ("__global__ void old%d(int *x) { x[0] = %s(x[0]); }\n"):format(i, name)
      texts[i] = name .. " is gone from CUDA since sm_70: use " .. name .. "_sync with a mask"
    end
    fails_with(function() dev:module { source = table.concat(lines) } end, table.unpack(texts))
  end)

  it("by a named barrier that is used wrongly is one", function()
    local m <close> = dev:module { name = "named.cu", source = [[
      __global__ void alone(int *x) { if (threadIdx.x < 32) __barrier_sync_count(1, 64); x[0] = 1; }
      __global__ void uneven(int *x) { __barrier_sync_count(1, 33); }
      __global__ void unlike(int *x) { if (threadIdx.x < 32) __barrier_sync_count(2, 64); else __barrier_sync(2); }
      __global__ void beyond(int *x) { __barrier_sync(16); }
    ]] }
    local x <close> = dev:zeros("i32", 1)
    fails_with(function() m.alone:launch(1, 64, x) end, "kernel 'alone'", "barrier divergence",
      "waits at named.cu:1 (__barrier_sync_count) for threads that never come")
    fails_with(function() m.uneven:launch(1, 64, x) end, "kernel 'uneven'", "33 threads, wanted a multiple of 32")
    fails_with(function() m.unlike:launch(1, 64, x) end, "kernel 'unlike'", "meet at barrier 2, where others wait for")
    fails_with(function() m.beyond:launch(1, 64, x) end, "kernel 'beyond'", "barrier 16, there are 0 to 15")
  end)

  it("by a grid barrier without a cooperative launch, or without all blocks, is one", function()
    local source = [[
      #include <cooperative_groups.h>
      __global__ void alone(int *x) { cooperative_groups::this_grid().sync(); x[0] = 1; }
      __global__ void apart(int *x) { if (blockIdx.x == 1) return; cooperative_groups::this_grid().sync(); x[0] = 1; }
      __global__ void outside(int *x) { x[blockIdx.x << 28] = 1; cooperative_groups::this_grid().sync(); }
    ]]
    local x <close> = dev:zeros("i32", 1)
    for _, engine in ipairs { "split", "fiber" } do
      local m <close> = dev:module { name = "grids.cu", source = source, engine = engine }
      fails_with(function() m.alone:launch(2, 1, x) end, "kernel 'alone'", "cooperative = true")
      fails_with(function() m.apart:prepare { grid = 3, block = 1, cooperative = true }(x) end, "kernel 'apart'",
        "grid barrier divergence: this block waits at grids.cu:3 (grid sync) while 1 of 3 blocks have ended")
      fails_with(function() m.outside:prepare { grid = 2, block = 1, cooperative = true }(x) end, "kernel 'outside'",
        "block (1,0,0)", "parameter 1 'x'")
    end
  end)

end)

describe("Ctrl-C", function()
  local program = support.program()
  if not program then
    pending("needs the program: a stock lua5.4 has a handler of its own")
    return
  end

  -- The signal comes when the script is about to wait, or waits.
  local function interrupted(body)
    local status, output
    support.with_folder(function(folder)
      support.write(folder .. "/wait.lua", ([[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      local m = dev:module { source = "__global__ void forever(volatile int *x) { while (x[0] == 0) {} }\n"
        .. "__global__ void spin(volatile int *x) { __shared__ int s; while (x[0] == 0) {"
        .. " __syncthreads(); s = x[0]; __syncthreads(); } }\n" }
      local x = dev:zeros("i32", 1)
      m.forever:prepare { grid = 1, block = 1 }:close()
      m.spin:prepare { grid = 1, block = 1 }:close()
      print "ready"
      io.stdout:flush()
      %s
      ]]):format(body))
      status, output = support.signalled(("exec '%s' run '%s/wait.lua'"):format(program, folder), "INT",
        { "grep -q ready $D/output" })
    end)
    return status, output
  end

  local WAITS <const> = {
    { "a kernel", "m.forever:launch(1, 1, x)" },
    { "a kernel of many blocks", "m.forever:launch(100, 64, x)" },
    { "a kernel with barriers", "m.spin:launch(1, 64, x)" },
    { "a kernel on a stream", [[
      local s = dev:stream()
      m.forever:prepare { grid = 1, block = 1, stream = s }(x)
      s:synchronize()
    ]] },
    { "waiting for an event", [[
      local s = dev:stream()
      m.forever:prepare { grid = 1, block = 1, stream = s }(x)
      local e = s:record()
      e:synchronize()
    ]] },
    { "a loop of the script", "while true do end" },
    { "a loop that catches errors", "while true do pcall(m.forever.launch, m.forever, 1, 1, x) end" },
  }

  for _, case in ipairs(WAITS) do
    local name, body = table.unpack(case)
    it("ends " .. name, function()
      local status, output = interrupted(body)
      assert.are.equal(130, status, output)
      assert.is_truthy(output:find("interrupted", 1, true), output)
    end)
  end
end)
