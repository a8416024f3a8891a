/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the method files of the interposer share: see front.h. mem.c's memory regions are reached
 * through core.c's write commands as well as by methods of their own.
 */
#ifndef SCX_FRONT_CORE_H
#define SCX_FRONT_CORE_H

#include "front.h"

uint64_t scxf_fw_ver(const struct scxf_dev *dev);
int scxf_need_context(struct scxf_call *c); /* 0, or -EINVAL: GET_CONTEXT has not been called */
int scxf_need_devx(struct scxf_call *c);    /* the same, and -EINVAL when opened without DevX */
int scxf_reg_mr(struct scxf_call *c);
int scxf_dereg_mr_write(struct scxf_call *c);
/* 0 and all of *m; -EBADF or -EINVAL */
int scxf_dmabuf_find(int fd, uint64_t offset, uint64_t bytes, struct scx_dmabuf *m);

/* Lines of the method tables. */
#define IN(id, mand, min, max)                                                                     \
	{                                                                                          \
		id, SCXF_IN, mand, min, max, 0                                                     \
	}
#define OUT(id, mand, min, max)                                                                    \
	{                                                                                          \
		id, SCXF_OUT, mand, min, max, 0                                                    \
	}
#define HANDLE(id, mand, kind)                                                                     \
	{                                                                                          \
		id, SCXF_HANDLE, mand, 0, 0, kind                                                  \
	}
#define NEW(id)                                                                                    \
	{                                                                                          \
		id, SCXF_NEW, 1, 0, 0, 0                                                           \
	}
#define FD_IN(id, mand)                                                                            \
	{                                                                                          \
		id, SCXF_FD_IN, mand, 0, 0, 0                                                      \
	}
#define FD_NEW(id)                                                                                 \
	{                                                                                          \
		id, SCXF_FD_NEW, 1, 0, 0, 0                                                        \
	}
#define ENUM(id, n)                                                                                \
	{                                                                                          \
		id, SCXF_ENUM, 1, 0, 0, n                                                          \
	}
#define METHOD(obj, meth, fn, ...)                                                                 \
	{                                                                                          \
		obj, meth, #meth, fn,                                                              \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define ANY 0xffff

#endif /* SCX_FRONT_CORE_H */
