-- SPDX-License-Identifier: MIT
--
-- Launches of the pairs of kernels about values: faulty_value.cu has each with one breach, legal_value.cu as it is
-- right.

local array = require("tests.check.cases").array

local function i32(n, value) return array("i32", n, value) end

return {
  { "half_of_a_word", 1, 32, { array("i16", 64), i32(32) } },
  { "half_of_a_shared_word", 1, 32, { i32(32) } },
  { "member_of_a_shared_pair", 1, 32, { i32(32) } },
  { "member_of_a_pair", 1, 32, { i32(64), i32(32) } },
  { "two_of_a_triple", 1, 32, { i32(96), i32(96) } },
  { "half_of_halves", 1, 32, { i32(32), i32(32) } },
  { "three_of_a_vector", 1, 32, { array("f32", 128), array("f32", 128) } },
  { "written_past_a_local_array", 1, 32, { i32(32), 4 } },
  { "array_and_pointer_past_it", 1, 32, { i32(32), 4 } },
  { "read_past_a_local_array", 1, 32, { i32(32), 4 } },
  { "read_before_a_local_array", 1, 32, { array("i8", 32), 2 } },
  { "local_array_of_a_helper", 1, 32, { i32(32), 4 } },
  { "row_past_its_last", 1, 32, { i32(32), 4 } },
  { "element_never_set", 1, 32, { i32(32), 3 } },
  { "local_variable_never_set", 1, 32, { i32(32) } },
  { "loop_bound_never_set", 1, 32, { i32(32), 7 } },
  { "counter_never_set", 1, 32, { i32(32), 4 } },
}
