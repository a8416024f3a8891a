/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which CUDA calls come back while a kernel is resident that does not end by itself, and how long
 * they take: each is made by a thread of its own beside a kernel that only waits for a word, and is
 * said to block when it has not returned within WAIT_MS; then the kernel is told to end. Prints a
 * table. Exit status 1: a call failed. This is what crl_engine_park() is for.
 */
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>

#define WAIT_MS 300
#define SMALL	64u
#define LARGE	(64u << 20)

static volatile uint32_t *word; /* host memory: 0 run, 1 end; word[1]: the kernel runs */
static cudaStream_t resident, other;
static char *host, *pinned, *dev;
static int failed;

__global__ void
wait_kernel(volatile uint32_t *w)
{
	w[1] = 1;
	while (w[0] == 0) /* forever: until the host says so */
		__nanosleep(1000);
}

__global__ void
small_kernel(char *p)
{
	p[threadIdx.x] = 1;
}

__global__ void
late_kernel(char *p)
{
	p[threadIdx.x] = 2;
}

static cudaError_t
alloc_free(void)
{
	void *p = NULL;
	cudaError_t e = cudaMalloc(&p, 1 << 20);

	return e == cudaSuccess ? cudaFree(p) : e;
}

static cudaError_t
alloc_free_async(void)
{
	void *p = NULL;
	cudaError_t e = cudaMallocAsync(&p, 1 << 20, other);

	e = e == cudaSuccess ? cudaFreeAsync(p, other) : e;
	return e == cudaSuccess ? cudaStreamSynchronize(other) : e;
}

static cudaError_t
host_alloc_free(void)
{
	void *p = NULL;
	cudaError_t e = cudaHostAlloc(&p, 1 << 20, cudaHostAllocMapped);

	return e == cudaSuccess ? cudaFreeHost(p) : e;
}

static cudaError_t
register_unregister(void)
{
	static char page[65536] __attribute__((aligned(65536)));
	cudaError_t e = cudaHostRegister(page, sizeof(page), cudaHostRegisterMapped);

	return e == cudaSuccess ? cudaHostUnregister(page) : e;
}

static cudaError_t
stream_make_end(void)
{
	cudaStream_t s;
	cudaError_t e = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);

	return e == cudaSuccess ? cudaStreamDestroy(s) : e;
}

static cudaError_t
events(void)
{
	cudaEvent_t ev;
	cudaError_t e = cudaEventCreate(&ev);

	e = e == cudaSuccess ? cudaEventRecord(ev, other) : e;
	e = e == cudaSuccess ? cudaEventSynchronize(ev) : e;
	return e == cudaSuccess ? cudaEventDestroy(ev) : e;
}

static cudaError_t
async_in(cudaStream_t s, size_t n)
{
	cudaError_t e = cudaMemcpyAsync(dev, pinned, n, cudaMemcpyHostToDevice, s);

	return e == cudaSuccess ? cudaStreamSynchronize(s) : e;
}

static cudaError_t
launch(void (*k)(char *), cudaStream_t s)
{
	cudaError_t e;

	k<<<1, 32, 0, s>>>(dev);
	e = cudaGetLastError();
	return e == cudaSuccess ? cudaStreamSynchronize(s) : e;
}

static cudaError_t
occupancy(void)
{
	int n;

	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, small_kernel, 32, 0);
}

static cudaError_t
memory_info(void)
{
	size_t a, b;

	return cudaMemGetInfo(&a, &b);
}

static cudaError_t
fill_async(void)
{
	cudaError_t e = cudaMemsetAsync(dev, 0, SMALL, other);

	return e == cudaSuccess ? cudaStreamSynchronize(other) : e;
}

