// Blocks that wait for each other: every round of a cooperative launch adds up what all
// blocks wrote in the round before, which is right only if no block is ahead of another.

#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

#define CHECK(call)                                                               \
    do {                                                                          \
        cudaError_t error = (call);                                               \
        if (error != cudaSuccess) {                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error));            \
            std::exit(1);                                                         \
        }                                                                         \
    } while (0)

__global__ void rounds(uint32_t* values, uint32_t* next, int count) {
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < count; round++) {
        uint32_t sum = 0;
        for (unsigned block = 0; block < gridDim.x; block++) sum += values[block];
        if (threadIdx.x == 0) next[blockIdx.x] = sum + blockIdx.x;
        grid.sync();
        uint32_t* other = values;
        values = next;
        next = other;
    }
    if (grid.thread_rank() == grid.size() - 1) values[gridDim.x] = grid.is_valid();
}

int main() {
    const int blocks = 12, count = 5;
    uint32_t* memory;
    CHECK(cudaMalloc(&memory, 4 * (2 * blocks + 2)));
    uint32_t host[blocks + 1], sums[blocks];
    for (int i = 0; i < blocks; i++) host[i] = sums[i] = i * i + 1;
    CHECK(cudaMemcpy(memory, host, 4 * blocks, cudaMemcpyHostToDevice));
    uint32_t *values = memory, *next = memory + blocks + 1;
    int rounds_to_do = count;
    void* parameters[] = {&values, &next, &rounds_to_do};
    CHECK(cudaLaunchCooperativeKernel(rounds, dim3(blocks), dim3(64), parameters, 0, 0));
    for (int round = 0; round < count; round++) {
        uint32_t sum = 0;
        for (uint32_t one : sums) sum += one;
        for (int i = 0; i < blocks; i++) sums[i] = sum + i;
    }
    CHECK(cudaMemcpy(host, next, 4 * (blocks + 1), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < blocks; i++) wrong += host[i] != sums[i];
    std::printf("%d wrong, grid %s\n", wrong, host[blocks] ? "valid" : "not valid");
    CHECK(cudaFree(memory));
}
