/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report: for people what is wrong, with its evidence and its fix; for programs all of it as
 * JSON. Last stage of a run. Host only.
 */
#include <json-c/json.h>
#include <stdio.h>

#include "doctor.h"

static const char *const levels[] = {"ok", "note", "warn", "stop"};

static void
print_finding(const struct dr_finding *f)
{
	printf("%-4s %s%s%s: %s\n", levels[f->level], f->id, f->subject[0] ? " " : "", f->subject,
		f->say);
	printf("       seen: %s\n", f->evidence);
	if (f->fix[0] != '\0')
		printf("       fix:  %s\n", f->fix);
}

void
dr_report_text(const struct doctor *d, bool all)
{
	for (unsigned i = 0; i < d->nr_findings; i++)
		if (all || d->finding[i].level != DR_OK)
			print_finding(&d->finding[i]);
	for (unsigned i = 0; i < d->nr_gpus; i++) {
		const struct dr_gpu *g = &d->gpu[i];

		if (g->chosen >= 0)
			printf("choice: GPU %s with NIC %s (%s), %s\n", g->pci.bdf,
				d->nic[g->chosen].ib, d->nic[g->chosen].pci.bdf,
				dr_path_word(g->path));
	}
	printf("doctor: %u stop, %u warn, %u note, %u ok\n", dr_count(d, DR_STOP),
		dr_count(d, DR_WARN), dr_count(d, DR_NOTE), dr_count(d, DR_OK));
}

static void
add(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

static struct json_object *
json_of_finding(const struct dr_finding *f)
{
	struct json_object *o = json_object_new_object();

	add(o, "id", f->id);
	add(o, "check", f->check);
	add(o, "level", levels[f->level]);
	add(o, "subject", f->subject);
	add(o, "say", f->say);
	add(o, "evidence", f->evidence);
	add(o, "fix", f->fix);
	return o;
}

static struct json_object *
json_of_choices(const struct doctor *d)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < d->nr_gpus; i++) {
		const struct dr_gpu *g = &d->gpu[i];
		struct json_object *o;

		if (g->chosen < 0)
			continue;
		o = json_object_new_object();
		add(o, "gpu", g->pci.bdf);
		add(o, "nic", d->nic[g->chosen].pci.bdf);
		add(o, "rdma", d->nic[g->chosen].ib);
		add(o, "path", dr_path_word(g->path));
		json_object_array_add(list, o);
	}
	return list;
}

int
dr_report_json(const struct doctor *d, int status)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	int ret;

	add(o, "program", "carillon-doctor");
	add(o, "version", DR_VERSION);
	json_object_object_add(o, "status", json_object_new_int(status));
	for (unsigned l = DR_OK; l <= DR_STOP; l++)
		json_object_object_add(
			o, levels[l], json_object_new_int((int)dr_count(d, (enum dr_level)l)));
	for (unsigned i = 0; i < d->nr_findings; i++)
		json_object_array_add(list, json_of_finding(&d->finding[i]));
	json_object_object_add(o, "findings", list);
	json_object_object_add(o, "choices", json_of_choices(d));
	ret = printf("%s\n", json_object_to_json_string_ext(o,
				     JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)) < 0;
	json_object_put(o);
	return ret;
}
