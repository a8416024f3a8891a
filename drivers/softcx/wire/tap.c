/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wire around a wire: what passes in either direction is copied to a capture file. Called by the
 * data path's thread. A frame that the NIC hands back (wire.h, back) has not passed yet, so with
 * such a wire inside, a received frame is written when the next one is asked for.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "savefile.h"

struct tap {
	struct scx_wire wire;
	struct scx_wire *inner;
	struct scx_frame held; /* received, not written yet; valid until the next recv */
	bool holds;
	struct scx_savefile to;
};

static void
write_held(struct tap *t)
{
	if (t->holds)
		scx_savefile_write(&t->to, &t->held, 1);
	t->holds = false;
}

static unsigned
tap_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	struct tap *t = (struct tap *)w;
	unsigned n = t->inner->ops->send(t->inner, f, nr);

	scx_savefile_write(&t->to, f, n);
	return n;
}

static unsigned
tap_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	struct tap *t = (struct tap *)w;
	unsigned n;

	write_held(t);
	n = t->inner->ops->recv(t->inner, f, t->inner->ops->back && nr ? 1 : nr);
	if (!n)
		scx_savefile_idle(&t->to);
	else if (t->inner->ops->back) {
		t->held = *f;
		t->holds = true;
	} else
		scx_savefile_write(&t->to, f, n);
	return n;
}

static void
tap_back(struct scx_wire *w)
{
	struct tap *t = (struct tap *)w;

	t->holds = false;
	t->inner->ops->back(t->inner);
}

static void
tap_close(struct scx_wire *w)
{
	struct tap *t = (struct tap *)w;

	write_held(t);
	scx_savefile_close(&t->to);
	t->inner->ops->close(t->inner);
	free(t);
}

static const struct scx_wire_ops tap_ops = {
	.name = "tap", .send = tap_send, .recv = tap_recv, .close = tap_close};
static const struct scx_wire_ops tap_back_ops = {
	.name = "tap", .send = tap_send, .recv = tap_recv, .close = tap_close, .back = tap_back};

int
scx_wire_tap(struct scx_wire *inner, const char *pcap_out, struct scx_wire **tapped, char *err,
	size_t err_bytes)
{
	struct tap *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	rc = scx_savefile_open(&t->to, pcap_out, err, err_bytes);
	if (rc) {
		free(t);
		return rc;
	}
	t->inner = inner;
	t->wire.ops = inner->ops->back ? &tap_back_ops : &tap_ops;
	*tapped = &t->wire;
	return 0;
}
