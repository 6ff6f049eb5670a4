// What the driver's own launches of a kernel cost, beside crates/bigint-host/examples/launches.rs: nvcc -O3 launches.cu -lcuda
#include "../../crates/bigint-kernels/include/bigint_kernels.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>
#include <cuda.h>

static const int ROUNDS = 2000;

static void check(CUresult code)
{
    if (code != CUDA_SUCCESS) {
        fprintf(stderr, "CUDA error %d\n", code);
        exit(1);
    }
}

static double now()
{
    return 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int, char **arguments)
{
    std::stringstream ptx;
    ptx << std::ifstream(arguments[1]).rdbuf();
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUdeviceptr numbers;
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    check(cuDevicePrimaryCtxRetain(&context, device));
    check(cuCtxSetCurrent(context));
    check(cuModuleLoadData(&module, ptx.str().c_str()));
    check(cuModuleGetFunction(&function, module, "hamming"));
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check(cuMemAlloc(&numbers, 12));
    bigint_arguments of = {};
    of.r = {numbers, 1, 1, 1};
    of.a = {numbers + 4, 1, 1, 1};
    of.b = {numbers + 8, 1, 1, 1};
    of.count = 1;
    of.workers = 128;
    uint32_t most = 32;
    void *parameters[] = {&of, &most};
    auto launch = [&] { check(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr)); };
    launch();
    check(cuStreamSynchronize(stream));
    std::vector<double> alone;
    for (int i = 0; i < ROUNDS; i++) {
        double began = now();
        launch();
        check(cuStreamSynchronize(stream));
        alone.push_back(now() - began);
    }
    std::sort(alone.begin(), alone.end());
    double began = now();
    for (int i = 0; i < ROUNDS; i++)
        launch();
    double called = (now() - began) / ROUNDS;
    check(cuStreamSynchronize(stream));
    printf("the driver's launch and wait: %.2f us (least %.2f); in a row of %d: %.2f us a call, %.2f us with the wait\n",
           alone[ROUNDS / 2], alone[0], ROUNDS, called, (now() - began) / ROUNDS);
}
