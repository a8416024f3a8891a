/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the program and libsoftcx.so, and refuses by name what LD_PRELOAD does not reach: static
 * programs have no dynamic linker, and for setuid, setgid and file-capability programs it ignores
 * LD_PRELOAD. A script is judged by its interpreter. Called by main.c.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "softcx_run.h"

#define SCRIPTS_MAX 4 /* interpreters of interpreters, as the kernel has it */

struct elf {
	uint8_t *map;
	size_t bytes;
	bool interpreter;	 /* it names a dynamic linker */
	char asan[NAME_MAX + 1]; /* the sanitizer's runtime it needs, empty: none */
};

/* false: no 64-bit little-endian ELF file, or one that is cut off. */
static bool
elf_headers(const struct elf *e, const Elf64_Ehdr **eh, const Elf64_Phdr **ph)
{
	*eh = (const Elf64_Ehdr *)e->map;
	if (e->bytes < sizeof(**eh) || memcmp((*eh)->e_ident, ELFMAG, SELFMAG) ||
		(*eh)->e_ident[EI_CLASS] != ELFCLASS64 || (*eh)->e_ident[EI_DATA] != ELFDATA2LSB ||
		(*eh)->e_phentsize != sizeof(**ph))
		return false;
	if ((*eh)->e_phoff > e->bytes ||
		(*eh)->e_phnum > (e->bytes - (*eh)->e_phoff) / sizeof(**ph))
		return false;
	*ph = (const Elf64_Phdr *)(e->map + (*eh)->e_phoff);
	return true;
}

/* The file's bytes at a virtual address, up to the end of the file: NULL if it has none. */
static const char *
elf_at(const struct elf *e, uint64_t vaddr, size_t *left)
{
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;

	if (!elf_headers(e, &eh, &ph))
		return NULL;
	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && vaddr >= ph[i].p_vaddr &&
			vaddr - ph[i].p_vaddr < ph[i].p_filesz && ph[i].p_offset <= e->bytes &&
			vaddr - ph[i].p_vaddr < e->bytes - ph[i].p_offset) {
			uint64_t at = ph[i].p_offset + vaddr - ph[i].p_vaddr;

			*left = e->bytes - at;
			return (const char *)e->map + at;
		}
	return NULL;
}

/* Looks through the needed libraries for a sanitizer's runtime. */
static void
elf_needed(struct elf *e, const Elf64_Phdr *dynamic)
{
	const Elf64_Dyn *d = (const Elf64_Dyn *)(e->map + dynamic->p_offset);
	size_t n, left, names_left = 0;
	const char *names = NULL;

	if (dynamic->p_offset > e->bytes || dynamic->p_filesz > e->bytes - dynamic->p_offset ||
		dynamic->p_offset % 8)
		return;
	n = dynamic->p_filesz / sizeof(*d);
	for (size_t i = 0; i < n; i++)
		if (d[i].d_tag == DT_STRTAB)
			names = elf_at(e, d[i].d_un.d_ptr, &names_left);
	for (size_t i = 0; names && i < n; i++) {
		const char *name;

		if (d[i].d_tag != DT_NEEDED || d[i].d_un.d_val >= names_left)
			continue;
		name = names + d[i].d_un.d_val;
		left = names_left - d[i].d_un.d_val;
		if (!memchr(name, 0, left) || strlen(name) >= sizeof(e->asan))
			continue;
		if (!strncmp(name, "libasan.so", 10) || !strncmp(name, "libclang_rt.asan", 16))
			strcpy(e->asan, name);
	}
}

/* 0; -ENOEXEC: not for this machine's dynamic linker; another -errno. */
static int
elf_read(const char *path, struct elf *e)
{
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	memset(e, 0, sizeof(*e));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !st.st_size) {
		close(fd);
		return -ENOEXEC;
	}
	e->bytes = st.st_size;
	e->map = mmap(NULL, e->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (e->map == MAP_FAILED)
		return -errno;
	if (!elf_headers(e, &eh, &ph)) {
		rc = -ENOEXEC;
	} else {
		for (unsigned i = 0; i < eh->e_phnum; i++) {
			e->interpreter |= ph[i].p_type == PT_INTERP;
			if (ph[i].p_type == PT_DYNAMIC)
				elf_needed(e, &ph[i]);
		}
	}
	munmap(e->map, e->bytes);
	return rc;
}

static int
refuse(const char *path, const char *cause, const char *fix)
{
	run_say("%s %s: the software ConnectX cannot get under it; %s", path, cause, fix);
	return RUN_EXIT_UNFIT;
}

