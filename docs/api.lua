-- SPDX-License-Identifier: MIT
--
-- The API as data: what docs/gen.lua makes docs/api/*.md, the prompt's help and the language server's definitions from,
-- and what docs/generate/names.lua compares with the names that the library registers.
--
-- A page is docs/api/<page>.lua:
--   title, about        the page's heading and its first text
--   owner               whose names it documents: "mw", "core", or a class such as "array"; an entry may have its own
--   self                the variable that stands for the object in forms: "a"
--   common = false      the object is a table of Lua, without what every object has
--   fields              of the object, as those of a class, with a title
--   setup               what every example of the page begins with
--   classes             option and result tables by name: { about =, { name, type, text, default =, unit = }, ... };
--                       result = true: a field is present unless it is optional
--   libraries           of numerical libraries, whose entries come from their tables: docs/generate/libraries.lua
--   entries             in the order shown:
--     name, forms       forms: how it is called, first the one that params describe
--     about             one or two sentences first, then what else there is to say
--     params, returns   { name, type, text, default =, unit =, optional = } and { type, text, name = }
--     overloads         further forms for the language server, "fun(...)"
--     errors            the messages of mistakes, without the "bad argument" prefix; <x> stands for a value
--     example           run by tests/docs/docs_spec.lua; "--> text" is what the line prints
--     source            of a formula or algorithm
--     since             the version it came with
--     meta = false      not a declaration of its own for the language server
--     given = true      a function that the script gives and the library calls
-- Types are those of the Lua language server; "array" and the like stand for the classes of this library.

return {
  version = "0.10.0",

  pages = {
    "moonwarp", "device", "array", "module", "kernel", "launch", "texture", "surface", "stream", "event", "graph",
    "measuring", "charts", "study", "case", "libraries", "nccl", "mpi", "grid", "mesh", "object", "core",
  },

  -- Types that scripts name, in addition to the classes.
  aliases = {
    { "dtype", [["f16"|"bf16"|"f32"|"f64"|"i8"|"i16"|"i32"|"i64"|"u8"|"u16"|"u32"|"u64"]], "an element type" },
    { "dims", "integer|integer[]|table<string, integer>", "an integer, {x, y, z} or {x =, y =, z =}; axes left out are 1" },
    { "engine", [["auto"|"loop"|"split"|"fiber"]], "how the CPU device runs a kernel" },
    { "space", [["device"|"pinned"|"pageable"|"managed"|"global"]], "where an array's memory is" },
    { "class", [["device"|"array"|"module"|"kernel"|"launch"|"texture"|"surface"|"stream"|"event"|"graph"|"library object"]],
      "a kind of object" },
  },

  -- What every object has; a page may say more.
  common = {
    {
      name = "close", forms = { "object:close()" },
      about = [[Releases what the object holds. Using it afterwards, or closing it again, is an error.]],
      errors = { "attempt to use a closed <class>" }, since = "0.2.0",
    },
    {
      name = "__close", forms = { "local object <close> = ..." },
      about = [[Closes the object at the end of the block, also after an error; a closed object is left alone.]],
      meta = false, since = "0.2.0",
    },
    {
      name = "__gc", forms = { "(the collector)" },
      about = [[Closes an object that nothing references any more.]], meta = false, since = "0.2.0",
    },
    {
      name = "__tostring", forms = { "tostring(object)" },
      about = [[One line about the object, or `<class> (closed)`.]], meta = false, since = "0.2.0",
    },
    {
      name = "__concat", forms = { '"text" .. object' },
      about = [[An error: `tostring` gives the text of an object.]], meta = false, rejects = true,
      errors = { "a <class> is not a string: tostring() gives its text" }, since = "0.6.0",
    },
    {
      name = "__newindex", forms = { "object.name = value" },
      about = [[An error: objects have no fields to set. Elements are written with `set`.]], meta = false,
      errors = { "no field of a <class> can be set, got 'name'", "an element is written with set: a:set(1, value)" },
      since = "0.2.0",
    },
  },
}
