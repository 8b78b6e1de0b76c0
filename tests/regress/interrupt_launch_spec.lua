-- SPDX-License-Identifier: MIT
--
-- Ctrl-C that comes inside a launch. It was raised at the script's next instruction; the kernel that the launch had
-- queued in between ran on, and closing the state waited for it for ever.

local support = require "tests.support"

describe("Ctrl-C inside a launch", function()
  it("stops the kernel that the launch queues", function()
    local program = support.program()
    local library = program and program:gsub("[^/]*$", "tests/late_signal.so")
    if not library or os.getenv "SANITIZED" or not io.open(library) then
      pending "needs the program, without a sanitizer, and tests/late_signal.so"
      return
    end
    local status, output = support.child([==[
      local mw = require "moonwarp"
      local dev = mw.device "cpu"
      local m = dev:module { source = "__global__ void forever(volatile int *x) { while (*x == 0) {} }" }
      local x, s = dev:zeros("i32", 1), dev:stream()
      local go = m.forever:prepare { grid = 1, block = 1, stream = s }
      os.remove "SIGINT"
      go(x)
      print "not interrupted"
    ]==], { lua = ("'%s' run"):format(program), env = { LD_PRELOAD = library } })
    assert.are.equal(130, status, output)
    assert.is_truthy(output:find("interrupted", 1, true), output)
    assert.is_nil(output:find("not interrupted", 1, true))
  end)
end)
