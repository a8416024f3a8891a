/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of the software ConnectX: one line a call, written at once with one write(2), so that a
 * kill -9 loses none and lines of several threads do not mix. Callable from any thread; never from
 * the freestanding data path, which makes reports instead (dp/dp.h).
 */
#ifndef SCX_LOG_H
#define SCX_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Lines go to this file from now on, appended; 0 or -errno (then they keep going where they went).
 * When it takes no more (a full disk, a pipe without a reader), they go to standard error, which
 * says so first. */
int scx_log_open(const char *file);

/* "softcx mlx5_0: text\n"; who is the device's name, or NULL for what concerns all. */
void scx_log(const char *who, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Something that was to be written was not, and has been said: a log's lines, a capture's frames.
 * The file of scx_log_mark() is made then, from which `softcx run` knows. */
void scx_log_mark(const char *file);
void scx_log_lose(void);
bool scx_log_lost(void);

/* bytes as hexadecimal words of four bytes, 8 a line, indented: for the bytes that a driver got
 * wrong. */
void scx_log_bytes(const char *who, const void *bytes, size_t n);

#endif /* SCX_LOG_H */
