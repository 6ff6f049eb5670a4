// CGBN's full products, timed as `bigint bench --operations mul` times ours: contiguous
// batches in device memory, operands loaded and double-width results stored, the median
// of many samples, each several milliseconds of launches in a row.
//
//     nvcc -O3 -std=c++17 -arch=native -I CGBN/include -o cgbn cgbn.cu && ./cgbn
//
// One line of JSON for each width and each number of threads that share a number. The
// first and last products of every batch are compared with schoolbook on the host.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// CGBN's host side is GMP's; nothing here calls it.
#include <gmp.h>

#include "cgbn/cgbn.h"

static void check(cudaError_t error) {
  if (error != cudaSuccess) {
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
  }
}

template <uint32_t BITS>
struct Product {
  cgbn_mem_t<BITS> low, high;
};

template <uint32_t TPI, uint32_t BITS>
__global__ void multiply(Product<BITS>* r, cgbn_mem_t<BITS>* a, cgbn_mem_t<BITS>* b, uint32_t count) {
  using Context = cgbn_context_t<TPI>;
  using Environment = cgbn_env_t<Context, BITS>;
  uint32_t index = (blockIdx.x * blockDim.x + threadIdx.x) / TPI;
  if (index >= count) return;
  Context context(cgbn_no_checks);
  Environment environment(context);
  typename Environment::cgbn_t x, y;
  typename Environment::cgbn_wide_t z;
  cgbn_load(environment, x, &a[index]);
  cgbn_load(environment, y, &b[index]);
  cgbn_mul_wide(environment, z, x, y);
  cgbn_store(environment, &r[index].low, z._low);
  cgbn_store(environment, &r[index].high, z._high);
}

static void compare(const uint32_t* r, const uint32_t* a, const uint32_t* b, uint32_t width) {
  std::vector<uint32_t> expected(2 * width);
  for (uint32_t i = 0; i < width; i++) {
    uint64_t carry = 0;
    for (uint32_t j = 0; j < width; j++) {
      carry += uint64_t(a[i]) * b[j] + expected[i + j];
      expected[i + j] = uint32_t(carry);
      carry >>= 32;
    }
    expected[i + width] = uint32_t(carry);
  }
  if (!std::equal(expected.begin(), expected.end(), r)) {
    fprintf(stderr, "a product of %u limbs is wrong\n", width);
    exit(1);
  }
}

template <uint32_t TPI, uint32_t BITS>
void measure(size_t bytes) {
  const uint32_t width = BITS / 32, block = 128;
  const uint32_t count = bytes / (4 * sizeof(cgbn_mem_t<BITS>));
  std::vector<uint32_t> a(size_t(count) * width), b(a.size());
  uint64_t state = 1;
  for (auto* limbs : {&a, &b})
    for (auto& limb : *limbs) limb = (state = state * 6364136223846793005u + 1442695040888963407u) >> 32;
  cgbn_mem_t<BITS>*device_a, *device_b;
  Product<BITS>* device_r;
  check(cudaMalloc(&device_a, a.size() * 4));
  check(cudaMalloc(&device_b, b.size() * 4));
  check(cudaMalloc(&device_r, a.size() * 8));
  check(cudaMemcpy(device_a, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_b, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
  check(cudaMemset(device_r, 0xff, a.size() * 8));
  const uint32_t grid = (uint64_t(count) * TPI + block - 1) / block;
  auto sample = [&](int repeats) {
    auto started = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; i++)
      multiply<TPI, BITS><<<grid, block>>>(device_r, device_a, device_b, count);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - started).count();
  };
  sample(1);
  std::vector<uint32_t> r(2 * width);
  for (size_t index : {size_t(0), size_t(count - 1)}) {
    check(cudaMemcpy(r.data(), device_r + index, r.size() * 4, cudaMemcpyDeviceToHost));
    compare(r.data(), &a[index * width], &b[index * width], width);
  }
  int repeats = 1;
  while (sample(repeats) < 5e6) repeats *= 2;
  std::vector<double> times;
  for (int i = 0; i < 15; i++) times.push_back(sample(repeats) / repeats / count);
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2];
  printf("{\"library\": \"cgbn\", \"operation\": \"mul\", \"bits\": %u, \"threads_per_number\": %u, "
         "\"count\": %u, \"samples\": %zu, \"median_ns\": %.4f, \"least_ns\": %.4f, \"greatest_ns\": %.4f, "
         "\"giga_multiply_adds_per_second\": %.1f}\n",
         BITS, TPI, count, times.size(), median, times.front(), times.back(), double(width) * width / median);
  fflush(stdout);
  check(cudaFree(device_a));
  check(cudaFree(device_b));
  check(cudaFree(device_r));
}

int main() {
  const size_t bytes = size_t(1) << 30;
  measure<4, 256>(bytes);
  measure<8, 256>(bytes);
  measure<4, 512>(bytes);
  measure<8, 512>(bytes);
  measure<4, 1024>(bytes);
  measure<8, 1024>(bytes);
  measure<16, 1024>(bytes);
  measure<8, 2048>(bytes);
  measure<16, 2048>(bytes);
  measure<32, 2048>(bytes);
  measure<8, 4096>(bytes);
  measure<16, 4096>(bytes);
  measure<32, 4096>(bytes);
  measure<16, 8192>(bytes);
  measure<32, 8192>(bytes);
  measure<32, 16384>(bytes);
  measure<32, 32768>(bytes);
}
