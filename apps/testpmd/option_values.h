/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between options.c, which knows the options' names, and option_values.c, which knows what their
 * values may be. Every function returns 0, or -EINVAL with err filled.
 */
#ifndef CRL_TESTPMD_OPTION_VALUES_H
#define CRL_TESTPMD_OPTION_VALUES_H

#include "options.h"

/* Fills err and returns -EINVAL; cause is a printf format. */
int crl_tp_bad(struct crl_err *err, const char *fix, const char *cause, ...)
	__attribute__((format(printf, 3, 4)));

int crl_tp_number(struct crl_err *err, const char *name, const char *text, unsigned long long min,
	unsigned long long max, uint32_t *out);
int crl_tp_depth(struct crl_err *err, const char *name, const char *text, uint32_t *out);
int crl_tp_forward_mode(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_txpkts(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_tx_ip(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_tx_udp(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_eth_peer(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_portmask(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_duration(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_rings(struct crl_err *err, const char *text, struct crl_tp_options *o);
int crl_tp_text(struct crl_err *err, const char *name, const char *text, char *out, size_t bytes);
int crl_tp_topology(struct crl_err *err, const char *text);

#endif /* CRL_TESTPMD_OPTION_VALUES_H */
