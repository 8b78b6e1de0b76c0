-- SPDX-License-Identifier: MIT
--
-- Calls of libraries, as their tables write them, against the libraries' own headers: the compiler judges a file of C
-- with each of them, an operand of the type that core/bind/native_run.c passes it as. An operand that lacks, is one too
-- many or is of the other kind (an address, an integer, a real) fails. What is called by one prototype
-- (core/base/shared.c) is right if this is.

local lists = require "moonwarp.base.lists"
local library = require "moonwarp.library"

local CC <const> = os.getenv "CC" or "cc"
local FLAGS <const> = "-std=gnu11 -fsyntax-only -Wall -Werror -Wfloat-conversion -Wint-conversion"
  .. " -Wno-deprecated-declarations -Wno-unused-value"
local TOOLKIT <const> = (os.getenv "CUDA_HOME" or "/usr/local/cuda") .. "/include"
local HEADERS <const> = {
  ["moonwarp.blas"] = { cuda = "cublas_v2.h", cpu = "cblas.h" },
  ["moonwarp.fft"] = { cuda = "cufft.h", cpu = "fftw3.h" },
  ["moonwarp.nccl"] = { cuda = "nccl.h" },
  ["moonwarp.rand"] = { cuda = "curand.h", cpu = "curand.h" }, ["moonwarp.sparse"] = { cuda = "cusparse.h" },
  ["moonwarp.solver"] = { cuda = "cusolverDn.h", cpu = "lapacke.h" },
}

-- The operands of calls of C, by what they are in a layout: arrays and memory, options that are reals; others are
-- integers, or handles and descriptors that a call has made, which C takes as what they are.
local function arguments(operands, known)
  return table.concat(lists.map(operands, function(one)
    local name = one:gsub("^&", "")
    if one ~= name then return "(void *)&word" end
    if math.tointeger(tonumber(name)) then return name end
    if known.arrays[name] or name == "work" then return "address" end
    if known.made[name] then return "0" end -- a pointer or a number
    return known.reals[name] or "number"
  end), ", ")
end

-- Words that calls have made, by their addresses or what they return.
local function made_by(texts)
  local made = { self = true, queue = true }
  for _, text in ipairs(texts) do
    local _, operands, rest = library.parts(text)
    for _, one in ipairs(operands) do if one:sub(1, 1) == "&" then made[one:sub(2)] = true end end
    made[rest:match "^%-> (%w+)$" or "none"] = true
  end
  return made
end

local function texts_of(calls)
  if type(calls) == "string" then return { calls } end
  local out = {}
  for _, part in ipairs { "open", "size", "many", "one", "follow", "close" } do
    for _, text in ipairs(type(calls[part]) == "table" and calls[part] or { calls[part] }) do out[#out + 1] = text end
  end
  for _, text in ipairs(calls) do out[#out + 1] = text end
  return out
end

local function statement(text, letter, known)
  local name, operands, rest = library.parts(text, letter)
  local call = ("%s(%s)"):format(name, arguments(operands, known))
  if rest == "-> none" then return call .. ";" end
  local stored = rest:match "^=> (%w+)$"
  local is_real = stored and known.arrays[stored] ~= "i32"
  -- what a register for integers returns, or one for reals
  return (is_real and "real = sizeof(char[(__builtin_types_compatible_p(__typeof__(%s), float) || "
    .. "__builtin_types_compatible_p(__typeof__(%s), double)) ? 1 : -1]);" or "(void)(intptr_t)%s;"):format(call, call)
end

-- Statements for the calls of one side of a table; objects' words are known to the rows that take them.
local function statements(self, side)
  local out, seen, makers = {}, {}, {}
  local function add(texts, letter, known)
    for _, text in ipairs(texts) do
      local line = statement(text, letter, known)
      if not seen[line] then out[#out + 1] = line end
      seen[line] = true
    end
  end
  local function add_row(row, base)
    for types, found in pairs(row.types or { [""] = {} }) do
      local here = found[side] == nil and {} or found[side]
      local calls = here and (here.calls or row[side])
      if calls and type(calls) ~= "function" then
        local texts = texts_of(calls)
        local known = { arrays = {}, reals = {}, made = lists.merged(base or {}, made_by(texts)) }
        local dtype = types:gmatch "%S+"
        for _, a in ipairs(row.arrays or {}) do known.arrays[a[1]] = dtype() end
        for _, o in ipairs(row.options or {}) do
          local is_real = type(o[2]) == "number" and not o.integer and not found[o[1]] and found.real ~= "integer"
          known.reals[o[1]] = is_real and (found.real == "f32" and "1.5f" or "1.5") or nil
        end
        for name in pairs(found) do known.reals[name] = nil end
        add(texts, here.letter or found.letter, known)
        if row.makes then makers[row.makes] = known.made end
        if row.call then add_row(row.call, known.made) end
      end
    end
  end
  add(texts_of(self[side] or {}), nil, { arrays = {}, reals = {}, made = { self = true, queue = true } })
  for _, row in pairs(self.functions) do if not row.object then add_row(row) end end
  for _, row in pairs(self.functions) do if row.object then add_row(row, makers[row.object]) end end
  return out
end

local function includes(header)
  local pipe = assert(io.popen("pkg-config --cflags-only-I openblas lapacke fftw3 2>/dev/null"))
  local more = pipe:read "l" or ""
  pipe:close()
  local flags = ("-I'%s' %s"):format(TOOLKIT, more)
  local test = ("echo '#include <%s>' | %s -E %s - >/dev/null 2>&1"):format(header, CC, flags)
  return os.execute(test) and flags or nil
end

describe("calls of libraries", function()
  for _, name in ipairs(lists.keys(HEADERS)) do
    require(name)
    for side, header in pairs(HEADERS[name]) do
      it(("of %s on %s devices are what %s declares"):format(name, side, header), function()
        local flags = includes(header)
        if not flags then return pending(header .. " is not installed") end
        for _, self in ipairs(library.all) do
          local lines = self.name == name and statements(self, side) or {}
          if #lines > 0 then
            local file = os.tmpname()
            local out <close> = assert(io.open(file, "w"))
            out:write("#include <stdint.h>\n#include <string.h>\n#include <", header,
              ">\nvoid calls(void *address, int number);\n",
              "void calls(void *address, int number) {\n  long long word[2] = {0};\n  double real = 0;\n  ",
              table.concat(lines, "\n  "), "\n  (void)real, (void)address, (void)number, (void)word;\n}\n")
            out:flush()
            local pipe = assert(io.popen(("%s %s %s -x c '%s' 2>&1"):format(CC, FLAGS, flags, file)))
            local said = pipe:read "a"
            pipe:close()
            os.remove(file)
            assert.are.equal("", said)
          end
        end
      end)
    end
  end
end)
