// SPDX-License-Identifier: BSD-3-Clause
/*
 * The devices of crl_gpu.h as DPDK gpudev devices, so that any DPDK program can use them:
 *   --vdev=gpu_crl_host0[,numa=N]             plain memory
 *   --vdev=gpu_crl_cuda0[,device=N|,pci=BDF]  a CUDA GPU; without arguments the ordinal is the
 * name's number A plugin (librte_gpu_crl.so, loaded with -d). Runs on the main lcore, control side
 * only. gpudev sets rte_errno from the negative values returned here.
 */
#include <rte_errno.h>
#include <rte_kvargs.h>
#include <rte_log.h>

#include <bus_vdev_driver.h>
#include <gpudev_driver.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crl_gpu.h"

#define ARG_NUMA   "numa"
#define ARG_DEVICE "device"
#define ARG_PCI	   "pci"

RTE_LOG_REGISTER_SUFFIX(crl_gpu_logtype, gpu.crl, NOTICE);

#define GPU_ERR(fmt, ...) rte_log(RTE_LOG_ERR, crl_gpu_logtype, fmt "\n", __VA_ARGS__)

static int
refuse(const char *name, const struct crl_err *err)
{
	GPU_ERR("%s: %s. To fix it: %s", name, err->cause, err->fix);
	return err->code;
}

static struct crl_gpu *
of(struct rte_gpu *dev)
{
	return dev->process_private;
}

static int
op_info_get(struct rte_gpu *dev, struct rte_gpu_info *info)
{
	*info = dev->mpshared->info;
	return 0;
}

static int
op_close(struct rte_gpu *dev)
{
	struct crl_err err = {0};
	int ret;

	if (of(dev) == NULL)
		return 0;
	ret = crl_gpu_close(of(dev), &err);
	if (ret != 0)
		return refuse(dev->mpshared->name, &err);
	dev->process_private = NULL;
	return 0;
}

static int
op_mem_alloc(struct rte_gpu *dev, size_t size, unsigned int align, void **ptr)
{
	struct crl_err err = {0};
	int ret = crl_gpu_mem_alloc(of(dev), size, align, ptr, &err);

	return ret == 0 ? 0 : refuse(dev->mpshared->name, &err);
}

static int
op_mem_free(struct rte_gpu *dev, void *ptr)
{
	return crl_gpu_mem_free(of(dev), ptr);
}

static int
op_mem_register(struct rte_gpu *dev, size_t size, void *ptr)
{
	struct crl_err err = {0};
	uint64_t dev_ptr = 0;
	int ret = crl_gpu_host_register(of(dev), ptr, size, &dev_ptr, &err);

	if (ret != 0)
		return refuse(dev->mpshared->name, &err);
	if (dev_ptr == (uintptr_t)ptr)
		return 0;
	/* gpudev has one address for both processors and no way to tell another. */
	crl_gpu_host_unregister(of(dev), ptr);
	GPU_ERR("%s: the GPU sees %p at another address, which gpudev cannot express. To fix it: "
		"use crl_gpu_host_register()",
		dev->mpshared->name, ptr);
	return -ENOTSUP;
}

static int
op_mem_unregister(struct rte_gpu *dev, void *ptr)
{
	return crl_gpu_host_unregister(of(dev), ptr);
}

/* Host memory is mapped for the processor already; only what was allocated here may be asked for.
 */
static int
op_mem_cpu_map(struct rte_gpu *dev, size_t size, void *ptr_in, void **ptr_out)
{
	int ret = crl_gpu_mem_owns(of(dev), ptr_in, size);

	if (ret == 0)
		*ptr_out = ptr_in;
	return ret;
}

static int
op_mem_cpu_unmap(struct rte_gpu *dev, void *ptr)
{
	return crl_gpu_mem_owns(of(dev), ptr, 1);
}

static int
op_wmb(struct rte_gpu *dev)
{
	return crl_gpu_flush(of(dev));
}

static int
arg_int(const char *key, const char *value, void *out)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || v < 0 || v > 4095) {
		GPU_ERR("%s=%s is no number from 0 to 4095", key, value);
		return -EINVAL;
	}
	*(int *)out = (int)v;
	return 0;
}

static int
arg_str(const char *key, const char *value, void *out)
{
	return rte_strscpy(out, value, 32) < 0 ? -EINVAL : 0;
}

/* The number at the end of a device name: gpu_crl_cuda1 is GPU 1 unless the arguments say
 * otherwise. */
static int
name_number(const char *name)
{
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return atoi(name + n);
}

