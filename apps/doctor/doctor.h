/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of carillon-doctor share. A run has three stages: the inventory and the probes
 * gather facts (machine.c, probe*.c), each check judges one subject by them (check_*.c), and the
 * report prints what was found (report.c). A check reads files only through tree.c's functions,
 * below one root, and all that is no file only from the facts; so a made-up tree with a file of
 * facts is judged by the very code that judges a machine. One thread.
 */
#ifndef CRL_DOCTOR_H
#define CRL_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DR_FINDINGS_MAX 256u
#define DR_NICS_MAX	32u
#define DR_GPUS_MAX	32u
#define DR_FACTS_MAX	512u
#define DR_NAME		64u
#define DR_TEXT		320u

/* STOP: Carillon does not run, or not as it is meant to. WARN: it runs, and something is lost. */
enum dr_level { DR_OK, DR_NOTE, DR_WARN, DR_STOP };

struct dr_finding {
	const char *check;     /* the check's name in the table */
	char id[DR_NAME];      /* "nic.none": one for each thing that can be said, for scripts */
	char subject[DR_NAME]; /* "0000:01:00.0", "mlx5_0", "" for the machine */
	enum dr_level level;
	char say[DR_TEXT], evidence[DR_TEXT], fix[DR_TEXT];
};

/* How far apart two PCI devices are, in nvidia-smi's words; near to far. */
enum dr_path { DR_PIX, DR_PXB, DR_PHB, DR_NODE, DR_SYS };

struct dr_pci {
	char bdf[16];
	uint16_t vendor, device;
	uint32_t class_code;
	int node;	    /* NUMA, -1: not said */
	char driver[32];    /* "": none */
	char dir[PATH_MAX]; /* below the root, links resolved: sys/devices/pci0000:00/... */
};

/* A model of NIC by its PCI device id. ids.c */
struct dr_model {
	uint16_t device;
	bool is_vf;
	bool too_old;  /* no mlx5 device */
	bool doubtful; /* ConnectX-4: mlx5, but without much of what later ones have */
	const char *name;
	const char *fw_min; /* least firmware that DPDK's guide names, NULL: unknown */
};
const struct dr_model *dr_model(uint16_t device);

struct dr_nic {
	struct dr_pci pci;
	const struct dr_model *model; /* NULL: an id that the table lacks */
	char ib[32], uverbs[32], net[32];
	bool ethernet, usable, link_up;
};

struct dr_gpu {
	struct dr_pci pci;
	int chosen; /* index of the NIC, -1: none */
	enum dr_path path;
};

struct doctor {
	char root[PATH_MAX];	/* "": the machine itself */
	char nic_sys[PATH_MAX]; /* from SYSFS_PATH, laid over root/sys; "": none */
	bool live;
	struct {
		char key[DR_NAME], value[DR_TEXT];
	} fact[DR_FACTS_MAX];
	unsigned nr_facts;
	struct dr_nic nic[DR_NICS_MAX];
	struct dr_gpu gpu[DR_GPUS_MAX];
	unsigned nr_nics, nr_gpus;
	const char *check; /* that runs now */
	struct dr_finding finding[DR_FINDINGS_MAX];
	unsigned nr_findings;
};

/* ---- tree.c: files below the root; a path starts with sys/, proc/, dev/ or the like ---- */

bool dr_exists(const struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The file's first line without its end, "" and false when it cannot be read. */
bool dr_line(const struct doctor *d, char *out, size_t bytes, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* As much of the file as fits, as bytes; returns how many, 0 when it cannot be read. */
size_t dr_bytes(const struct doctor *d, void *out, size_t bytes, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The number at the file's start, or otherwise. */
long dr_number(const struct doctor *d, long otherwise, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Last name of what a link points to. */
bool dr_link(const struct doctor *d, char *out, size_t bytes, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The path with all links resolved, below the root again ("sys/devices/..."). */
bool dr_real(const struct doctor *d, char out[PATH_MAX], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The names in a folder, sorted; returns how many. */
unsigned dr_list(const struct doctor *d, char name[][DR_NAME], unsigned max, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Whether this user (fact "uid") may read and write it, by its mode. */
bool dr_may_write(const struct doctor *d, unsigned *mode, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- facts.c: what is no file ---- */

void dr_fact_set(struct doctor *d, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* NULL: nobody said. */
const char *dr_fact(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
long dr_fact_number(const struct doctor *d, long otherwise, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Lines "key value" from root/facts. */
void dr_facts_load(struct doctor *d);

/* ---- Gathering ---- */

bool dr_inventory(struct doctor *d); /* false: there is no sysfs to look at. machine.c */
void dr_probe(struct doctor *d);     /* probe.c: libraries, limits, DevX */
void dr_probe_cuda(struct doctor *d);

/* ---- findings.c ---- */

/* id without the check's name; an OK finding has no fix. */
struct dr_finding *dr_find(struct doctor *d, enum dr_level level, const char *id,
	const char *subject, const char *say, ...) __attribute__((format(printf, 5, 6)));
void dr_evidence(struct dr_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dr_fix(struct dr_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
unsigned dr_count(const struct doctor *d, enum dr_level level);

/* ---- Checks: one subject each; table.c has their order ---- */

struct dr_check {
	const char *name, *about;
	void (*run)(struct doctor *d);
};
extern const struct dr_check dr_checks[];
extern const unsigned dr_nr_checks;

void dr_check_nic(struct doctor *d);
void dr_check_rdma(struct doctor *d);
void dr_check_firmware(struct doctor *d);
void dr_check_devx(struct doctor *d);
void dr_check_uar(struct doctor *d);
void dr_check_rdma_core(struct doctor *d);
void dr_check_dpdk(struct doctor *d);
void dr_check_gpu(struct doctor *d);
void dr_check_gpu_data(struct doctor *d);
void dr_check_gpu_control(struct doctor *d);
void dr_check_bar1(struct doctor *d);
void dr_check_iommu(struct doctor *d);
void dr_check_acs(struct doctor *d);
void dr_check_path(struct doctor *d);
void dr_check_link(struct doctor *d);
void dr_check_pcie(struct doctor *d);
void dr_check_hugepages(struct doctor *d);
void dr_check_memlock(struct doctor *d);
void dr_check_numa(struct doctor *d);
void dr_check_place(struct doctor *d);

/* Versions "16.35.4030" by their numbers, as strcmp() does. */
int dr_version_cmp(const char *a, const char *b);
const char *dr_path_word(enum dr_path path);
bool dr_several_nodes(const struct doctor *d); /* NUMA */

/* ---- report.c ---- */

void dr_report_text(const struct doctor *d, bool all);
int dr_report_json(const struct doctor *d, int status);

#endif /* CRL_DOCTOR_H */
