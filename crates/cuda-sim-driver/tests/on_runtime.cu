// A program of the CUDA runtime, as its users write them: `out` is filled with
// `a * x + y` by way of shared memory, in halves on two streams ordered by an event;
// every block adds its part of the sum to a variable. It says what went wrong, or
// the sum and what the runtime knows of device and kernel.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                               \
    do {                                                                          \
        cudaError_t error = (call);                                               \
        if (error != cudaSuccess) {                                               \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error));            \
            std::exit(1);                                                         \
        }                                                                         \
    } while (0)

__constant__ uint32_t factor;
__device__ unsigned long long total;

__global__ void axpy(const uint32_t* x, const uint32_t* y, uint32_t* out, int n) {
    extern __shared__ uint32_t sums[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t value = i < n ? factor * x[i] + y[i] : 0;
    if (i < n) out[i] = value;
    sums[threadIdx.x] = value & 0xffff;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(&total, (unsigned long long)sums[0]);
}

template <typename T>
__global__ void fill(T* out, T value) {
    out[threadIdx.x] = value;
}

__global__ void wild(int* out) { *out = 1; }

int main() {
    const int n = 5000, half = 2560, block = 128;
    const uint32_t a = 2654435761u;
    uint32_t *x, *y, *out, *host;
    CHECK(cudaMallocHost(&host, n * sizeof *host));
    std::vector<uint32_t> xs(n), ys(n);
    for (int i = 0; i < n; i++) xs[i] = i * i + 1, ys[i] = ~i;
    CHECK(cudaMalloc(&x, n * sizeof *x));
    CHECK(cudaMalloc(&y, n * sizeof *y));
    CHECK(cudaMalloc(&out, n * sizeof *out));
    CHECK(cudaMemset(out, 0xff, n * sizeof *out));
    CHECK(cudaMemcpyToSymbol(factor, &a, sizeof a));

    cudaStream_t streams[2];
    cudaEvent_t there, done;
    for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&there));
    CHECK(cudaEventCreate(&done));
    // Everything is sent on one stream, and each half computed on its own.
    CHECK(cudaMemcpyAsync(x, xs.data(), n * sizeof *x, cudaMemcpyHostToDevice, streams[0]));
    CHECK(cudaMemcpyAsync(y, ys.data(), n * sizeof *y, cudaMemcpyDefault, streams[0]));
    CHECK(cudaEventRecord(there, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], there, 0));
    const size_t shared = block * sizeof(uint32_t);
    axpy<<<half / block, block, shared, streams[0]>>>(x, y, out, half);
    axpy<<<(n - half + block - 1) / block, block, shared, streams[1]>>>(
        x + half, y + half, out + half, n - half);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(done, streams[1]));
    CHECK(cudaStreamWaitEvent(streams[0], done, 0));
    CHECK(cudaMemcpyAsync(host, out, n * sizeof *host, cudaMemcpyDeviceToHost, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, there, done));

    unsigned long long sum = 0, expected = 0;
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        uint32_t value = a * xs[i] + ys[i];
        expected += value & 0xffff;
        wrong += host[i] != value;
    }
    std::printf("%d wrong, sum %s, time %s\n", wrong, sum == expected ? "right" : "wrong",
                milliseconds >= 0 ? "forward" : "backward");

    fill<<<1, 32>>>(reinterpret_cast<uint64_t*>(out), uint64_t(0x0123456789abcdef));
    uint64_t last = 0;
    CHECK(cudaMemcpy(&last, out + 62, sizeof last, cudaMemcpyDeviceToHost));
    std::printf("last %llx\n", (unsigned long long)last);

    // What the runtime knows.
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    cudaFuncAttributes kernel;
    CHECK(cudaFuncGetAttributes(&kernel, axpy));
    int count = 0, current = -1, blocks = 0;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDevice(&current));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, block, shared));
    std::printf("%d of %d: %d.%d, %zu MiB, warps of %d, %zu of %zu bytes shared\n", current, count,
                device.major, device.minor, device.totalGlobalMem >> 20, device.warpSize,
                device.sharedMemPerBlock, device.sharedMemPerBlockOptin);
    std::printf("kernel for %d, %d bytes of dynamic shared memory, resident %s\n",
                kernel.ptxVersion, kernel.maxDynamicSharedSizeBytes, blocks > 0 ? "yes" : "no");

    // What fails, by name; then more shared memory, asked for.
    fill<<<1, 2048>>>(out, 0u);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    axpy<<<1, 128, 64 << 10>>>(x, y, out, 128);
    std::printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaFuncSetAttribute(axpy, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    axpy<<<1, 128, 64 << 10>>>(x, y, out, 128);
    CHECK(cudaDeviceSynchronize());
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy(x, y, 4, cudaMemcpyHostToDevice)));
    std::printf("%s\n", cudaGetErrorName(cudaSetDevice(1)));
    cudaGetLastError();

    for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(there));
    CHECK(cudaEventDestroy(done));
    for (auto* memory : {x, y, out}) CHECK(cudaFree(memory));
    CHECK(cudaFreeHost(host));
    CHECK(cudaGetLastError());

    // A wild address kills the context; a reset brings another.
    wild<<<1, 1>>>(nullptr);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("%s\n", cudaGetErrorName(cudaMalloc(&x, 4)));
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&x, 128));
    fill<<<1, 32>>>(x, 7u);
    CHECK(cudaMemcpy(&current, x + 31, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(x));
    std::printf("%d\n", current);
}