/* The interpreter of a script; false: no script. */
static bool
script_interpreter(const char *path, char *interpreter, size_t bytes)
{
	char line[RUN_PATH];
	FILE *f = fopen(path, "re");
	bool script = f && fgets(line, sizeof(line), f) && line[0] == '#' && line[1] == '!';
	char *word = script ? line + 2 + strspn(line + 2, " \t") : NULL;

	if (f)
		fclose(f);
	if (!script)
		return false;
	word[strcspn(word, " \t\r\n")] = 0;
	snprintf(interpreter, bytes, "%s", word);
	return *word;
}

static int
check_program(const char *path, char *asan, unsigned depth)
{
	char interpreter[RUN_PATH];
	struct stat st;
	struct elf e;
	int rc;

	if (stat(path, &st)) {
		run_say("%s: %s", path, strerror(errno));
		return RUN_EXIT_NOT_FOUND;
	}
	if (!S_ISREG(st.st_mode) || access(path, X_OK)) {
		run_say("%s is not an executable file", path);
		return RUN_EXIT_UNFIT;
	}
	if (st.st_mode & S_ISUID || (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return refuse(path, st.st_mode & S_ISUID ? "is setuid" : "is setgid",
			"run a copy without that bit, as the user it would become");
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return refuse(path, "has file capabilities",
			"run a copy without them (cp drops them), as root");
	if (script_interpreter(path, interpreter, sizeof(interpreter)))
		return depth < SCRIPTS_MAX ? check_program(interpreter, asan, depth + 1) : 0;
	rc = elf_read(path, &e);
	if (rc == -ENOEXEC)
		return refuse(path, "is no 64-bit program", "build it for this machine");
	if (rc) {
		run_say("%s cannot be read: %s", path, strerror(-rc));
		return RUN_EXIT_UNFIT;
	}
	if (!e.interpreter)
		return refuse(path, "is a static program", "link it dynamically");
	snprintf(asan, RUN_PATH, "%s", e.asan);
	return 0;
}

int
run_find_program(struct run *run)
{
	const char *name = run->argv[0], *path = getenv("PATH");
	char *dirs, *save = NULL;

	if (strchr(name, '/')) {
		snprintf(run->program, sizeof(run->program), "%s", name);
		if (access(run->program, F_OK)) {
			run_say("no such program: %s", name);
			return RUN_EXIT_NOT_FOUND;
		}
		return check_program(run->program, run->asan, 0);
	}
	dirs = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	for (char *d = dirs ? strtok_r(dirs, ":", &save) : NULL; d;
		d = strtok_r(NULL, ":", &save)) {
		struct stat st;

		snprintf(run->program, sizeof(run->program), "%s/%s", d, name);
		if (!stat(run->program, &st) && S_ISREG(st.st_mode) &&
			!access(run->program, X_OK)) {
			free(dirs);
			return check_program(run->program, run->asan, 0);
		}
	}
	free(dirs);
	run_say("no such program: %s (it is in no folder of PATH)", name);
	return RUN_EXIT_NOT_FOUND;
}

int
run_find_library(struct run *run, const char *front, const char *lib)
{
	/* from the program's own folder: a build tree, then an installed prefix */
	static const char *const places[] = {
		"../../drivers/softcx/%s/%s", SOFTCX_LIBS_FROM_BIN "/%2$s"};
	char self[PATH_MAX], path[PATH_MAX + 64];
	struct elf e;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0) {
		run_say("/proc/self/exe: %s; is /proc mounted?", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	self[n] = 0;
	dirname(self);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *real;

		n = snprintf(path, sizeof(path), "%s/", self);
		snprintf(path + n, sizeof(path) - (size_t)n, places[i], front, lib);
		real = realpath(path, NULL);
		if (!real)
			continue;
		n = snprintf(run->library, sizeof(run->library), "%s", real);
		free(real);
		if (n >= (ssize_t)sizeof(run->library) || strpbrk(run->library, " :")) {
			run_say("%s: LD_PRELOAD takes no path with a blank or colon, or this long; "
				"move it",
				path);
			return RUN_EXIT_FAILED;
		}
		if (!elf_read(run->library, &e) && e.asan[0] && !run->asan[0])
			snprintf(run->asan, sizeof(run->asan), "%s", e.asan);
		return 0;
	}
	run_say("%s is not where it belongs: %s/%s; build or install it", lib, self,
		SOFTCX_LIBS_FROM_BIN);
	return RUN_EXIT_FAILED;
}
