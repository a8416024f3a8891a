/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wires on capture files: what goes out through one comes in through the next, byte for byte; a
 * frame handed back comes again; a file that another program is still writing, or that was cut by a
 * kill -9, reads up to the last flush. The netdev wire: test_veth.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/softcx/log.h"
#include "drivers/softcx/wire.h"

#define NR 300

static char dir[64], path[128], err[256];

static const char *
file(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* Frame i: its length and bytes are a function of i. */
static struct scx_frame
frame(unsigned i)
{
	static uint8_t bytes[9000];
	struct scx_frame f = {bytes, 60 + i * 29 % 8900, 0};

	for (uint32_t b = 0; b < f.len; b++)
		bytes[b] = i + b * 7;
	return f;
}

static int
make_dir(void **state)
{
	strcpy(dir, "/tmp/scx_wires_XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int
remove_dir(void **state)
{
	static const char *const names[] = {"a", "b", "cut", "raw", "pipe"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(file(names[i]));
	return rmdir(dir);
}

static void
write_frames(const char *name, unsigned nr)
{
	struct scx_wire *w;

	assert_int_equal(scx_wire_pcap(NULL, file(name), &w, err, sizeof(err)), 0);
	for (unsigned i = 0; i < nr; i++) {
		struct scx_frame f = frame(i);

		assert_int_equal(w->ops->send(w, &f, 1), 1);
	}
	w->ops->close(w);
}

static void
out_then_in(void **state)
{
	struct scx_wire *w;
	struct scx_frame f;

	write_frames("a", NR);
	assert_int_equal(scx_wire_pcap(file("a"), NULL, &w, err, sizeof(err)), 0);
	for (unsigned i = 0; i < NR; i++) {
		struct scx_frame want = frame(i);

		assert_int_equal(w->ops->recv(w, &f, 1), 1);
		if (i % 3 == 0) { /* no place for it yet */
			w->ops->back(w);
			assert_int_equal(w->ops->recv(w, &f, 1), 1);
		}
		assert_int_equal(f.len, want.len);
		assert_memory_equal(f.data, want.data, want.len);
	}
	assert_int_equal(w->ops->recv(w, &f, 1), 0);
	w->ops->close(w);
}

static unsigned
count(const char *name)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(file(name), why);
	struct pcap_pkthdr *h;
	const uint8_t *data;
	unsigned n = 0;
	int rc;

	assert_non_null(p);
	while ((rc = pcap_next_ex(p, &h, &data)) == 1) {
		struct scx_frame want = frame(n++);

		assert_int_equal(h->caplen, want.len);
		assert_memory_equal(data, want.data, want.len);
	}
	assert_int_equal(rc, PCAP_ERROR_BREAK); /* the end, not a record cut in two */
	pcap_close(p);
	return n;
}

/* No close: as after a kill -9. An idle data path asks recv, and that hands all over. */
static void
readable_while_open(void **state)
{
	struct scx_wire *w;
	struct scx_frame f;

	assert_int_equal(scx_wire_pcap(NULL, file("cut"), &w, err, sizeof(err)), 0);
	assert_int_equal(count("cut"), 0);
	for (unsigned i = 0; i < NR; i++) {
		f = frame(i);
		assert_int_equal(w->ops->send(w, &f, 1), 1);
	}
	assert_in_range(count("cut"), 0, NR);
	assert_int_equal(w->ops->recv(w, &f, 1), 0);
	assert_int_equal(count("cut"), NR);
	w->ops->close(w);
}

/* A tap around a file: what came in and was not handed back, then what went out. */
static void
tap_sees_both(void **state)
{
	struct scx_wire *w, *t;
	struct scx_frame f;

	write_frames("a", 2);
	assert_int_equal(scx_wire_pcap(file("a"), NULL, &w, err, sizeof(err)), 0);
	assert_int_equal(scx_wire_tap(w, file("b"), &t, err, sizeof(err)), 0);
	assert_int_equal(t->ops->recv(t, &f, 32), 1);
	t->ops->back(t);
	assert_int_equal(t->ops->recv(t, &f, 32), 1);
	assert_int_equal(t->ops->recv(t, &f, 32), 1);
	assert_int_equal(t->ops->recv(t, &f, 32), 0);
	f = frame(2);
	assert_int_equal(t->ops->send(t, &f, 1), 1);
	t->ops->close(t);
	assert_int_equal(count("b"), 3);
}

/* The loopback turns frames round inside the data path; behind a tap it must not, or nothing is
 * seen. */
static void
tap_of_loopback(void **state)
{
	struct scx_wire *t;
	struct scx_frame f = frame(0), got[2];

	assert_int_equal(scx_wire_tap(scx_wire_loopback(), file("b"), &t, err, sizeof(err)), 0);
	assert_int_equal(t->flags & SCX_WIRE_TURNAROUND, 0);
	assert_int_equal(t->ops->send(t, &f, 1), 1);
	assert_int_equal(t->ops->recv(t, got, 2), 1);
	assert_memory_equal(got[0].data, f.data, f.len);
	t->ops->close(t);
}

static void
refused(void **state)
{
	struct scx_wire *w;
	FILE *f;

	assert_int_not_equal(scx_wire_pcap(file("nosuchfile"), NULL, &w, err, sizeof(err)), 0);
	assert_non_null(strstr(err, "nosuchfile"));
	assert_int_equal(scx_wire_pcap(NULL, "/nosuchfolder/x", &w, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "/nosuchfolder/x"));
	f = fopen(file("raw"), "w");
	assert_non_null(f);
	fputs("not a capture file, but long enough for one", f);
	fclose(f);
	assert_int_not_equal(scx_wire_pcap(file("raw"), NULL, &w, err, sizeof(err)), 0);
	assert_int_equal(scx_wire_tap(NULL, "/nosuchfolder/x", &w, err, sizeof(err)), -ENOENT);
	assert_int_equal(scx_wire_veth("nosuchnetdev", &w, err, sizeof(err)), -ENODEV);
	assert_non_null(strstr(err, "nosuchnetdev"));
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * A file that ends within a frame: what is whole comes in, and the run is not called a good one.
 * And one that is being written is nobody else's to write.
 */
static void
cut_within_a_frame(void **state)
{
	struct scx_frame f = frame(0), got;
	struct scx_wire *w, *second;
	unsigned n = 0;

	assert_int_equal(scx_wire_pcap(NULL, file("a"), &w, err, sizeof(err)), 0);
	assert_int_equal(scx_wire_pcap(NULL, file("a"), &second, err, sizeof(err)), -EWOULDBLOCK);
	assert_non_null(strstr(err, "another program writes it"));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(w->ops->send(w, &f, 1), 1);
	w->ops->close(w);
	assert_int_equal(truncate(file("a"), 24 + 2 * (16 + f.len) + 16 + f.len / 2), 0);
	assert_int_equal(scx_wire_pcap(file("a"), NULL, &w, err, sizeof(err)), 0);
	assert_false(scx_log_lost());
	while (w->ops->recv(w, &got, 1) == 1)
		n++;
	w->ops->close(w);
	assert_int_equal(n, 2);
	assert_true(scx_log_lost());
}

/* A pipe is waited for neither until somebody reads it nor until there is room in it. */
static void
pipes(void **state)
{
	struct scx_frame f = frame(0);
	struct scx_wire *w;
	double from = seconds();
	int reader;

	assert_int_equal(mkfifo(file("pipe"), 0600), 0);
	assert_int_equal(scx_wire_pcap(NULL, file("pipe"), &w, err, sizeof(err)), -ENXIO);
	assert_non_null(strstr(err, "nobody reads this pipe"));
	reader = open(file("pipe"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(scx_wire_pcap(NULL, file("pipe"), &w, err, sizeof(err)), 0);
	for (unsigned i = 0; i < 40000; i++) /* more than pipe and buffer hold */
		assert_int_equal(w->ops->send(w, &f, 1), 1);
	w->ops->close(w);
	assert_true(seconds() - from < 20);
	close(reader);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_then_in),
		cmocka_unit_test(readable_while_open),
		cmocka_unit_test(tap_sees_both),
		cmocka_unit_test(tap_of_loopback),
		cmocka_unit_test(refused),
		cmocka_unit_test(cut_within_a_frame),
		cmocka_unit_test(pipes),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
