/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The generic half of the uverbs ioctl: what the kernel checks before a method runs, with the
 * errno it gives. Header malformed, attribute twice, mandatory one missing, wrong length, handle
 * unknown: -EINVAL or -ENOENT; an object, method or mandatory attribute this kernel would not know:
 * -EPROTONOSUPPORT, which sends libibverbs to an older way of asking. Called by interpose.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "front.h"

static const struct scxf_method *const tables[] = {scxf_core_methods, scxf_devx_methods,
	scxf_mem_methods, scxf_flow_methods, scxf_event_methods};

static const struct scxf_method *
find_method(uint16_t object, uint16_t method)
{
	for (unsigned t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct scxf_method *m = tables[t]; m->name; m++)
			if (m->object == object && m->method == method)
				return m;
	return NULL;
}

int
scxf_refuse(struct scxf_call *c, int err, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	scx_log(c->ctx->dev->name, "uverbs %s refused (%s): %s", c->method->name,
		strerrorname_np(-err), text);
	return err;
}

/* Index of an attribute in the method's list, -1: not in it. */
static int
spec_index(const struct scxf_method *m, uint16_t id)
{
	for (int i = 0; i < SCXF_ATTRS_MAX; i++) {
		const struct scxf_attr_spec *s = &m->attr[i];

		if (!s->type && !s->id && !s->max && !s->mandatory)
			return -1; /* the end */
		if (s->id == id)
			return i;
	}
	return -1;
}

static int
check_pointer(struct scxf_call *c, const struct scxf_attr_spec *s, const struct ib_uverbs_attr *a)
{
	if (a->attr_data.reserved)
		return scxf_refuse(
			c, -EINVAL, "attribute 0x%x has its reserved field set", a->attr_id);
	if (a->len < s->min || a->len > s->max)
		return scxf_refuse(c, -EINVAL, "attribute 0x%x has %u bytes, wants %u to %u",
			a->attr_id, a->len, s->min, s->max);
	/* short input travels inside the attribute, all else by pointer */
	if ((s->type == SCXF_OUT || a->len > sizeof(a->data)) && a->len && !a->data)
		return scxf_refuse(c, -EFAULT, "attribute 0x%x points nowhere", a->attr_id);
	return 0;
}

static int
check_attr(struct scxf_call *c, int i, struct ib_uverbs_attr *a)
{
	const struct scxf_attr_spec *s = &c->method->attr[i];
	int rc = 0;

	switch (s->type) {
	case SCXF_IN:
	case SCXF_OUT:
		return check_pointer(c, s, a);
	case SCXF_ENUM:
		if (a->attr_data.enum_data.elem_id >= s->kind || a->attr_data.enum_data.reserved)
			return scxf_refuse(c, -EOPNOTSUPP, "attribute 0x%x: no alternative %u",
				a->attr_id, a->attr_data.enum_data.elem_id);
		return 0;
	case SCXF_HANDLE:
		if (a->len || a->attr_data.reserved)
			return scxf_refuse(c, -EINVAL,
				"attribute 0x%x is a handle, but has a length", a->attr_id);
		c->obj[i] = scxf_obj_get(c->ctx, s->kind, a->data, &rc);
		if (rc == -ENOENT)
			return scxf_refuse(c, rc, "attribute 0x%x: this context has no handle %llu",
				a->attr_id, (unsigned long long)a->data);
		if (rc)
			return scxf_refuse(c, rc, "attribute 0x%x: handle %llu is of another kind",
				a->attr_id, (unsigned long long)a->data);
		return 0;
	default:
		if (a->len || a->attr_data.reserved)
			return scxf_refuse(c, -EINVAL,
				"attribute 0x%x is no pointer, but has a length", a->attr_id);
		return 0;
	}
}

static int
collect(struct scxf_call *c, struct ib_uverbs_ioctl_hdr *hdr)
{
	for (unsigned n = 0; n < hdr->num_attrs; n++) {
		struct ib_uverbs_attr *a = &hdr->attrs[n];
		int i = spec_index(c->method, a->attr_id);
		int rc;

		if (i < 0) {
			if (a->flags & UVERBS_ATTR_F_MANDATORY)
				return scxf_refuse(c, -EPROTONOSUPPORT,
					"mandatory attribute 0x%x is not known", a->attr_id);
			continue;
		}
		if (c->attr[i])
			return scxf_refuse(c, -EINVAL, "attribute 0x%x comes twice", a->attr_id);
		rc = check_attr(c, i, a);
		if (rc)
			return rc;
		c->attr[i] = a;
	}
	for (int i = 0; i < SCXF_ATTRS_MAX; i++)
		if (c->method->attr[i].mandatory && !c->attr[i])
			return scxf_refuse(
				c, -EINVAL, "attribute 0x%x is missing", c->method->attr[i].id);
	return 0;
}

int
scxf_ioctl(struct scxf_ctx *ctx, int fd, struct ib_uverbs_ioctl_hdr *hdr)
{
	struct scxf_call call = {.ctx = ctx, .fd = fd};
	int rc;

	if (hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]) ||
		hdr->length > 4096) {
		scx_log(ctx->dev->name,
			"uverbs ioctl refused (EINVAL): length %u for %u attributes", hdr->length,
			hdr->num_attrs);
		return -EINVAL;
	}
	if (hdr->reserved1 || hdr->reserved2)
		return -EPROTONOSUPPORT;
	call.method = find_method(hdr->object_id, hdr->method_id);
	if (!call.method) {
		scx_log(ctx->dev->name,
			"uverbs object 0x%x method 0x%x is not offered (EPROTONOSUPPORT)",
			hdr->object_id, hdr->method_id);
		return -EPROTONOSUPPORT;
	}
	rc = collect(&call, hdr);
	return rc ? rc : call.method->run(&call);
}

struct ib_uverbs_attr *
scxf_attr(struct scxf_call *c, uint16_t id)
{
	int i = spec_index(c->method, id);

	return i < 0 ? NULL : c->attr[i];
}

struct scxf_obj *
scxf_attr_obj(struct scxf_call *c, uint16_t id)
{
	int i = spec_index(c->method, id);

	return i < 0 ? NULL : c->obj[i];
}

const void *
scxf_in(struct scxf_call *c, uint16_t id, size_t *bytes)
{
	struct ib_uverbs_attr *a = scxf_attr(c, id);

	if (bytes)
		*bytes = a ? a->len : 0;
	if (!a)
		return NULL;
	return a->len <= sizeof(a->data) ? (const void *)&a->data
					 : (const void *)(uintptr_t)a->data;
}

uint64_t
scxf_in_u64(struct scxf_call *c, uint16_t id, uint64_t if_absent)
{
	uint64_t v = 0;
	size_t n;
	const void *p = scxf_in(c, id, &n);

	if (!p)
		return if_absent;
	memcpy(&v, p, n < sizeof(v) ? n : sizeof(v));
	return v;
}

void *
scxf_out_buf(struct scxf_call *c, uint16_t id, size_t *bytes)
{
	struct ib_uverbs_attr *a = scxf_attr(c, id);

	*bytes = a ? a->len : 0;
	if (!a)
		return NULL;
	a->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	return (void *)(uintptr_t)a->data;
}

void
scxf_out(struct scxf_call *c, uint16_t id, const void *data, size_t bytes)
{
	size_t room;
	uint8_t *p = scxf_out_buf(c, id, &room);

	if (!p)
		return;
	memcpy(p, data, bytes < room ? bytes : room);
	/* the kernel clears what a longer buffer has beyond what it knows */
	if (room > bytes)
		memset(p + bytes, 0, room - bytes);
}
