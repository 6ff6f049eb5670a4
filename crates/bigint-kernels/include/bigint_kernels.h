/* What a kernel is given: bigint_core::Arguments, by value. For kernels in CUDA C++ that take the batches
 * of Module::launch, and for hosts that launch ours. C11 or C++11.
 *
 *     extern "C" __global__ void kernel(struct bigint_arguments arguments)
 *
 * A second parameter, where the launch has scalars, is a struct of 32-bit numbers. */
#ifndef BIGINT_KERNELS_H
#define BIGINT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* An operand or a result. Limb j of number i is the 32 bits at
 * limbs + 4 * (i * number_stride + j * limb_stride). */
struct bigint_matrix {
    uint64_t limbs;         /* device address of the first limb */
    uint64_t number_stride; /* in limbs; 0 where one number stands for all */
    uint64_t limb_stride;   /* in limbs; 1 in batches of Module::launch */
    uint64_t width;         /* limbs of each number */
};

/* What an operation does not have is zero. */
struct bigint_arguments {
    struct bigint_matrix r; /* results */
    struct bigint_matrix s;
    struct bigint_matrix a; /* operands */
    struct bigint_matrix b;
    struct bigint_matrix c;
    struct bigint_matrix scratch;
    uint64_t carry;       /* device address of a flag of 32 bits for each number, or 0 */
    uint64_t first_carry; /* device address of 64 bits, or 0 */
    uint64_t roots;       /* device address of a table, or 0 */
    uint64_t count;       /* numbers */
    uint64_t workers;     /* threads: thread t computes numbers t, t + workers, ... */
};

#ifdef __cplusplus
#define BIGINT_CHECK(what) static_assert(what, #what)
#else
#define BIGINT_CHECK(what) _Static_assert(what, #what)
#endif

BIGINT_CHECK(sizeof(struct bigint_matrix) == 32);
BIGINT_CHECK(sizeof(struct bigint_arguments) == 232);
BIGINT_CHECK(offsetof(struct bigint_arguments, carry) == 192);
BIGINT_CHECK(offsetof(struct bigint_arguments, workers) == 224);

#ifdef __CUDACC__
/* Limb j of number i. */
static __device__ __forceinline__ uint32_t bigint_limb(struct bigint_matrix m, uint64_t i, uint64_t j)
{
    return ((const uint32_t *)m.limbs)[i * m.number_stride + j * m.limb_stride];
}

/* Sets limb j of number i. */
static __device__ __forceinline__ void bigint_set_limb(struct bigint_matrix m, uint64_t i, uint64_t j,
                                                       uint32_t limb)
{
    ((uint32_t *)m.limbs)[i * m.number_stride + j * m.limb_stride] = limb;
}
#endif

#endif
