/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpcap, loaded when the first capture file is wanted. Linked, it would come with a dozen
 * libraries (D-Bus, systemd, gcrypt and what they start) into every program that libsoftcx.so is
 * preloaded to, and those under AddressSanitizer would hang: a library's constructor there calls
 * gettext before the sanitizer has begun, whose own start then leaves gettext's lock broken.
 */
#ifndef SCX_LIBPCAP_H
#define SCX_LIBPCAP_H

#include <pcap/pcap.h>
#include <stddef.h>

#define SCX_PCAP_CALLS(X)                                                                          \
	X(open_offline)                                                                            \
	X(datalink)                                                                                \
	X(next_ex)                                                                                 \
	X(geterr)                                                                                  \
	X(close)                                                                                   \
	X(open_dead_with_tstamp_precision)                                                         \
	X(dump_fopen)                                                                              \
	X(dump_flush)                                                                              \
	X(dump_file)                                                                               \
	X(dump)                                                                                    \
	X(dump_close)

struct scx_pcap {
#define SCX_PCAP_CALL(name) __typeof__(pcap_##name) *name;
	SCX_PCAP_CALLS(SCX_PCAP_CALL)
#undef SCX_PCAP_CALL
};

/* NULL with err filled: it is not there. Loaded once, and kept. */
const struct scx_pcap *scx_pcap(char *err, size_t err_bytes);

#endif /* SCX_LIBPCAP_H */
