-- SPDX-License-Identifier: MIT
--
-- pattern: how fast can a text be searched, if all of it must be looked at?
--
-- Four words of four letters, at every byte of a text (practical 9 of Oxford's course): a thread per byte, a thread per
-- 32-bit word, 16 bytes per load; then only the question whether there is any match, and that for two words at once, by
-- a multiplication. One count of all matches, or four. T_tot = n / t, each byte is read once; shares are of a copy of
-- as many bytes. See docs/studies/pattern.md.

local mw = require "moonwarp"
local ceil_div = mw.ceil_div

local PERIOD <const> = 4 * 65537 -- bytes of the text that repeat: a prime number of 32-bit words
local MASK <const> = 0xffffffff

local function words_of(text)
  local words, seen = {}, {}
  for word in text:gmatch "%S+" do
    if not word:find "^%a%a%a%a$" or seen[word] then return {} end
    words[#words + 1], seen[word] = word, true
  end
  return words
end

local function wanted(text)
  return #words_of(text) ~= 4 and "four different words of four letters, such as 'that with have from'" or nil
end

local study, p, gpu = mw.study {
  question = "how fast can a text be searched, if all of it must be looked at?",
  kernels = "pattern.cu", rate = "T_tot", output = "counts", type = "u32", level = "library copy",
  seconds = { 0.03, gpu = 0.1 },
  odd = { { n = { 1, 5, 1003 }, every = 16 }, { n = 270007, every = { 0, 256 } } },
  params = {
    { "n", 1 << 22, "bytes of the text", gpu = 1 << 30, min = 1, max = 1 << 32 },
    { "words", "that with have from", "what is searched for", check = wanted },
    { "every", { 4096, 1024, 256, 64, 16 }, "bytes of text for each match, in the part density", min = 4, max = 65536 },
    { "threads", 256, "threads per block", min = 32, max = 1024 },
  },
}

local words, numbers = words_of(p.words), {} -- these as the kernels compare them
for i, word in ipairs(words) do numbers[i] = string.unpack("<I4", word) end

-- ---- two words at once ------------------------------------------------------------------------------
-- What to multiply by and to add, so that a becomes 0 and b 2^s, modulo 2^32; and 2^s.
local function pair_of(a, b)
  local difference, power, inverse = b - a & MASK, 1, 1
  while difference & 1 == 0 do difference, power = difference >> 1, 2 * power end
  for _ = 1, 5 do inverse = inverse * (2 - difference * inverse) & MASK end -- each step doubles the bits that are right
  return { inverse, -a * inverse & MASK }, power
end

-- The four words in the two pairs whose powers are least.
local function best_pairs()
  local best, most
  for _, order in ipairs { { 1, 2, 3, 4 }, { 1, 3, 2, 4 }, { 1, 4, 2, 3 } } do
    local one, power = pair_of(numbers[order[1]], numbers[order[2]])
    local other, power_of_other = pair_of(numbers[order[3]], numbers[order[4]])
    local greater = math.max(power, power_of_other)
    if not most or greater < most then best, most = { one[1], one[2], other[1], other[2] }, greater end
  end
  return best, most
end

-- ---- the text, and what is in it --------------------------------------------------------------------
-- Random small letters; `every`: a word stands at one of so many bytes on average (0: where chance puts one).
local function period_of(every)
  local letters, state = {}, 12345
  local function random(most) -- 0 to most - 1
    state = state * 2862933555777941757 + 3037000493
    return (state >> 33) % most
  end
  local i = 1
  while i <= PERIOD do
    if every > 0 and i <= PERIOD - 3 and random(every) < 4 then
      for letter in words[random(4) + 1]:gmatch "." do letters[i], i = letter, i + 1 end
    else
      letters[i], i = string.char(97 + random(26)), i + 1
    end
  end
  return table.concat(letters)
end

function study.arrays(c)
  local period, size, have = period_of(c.every), ceil_div(c.n, 16) * 4 + 4, PERIOD // 4
  local text = c:keep(c.dev:array("u32", math.max(size, have)))
  text:view(1, have):upload(period)
  while have < size do
    text:copy(text, { to = have + 1, count = math.min(have, size - have) })
    have = 2 * have
  end
  text:view(c.n // 4 + 1, size - c.n // 4):fill(0) -- beyond the text, whose last word may be a part
  text:set(c.n // 4 + 1, (string.unpack("<I4", period:sub(c.n // 4 * 4 % PERIOD + 1):sub(1, c.n % 4) .. "\0\0\0\0")))
  c.period, c.bytes = period, c.n
  c.source = c:keep(text:view(1, ceil_div(ceil_div(c.n, 2), 4)))
  local pairs, most = best_pairs()
  return { text = text, counts = c.dev:array("u32", 4), sum = c.dev:array("u32", 1),
           target = c.dev:array("u32", #c.source), words = numbers, pairs = pairs, most = most }
end

-- How often a word begins in the text, from where it begins in two periods.
local function count(c, word)
  local twice, at, sum = c.period .. c.period:sub(1, 3), 1, 0
  while true do
    at = twice:find(word, at, true)
    if not at then return sum end
    if at + 3 <= c.n then sum = sum + (c.n - at - 3) // PERIOD + 1 end
    at = at + 1
  end
end

local function each_count(c)
  local counts = {}
  for i, word in ipairs(words) do counts[i] = count(c, word) end
  return counts
end

study:library(1, "source", "target")
study:answer("four counts", { bytes = function(c) return c.n end, host = each_count,
  tolerance = function() return { absolute = 0 } end })
study:answer("one count", { bytes = function(c) return c.n end, output = "sum",
  tolerance = function() return { absolute = 0 } end,
  host = function(c)
    local counts = each_count(c)
    return { counts[1] + counts[2] + counts[3] + counts[4] }
  end })

-- ---- the rungs --------------------------------------------------------------------------------------
-- `most`: bytes per cycle of a multiprocessor, as the head of the kernels says.
local function rung(number, name, kernel, counts, each, most)
  kernel = kernel:format(counts)
  study:rung { number, name, answer = counts == 4 and "four counts" or "one count", block = p.threads,
    bound = function(c) return c:per_cycle(most) end, launches = function(c)
      local grid = ceil_div(c.n, p.threads * each)
      if each == 16 then grid = math.min(grid, c:resident(kernel, p.threads)) end
      local out = { counts = counts == 4 and c.counts or c.sum }
      return { { "pattern_clear", { block = counts, grid = 1 }, out },
               { kernel, { block = p.threads, grid = grid }, out } }
    end }
end

rung(2, "a byte per thread", "pattern_bytes<%d>", 1, 1, 8)
rung(3, "a word per thread", "pattern_words<%d>", 1, 4, 7)
rung(4, "16 bytes", "pattern_wide<EXACT,%d>", 1, 16, 7.3)
rung(5, "is there any?", "pattern_wide<ANY,%d>", 1, 16, 13)
rung(6, "two words at once", "pattern_wide<PAIRS,%d>", 1, 16, 32)
rung(7, "a word per thread, four counts", "pattern_words<%d>", 4, 4, 7)
rung(8, "two at once, four counts", "pattern_wide<PAIRS,%d>", 4, 16, 32)

-- ---- parts ------------------------------------------------------------------------------------------
study:part { "ladder", cases = { { n = p.n, every = 0 } }, charts = { { kind = "ladder", logx = not gpu } },
  table = { { "number", title = "no." }, "rung", "t", "bound", "T_tot",
            { "share", title = "of the copy", unit = "%", digits = 3 } },
  ratios = { "16 bytes / a word per thread", "is there any? / 16 bytes", "two words at once / is there any?",
             "best one count / library copy", "best four counts / best one count" } }

-- The more matches there are, the more often the letters are looked at twice.
study:part { "density", cases = { { n = p.n, every = p.every } },
  rungs = { "copy", "16 bytes", "is there any?", "two words at once" },
  charts = { { x = "every", logx = 4, logy = 10, xlabel = "bytes of text for each match",
               of = function(r) return r.rung ~= "library copy" end } } }
return study
