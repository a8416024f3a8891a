/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the GPU's side. "gpu": the driver and its flavour. "gpu-data": may the NIC reach GPU
 * memory (rings, packets), by dma-buf or nvidia-peermem. "gpu-control": may the GPU reach the NIC's
 * doorbell page. They fail apart, so they are told apart. "bar1": how much of a GPU's memory PCIe
 * can see. Facts cuda.*. Host only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define DMABUF_DRIVER_MIN 515
#define BAR1_SMALL	  (256ull << 20)

/* From "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04 ...": the flavour, and
 * the version's first number; 0: no driver. */
static long
driver(const struct doctor *d, bool *is_open, char *line, size_t bytes)
{
	*is_open = false;
	if (!dr_line(d, line, bytes, "proc/driver/nvidia/version"))
		return 0;
	*is_open = strstr(line, "Open Kernel Module") != NULL;
	for (const char *s = line; (s = strstr(s, "  ")) != NULL; s += 2) {
		long v = strtol(s, NULL, 10);

		if (v > 0)
			return v;
	}
	return -1;
}

void
dr_check_gpu(struct doctor *d)
{
	char line[256];
	bool is_open;
	long v = driver(d, &is_open, line, sizeof(line));
	struct dr_finding *f;

	if (d->nr_gpus == 0) {
		f = dr_find(d, DR_OK, "none", "", "no NVIDIA GPU: engines run in host threads");
		dr_evidence(f, "no device of vendor 0x10de and class 0x03 in /sys/bus/pci/devices");
		return;
	}
	for (unsigned i = 0; i < d->nr_gpus; i++) {
		const struct dr_pci *p = &d->gpu[i].pci;

		if (strcmp(p->driver, "nvidia") == 0)
			continue;
		f = dr_find(
			d, DR_STOP, "no_driver", p->bdf, "NVIDIA's driver does not have this GPU");
		dr_evidence(f, "/sys/bus/pci/devices/%s/driver: %s", p->bdf,
			p->driver[0] != '\0' ? p->driver : "(no such link)");
		dr_fix(f,
			"install nvidia-open and its modules; blacklist nouveau; unbind vfio-pci");
	}
	if (v == 0)
		return;
	f = dr_find(d, DR_OK, "driver", "", "driver with %s modules", is_open ? "open" : "closed");
	dr_evidence(f, "/proc/driver/nvidia/version: %.200s", line);
	if (dr_fact(d, "cuda") != NULL && strcmp(dr_fact(d, "cuda"), "ok") != 0) {
		f = dr_find(d, DR_STOP, "no_cuda", "", "libcuda does not start");
		dr_evidence(f, "%s", dr_fact(d, "cuda"));
		dr_fix(f, "library and modules of one version; in a container: the NVIDIA runtime");
	}
}

/* Whether the driver bound any GPU: what the other checks of GPUs need. */
static bool
have_driver(const struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_gpus; i++)
		if (strcmp(d->gpu[i].pci.driver, "nvidia") == 0)
			return dr_exists(d, "proc/driver/nvidia/version");
	return false;
}

static void
judge_attributes(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_gpus; i++) {
		const char *bdf = d->gpu[i].pci.bdf;
		struct dr_finding *f;

		if (dr_fact_number(d, 1, "cuda.%s.gpu_direct_rdma", bdf) != 0)
			continue;
		f = dr_find(d, DR_STOP, "no_gpudirect", bdf, "this GPU does not do GPUDirect RDMA");
		dr_evidence(f, "libcuda: CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED is 0");
		dr_fix(f, "a data centre or workstation GPU; in a virtual machine a passed-through "
			  "one");
	}
}

