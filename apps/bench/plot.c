// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pictures, by gnuplot, which is started and told what to draw: for rates a curve of Mwqe/s over
 * the points of a group, for the others bars of p50 and p99 a line.
 */
#include "bench.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
field(struct json_object *line, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(line, key, &v) ? json_object_get_double(v) : 0;
}

static const char *
text(struct json_object *line, const char *key)
{
	struct json_object *v;
	const char *s = json_object_object_get_ex(line, key, &v) ? json_object_get_string(v) : NULL;

	return s ? s : "";
}

/* A cell of gnuplot's data: what would end it is a blank, and so is what would lower a letter. */
static void
cell(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++)
		fputc(*s == '"' || *s == '\\' || *s == '_' || iscntrl((unsigned char)*s) ? ' ' : *s,
			f);
	fputc('"', f);
}

/* A word of a command. In double quotes gnuplot would give what stands in `` to a shell. */
static void
quoted(FILE *f, const char *s)
{
	fputc('\'', f);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', f);
		fputc(*s == '\n' ? ' ' : *s, f);
	}
	fputc('\'', f);
}

/* gnuplot is content on a full disk: a whole picture has its end. */
static bool
whole(const char *file)
{
	char end[33] = "";
	FILE *f = fopen(file, "r");
	size_t n = 0;

	if (f && fseek(f, -32, SEEK_END) == 0)
		n = fread(end, 1, 32, f);
	if (f)
		fclose(f);
	return memmem(end, n, "</svg>", 6) || memmem(end, n, "IEND", 4);
}

static uint32_t
data(FILE *f, struct json_object *lines, bool rates)
{
	uint32_t n = 0;

	fputs("$data << EOD\n", f);
	for (size_t i = 0; i < json_object_array_length(lines); i++) {
		struct json_object *line = json_object_array_get_idx(lines, i);

		if (rates ? field(line, "mwqe_s") <= 0 : field(line, "p50") <= 0)
			continue;
		cell(f, text(line, "what"));
		fputc(' ', f);
		cell(f, text(line, "fence"));
		fprintf(f, " %.6g %.6g\n", rates ? field(line, "mwqe_s") : field(line, "p50"),
			rates ? field(line, "mwqe_s_best") : field(line, "p99"));
		n++;
	}
	fputs("EOD\n", f);
	return n;
}

int
bn_plot(struct json_object *root, const char *file)
{
	struct json_object *lines;
	size_t len = strlen(file);
	bool svg = len > 4 && strcmp(file + len - 4, ".svg") == 0, rates;
	char *script = NULL;
	size_t bytes = 0;
	uint32_t n;
	FILE *f, *g;
	int rc;

	if (!json_object_object_get_ex(root, "lines", &lines) ||
		!json_object_is_type(lines, json_type_array)) {
		fprintf(stderr, "carillon-bench: that is no report of carillon-bench: it has no "
				"lines to draw\n");
		return -EINVAL;
	}
	f = open_memstream(&script, &bytes);
	if (!f)
		return -ENOMEM;
	rates = strcmp(text(root, "bench"), "post") == 0;
	n = data(f, lines, rates);
	fprintf(f, "set terminal %s size 1400,%u\nset output ", svg ? "svg" : "png",
		200u + 18u * n);
	quoted(f, file);
	fputs("\nset style data linespoints\nset grid\nset logscale x\nset key outside top\n"
	      "set yrange [-1:*] reverse\nset lmargin 90\nset xlabel ",
		f);
	quoted(f, rates ? "Mwqe/s" : "as each line's unit says");
	fputs("\nset title ", f);
	quoted(f, text(root, "bench"));
	fprintf(f,
		"\nplot $data using 3:0:ytic(strcol(1).\", \".strcol(2)) title \"%s\","
		" $data using 4:0 title \"%s\"\n",
		rates ? "median" : "p50", rates ? "best" : "p99");
	fclose(f);
	if (n == 0) {
		fprintf(stderr, "carillon-bench: nothing to draw\n");
		free(script);
		return -EINVAL;
	}
	g = popen("gnuplot", "w");
	rc = g && fwrite(script, 1, bytes, g) == bytes ? 0 : -EIO;
	if (g && pclose(g) != 0)
		rc = -EIO;
	free(script);
	if (rc != 0) {
		fprintf(stderr, "carillon-bench: gnuplot did not draw %s: is it installed?\n",
			file);
	} else if (!whole(file)) {
		fprintf(stderr, "carillon-bench: %s is not whole: is the disk full?\n", file);
		rc = -EIO;
	}
	return rc;
}
