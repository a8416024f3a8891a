/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splitting an EAL command line: which devices Carillon keeps for itself, and what is left for
 * rte_eal_init(). No device and no EAL is touched. Host only.
 */
#ifndef CRL_MLX5_EAL_ARGS_H
#define CRL_MLX5_EAL_ARGS_H

#include "carillon/carillon.h"

struct crl_eal_dev {
	char bdf[16];
	const char *devargs; /* what followed the address and its comma, in argv; "": nothing */
};

struct crl_eal_args {
	int argc;
	char **argv; /* for EAL; NULL-terminated; strings are the caller's, array and inserts are
			not */
	int *from;   /* index in the caller's argv of each, 0 of what was inserted */
	unsigned nr_devs;
	struct crl_eal_dev devs[CRL_EAL_DEVS_MAX];
	char inserts[CRL_EAL_DEVS_MAX + 1][24]; /* room for "-b BDF" and the placeholder */
};

/*
 * bdfs: the nr mlx5 devices of the machine, long form. Those that -a names, or without any -a all
 * that -b does not name, go to out->devs; EAL gets the rest, and a -b for each kept device if there
 * was no -a. out is freed with crl_eal_args_free(). -EINVAL: a device twice, or --no-pci, or too
 * many devices.
 */
int crl_eal_args_split(int argc, char **argv, const char (*bdfs)[16], unsigned nr,
	struct crl_eal_args *out, struct crl_err *err);
/* What rte_eal_init() says it used of args->argv, as a number of the caller's argc arguments. */
int crl_eal_args_used(const struct crl_eal_args *args, int argc, int used);
void crl_eal_args_free(struct crl_eal_args *args);

/* True when the devargs hold key=... . */
bool crl_devargs_has(const char *devargs, const char *key);

#endif /* CRL_MLX5_EAL_ARGS_H */
