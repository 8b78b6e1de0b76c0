/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces: tex1Dfetch to texCubemap, tex2Dgather, surf1Dread to surfCubemapwrite. An object is the whole
 * mw_image (../../abi.h), by value: what it says is the same for all threads, so a loop over threads asks it once.
 *
 * CUDA C++ Programming Guide, "Texture Fetching" and "Texture Functions":
 *
 *     point    texel floor(x)
 *     linear   of x - 1/2 in fixed point with 8 bits of fraction: texels i and i + 1, weights 1 - f and f
 *
 * The usual reads (clamped or with a border, 32-bit floats or as the texel is) are written out; mw_sampled has every
 * other. In check mode it does all, where the reader stands, so that its reads are seen there. */
#ifndef MW_TEXTURE_H
#define MW_TEXTURE_H

#include "../moonwarp.h"

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };

struct cudaTextureObject_t { mw_image image; };
struct cudaSurfaceObject_t { mw_image image; };

#if defined(MW_CHECK)
#define MW_SAMPLER     MW_FN
#define MW_IMAGE_OF(t) t
#else /* a parameter whose address is taken is memory, and none of what it says would be known of a loop */
#define MW_SAMPLER     static __attribute__((noinline, unused))
#define MW_IMAGE_OF(t) *(t).self
#endif

/* {== Texels =========================================================== */

/* What a read gives: four numbers or four integers. */
struct mw_texel {
  union {
    float    f[4];
    int      i[4];
    unsigned u[4];
  };
};

enum mw_texel_type { mw_texel_f16, mw_texel_f32 = 2, mw_texel_i8 = 4, mw_texel_i16, mw_texel_u8 = 8, mw_texel_u16 };

MW_FN float mw_texel_half(unsigned short bits) {
  const unsigned u = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
  const float magnitude = mw_bits<float>(u) * 0x1p112f; /* exact, and subnormal numbers come out as they are */
  return mw_bits<float>((bits & 0x7c00u) == 0x7c00u ? sign | 0x7f800000u | u : sign | mw_bits<unsigned>(magnitude));
}

MW_FN float mw_texel_signed(int value, float most) { return value < -most ? -1.0f : (float)value / most; }

/* The component at a place. */
MW_FN void mw_component(const mw_image &t, const char *at, mw_texel &out, int c) {
  if (t.dtype == mw_texel_f16) out.f[c] = mw_texel_half(((const unsigned short *)at)[c]);
  else if (t.texel == 4 * t.components) out.u[c] = ((const unsigned *)at)[c];
  else if (t.dtype == mw_texel_u8) out.u[c] = ((const unsigned char *)at)[c];
  else if (t.dtype == mw_texel_i8) out.i[c] = ((const signed char *)at)[c];
  else if (t.dtype == mw_texel_u16) out.u[c] = ((const unsigned short *)at)[c];
  else out.i[c] = ((const short *)at)[c];
  if (!t.as_float) return;
  if (t.dtype == mw_texel_u8) out.f[c] = (float)out.i[c] / 255.0f;
  else if (t.dtype == mw_texel_u16) out.f[c] = (float)out.i[c] / 65535.0f;
  else out.f[c] = mw_texel_signed(out.i[c], t.dtype == mw_texel_i8 ? 127.0f : 32767.0f);
}

/* A negative place is outside of a border. */
MW_SAMPLER mw_texel mw_texel_at(const mw_image &t, int i, int j, int k) {
  mw_texel out = {{{0, 0, 0, 0}}};
  if ((i | j | k) < 0) return out;
  const char *at = t.at + (size_t)k * t.slice + (size_t)j * t.row + (size_t)i * t.texel;
  for (int c = 0; c < t.components; c++) mw_component(t, at, out, c);
  return out;
}

/* To the type that the kernel asks for: mw_texel_as<float4>::of(texel). */
template <class T> struct mw_texel_as;
#define MW_AS(T, member, ...)                                                                                          \
  template <> struct mw_texel_as<T> {                                                                                        \
    MW_FN T of(const mw_texel &v) { return __VA_ARGS__; }                                                              \
  };
