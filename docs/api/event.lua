-- SPDX-License-Identifier: MIT
return {
  title = "event",
  owner = "event",
  self = "e",
  about = [[
A point in a stream's work, which can be waited for, queried and timed. `dev:event` or `s:record` makes it. Recording it
again moves the point.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"
local from, to = dev:event(), dev:event()]],
  entries = {
    {
      name = "record", forms = { "e:record([stream])" },
      about = [[Marks the end of the work queued in the stream so far.]],
      params = { { "stream", "stream", "defaults to the default stream, or the capturing one",
        optional = true } },
      returns = { { "event", "the event itself" } }, errors = { "a stream of <id> expected, got one of <id>" },
        since = "0.1.0",
    },
    { name = "synchronize", forms = { "e:synchronize()" },
      about = [[Waits until the stream has reached the event, then runs the callbacks that are due.]],
      errors = { "the event was never recorded; record it in a stream first" }, since = "0.1.0" },
    { name = "query", forms = { "e:query()" }, about = [[True if the stream has reached the event.]],
      returns = { { "boolean", "" } },
      errors = { "the event was never recorded; record it in a stream first" }, since = "0.1.0" },
    {
      name = "since", forms = { "e:since(earlier)" },
      about = [[The time between two events, by the device's clock. Both must have been reached.]],
      params = { { "earlier", "event", "of the same device" } },
      returns = { { "number", "seconds" } },
      errors = { "the event was never recorded; record it in a stream first", "since: an event was made with timing = false",
                 "since: the events are of two devices", "since: an event is not reached yet; synchronize it first" },
      since = "0.1.0",
      example = [[
from:record()
dev:zeros("f32", 1000000)
to:record():synchronize()
print(to:since(from) >= 0) --> true]],
    },
    { name = "device", forms = { "e:device()" }, about = [[The device that it belongs to.]],
      returns = { { "device", "a handle of it" } },
      since = "0.1.0" },
  },
}