void
dr_check_gpu_data(struct doctor *d)
{
	char line[256], kernel[128];
	bool is_open, peermem = dr_exists(d, "sys/module/nvidia_peermem");
	long v = driver(d, &is_open, line, sizeof(line));
	unsigned major = 0, minor = 0;
	bool new_kernel, dmabuf, libcuda = true;
	struct dr_finding *f;

	if (!have_driver(d))
		return;
	dr_line(d, kernel, sizeof(kernel), "proc/version");
	sscanf(kernel, "Linux version %u.%u", &major, &minor);
	new_kernel = major > 5 || (major == 5 && minor >= 12);
	dmabuf = is_open && v >= DMABUF_DRIVER_MIN && new_kernel;
	for (unsigned i = 0; i < d->nr_gpus; i++)
		libcuda &= dr_fact_number(d, 1, "cuda.%s.dma_buf", d->gpu[i].pci.bdf) != 0;
	dmabuf &= libcuda;
	if (dmabuf) {
		f = dr_find(d, DR_OK, "dmabuf", "", "GPU memory reaches the NIC as dma-buf");
	} else if (peermem) {
		f = dr_find(d, DR_NOTE, "peermem_only", "",
			"only nvidia-peermem takes GPU memory to the NIC; dma-buf is not to be "
			"had");
		dr_fix(f, "open modules %d or newer and kernel 5.12 or newer give dma-buf",
			DMABUF_DRIVER_MIN);
	} else {
		f = dr_find(d, DR_STOP, "no_way", "", "nothing takes GPU memory to the NIC");
		dr_fix(f, "%s; or, with NVIDIA's OFED: modprobe nvidia-peermem",
			!new_kernel ? "kernel 5.12 or newer"
			: !libcuda  ? "a GPU or driver whose DMA_BUF_SUPPORTED is 1"
				    : "the driver's open modules, 515 or newer");
	}
	dr_evidence(f, "driver %ld, %s modules; kernel %u.%u; nvidia_peermem %s; libcuda %s", v,
		is_open ? "open" : "closed", major, minor, peermem ? "loaded" : "not loaded",
		libcuda ? "does not object" : "says DMA_BUF_SUPPORTED 0");
	judge_attributes(d);
}

void
dr_check_gpu_control(struct doctor *d)
{
	char params[8192], *at;
	struct dr_finding *f;
	size_t n;

	if (!have_driver(d))
		return;
	n = dr_bytes(d, params, sizeof(params) - 1, "proc/driver/nvidia/params");
	params[n] = '\0';
	at = strstr(params, "RegistryDwords:");
	if (at != NULL)
		at[strcspn(at, "\n")] = '\0';
	if (at != NULL && strstr(at, "PeerMappingOverride=1") != NULL) {
		f = dr_find(d, DR_OK, "override", "", "the GPU may map the NIC's doorbell page");
	} else {
		f = dr_find(d, DR_STOP, "no_override", "",
			"the GPU may not map the NIC's doorbell page, unless a root process does "
			"it");
		dr_fix(f,
			"in /etc/modprobe.d: options nvidia "
			"NVreg_RegistryDwords=\"PeerMappingOverride=1;\"; then reload the modules");
		if (dr_fact_number(d, 1000, "uid") == 0) {
			f->level = DR_NOTE;
			snprintf(f->id, sizeof(f->id), "gpu-control.root_only");
		}
	}
	dr_evidence(f, "/proc/driver/nvidia/params: %s; uid %ld",
		n == 0	     ? "cannot be read"
		: at != NULL ? at
			     : "no RegistryDwords",
		dr_fact_number(d, -1, "uid"));
}

/* The largest of a function's BARs, from sysfs' table of start, end and flags. */
static unsigned long long
largest_bar(const struct doctor *d, const char *bdf)
{
	unsigned long long most = 0, start, end, flags;
	char text[2048], *s = text;
	size_t n = dr_bytes(d, text, sizeof(text) - 1, "sys/bus/pci/devices/%s/resource", bdf);
	int used;

	text[n] = '\0';
	for (int i = 0; i < 6 && sscanf(s, "%llx %llx %llx%n", &start, &end, &flags, &used) == 3;
		i++, s += used)
		if (end > start && end - start + 1 > most)
			most = end - start + 1;
	return most;
}

void
dr_check_bar1(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_gpus; i++) {
		const char *bdf = d->gpu[i].pci.bdf;
		unsigned long long bytes = largest_bar(d, bdf);
		struct dr_finding *f;

		if (!dr_exists(d, "sys/bus/pci/devices/%s/resource", bdf))
			continue;
		if (bytes == 0) {
			f = dr_find(
				d, DR_STOP, "none", bdf, "the BIOS gave this GPU no memory window");
			dr_fix(f, "BIOS: Above 4G Decoding on, MMIO base lower or larger");
		} else if (bytes <= BAR1_SMALL) {
			f = dr_find(d, DR_WARN, "small", bdf,
				"a window of %llu MiB: all rings and packet buffers share it",
				bytes >> 20);
			dr_fix(f, "BIOS: Resizable BAR and Above 4G Decoding on");
		} else {
			f = dr_find(d, DR_OK, "size", bdf, "a window of %llu MiB", bytes >> 20);
		}
		dr_evidence(f, "/sys/bus/pci/devices/%s/resource: largest BAR 0x%llx bytes", bdf,
			bytes);
	}
}
