/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `softcx serve`: one NIC as a vfio-user device on a unix socket, for one client at a time. The
 * library neither exits nor prints; what it has to say goes to the log.
 */
#ifndef SCX_SERVE_H
#define SCX_SERVE_H

#include "../softcx.h"

/*
 * Serve until *stop is not 0. cfg's wire is closed in the end, whatever is returned; event, UAR
 * memory and guest are filled in here. 0, or -errno: the socket, the profile, memory.
 */
int scx_serve(const struct scx_nic_cfg *cfg, const char *socket_path, const volatile int *stop);

#endif /* SCX_SERVE_H */
