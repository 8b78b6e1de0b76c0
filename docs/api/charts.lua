-- SPDX-License-Identifier: MIT
return {
  title = "charts",
  owner = "mw",
  about = [[
Charts, ladders, pictures, films and timelines, of records and spans: in the terminal, as data with a gnuplot script, and as SVG and PNG if gnuplot is
installed.]],
  setup = [[
local mw = require "moonwarp"
local dev = mw.device "cpu"]],

  classes = {
    plot_spec = {
      about = "A chart.",
      { "x", "string", [[the field along the x axis; a path such as "t.median" selects a field of a benchmark, "block.1" an element of a list. A field of
texts or lists gives named bars, those of several series beside each other, with lengths from `y`]], optional = false },
      { "y", "string|string[]", "the field, or fields, to show", optional = false },
      { "by", "string", "a field: one series for each of its values" },
      { "logx", "number|boolean", "base of a logarithmic axis; true is 10", default = "false" },
      { "logy", "number|boolean", "the same for y", default = "false" },
      { "xmin", "number", "where the x axis begins, in base units", default = "by the data" },
      { "xmax", "number", "where it ends", default = "by the data" },
      { "ymin", "number", "where the y axis begins", default = "0 for a linear axis of positive values" },
      { "ymax", "number", "where it ends", default = "by the data" },
      { "peak", "number|table", "a dashed line: a number, a quantity, a benchmark, or `{ value =, label = }` with one" },
      { "lines", "table[]", "more dashed lines" },
      { "title", "string", "" }, { "xlabel", "string", "" }, { "ylabel", "string", "" },
      { "name", "string", "of the files, without extension", default = "SCRIPT-Y-X" },
      { "unit", "string", [[of y, if the records have none: "s", "B", "B/s", "1/s", "flop/s", "Hz", "%"]],
        default = "the records'; see `mw.record`" },
      { "xunit", "string", "of x, if the records have none", default = "the records'" },
      { "records", "table[]", "what to draw", default = "all of this run" },
      { "low", "string", "field for the lower end of error bars", default = "the interval of y, if it is a benchmark or a quantity" },
      { "high", "string", "and for the upper end" },
      { "square", "boolean", "a path in a plane: points in the order of the records, one scale for both axes",
        default = "false" },
      { "points", "boolean|string", [[false: only lines; "alone": only points, for an x that is not a scale]],
        default = "true" },
      { "quiet", "boolean", "draw nothing in the terminal", default = "false" },
      { "pictures", "boolean", "false: no SVG or PNG", default = "true" },
    },
    ladder_spec = {
      about = "A ladder.",
      { "x", "string", [[the field that a bar's length shows; a path such as "t.median" selects a field of a benchmark]],
        optional = false },
      { "by", "string|string[]", [[the field that names a bar; of several fields, those that a record has are joined by ", "]],
        optional = false },
      { "low", "string", "field for the lower end of a bar's interval",
        default = "the interval of x, if it is a benchmark or a quantity" },
      { "high", "string", "and for its upper end" },
      { "share", "string", "a field shown in percent at the end of a bar" },
      { "level", "number|table", "the reference of the shares, a dashed line: a number, or `{ value =, label = }`" },
      { "lines", "table[]", "more lines" },
      { "marks", "table[]", "`{ bar =, value =, label = }`: points beside bars, one symbol per label" },
      { "logx", "number|boolean", "base of a logarithmic axis; true is 10", default = "false" },
      { "xmin", "number", "where the axis begins, in base units", default = "0; on a logarithmic axis by the data" },
      { "xmax", "number", "where it ends", default = "by the data" },
      { "title", "string", "" }, { "xlabel", "string", "" },
      { "name", "string", "of the files, without extension", default = "SCRIPT-X-BY" },
      { "unit", "string", [[of x, if the records have none: "s", "B", "B/s", "1/s", "flop/s", "Hz", "%"]],
        default = "the records'; see `mw.record`" },
      { "records", "table[]", "what to draw", default = "all of this run" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG or PNG", default = "true" },
    },
    film_spec = {
      about = "A film of a 1-D or 2-D field.",
      { "name", "string", "of the files, without extension", default = "SCRIPT-film, with a number for each further one" },
      { "title", "string", "" }, { "xlabel", "string", "", default = [["ix"]] },
      { "ylabel", "string", "", default = [["iy"; in 1-D the label]] },
      { "label", "string", "label of the values, with unit: of the colour scale, in 1-D of the y axis" },
      { "low", "number", "lower end of the values' scale", default = "the smallest value of all frames" },
      { "high", "number", "upper end", default = "the largest" },
      { "x", "number[]", "`{ first, last }`: where the first and the last element lie along x", default = "their numbers, from 0" },
      { "y", "number[]", "the same along y, of a 2-D field", default = "their numbers, from 0" },
      { "aspect", "number", "height over width of the field as drawn, 0.05 to 20", default = "that of the elements" },
      { "marks", "table[]", "`{ x =, y =, label = }`: points on the field, in the axes' coordinates" },
      { "delay", "number", "time between frames", unit = "s", default = "0.08" },
      { "live", "boolean", [[show the frames in the terminal as well, each over the one before, ten a second at most; nothing where the output is no
terminal]], default = "false" },
      { "device", "device", "named in the title", default = "the last one opened" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no GIF, SVG or PNG", default = "true" },
    },
    picture_spec = {
      about = "A picture of a 1-D or 2-D field.",
      { "name", "string", "of the files, without extension", default = "SCRIPT-picture, with a number for each further one" },
      { "title", "string", "" }, { "xlabel", "string", "", default = [["ix"]] },
      { "ylabel", "string", "", default = [["iy"; in 1-D the label]] },
      { "label", "string", "label of the values, with unit: of the colour scale, in 1-D of the y axis" },
      { "low", "number", "lower end of the values' scale", default = "the smallest value of the field" },
      { "high", "number", "upper end", default = "the largest" },
      { "x", "number[]", "`{ first, last }`: where the first and the last element lie along x", default = "their numbers, from 0" },
      { "y", "number[]", "the same along y, of a 2-D field", default = "their numbers, from 0" },
      { "aspect", "number", "height over width of the field as drawn, 0.05 to 20", default = "that of the elements" },
      { "marks", "table[]", "`{ x =, y =, label = }`: points on the field, in the axes' coordinates" },
      { "device", "device", "named in the title", default = "the last one opened" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG or PNG", default = "true" },
    },
    timeline_spec = {
      about = "Spans of time in lanes.",
      { "engines", "boolean", [[one engine serves each kind, such as a GPU's copies: a span begins at the end of the previous span of its kind,
because an event records when its stream got to it, not when an engine started the work]], default = "false" },
      { "spans", "table[]", "`{ lane =, kind =, from =, to = [, label =] }`: lane and kind (at most 8 kinds) are texts; times are seconds of one clock, or events that have been reached",
        optional = false },
      { "name", "string", "of the files, without extension", default = "SCRIPT-timeline" },
      { "title", "string", "" },
      { "device", "device", "named in the title", default = "the last one opened" },
      { "quiet", "boolean", "print nothing", default = "false" },
      { "pictures", "boolean", "false: no SVG or PNG", default = "true" },
    },
    plot_made = {
      about = "The files written.",
      result = true,
      { "chart", "string", "the chart in the terminal" },
      { "dat", "string", "path of the data" },
        { "gp", "string", "path of the gnuplot script, which draws the data file" },
      { "svg", "string", "path", optional = true }, { "png", "string", "path", optional = true },
      { "reason", "string", "why there are no pictures", optional = true },
    },
  },

  entries = {
    {
      name = "plot", forms = { "mw.plot{ x =, y =, ... }" },
      about = [[Draws records: a chart in the terminal, RUN/NAME.dat with a header in comments, a gnuplot script
RUN/NAME.gp that draws it, and an SVG and a PNG if gnuplot is installed. Otherwise a message says that there are no pictures. In a browser the SVG
shows the values of a point under the pointer, and a click on a key entry hides or shows its curve.

The chart in the terminal has the terminal's width, or `COLUMNS` if that is set, from 40 to 120. Its series are in colour, unless `NO_COLOR`
is set, `TERM` is dumb, or the output is a pipe. It is ASCII if the locale is. Levels have their label at the end of their lines. A single
series has no key, and series whose names differ only in numbers are in the order of these. The files of two charts of one name with other
fields or titles are told apart by a number: NAME-2. A chart called data is data-chart, since data.dat has the run's records.

In a sweep (`-p n=1024,2048`) the run's records are drawn in the last pass. Each combination of parameters that is not shown by an axis
or by `by` is a separate series, also within each group of `by`. A chart of `records` is drawn in every pass, with the pass in its title and
file name: NAME-n-1024.]],
      params = { { "spec", "plot_spec", "" } },
      returns = { { "plot_made", "see below" } },
      errors = { "mw.plot: option 'x' is needed: the field along the x axis",
                 "mw.plot: no record has both '<x>' and '<y>' as numbers",
                 "mw.plot: the unit of '<y>' is 'B/s', got 'GB/s'; values are shown with the prefix that suits them",
                 "mw.plot: one axis cannot show '<y1>' (B/s) and '<y2>' (s): draw a chart of each" }, since = "0.1.0",
      example = [[
local records = {}
for i = 1, 4 do records[i] = { threads = 2^(i + 4), T_tot = i * 1e9 } end
mw.plot { x = "threads", y = "T_tot", logx = 2, peak = 5e9, records = records, pictures = false, name = "example" }]],
    },
    {
      name = "ladder", forms = { "mw.ladder{ x =, by =, ... }" },
      about = [[Draws records that have names instead of an x axis, such as the rungs of a study: one horizontal bar per
record, the first on top, in the terminal and in the same files as `mw.plot`. Each bar shows its value with its own unit prefix, so that
one thread's 100 MB/s is readable next to 4 TB/s, and its share. The terminal prints half of the interval in percent of the value,
pictures draw the interval. Marks are letters in the terminal and points in pictures.

Bars begin at 0, so lengths are proportional to values. With `logx` they begin at a power of the base below the smallest value: a bar still
ends at its value, but twice the length is not twice the value. Use it if values differ by powers of ten. Records without a name, or
whose value is not a number, is negative, or is 0 with `logx`, are left out.

A mark whose `bar` does not exist is an error. In a sweep ladders are drawn as by `mw.plot`: a combination of parameters that `by` does not
show is a separate bar, "naive, n = 1024", and a mark for "naive" is drawn at each of them.]],
      params = { { "spec", "ladder_spec", "" } },
      returns = { { "plot_made", "see below" } },
      errors = { "mw.ladder: option 'x' is needed: the field that a bar's length shows",
                 "mw.ladder: option 'by' is needed: the field, or list of fields, that names a bar",
                 "mw.ladder: no record has '<x>' as a number of at least 0",
                 "mw.ladder: no record has '<by>', which names a bar",
                 "mw.ladder: a mark names no bar: '<name>'; did you mean '<nearest>'?" }, since = "0.4.0",
      example = [[
local records = { { rung = "copy", T_eff = 4.2e9, share = 1 }, { rung = "naive", T_eff = 0.9e9, share = 0.21 } }
mw.ladder { x = "T_eff", by = "rung", share = "share", level = { value = 4.2e9, label = "copy" },
            marks = { { bar = "naive", value = 0.5e9, label = "a paper's" } }, records = records,
            pictures = false, name = "example-ladder" }]],
    },
    {
      name = "film", forms = { "mw.film([options])" },
      about = [[Begins a film of a field. `film:add(array[, caption])` adds the current field as a frame (at most 2^18
elements): a 2-D array as a heat map, a 1-D array as a line. All frames are of one kind. `film:draw()` writes RUN/NAME.dat, RUN/NAME.gp and, if gnuplot is installed, NAME.gif with all frames, and NAME.svg and
NAME.png with the last one. What is printed between the frames of
one with `live` stays, and the next frame comes below it.]],
      params = { { "options", "film_spec", "", optional = true } },
      returns = { { "table", "the film: `add` returns it again, `draw` returns the paths of the files" } },
      errors = { "mw.film: option 'high' must be above 'low', got <a> and <b>",
        "mw.film: option 'x' must be { first, last }, the places of the first and the last element",
        "film:add: a 1-D or 2-D array is wanted",
        "film:add: the film has 1-D frames, got an array of <n> x <m> elements",
        "film:add: the array has <n> x <m> elements, a picture needs 2 x 2 at least",
        "film:add: the array has <n> x <m> elements, a frame shows 262144 at most; film a smaller field or a view",
        "film:draw: there is no frame; film:add(array) adds one" }, since = "0.2.0",
      example = [[
local film = mw.film { name = "example-film", pictures = false, quiet = true }
film:add(dev:array("f64", 8, 8):random(1), "noise")
print(film:draw().dat ~= nil) --> true]],
    },
    {
      name = "picture", forms = { "mw.picture(array[, options])" },
      about = [[Draws a field as it is now, as a frame of `mw.film` is drawn: RUN/NAME.dat, RUN/NAME.gp, and SVG and PNG if gnuplot is
installed.]],
      params = { { "array", "array", "1-D or 2-D, 2^18 elements at most" }, { "options", "picture_spec", "", optional = true } },
      returns = { { "table", "paths of the files" } },
      errors = { "mw.picture: an array is wanted, got <type>",
        "mw.picture: option 'x' must be { first, last }, the places of the first and the last element",
        "mw.picture: the array has <n> x <m> elements, a picture needs 2 x 2 at least" }, since = "0.11.0",
      example = [[
local plane = dev:array("f32", 64, 16):random(1)
local made = mw.picture(plane, { x = { 0, 2.5 }, y = { 0, 100 }, xlabel = "time (s)", ylabel = "dispersion measure",
  aspect = 0.5, marks = { { x = 1.2, y = 56.8, label = "pulsar" } }, name = "example-picture", pictures = false, quiet = true })
print(made.dat ~= nil) --> true]],
    },
    {
      name = "timeline", forms = { "mw.timeline{ spans = ... }" },
      about = [[Draws spans of time: rows of letters in the terminal, RUN/NAME.dat, RUN/NAME.gp, SVG and PNG if gnuplot is
installed, and RUN/NAME.trace.json, which Perfetto (ui.perfetto.dev) opens.]],
      params = { { "spec", "timeline_spec", "" } },
      returns = { { "table", "paths of the files, and the chart's text" } },
      errors = { "mw.timeline: option 'spans' is needed: a list of { lane =, kind =, from =, to = }",
        "mw.timeline: span <i> has no '<field>'",
        "mw.timeline: span <i> ends before it begins: from <a> to <b> s",
        "mw.timeline: span <i>: '<field>' must be a finite time",
        "mw.timeline: <n> kinds of spans, a chart shows 8 at most" },
      source = "Trace Event Format, complete events", since = "0.2.0",
      example = [[
local spans = { { lane = "stream 1", kind = "copy in", from = 0, to = 1e-3 },
                { lane = "stream 1", kind = "kernel", from = 1e-3, to = 3e-3 },
                { lane = "stream 2", kind = "copy in", from = 1e-3, to = 2e-3 } }
mw.timeline { spans = spans, name = "example-timeline", pictures = false }]],
    },
  },
}
