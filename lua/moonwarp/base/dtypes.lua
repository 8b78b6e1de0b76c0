-- SPDX-License-Identifier: MIT
--
-- The element types: bytes, the name in C++, and of floats eps, the distance from 1 to the next number.

return {
  f64 = { size = 8, cpp = "double", eps = 2.0 ^ -52 }, f32 = { size = 4, cpp = "float", eps = 2.0 ^ -23 },
  f16 = { size = 2, cpp = "__half", eps = 2.0 ^ -10 }, bf16 = { size = 2, cpp = "__nv_bfloat16", eps = 2.0 ^ -7 },
  i64 = { size = 8, cpp = "long long" }, u64 = { size = 8, cpp = "unsigned long long" },
  i32 = { size = 4, cpp = "int" }, u32 = { size = 4, cpp = "unsigned" },
  i16 = { size = 2, cpp = "short" }, u16 = { size = 2, cpp = "unsigned short" },
  i8 = { size = 1, cpp = "signed char" }, u8 = { size = 1, cpp = "unsigned char" },
}