static const struct {
	const char *what;
	cudaError_t (*call)(void);
} calls[] = {
	{"cudaMalloc, cudaFree, 1 MiB", alloc_free},
	{"cudaMallocAsync, cudaFreeAsync, another stream", alloc_free_async},
	{"cudaHostAlloc, cudaFreeHost", host_alloc_free},
	{"cudaHostRegister, cudaHostUnregister", register_unregister},
	{"cudaStreamCreate (non-blocking), cudaStreamDestroy", stream_make_end},
	{"cudaEventCreate, Record (another stream), Synchronize, Destroy", events},
	{"cudaMemcpy, 64 bytes in, pageable",
		[] { return cudaMemcpy(dev, host, SMALL, cudaMemcpyHostToDevice); }},
	{"cudaMemcpy, 64 bytes out, pageable",
		[] { return cudaMemcpy(host, dev, SMALL, cudaMemcpyDeviceToHost); }},
	{"cudaMemcpy, 64 MiB in, pageable",
		[] { return cudaMemcpy(dev, host, LARGE, cudaMemcpyHostToDevice); }},
	{"cudaMemcpyAsync, another stream, pinned", [] { return async_in(other, LARGE); }},
	{"cudaMemcpyAsync, the default stream, pinned", [] { return async_in(0, SMALL); }},
	{"cudaMemset", [] { return cudaMemset(dev, 0, SMALL); }},
	{"cudaMemsetAsync, another stream", fill_async},
	{"a kernel that ran before, another stream", [] { return launch(small_kernel, other); }},
	{"a kernel that ran before, the default stream", [] { return launch(small_kernel, 0); }},
	{"a kernel for the first time, another stream", [] { return launch(late_kernel, other); }},
	{"cudaOccupancyMaxActiveBlocksPerMultiprocessor", occupancy},
	{"cudaMemGetInfo", memory_info},
	{"cudaStreamSynchronize, another stream", [] { return cudaStreamSynchronize(other); }},
	{"cudaStreamSynchronize, the default stream", [] { return cudaStreamSynchronize(0); }},
	{"cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }},
};

static double
ms_since(std::chrono::steady_clock::time_point t)
{
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t)
		.count();
}

/* One call beside the kernel. */
static void
one(const char *what, cudaError_t (*call)(void))
{
	std::atomic<int> done(0);
	cudaError_t e = cudaSuccess;
	double ms = 0;

	word[0] = word[1] = 0;
	wait_kernel<<<1, 1, 0, resident>>>(word);
	auto start = std::chrono::steady_clock::now();
	while (word[1] == 0 && ms_since(start) < 5000)
		;
	start = std::chrono::steady_clock::now();
	std::thread t([&] {
		cudaSetDevice(0);
		e = call();
		ms = ms_since(start);
		done = 1;
	});
	while (!done && ms_since(start) < WAIT_MS)
		std::this_thread::sleep_for(std::chrono::microseconds(100));
	const bool blocked = !done;
	word[0] = 1;
	t.join();
	cudaStreamSynchronize(resident);
	if (e != cudaSuccess) {
		printf("| %-64s | failed: %s |\n", what, cudaGetErrorString(e));
		cudaGetLastError();
		failed = 1;
	} else if (blocked) {
		printf("| %-64s | waits until the kernel ends |\n", what);
	} else {
		printf("| %-64s | returns, %.2f ms |\n", what, ms);
	}
	fflush(stdout);
}

int
main(void)
{
	struct cudaDeviceProp p;
	void *w = NULL;

	if (cudaSetDevice(0) != cudaSuccess || cudaGetDeviceProperties(&p, 0) != cudaSuccess) {
		printf("no GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
		return 1;
	}
	cudaHostAlloc(&w, 4096, cudaHostAllocMapped);
	word = (volatile uint32_t *)w;
	memset(w, 0, 4096);
	cudaHostAlloc((void **)&pinned, LARGE, 0);
	cudaMalloc((void **)&dev, LARGE);
	host = new char[LARGE]();
	cudaStreamCreateWithFlags(&resident, cudaStreamNonBlocking);
	cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
	launch(small_kernel, other);
	printf("%s, CUDA calls beside a resident kernel on a non-blocking stream:\n", p.name);
	printf("| call | beside it |\n| --- | --- |\n");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		one(calls[i].what, calls[i].call);
	return failed;
}
