-- SPDX-License-Identifier: MIT
--
-- Sources that modules were not made from as they should, and messages that misled.

local support = require "tests.support"
local fails = support.fails

support.each_device("a kernel file", function(dev)
  local function value_of(kernel)
    local x <close> = dev:zeros("i32", 1)
    kernel:launch(1, 1, x)
    return x:get(1)
  end

  -- dev:module "/dev/zero" read until the system killed the process.
  it("that has no end is rejected", function()
    fails(function() dev:module "/dev/zero" end,
      "the kernel file '/dev/zero' is a pipe or a device, not a file")
  end)

  it("that is a pipe or a folder is rejected, as is one that includes a pipe", function()
    support.with_folder(function(folder)
      os.execute(("cd '%s' && mkfifo pipe.cu && ln -s pipe.cu link.cu && truncate -s 65M long.cu"):format(folder))
      for name, what in pairs { [""] = "a folder, not a file", ["/pipe.cu"] = "a pipe or a device, not a file",
                                ["/link.cu"] = "a pipe or a device, not a file" } do
        fails(function() dev:module(folder .. name) end, ("the kernel file '%s' is %s"):format(folder .. name, what))
      end
      fails(function() dev:module(folder .. "/long.cu") end,
        ("the kernel file '%s/long.cu' has more than 64 MiB, which is not a source"):format(folder))
      for _, file in ipairs { folder .. "/pipe.cu", "/dev/zero" } do
        fails(function() dev:module { name = "x.cu", source = ('#include "%s"\n'):format(file) } end,
          ("'x.cu' includes '%s', which is a pipe or a device, not a file"):format(file))
      end
    end)
  end)

  -- It was cut there, in silence.
  it("that holds a zero byte is rejected", function()
    support.with_folder(function(folder)
      local text = "// one\n__global__ void k(int *x) { x[0] = 1; \0}\n"
      support.write(folder .. "/k.cu", text)
      fails(function() dev:module(folder .. "/k.cu") end,
        folder .. "/k.cu:2: there is a zero byte, which no source has")
      fails(function() dev:module { source = text } end, "source:2: there is a zero byte, which no source has")
    end)
  end)

  -- Without a folder of its own the source was taken from the cache.
  it("is compiled anew if a file changes that it includes by its whole path", function()
    support.with_folder(function(folder)
      for value = 1, 2 do
        support.write(folder .. "/value.h", ("#define VALUE %d\n"):format(value))
        local m <close> = dev:module { source = ('#include "%s/value.h"\n__global__ void k(int *x) { x[0] = VALUE; }')
          :format(folder) }
        assert.are.equal(value, value_of(m.k))
      end
    end)
  end)

  -- The first kernel behind the mark was not found on the CPU device.
  it("may begin with a byte order mark", function()
    support.with_folder(function(folder)
      local text = "\xef\xbb\xbf__global__ void k(int *x) {\r\n  x[0] = 42;\r\n}\r\n"
      support.write(folder .. "/k.cu", text)
      local m <close> = dev:module(folder .. "/k.cu")
      local same <close> = dev:module { source = text }
      assert.are.equal(42, value_of(m.k))
      assert.are.equal(42, value_of(same.k))
    end)
  end)

  -- The word was taken for a part of the type that the kernel returns.
  it("may have kernels with constraints", function()
    local m <close> = dev:module { std = "c++20", templates = { "some<int>", "more<int>" }, source = [[
      template <class T> concept whole = sizeof(T) == 4;
      template <class T> requires (sizeof(T) > 2) __global__ void some(T *x) { x[0] = 7; }
      template <class T> requires whole<T> && (sizeof(T) > 2) __global__ void more(T *x) { x[0] = 8; }]] }
    assert.are.equal(7, value_of(m["some<int>"]))
    assert.are.equal(8, value_of(m["more<int>"]))
  end)

  it("may be written in digraphs", function()
    local m <close> = dev:module { source = "%:define Q 7\n__global__ void k(int *x) <% x<:0:> = Q; %>" }
    assert.are.equal(7, value_of(m.k))
  end)

  -- The process crashed.
  it("may have kernels with many parameters", function()
    local list = {}
    for i = 1, 130 do list[i] = "int p" .. i end
    local m <close> = dev:module { source = ("__global__ void k(int *x, %s) { x[0] = p130; }"):format(
      table.concat(list, ", ")) }
    local x <close> = dev:zeros("i32", 1)
    for i = 1, 130 do list[i] = i end
    m.k:launch(1, 1, x, table.unpack(list))
    assert.are.equal(130, x:get(1))
  end)

  -- The CPU device looked for a kernel of the whole name.
  it("may have templates in namespaces, asked for when it is loaded", function()
    local source = "namespace lab { enum class by { two = 2 };\n" ..
                   "template <by B> __global__ void k(int *x) { x[0] = (int)B; } }"
    local m <close> = dev:module { source = source }
    assert.are.equal(2, value_of(m:kernel "lab::k<lab::by::two>"))
  end)

  -- A quote ended the line marker that the name stands in.
  it("may have a name with quotes and lines in it", function()
    for _, name in ipairs { 'a "k" 1.cu', "back\\", "two\nlines" } do
      local m <close> = dev:module { name = name, source = "__global__ void k(int *x) { x[0] = 7; }" }
      assert.are.equal(7, value_of(m.k))
    end
  end)
end)

support.each_device("a module's variable", function(dev)
  it("is found behind many others of its declaration", function()
    local names = {}
    for i = 0, 99 do names[i + 1] = "v" .. i end
    local m <close> = dev:module { source = "__device__ int " .. table.concat(names, ", ") .. ";" }
    m:set("v99", 7)
    assert.are.equal(7, m:get "v99")
  end)

  -- The message spoke of 'upload', which the script had never called.
  it("says how much it holds", function()
    local m <close> = dev:module(support.kernel_file "variables.cu")
    fails(function() m:set("factors", { 1, 2, 3 }) end,
      "variable 'factors' has 4 elements: a flat table of that many expected, got one of 3")
    fails(function() m:set("factors", { { 1, 2 }, { 3, 4 } }) end,
      "variable 'factors' has 4 elements: a flat table of that many expected, got one of 2")
    fails(function() m:set("counter", "1") end,
      "variable 'counter' has 4 bytes: a string of that many expected, got one of 1")
    fails(function() m:set("factors", 1) end,
      "variable 'factors' has 4 elements: a table of that many expected, got number")
  end)
end)
