// thrust: what its kernels sort, scan and add up is compared with the host's own algorithms.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <vector>

int main() {
    const int n = 5000;
    std::vector<uint32_t> keys(n), result(n), sums(n);
    for (int i = 0; i < n; i++) keys[i] = 2654435761u * i ^ (i << 7);
    thrust::device_vector<uint32_t> values(keys.begin(), keys.end());

    thrust::sort(values.begin(), values.end());
    thrust::copy(values.begin(), values.end(), result.begin());
    std::sort(keys.begin(), keys.end());
    bool sorted = result == keys;

    uint64_t sum = thrust::reduce(values.begin(), values.end(), uint64_t(0));
    bool right = sum == std::accumulate(keys.begin(), keys.end(), uint64_t(0));

    thrust::inclusive_scan(values.begin(), values.end(), values.begin());
    thrust::copy(values.begin(), values.end(), result.begin());
    std::partial_sum(keys.begin(), keys.end(), sums.begin());
    std::printf("%s, %s, sum %s\n", sorted ? "sorted" : "not sorted",
                result == sums ? "scanned" : "not scanned", right ? "right" : "wrong");
}
