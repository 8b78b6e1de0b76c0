/* SPDX-License-Identifier: MIT
 *
 * Thrust's <thrust/device_ptr.h> in kernels, for the CPU device and for NVRTC: an address of the device's memory, whose
 * elements are plain references. */
#ifndef MW_THRUST_DEVICE_PTR_H
#define MW_THRUST_DEVICE_PTR_H

#include "functions.h"

#if !defined(MW_PREPROCESS)
namespace thrust {

template <class T> class device_ptr {
public:
  typedef T element_type, value_type, &reference;
  typedef T *pointer, *raw_pointer;
  typedef decltype((T *)0 - (T *)0) difference_type;

  device_ptr() = default;
  MW_THRUST device_ptr(decltype(nullptr)) : at(nullptr) {}
  template <class U> MW_THRUST explicit device_ptr(U *address) : at(address) {}
  template <class U, class = decltype(*(T **)0 = (U *)0)>
  MW_THRUST device_ptr(const device_ptr<U> &other) : at(other.get()) {}

  MW_THRUST T *get() const { return at; }
  MW_THRUST T &operator*() const { return *at; }
  MW_THRUST T *operator->() const { return at; }
  MW_THRUST T &operator[](difference_type i) const { return at[i]; }
  MW_THRUST explicit operator bool() const { return at != nullptr; }

  MW_THRUST device_ptr &operator+=(difference_type n) { return at += n, *this; }
  MW_THRUST device_ptr &operator-=(difference_type n) { return at -= n, *this; }
  MW_THRUST device_ptr &operator++() { return ++at, *this; }
  MW_THRUST device_ptr &operator--() { return --at, *this; }
  MW_THRUST device_ptr operator++(int) { return device_ptr(at++); }
  MW_THRUST device_ptr operator--(int) { return device_ptr(at--); }
  MW_THRUST friend device_ptr operator+(device_ptr p, difference_type n) { return p += n; }
  MW_THRUST friend device_ptr operator+(difference_type n, device_ptr p) { return p += n; }
  MW_THRUST friend device_ptr operator-(device_ptr p, difference_type n) { return p -= n; }
  MW_THRUST friend difference_type operator-(device_ptr p, device_ptr q) { return p.at - q.at; }
  MW_THRUST friend bool operator==(device_ptr p, device_ptr q) { return p.at == q.at; }
  MW_THRUST friend bool operator!=(device_ptr p, device_ptr q) { return p.at != q.at; }
  MW_THRUST friend bool operator<(device_ptr p, device_ptr q) { return p.at < q.at; }
  MW_THRUST friend bool operator>(device_ptr p, device_ptr q) { return p.at > q.at; }
  MW_THRUST friend bool operator<=(device_ptr p, device_ptr q) { return p.at <= q.at; }
  MW_THRUST friend bool operator>=(device_ptr p, device_ptr q) { return p.at >= q.at; }

private:
  T *at;
};

template <class T> MW_THRUST device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <class T> MW_THRUST device_ptr<T> device_pointer_cast(const device_ptr<T> &p) { return p; }
template <class T> MW_THRUST T *raw_pointer_cast(T *p) { return p; }
template <class T> MW_THRUST T *raw_pointer_cast(const device_ptr<T> &p) { return p.get(); }

} // namespace thrust
#endif

#endif
