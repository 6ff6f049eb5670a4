// CGBN's Montgomery products in a chain, and powers put together of its products and squares with
// windows of five bits: kernels that chains.py launches beside ours.
//
//     nvcc -O3 -std=c++17 -arch=native -cubin -I CGBN/include -o cgbn_modular.cubin cgbn_modular.cu
//
// mul_BITS_TPI: r = a (b / R)^times modulo c, R = 2^BITS. sqr_BITS_TPI: as many squares of a. pow_BITS_TPI: r = a^b modulo c.
// With -DONLY=BITS those of so many bits alone.

#include <cstdint>

#include "cgbn/cgbn.h"

template <uint32_t TPI, uint32_t BITS>
struct Numbers {
  using Context = cgbn_context_t<TPI>;
  using Environment = cgbn_env_t<Context, BITS>;
  using Memory = cgbn_mem_t<BITS>;
  using Number = typename Environment::cgbn_t;
  using Local = typename Environment::cgbn_local_t;
};

template <uint32_t TPI, uint32_t BITS, bool SQUARES>
__device__ __forceinline__ void chain(cgbn_mem_t<BITS>* r, cgbn_mem_t<BITS>* a, cgbn_mem_t<BITS>* b,
                                      cgbn_mem_t<BITS>* c, uint32_t count, uint32_t times) {
  using Of = Numbers<TPI, BITS>;
  uint32_t index = (blockIdx.x * blockDim.x + threadIdx.x) / TPI;
  if (index >= count) return;
  typename Of::Context context(cgbn_no_checks);
  typename Of::Environment environment(context);
  typename Of::Number x, y, m, unused;
  cgbn_load(environment, x, &a[index]);
  cgbn_load(environment, y, &b[index]);
  cgbn_load(environment, m, &c[index]);
  uint32_t inverse = cgbn_bn2mont(environment, unused, x, m);
#pragma nounroll
  for (uint32_t i = 0; i < times; i++) {
    if (SQUARES) {
      cgbn_mont_sqr(environment, x, x, m, inverse);
    } else {
      cgbn_mont_mul(environment, x, x, y, m, inverse);
    }
  }
  cgbn_store(environment, &r[index], x);
}

template <uint32_t TPI, uint32_t BITS>
__device__ __forceinline__ void power(cgbn_mem_t<BITS>* r, cgbn_mem_t<BITS>* a, cgbn_mem_t<BITS>* b,
                                      cgbn_mem_t<BITS>* c, uint32_t count) {
  using Of = Numbers<TPI, BITS>;
  constexpr int window = 5;
  uint32_t index = (blockIdx.x * blockDim.x + threadIdx.x) / TPI;
  if (index >= count) return;
  typename Of::Context context(cgbn_no_checks);
  typename Of::Environment environment(context);
  typename Of::Number x, e, m, entry, base;
  typename Of::Local table[1 << window];
  cgbn_load(environment, x, &a[index]);
  cgbn_load(environment, e, &b[index]);
  cgbn_load(environment, m, &c[index]);
  // The modulus has its top bit set.
  cgbn_negate(environment, entry, m);
  cgbn_store(environment, &table[0], entry);
  uint32_t inverse = cgbn_bn2mont(environment, base, x, m);
  cgbn_store(environment, &table[1], base);
  cgbn_set(environment, x, base);
#pragma nounroll
  for (int i = 2; i < 1 << window; i++) {
    cgbn_mont_mul(environment, x, x, base, m, inverse);
    cgbn_store(environment, &table[i], x);
  }
  int left = (BITS - 1) / window * window;
  cgbn_load(environment, x, &table[cgbn_extract_bits_ui32(environment, e, left, BITS - left)]);
#pragma nounroll
  while (left > 0) {
    left -= window;
#pragma nounroll
    for (int i = 0; i < window; i++) cgbn_mont_sqr(environment, x, x, m, inverse);
    cgbn_load(environment, entry, &table[cgbn_extract_bits_ui32(environment, e, left, window)]);
    cgbn_mont_mul(environment, x, x, entry, m, inverse);
  }
  cgbn_mont2bn(environment, x, x, m, inverse);
  cgbn_store(environment, &r[index], x);
}

#define KERNELS(BITS, TPI)                                                                          \
  extern "C" __global__ void mul_##BITS##_##TPI(cgbn_mem_t<BITS>* r, cgbn_mem_t<BITS>* a,           \
                                                cgbn_mem_t<BITS>* b, cgbn_mem_t<BITS>* c,           \
                                                uint32_t count, uint32_t times) {                   \
    chain<TPI, BITS, false>(r, a, b, c, count, times);                                              \
  }                                                                                                 \
  extern "C" __global__ void sqr_##BITS##_##TPI(cgbn_mem_t<BITS>* r, cgbn_mem_t<BITS>* a,           \
                                                cgbn_mem_t<BITS>* b, cgbn_mem_t<BITS>* c,           \
                                                uint32_t count, uint32_t times) {                   \
    chain<TPI, BITS, true>(r, a, b, c, count, times);                                               \
  }                                                                                                 \
  extern "C" __global__ void pow_##BITS##_##TPI(cgbn_mem_t<BITS>* r, cgbn_mem_t<BITS>* a,           \
                                                cgbn_mem_t<BITS>* b, cgbn_mem_t<BITS>* c,           \
                                                uint32_t count, uint32_t) {                         \
    power<TPI, BITS>(r, a, b, c, count);                                                            \
  }

#ifndef ONLY
#define ONLY 0
#endif

#if ONLY == 0 || ONLY == 256
KERNELS(256, 4)
#endif
#if ONLY == 0 || ONLY == 512
KERNELS(512, 4)
#endif
#if ONLY == 0 || ONLY == 1024
KERNELS(1024, 8)
#endif
#if ONLY == 0 || ONLY == 1536
KERNELS(1536, 8)
#endif
#if ONLY == 0 || ONLY == 2048
KERNELS(2048, 8)
#endif
#if ONLY == 0 || ONLY == 3072
KERNELS(3072, 16)
#endif
#if ONLY == 0 || ONLY == 4096
KERNELS(4096, 16)
#endif
#if ONLY == 0 || ONLY == 6144
KERNELS(6144, 32)
#endif
#if ONLY == 0 || ONLY == 8192
KERNELS(8192, 32)
#endif