static int
parse_args(const char *name, const char *args, struct crl_gpu_cfg *cfg, char *pci)
{
	static const char *const host_keys[] = {ARG_NUMA, NULL};
	static const char *const cuda_keys[] = {ARG_DEVICE, ARG_PCI, NULL};
	const char *const *keys = cfg->kind == CRL_GPU_HOST ? host_keys : cuda_keys;
	struct rte_kvargs *kv = rte_kvargs_parse(args, keys);
	int ret;

	if (kv == NULL) {
		GPU_ERR("%s: the arguments '%s' are not understood. To fix it: %s", name, args,
			cfg->kind == CRL_GPU_HOST ? "give numa=N or nothing"
						  : "give device=N, pci=BDF or nothing");
		return -EINVAL;
	}
	ret = rte_kvargs_process(kv, ARG_NUMA, arg_int, &cfg->numa_node);
	if (ret == 0)
		ret = rte_kvargs_process(kv, ARG_DEVICE, arg_int, &cfg->device);
	if (ret == 0)
		ret = rte_kvargs_process(kv, ARG_PCI, arg_str, pci);
	if (pci[0] != '\0')
		cfg->pci = pci;
	rte_kvargs_free(kv);
	return ret < 0 ? -EINVAL : 0;
}

static void
fill_ops(struct rte_gpu *dev, enum crl_gpu_kind kind)
{
	dev->ops.dev_info_get = op_info_get;
	dev->ops.dev_close = op_close;
	dev->ops.mem_alloc = op_mem_alloc;
	dev->ops.mem_free = op_mem_free;
	dev->ops.mem_register = op_mem_register;
	dev->ops.mem_unregister = op_mem_unregister;
	dev->ops.wmb = op_wmb;
	/* A processor's view of GPU memory needs GDRCopy; without it gpudev answers ENOTSUP for us.
	 */
	if (kind == CRL_GPU_HOST) {
		dev->ops.mem_cpu_map = op_mem_cpu_map;
		dev->ops.mem_cpu_unmap = op_mem_cpu_unmap;
	}
}

static int
probe(struct rte_vdev_device *vdev, enum crl_gpu_kind kind)
{
	const char *name = rte_vdev_device_name(vdev);
	struct crl_gpu_cfg cfg = {
		.name = name, .kind = kind, .device = name_number(name), .numa_node = -1};
	struct crl_err err = {0};
	struct crl_gpu_info info;
	char pci[32] = "";
	struct crl_gpu *gpu;
	struct rte_gpu *dev;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		GPU_ERR("%s: GPU memory of another process cannot be used. To fix it: run as a "
			"primary process",
			name);
		return -ENOTSUP;
	}
	ret = parse_args(name, rte_vdev_device_args(vdev), &cfg, pci);
	if (ret != 0)
		return ret;
	ret = crl_gpu_open(&cfg, &gpu, &err);
	if (ret != 0)
		return refuse(name, &err);
	dev = rte_gpu_allocate(name);
	if (dev == NULL) {
		ret = -rte_errno;
		goto close_gpu;
	}
	crl_gpu_info_get(gpu, &info);
	fill_ops(dev, kind);
	dev->process_private = gpu;
	dev->device = &vdev->device;
	dev->device->numa_node = info.numa_node;
	dev->mpshared->info.numa_node = (int16_t)info.numa_node;
	dev->mpshared->info.processor_count = info.processors;
	dev->mpshared->info.total_memory = info.total_bytes;
	dev->mpshared->info.page_size = info.page_bytes;
	dev->mpshared->info.context = info.context;
	rte_gpu_complete_new(dev);
	return 0;

close_gpu:
	crl_gpu_close(gpu, NULL);
	return ret;
}

static int
probe_host(struct rte_vdev_device *vdev)
{
	return probe(vdev, CRL_GPU_HOST);
}

static int
probe_cuda(struct rte_vdev_device *vdev)
{
	return probe(vdev, CRL_GPU_CUDA);
}

static int
device_remove(struct rte_vdev_device *vdev)
{
	struct rte_gpu *dev = rte_gpu_get_by_name(rte_vdev_device_name(vdev));

	if (dev == NULL)
		return 0; /* closed by the application already */
	return rte_gpu_release(dev);
}

static struct rte_vdev_driver crl_host_drv = {.probe = probe_host, .remove = device_remove};
static struct rte_vdev_driver crl_cuda_drv = {.probe = probe_cuda, .remove = device_remove};

RTE_PMD_REGISTER_VDEV(gpu_crl_host, crl_host_drv);
RTE_PMD_REGISTER_PARAM_STRING(gpu_crl_host, ARG_NUMA "=<int>");
RTE_PMD_REGISTER_VDEV(gpu_crl_cuda, crl_cuda_drv);
RTE_PMD_REGISTER_PARAM_STRING(gpu_crl_cuda, ARG_DEVICE "=<int> " ARG_PCI "=<bdf>");
