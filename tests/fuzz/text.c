/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts that people, files and other programs write for us: the configuration between `softcx run`
 * and the library, the fault plan, carillon-testpmd's options, EAL's arguments, and what the doctor
 * reads of a machine. What was understood is written out and read again where that can be; what is
 * returned is in its bounds.
 */
#include <errno.h>
#include <json-c/json.h>

#include "apps/testpmd/options.h"
#include "drivers/mlx5/eal_args.h"
#include "drivers/softcx/fault.h"
#include "drivers/softcx/front/conf.h"
#include "faketree.h"

#define WORDS 24u

/* Words that the parsers know, and the input's own bytes between them. */
static char *
make_text(struct fz *f, const char *const *word, uint32_t nr, size_t *len)
{
	static char t[8192];
	size_t n = 0;
	char *exact;

	while (f->n > 0 && n < sizeof(t) - 300) {
		uint32_t how = fz_u8(f);

		if (how < 200) {
			n += (size_t)snprintf(t + n, 64, "%s", word[how % nr]);
		} else if (how < 250) {
			t[n++] = (char)fz_u8(f);
		} else {
			uint32_t again = fz_u8(f);

			memset(t + n, fz_u8(f), again);
			n += again;
		}
	}
	exact = fz_alloc(8, n + 1);
	memcpy(exact, t, n);
	*len = strnlen(exact, n);
	return exact;
}

static void
conf(struct fz *f)
{
	static const char *const word[] = {"profile=", "cx5", "cx6dx", "cx7",
		"seed=", "faults=", "log=", "state=", "nic-step=", "cpu", "gpu", "remote",
		"gpu=", "host-doorbells=", "port=", "0", "1", "2", "mac=", "02:00:00:00:00:01",
		"mtu=", "9000", "wire=", "loopback", "cable", "veth", "pcap",
		"nic=", "netdev=", "netns=", "in=", "out=", "tap=", "\n", "\n", "\n",
		"\nport=0\nwire=", "\nport=1\nwire=", "\nport=2\nwire="};
	static struct scx_conf c, again;
	static char out[65536], out2[65536];
	char err[256] = "", *t;
	size_t n;
	int rc;

	t = make_text(f, word, sizeof(word) / sizeof(word[0]), &n);
	rc = scx_conf_parse(t, &c, err, sizeof(err));
	FZ_MUST(rc == 0 || (rc < 0 && err[0] != '\0'), "refused without a word");
	free(t);
	if (rc != 0)
		return;
	FZ_MUST(c.nr_ports > 0 && c.nr_ports <= SCX_CONF_PORTS_MAX, "%u ports", c.nr_ports);
	for (uint32_t i = 0; i < c.nr_ports; i++)
		FZ_MUST(c.port[i].wire != SCX_CONF_CABLE ||
				((i ^ 1) < c.nr_ports && c.port[i ^ 1].wire == SCX_CONF_CABLE),
			"port %u: a cable with one end", i);
	FZ_MUST(scx_conf_format(&c, out, sizeof(out)) == 0, "not written");
	FZ_MUST(scx_conf_parse(out, &again, err, sizeof(err)) == 0, "not read again: %s", err);
	FZ_MUST(scx_conf_format(&again, out2, sizeof(out2)) == 0 && strcmp(out, out2) == 0,
		"not the same again");
}

static void
faults(struct fz *f)
{
	static const char *const word[] = {"send-error=", "recv-error=", "dma-delay=", "overwrite",
		"records", ",", ",", "1", "255", "256", "18446744073709551615", "0"};
	struct scx_fault_plan p;
	char why[128] = "", *t;
	size_t n;

	t = make_text(f, word, sizeof(word) / sizeof(word[0]), &n);
	if (scx_fault_parse(t, &p, why, sizeof(why)) == 0) {
		FZ_MUST(p.dma_delay <= 255 && p.overwrite <= 1 && p.records <= 1, "the plan");
		FZ_MUST((p.overwrite == 0) == (strstr(t, "overwrite") == NULL), "overwrite");
		FZ_MUST((p.send_error == 0) == (strstr(t, "send-error") == NULL), "send-error");
	} else {
		FZ_MUST(why[0] != '\0', "refused without a word");
	}
	free(t);
}

