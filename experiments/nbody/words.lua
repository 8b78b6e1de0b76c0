-- SPDX-License-Identifier: MIT
--
-- What the numbers say, in words: a list of paragraphs. Every claim that numbers could contradict
-- is chosen by them. A chunk that is called with the study's settings and returns say(results).

local set = ...

local NOISE = 0.03 -- rates that differ by less are called the same

local function rung(list, number)
  for _, r in ipairs(list) do
    if r.number == number then return r end
  end
end

-- "11 % faster than", "about as fast as"
local function compared(ratio)
  if math.abs(ratio - 1) < NOISE then return "about as fast as" end
  return ("%.0f %% %s than"):format(100 * math.abs(ratio - 1), ratio > 1 and "faster" or "slower")
end

local function shared(m)
  local direct, literal, one = rung(m.last, 1), rung(m.last, 2), rung(m.last, 3)
  if not (literal and one) then return nil end
  local ratio = one.interactions / direct.interactions
  return ("With %d bodies the shared-memory kernel in f32 is %s the direct one%s. With the source's "
    .. "literal 1.0, a double, it has %.2f of its rate."):format(direct.bodies, compared(ratio),
    set.gpu and ratio < 1.25 and ", whose reads the caches serve" or "",
    literal.interactions / one.interactions)
end

local function errors(roots, pairwise)
  local short, long = pairwise.fast_error, roots.exact_error
  if long > 10 and short < 0.5 * long then
    return ("Long sums in one f32 make these errors; '%s' adds up many short ones and has %.1f."):format(
      pairwise.rung, short)
  end
  return ("'%s', which adds up shorter sums, has %.1f: %s."):format(pairwise.rung, short,
    short < long and "with so few bodies that makes little difference"
      or "with so few bodies its order of adding is no better")
end

local function fast(m)
  local roots, pairwise = m.fast_math[4], m.fast_math[6]
  local before, after = roots.exact_error, roots.fast_error
  local same = math.abs(after / before - 1) < 0.05
  return ("Fast math makes '%s' %.2f times as fast with %d bodies; the largest error %s. %s"):format(
    roots.rung, roots.gain, set.n, same and ("stays at %.1f eps of f32"):format(after)
      or ("goes from %.1f to %.1f eps of f32"):format(before, after), errors(roots, pairwise))
end

local function best(m)
  local first, direct = m.last[1], m.last[1]
  for _, r in ipairs(m.last) do
    if r.interactions > first.interactions then first = r end
  end
  local text = ("The fastest rung with %d bodies is '%s': %.3g interactions/s%s."):format(first.bodies,
    first.rung, first.interactions, first == direct and ""
      or (", %.1f times the direct one"):format(first.interactions / direct.interactions))
  if not m.ceiling then return text end
  local share = first.interactions / m.ceiling
  return text, ("With one root an interaction the special-function units allow %.3g a second: 16 a "
    .. "cycle on %d multiprocessors at %.2f GHz, the highest clock. That rung has %.2f of it%s."):format(
    m.ceiling, m.properties.multiprocessors, m.properties.clock / 1e9, share,
    share > 1 and first.number == 7 and "; it passes it, since one root serves both bodies of a pair"
      or share > 1 and "; a rung with a root an interaction cannot, so look at the clock" or "")
end

local function percent(share)
  return (share < 0.1 and "%.2g %%" or "%.0f %%"):format(100 * share)
end

-- How leapfrog's error of the energy behaved, by the first period's, the last one's and the worst.
local function behaviour(worst, first, final, steps)
  if worst ~= worst then return "is no number any more" end
  local rounding = 16 * set.eps * math.sqrt(steps)
  if worst < rounding then return ("is kept to rounding, %.1e"):format(worst) end
  local text = ("is off by at most %.1e, in the last period by %.2f times as much as in the first"):format(
    worst, final / first)
  if worst >= 0.1 then return text .. ": these are too few steps for this ellipse" end
  if final < 2 * first then return text .. ": the error comes and goes" end
  return text .. ": it grows, so the steps are too long for the pericentre, or rounding shows"
end

local function euler_beside(leapfrog, euler, last)
  local ratio = euler.energy_error / leapfrog.energy_error
  if ratio ~= ratio then return "Euler's method with the same steps gives no number." end
  local text = ("Euler's method with the same steps is off by %s in the end"):format(percent(last))
  if ratio > 2 then return ("%s, and at most by %.3g times as much."):format(text, ratio) end
  if ratio > 0.5 then return text .. ", at most about as much." end
  return text .. ", at most by less: what leapfrog is better at does not show with such steps."
end

local function momentum(leapfrog, euler, steps)
  local off = math.max(leapfrog.momentum, euler.momentum)
  if off <= 64 * set.eps * math.sqrt(steps) then
    return ("Both keep the momentum, to %.0e: forces come in pairs."):format(off)
  end
  return ("The momentum is off by %.0e of what moves, more than rounding of forces in pairs."):format(off)
end

local function ellipse(m)
  local leapfrog, euler, list = m.motions[1], m.motions[2], m.ellipse_energy
  return ("On the ellipse (eccentricity %g, %d steps a period) leapfrog's energy %s. %s %s"):format(
    set.eccentricity, set.per_orbit, behaviour(leapfrog.energy_error, list[1].energy_error,
      list[set.orbits].energy_error, leapfrog.steps),
    euler_beside(leapfrog, euler, list[#list].energy_error), momentum(leapfrog, euler, leapfrog.steps))
end

local function fed(euler)
  if math.abs(euler.gain) < 0.01 then return "" end
  return (", which %s %s of the binding energy"):format(
    euler.gain > 0 and "fed it" or "took from it", percent(math.abs(euler.gain)))
end

local function sphere(m)
  local leapfrog, euler = m.motions[3], m.motions[4]
  return ("The sphere, %d bodies drawn from an equilibrium: after %d units of time its half-mass "
    .. "radius is %+.1f %% by leapfrog, with an energy error of %.1e, and %+.1f %% by Euler's "
    .. "method%s."):format(set.sphere, set.time_units, 100 * leapfrog.swelling, leapfrog.energy_error,
    100 * euler.swelling, fed(euler))
end

--- The paragraphs.
---@param m table  last (the rungs with most bodies), fast_math, motions, ellipse_energy, ceiling,
---                properties
---@return string[]
return function(m)
  local list = {}
  local function add(...)
    for _, text in ipairs { ... } do list[#list + 1] = text end
  end
  add(shared(m))
  add(fast(m))
  add(best(m))
  add(ellipse(m), sphere(m))
  return list
end
