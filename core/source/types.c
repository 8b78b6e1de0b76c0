/* SPDX-License-Identifier: MIT
 *
 * Names of types: "unsigned int" is MW_U32 of 4 bytes, "float3" three MW_F32 at multiples of 4, "double4_32a" four
 * MW_F64 at multiples of 32. */
#include "core/source/types.h"

#include <stdlib.h>
#include <string.h>

/* names: of the type; stems: what its vectors begin with. CUDA C++ Programming Guide, "Built-in Vector Types". */
static const struct {
  mw_dtype dtype;
  uint8_t size;
  const char *names, *stems;
} types[] = {
    {MW_VOID, 0, "void", ""},
    {MW_BOOL, 1, "bool", ""},
    {MW_I8, 1, "char,signed char,int8_t", "char"},
    {MW_U8, 1, "unsigned char,uint8_t", "uchar"},
    {MW_I16, 2, "short,int16_t", "short"},
    {MW_U16, 2, "unsigned short,uint16_t,char16_t", "ushort"},
    {MW_I32, 4, "int,int32_t,wchar_t", "int"},
    {MW_U32, 4, "unsigned int,unsigned,uint,uint32_t,char32_t", "uint"},
    {MW_I64, 8, "long,long long,int64_t,ptrdiff_t,intptr_t", "long,longlong"},
    {MW_U64, 8, "unsigned long,unsigned long long,uint64_t,size_t,uintptr_t", "ulong,ulonglong"},
    {MW_F16, 2, "half,__half,_Float16", "half,__half"},
    {MW_BF16, 2, "nv_bfloat16,__nv_bfloat16,__bf16", "nv_bfloat16,__nv_bfloat16"},
    {MW_F32, 4, "float", "float"},
    {MW_F64, 8, "double", "double"},
    {MW_TEXTURE, 8, "cudaTextureObject_t", ""},
    {MW_SURFACE, 8, "cudaSurfaceObject_t", ""},
};

static bool is_listed(const char *list, const char *name, size_t size) {
  for (size_t length; *list; list += length + (list[length] == ',')) {
    length = strcspn(list, ",");
    if (length == size && memcmp(list, name, size) == 0) return true;
  }
  return false;
}

/* "float4" -> 4, *stem 5; "double4_16a" -> 4, *stem 6, *align 16; 0: no vector's name. */
static int vector_lanes(const char *name, size_t *stem, uint32_t *align) {
  const char *suffix = strrchr(name, '_');
  bool aligned = suffix && (strcmp(suffix, "_16a") == 0 || strcmp(suffix, "_32a") == 0);
  *stem = aligned ? (size_t)(suffix - name) : strlen(name);
  *align = aligned ? (uint32_t)atoi(suffix + 1) : 0;
  if (!*stem || !strchr("1234", name[*stem - 1])) return 0;
  return name[--*stem] - '0';
}

uint32_t mw_type_by_name(const char *name, mw_param *out) {
  uint32_t align;
  size_t stem;
  if (strcmp(name, "dim3") == 0) name = "uint3";
  const int lanes = vector_lanes(name, &stem, &align);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const uint32_t size = types[i].size;
    const bool half = types[i].dtype == MW_F16 || types[i].dtype == MW_BF16;
    const bool one = is_listed(types[i].names, name, strlen(name));
    if (!one && !(lanes && is_listed(types[i].stems, name, stem))) continue;
    if (!one && ((half && lanes != 2) || (align && (size != 8 || lanes != 4)))) return 0;
    out->dtype = types[i].dtype;
    out->lanes = one ? 1 : (uint8_t)lanes;
    out->size = out->lanes * size;
    if (!one && align) return align;
    if (out->lanes % 2) return size ? size : 1; /* of three, each is aligned by itself */
    return out->size < 16 ? out->size : 16;
  }
  return 0;
}
