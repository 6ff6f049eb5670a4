// In how many bits two numbers differ: a kernel in CUDA C++ that takes the engine's batches.
#include "bigint_kernels.h"

struct scalars {
    uint32_t most; // what is told of numbers that differ in more bits
};

// r = min(bits of a ^ b, most): one limb.
extern "C" __global__ void hamming(bigint_arguments arguments, scalars scalars)
{
    uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    for (uint64_t i = thread; i < arguments.count; i += arguments.workers) {
        uint32_t bits = 0;
        for (uint64_t j = 0; j < arguments.a.width; j++)
            bits += __popc(bigint_limb(arguments.a, i, j) ^ bigint_limb(arguments.b, i, j));
        bigint_set_limb(arguments.r, i, 0, min(bits, scalars.most));
    }
}