#define MW_AS_VECTORS(T, N, member)                                                                                    \
  MW_AS(T, member, (T)v.member[0])                                                                                     \
  MW_AS(N##1, member, {(T)v.member[0]})                                                                                \
  MW_AS(N##2, member, {(T)v.member[0], (T)v.member[1]})                                                                \
  MW_AS(N##4, member, {(T)v.member[0], (T)v.member[1], (T)v.member[2], (T)v.member[3]})
MW_AS_VECTORS(float, float, f)
MW_AS_VECTORS(int, int, i)
MW_AS_VECTORS(short, short, i)
MW_AS_VECTORS(signed char, char, i)
MW_AS_VECTORS(unsigned, uint, u)
MW_AS_VECTORS(unsigned short, ushort, u)
MW_AS_VECTORS(unsigned char, uchar, u)
MW_AS(char, i, (char)v.i[0])

/* ==} */

/* {== Where a read falls ============================================== */

/* NaN: the least. */
MW_FN float mw_held(float x, float least, float most) {
  const float above = x > least ? x : least;
  return above < most ? above : most;
}

/* A normalised coordinate that is repeated; just below 0 it is just below 1. */
MW_FN float mw_folded(float x, int address) {
  const float whole = floorf(x), part = mw_held(x - whole, 0, 1 - 0x1p-24f);
  const bool odd = whole - 2 * floorf(whole / 2) != 0;
  if (address != MW_ADDRESS_WRAP && address != MW_ADDRESS_MIRROR) return x;
  return address == MW_ADDRESS_MIRROR && odd ? 1 - part : part;
}

/* The texel that stands for one at most next to the outermost; -1: none, outside of a border. */
MW_FN int mw_inside(int i, int side, int address) {
  if (i >= 0 && i < side) return i;
  if (address == MW_ADDRESS_BORDER) return -1;
  const bool low = (i < 0) != (address == MW_ADDRESS_WRAP);
  return low ? 0 : side - 1;
}

struct mw_step { /* along an axis: two texels, and the second's weight */
  int first, second;
  float part;
};

/* Of linear reads the number of 256ths, to the nearest: the rest below one is the weight. */
MW_FN int mw_256ths(float x) { return (int)(x * 256 + 384.5f) - 512; }

MW_FN mw_step mw_along(const mw_image &t, int axis, float x, bool linear) {
  const int side = (int)t.side[axis], address = t.address[axis];
  x = mw_held(mw_folded(x, t.normalised ? address : MW_ADDRESS_CLAMP) * t.scale[axis], -1, (float)side + 1);
  if (!linear) {
    const int i = mw_inside((int)floorf(mw_held(x, -1, (float)side)), side, address);
    return {i, i, 0};
  }
  const int fixed = mw_256ths(x), i = fixed >> 8;
  const int before = i < -1 ? -1 : i, after = i + 1 > side ? side : i + 1;
  return {mw_inside(before, side, address), mw_inside(after, side, address), (float)(fixed & 255) / 256};
}

/* What has no weight is not read, and a NaN there does no harm: on a GPU neither. */
MW_FN float mw_mix(float a, float b, float part) { return part > 0 ? (1 - part) * a + part * b : a; }

MW_FN mw_texel mw_mixed(const mw_texel &a, const mw_texel &b, float part) {
  mw_texel out;
  for (int c = 0; c < 4; c++) out.f[c] = mw_mix(a.f[c], b.f[c], part);
  return out;
}

MW_FN mw_texel mw_row_at(const mw_image &t, mw_step x, int j, int k) {
  const mw_texel first = mw_texel_at(t, x.first, j, k);
  return x.part > 0 ? mw_mixed(first, mw_texel_at(t, x.second, j, k), x.part) : first;
}

MW_FN mw_texel mw_plane_at(const mw_image &t, mw_step x, mw_step y, int k) {
  const mw_texel first = mw_row_at(t, x, y.first, k);
  return y.part > 0 ? mw_mixed(first, mw_row_at(t, x, y.second, k), y.part) : first;
}

/* Outside is the last one, also below 0. */
MW_FN int mw_layer(const mw_image &t, int layer) {
  return (unsigned)layer < t.side[2] ? layer : (int)t.side[2] - 1;
}

/* Any read of up to two axes, in a layer. */
MW_SAMPLER mw_texel mw_sampled(const mw_image &t, float x, float y, int layer) {
  const mw_step a = mw_along(t, 0, x, t.linear), b = mw_along(t, 1, y, t.linear);
  layer = mw_layer(t, layer);
  return t.linear ? mw_plane_at(t, a, b, layer) : mw_texel_at(t, a.first, b.first, layer);
}

MW_SAMPLER mw_texel mw_sampled_3d(const mw_image &t, float x, float y, float z) {
  const mw_step a = mw_along(t, 0, x, t.linear), b = mw_along(t, 1, y, t.linear), c = mw_along(t, 2, z, t.linear);
  if (!t.linear) return mw_texel_at(t, a.first, b.first, c.first);
  const mw_texel first = mw_plane_at(t, a, b, c.first);
  return c.part > 0 ? mw_mixed(first, mw_plane_at(t, a, b, c.second), c.part) : first;
}

/* ==} */

/* {== The usual reads ================================================== */

#if defined(MW_CHECK)
#define MW_WRITTEN_OUT false
#else
#define MW_WRITTEN_OUT true
#endif

/* Clamped coordinates are never below 0, so that a conversion rounds them down. */
MW_FN int mw_nearest(const mw_image &t, int axis, float x) {
  return (int)mw_held(x * t.scale[axis], 0, (float)((int)t.side[axis] - 1));
}

MW_FN int mw_256ths_inside(const mw_image &t, int axis, float x) {
  return (int)(mw_held(x * t.scale[axis] * 256 - 128, 0, (float)(((int)t.side[axis] - 1) * 256)) + 0.5f);
}

/* Of the texel after, where there is one. */
MW_FN int mw_behind(const mw_image &t, int axis, int i) { return i + (i + 1 < (int)t.side[axis]); }

MW_FN float mw_bilinear(const mw_image &t, const float *texels, float x, float y) {
  const int a = mw_256ths_inside(t, 0, x), b = mw_256ths_inside(t, 1, y), i = a >> 8, j = b >> 8, n = (int)t.side[0];
  const int low = j * n, high = mw_behind(t, 1, j) * n, right = mw_behind(t, 0, i);
  const float across = (float)(a & 255) / 256, along = (float)(b & 255) / 256;
  const float first = mw_mix(texels[low + i], texels[low + right], across);
  return mw_mix(first, mw_mix(texels[high + i], texels[high + right], across), along);
}

/* Of a place that may be outside: where the texel is or the one next to it, and whether it counts. */
struct mw_spot {
  int  at;
  bool is_in;
};

MW_FN mw_spot mw_spot_of(const mw_image &t, int axis, int i) {
  const int most = (int)t.side[axis] - 1, at = i < 0 ? 0 : i < most ? i : most;
  return {at, at == i || t.address[axis] != MW_ADDRESS_BORDER};
}

MW_FN float mw_texel_or_0(const float *texels, int n, mw_spot i, mw_spot j) {
  const float value = texels[j.at * n + i.at];
  return i.is_in && j.is_in ? value : 0;
}

/* The same with a border: of the axes that have one. */
MW_FN float mw_bilinear_border(const mw_image &t, const float *texels, float x, float y) {
  const int n = (int)t.side[0], a = mw_256ths(mw_held(x * t.scale[0], -1, (float)n + 1)),
            b = mw_256ths(mw_held(y * t.scale[1], -1, (float)t.side[1] + 1));
  const mw_spot left = mw_spot_of(t, 0, a >> 8), right = mw_spot_of(t, 0, (a >> 8) + 1);
  const mw_spot low = mw_spot_of(t, 1, b >> 8), high = mw_spot_of(t, 1, (b >> 8) + 1);
  const float across = (float)(a & 255) / 256, along = (float)(b & 255) / 256;
  const float first = mw_mix(mw_texel_or_0(texels, n, left, low), mw_texel_or_0(texels, n, right, low), across);
  return mw_mix(first, mw_mix(mw_texel_or_0(texels, n, left, high), mw_texel_or_0(texels, n, right, high), across),
                along);
}

template <class T> MW_FN bool mw_is_plain(const mw_image &t) {
  return MW_WRITTEN_OUT && !t.linear && t.usual == MW_USUAL_CLAMPED && t.raw == sizeof(T);
}

template <class T> MW_FN T mw_read_2d(const mw_image &t, float x, float y, int layer) {
  if constexpr (MW_WRITTEN_OUT && __is_same(T, float)) {
    const float *texels = (const float *)(t.at + (size_t)mw_layer(t, layer) * t.slice);
    const bool is_mixed = t.linear && t.raw == sizeof(float);
    if (is_mixed && t.usual == MW_USUAL_CLAMPED) return mw_bilinear(t, texels, x, y);
    if (is_mixed && t.usual == MW_USUAL_BORDER) return mw_bilinear_border(t, texels, x, y);
  }
  if (!mw_is_plain<T>(t)) return mw_texel_as<T>::of(mw_sampled(MW_IMAGE_OF(t), x, y, layer));
  return ((const T *)(t.at + (size_t)mw_layer(t, layer) * t.slice))[mw_nearest(t, 1, y) * (int)t.side[0] +
                                                                    mw_nearest(t, 0, x)];
}

/* ==} */

/* {== CUDA's functions ================================================= */

/* Outside of linear memory is 0. */
template <class T> MW_FN T tex1Dfetch(cudaTextureObject_t t, int i) {
  const bool inside = (unsigned)i < t.image.side[0];
  if (MW_WRITTEN_OUT && t.image.raw == sizeof(T)) return inside ? ((const T *)t.image.at)[i] : T();
  return mw_texel_as<T>::of(mw_texel_at(MW_IMAGE_OF(t.image), inside ? i : -1, 0, 0));
}

template <class T> MW_FN T tex1D(cudaTextureObject_t t, float x) { return mw_read_2d<T>(t.image, x, 0, 0); }
template <class T> MW_FN T tex2D(cudaTextureObject_t t, float x, float y) { return mw_read_2d<T>(t.image, x, y, 0); }
template <class T> MW_FN T tex1DLayered(cudaTextureObject_t t, float x, int layer) {
  return mw_read_2d<T>(t.image, x, 0, layer);
}
template <class T> MW_FN T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
  return mw_read_2d<T>(t.image, x, y, layer);
}

template <class T> MW_FN T tex3D(cudaTextureObject_t t, float x, float y, float z) {
  if (!mw_is_plain<T>(t.image)) return mw_texel_as<T>::of(mw_sampled_3d(MW_IMAGE_OF(t.image), x, y, z));
  const char *slice = t.image.at + (size_t)mw_nearest(t.image, 2, z) * t.image.slice;
  return ((const T *)slice)[mw_nearest(t.image, 1, y) * (int)t.image.side[0] + mw_nearest(t.image, 0, x)];
}

/* The face that the direction meets, and where: the table of the guide's section on cube maps. */
template <class T> MW_FN T texCubemap(cudaTextureObject_t t, float x, float y, float z) {
  const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
  const bool along_x = ax >= ay && ax >= az, along_y = !along_x && ay >= az;
  const float m = along_x ? ax : along_y ? ay : az;
  const bool back = (along_x ? x : along_y ? y : z) < 0;
  const float u = along_x ? (back ? z : -z) : along_y ? x : back ? -x : x;
  const float v = along_y ? (back ? -z : z) : -y;
  return mw_read_2d<T>(t.image, (u / m + 1) / 2, (v / m + 1) / 2, (along_x ? 0 : along_y ? 2 : 4) + back);
}

/* One component of the four texels that a linear read would mix, from the lower left one counter-clockwise. */
MW_SAMPLER mw_texel mw_gathered(const mw_image &t, float x, float y, int c) {
  const mw_step a = mw_along(t, 0, x, true), b = mw_along(t, 1, y, true);
  mw_texel out;
  out.u[0] = mw_texel_at(t, a.first, b.second, 0).u[c];
  out.u[1] = mw_texel_at(t, a.second, b.second, 0).u[c];
  out.u[2] = mw_texel_at(t, a.second, b.first, 0).u[c];
  out.u[3] = mw_texel_at(t, a.first, b.first, 0).u[c];
  return out;
}

template <class T> MW_FN T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0) {
  return mw_texel_as<T>::of(mw_gathered(MW_IMAGE_OF(t.image), x, y, component & 3));
}

/* {== Surfaces: x is in bytes ========================================== */

/* The place, or NULL where nothing is to be read or written. */
template <class T>
MW_FN char *mw_surface_at(const mw_image &s, int x, int y, int z, cudaSurfaceBoundaryMode mode, MW_HERE) {
  const int most[] = {(int)(s.side[0] * s.texel - sizeof(T)), (int)s.side[1] - 1, (int)s.side[2] - 1};
  int at[] = {x, y, z};
  if ((unsigned)x % sizeof(T)) MW_FAIL("the x of a surface is in bytes, and a multiple of the type's size");
  for (int axis = 0; axis < 3; axis++) {
    if (at[axis] >= 0 && at[axis] <= most[axis]) continue;
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) MW_FAIL("a place outside of the surface, with cudaBoundaryModeTrap");
    at[axis] = at[axis] < 0 ? 0 : most[axis];
  }
  return s.at + (size_t)at[2] * s.slice + (size_t)at[1] * s.row + (size_t)at[0];
}

#define MW_SURFACE(name, PLACE, X, Y, Z)                                                                               \
  template <class T>                                                                                                   \
  MW_FN T name##read(cudaSurfaceObject_t s, MW_UNWRAP PLACE, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, MW_HERE) { \
    const T *from = (const T *)mw_surface_at<T>(s.image, X, Y, Z, mode, mw_file, mw_line);                             \
    return from ? *from : T();                                                                                         \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  MW_FN void name##write(T value, cudaSurfaceObject_t s, MW_UNWRAP PLACE,                                              \
                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, MW_HERE) {                               \
    T *to = (T *)mw_surface_at<T>(s.image, X, Y, Z, mode, mw_file, mw_line);                                           \
    if (to) *to = value;                                                                                               \
  }
#define MW_UNWRAP(...) __VA_ARGS__
MW_SURFACE(surf1D, (int x), x, 0, 0)
MW_SURFACE(surf2D, (int x, int y), x, y, 0)
MW_SURFACE(surf3D, (int x, int y, int z), x, y, z)
MW_SURFACE(surf1DLayered, (int x, int layer), x, 0, layer)
MW_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, layer)
MW_SURFACE(surfCubemap, (int x, int y, int face), x, y, face)

/* ==} */

#endif