/* The text as a command line, split at spaces. */
static int
split(char *t, char **argv)
{
	int argc = 1;
	char *save = NULL;

	argv[0] = (char *)(uintptr_t) "program";
	for (char *w = strtok_r(t, " ", &save); w != NULL && argc < (int)WORDS;
		w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	return argc;
}

static void
testpmd(struct fz *f)
{
	static const char *const word[] = {" --forward-mode=", "io", "txonly", "macswap",
		"icmpecho", "flowgen",
		" --rxq=", " --txq=", " --rxd=", " --txd=", " --burst=", "64", "1024", "3",
		" --nb-cores=", " --portmask=", "0x3", " --txpkts=", "60,", ",",
		" --tx-ip=", "198.18.0.1", " --tx-udp=", " --eth-peer=", "0,02:00:00:00:00:01",
		" --duration=", "1.5", "1e9", "nan", " --rings=", "host", "gpu",
		" --gpu=", " --json=", " --stats-period=", " --mbuf-size=", " --tx-inline=",
		" --port-topology=", "loop", " -i", " -a", " --tx-first", " --cpu-queues=", "=",
		" ", "--"};
	static struct crl_tp_options o;
	static struct crl_err err;
	char *argv[WORDS + 1], *t;
	size_t n;
	int argc, rc;

	t = make_text(f, word, sizeof(word) / sizeof(word[0]), &n);
	argc = split(t, argv);
	memset(&o, 0xa5, sizeof(o));
	rc = crl_tp_options_parse(argc, argv, &o, &err);
	FZ_MUST(rc == 0 || rc == -EINVAL, "%d", rc);
	if (rc == 0 && !o.help) {
		FZ_MUST(o.engine != NULL && o.rxq <= CRL_TP_QUEUES_MAX &&
				o.txq <= CRL_TP_QUEUES_MAX,
			"queues");
		FZ_MUST(o.burst >= 1 && o.burst <= CRL_BURST_MAX, "burst %u", o.burst);
		FZ_MUST(o.rxd >= 1 && o.rxd <= CRL_DEPTH_MAX && (o.rxd & (o.rxd - 1)) == 0, "rxd");
		FZ_MUST(o.nb_cores >= 1 && o.nb_cores <= CRL_TP_CORES_MAX, "cores");
		FZ_MUST(o.engine_opts.txpkts_nr <= CRL_TXPKTS_MAX, "txpkts");
		FZ_MUST(o.duration_s >= 0 && o.duration_s < 1e18, "duration");
		FZ_MUST(memchr(o.gpu, 0, sizeof(o.gpu)) && memchr(o.json, 0, sizeof(o.json)),
			"text");
	}
	free(t);
}

static void
eal(struct fz *f)
{
	static const char *const word[] = {" -a ", " -b ", " --allow=", " --block=", "0000:43:00.0",
		"43:00.0", "0000:44:00.1", ",class=eth", ",mprq_en=1", " --no-pci", " -l", " 0,1",
		" --vdev", " net_null0", " --", "=", ",", " ", " -a0000:43:00.0", "0x"};
	static const char bdfs[3][16] = {"0000:43:00.0", "0000:44:00.1", "0000:45:00.0"};
	struct crl_eal_args a;
	static struct crl_err err;
	char *argv[WORDS + 1], *t;
	uint32_t nr = fz_below(f, 4);
	size_t n;
	int argc;

	t = make_text(f, word, sizeof(word) / sizeof(word[0]), &n);
	argc = split(t, argv);
	if (crl_eal_args_split(argc, argv, bdfs, nr, &a, &err) == 0) {
		FZ_MUST(a.nr_devs <= nr, "%u devices of %u", a.nr_devs, nr);
		FZ_MUST(a.argv[a.argc] == NULL && a.argc >= 1, "argv");
		for (int i = 0; i < a.argc; i++)
			FZ_MUST(a.argv[i] != NULL && a.from[i] >= 0 && a.from[i] < argc, "word %d",
				i);
		for (int i = 0; i <= a.argc; i++)
			FZ_MUST(crl_eal_args_used(&a, argc, i) <= argc, "used %d", i);
		crl_eal_args_free(&a);
	}
	free(t);
}

static void
doctor(struct fz *f)
{
	static struct doctor d;

	memset(&d, 0, sizeof(d));
	faketree(f);
	if (!dr_inventory(&d))
		return;
	dr_facts_load(&d);
	for (uint32_t i = 0; i < dr_nr_checks; i++) {
		d.check = dr_checks[i].name;
		dr_checks[i].run(&d);
	}
	FZ_MUST(d.nr_findings <= DR_FINDINGS_MAX && d.nr_facts <= DR_FACTS_MAX, "counts");
	for (uint32_t i = 0; i < d.nr_findings; i++)
		FZ_MUST(d.finding[i].level == DR_OK || d.finding[i].fix[0] != '\0', "%s: no fix",
			d.finding[i].id);
	if (fz_u8(f) & 1)
		dr_report_text(&d, true);
	else
		dr_report_json(&d, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};
	static bool quiet;

	if (!quiet) {
		quiet = freopen("/dev/null", "w", stdout) != NULL; /* the reports */
		/* The other hash begins with a random number, which comparisons would show. */
		FZ_MUST(json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE) == 0, "hash");
	}
	switch (fz_below(&f, 8)) {
	case 0:
	case 1:
		conf(&f);
		break;
	case 2:
		faults(&f);
		break;
	case 3:
	case 4:
		testpmd(&f);
		break;
	case 5:
		eal(&f);
		break;
	default:
		doctor(&f);
		break;
	}
	return 0;
}
