-- SPDX-License-Identifier: MIT
--
-- The array on the host, pinned and pageable, its buffers on the device, and what must come back. A
-- chunk that is called with the study's settings and returns them.

local study = ...
local dev, n, dtype = study.dev, study.n, study.dtype

-- A prime, so that a piece in the wrong place shows; the host computes one period and repeats it.
local PERIOD = math.min(n, 1000003)
local SLACK = 32 * study.most_streams -- pieces are whole lines of 128 bytes and more, so buffers may jut out

local x, y, want = dev:pinned(dtype, n), dev:pinned(dtype, n), dev:pageable(dtype, n)
local plain_x, plain_y = dev:pageable(dtype, n), dev:pageable(dtype, n)
local input, output = dev:array(dtype, n + SLACK), dev:array(dtype, n + SLACK)

local function repeat_period(array)
  local done = PERIOD
  while done < n do
    local count = math.min(done, n - done)
    array:copy(array, { from = 1, to = done + 1, count = count })
    done = done + count
  end
end

-- Multiples of 2^-20 below 1: an odd number of rounds v = 1 - v leaves 1 - v, exactly.
local function make_data()
  local values, results, state = {}, {}, 1
  for i = 1, PERIOD do
    state = (state * 1103515245 + 12345) & 0x7fffffff
    local v = (state >> 11) / 1048576
    values[i], results[i] = v, 1 - v
  end
  plain_x:view(1, PERIOD):upload(values)
  want:view(1, PERIOD):upload(results)
  repeat_period(plain_x)
  repeat_period(want)
  x:copy(plain_x)
end

local function poison(line)
  for _, array in ipairs { line.y, input, output } do array:fill(0 / 0) end
  dev:synchronize()
end

make_data()

return { x = x, y = y, want = want, plain_x = plain_x, plain_y = plain_y, input = input, output = output,
         poison = poison }
