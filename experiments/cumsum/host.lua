-- SPDX-License-Identifier: MIT
--
-- Sums once more, on the host: what the kernels are held against.

local host = {}

-- Sums along a dimension of a flat table, x first; in f64 with what each addition loses put back
-- (W. Kahan, 1965), so that the reference is nearer to the truth than what is held against it.
function host.cumsum(values, s, dim)
  local stride = dim == 1 and 1 or dim == 2 and s.nx or s.nx * s.ny
  local count = dim == 1 and s.nx or dim == 2 and s.ny or s.nz
  local sums, lost = {}, {}
  for i = 1, #values do
    local first = (i - 1) // stride % count == 0
    local before = first and 0.0 or sums[i - stride]
    local term = values[i] - (first and 0.0 or lost[i - stride])
    local sum = before + term
    sums[i], lost[i] = sum, sum - before - term
  end
  return sums
end

return host
