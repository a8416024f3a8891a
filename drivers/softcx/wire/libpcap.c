/* SPDX-License-Identifier: BSD-3-Clause */
/* See libpcap.h. */
#include "libpcap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct scx_pcap calls;
static char why[160]; /* empty: calls are there */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
failed(void)
{
	const char *words = dlerror();

	snprintf(why, sizeof(why), "libpcap cannot be loaded, install libpcap0.8: %s",
		words != NULL ? words : "no reason given");
}

static void
load(void)
{
	/* as Debian names it, and as others do */
	static const char *const names[] = {"libpcap.so.0.8", "libpcap.so.1"};
	static const struct {
		const char *name;
		void **to;
	} all[] = {
#define CALL(name) {"pcap_" #name, (void **)&calls.name},
		SCX_PCAP_CALLS(CALL)
#undef CALL
	};
	void *lib = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && lib == NULL; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		failed();
		return;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && *why == '\0'; i++) {
		*all[i].to = dlsym(lib, all[i].name);
		if (*all[i].to == NULL)
			failed();
	}
}

const struct scx_pcap *
scx_pcap(char *err, size_t err_bytes)
{
	pthread_once(&once, load);
	if (*why == '\0')
		return &calls;
	snprintf(err, err_bytes, "%s", why);
	return NULL;
}
