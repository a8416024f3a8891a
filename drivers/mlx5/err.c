/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors in words: what every failing call of this library fills in, and the tables behind it. Host
 * only, any thread: nothing here has state.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static const struct {
	uint8_t code;
	const char *words;
} fw_status[] = {
#define STATUS_ROW(NAME, value, txt) {value, txt},
	CRL_CMD_STATS(STATUS_ROW)
#undef STATUS_ROW
};

CRL_PUBLIC const char *
crl_fw_status_str(uint8_t status)
{
	for (size_t i = 0; i < sizeof(fw_status) / sizeof(fw_status[0]); i++)
		if (fw_status[i].code == status)
			return fw_status[i].words;
	return "unknown status";
}

int
crl_errno_of(int ret)
{
	return ret < 0 ? errno : ret;
}

CRL_PUBLIC int
crl_fail_errno(struct crl_err *err, int errno_value, const char *step, const char *fix,
	const char *cause, ...)
{
	/* A library that failed without an errno still failed. */
	int code = errno_value > 0 ? -errno_value : -EIO;
	char text[sizeof(err->cause)];
	va_list ap;

	va_start(ap, cause);
	vsnprintf(text, sizeof(text), cause, ap);
	va_end(ap);
	return crl_err_set(err, code, step, fix, "%s: %s (errno %d)", text, strerror(-code), -code);
}

int
crl_fail_mem(struct crl_err *err, const struct crl_mem *mem, int code, const char *step,
	const char *fix, const char *cause, ...)
{
	struct crl_err why = {0};
	char text[sizeof(why.cause)];
	va_list ap;

	va_start(ap, cause);
	vsnprintf(text, sizeof(text), cause, ap);
	va_end(ap);
	if (mem->why != NULL)
		mem->why(mem->arg, &why);
	if (why.code != code || why.cause[0] == '\0')
		return crl_fail_errno(err, -code, step, fix, "%s", text);
	return crl_err_set(err, code, step, why.fix[0] != '\0' ? why.fix : fix, "%.60s: %.130s",
		text, why.cause);
}

/* What usually helps, by what the firmware answered. */
static const char *
fw_fix(uint8_t status)
{
	switch (status) {
	case CRL_CMD_STAT_LIM_ERR:
	case CRL_CMD_STAT_NO_RES_ERR:
		return "the NIC has no more such objects: use fewer or shallower queues";
	case CRL_CMD_STAT_BAD_OP_ERR:
		return "this NIC or its firmware lacks the command: update the firmware";
	case CRL_CMD_STAT_RES_BUSY:
		return "something still uses the object: stop engines and remove flows first";
	case CRL_CMD_STAT_INT_ERR:
	case CRL_CMD_STAT_BAD_SYS_STATE_ERR:
		return "the NIC is in trouble: see the kernel log and devlink health";
	default:
		return "report it with this line: the driver and this firmware disagree";
	}
}

int
crl_fail_cmd(struct crl_err *err, const char *step, int errno_value, const void *out)
{
	uint8_t status = (uint8_t)crl_prm_get(out, CRL_PRM_CMD_OUT_STATUS);
	uint32_t syndrome = crl_prm_get(out, CRL_PRM_CMD_OUT_SYNDROME);

	/* rdma-core from 46 turns the firmware's answer into other errnos; the mailbox has it as it
	 * was. */
	if (status == 0)
		return crl_fail_errno(err, errno_value, step,
			errno_value == EPERM || errno_value == EACCES
				? "DevX needs CAP_NET_RAW and a kernel that allows it: run as root"
				: "see the kernel log",
			"the kernel did not pass the command on");
	crl_err_set(err, -EREMOTEIO, step, fw_fix(status),
		"firmware refused it: %s (status 0x%02x, syndrome 0x%08x; errno %d)",
		crl_fw_status_str(status), status, syndrome, errno_value);
	if (err != NULL) {
		err->fw_status = status;
		err->fw_syndrome = syndrome;
	}
	return -EREMOTEIO;
}

CRL_PUBLIC void
crl_append(char *buf, size_t bytes, const char *words, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, words);
	vsnprintf(buf + used, bytes - used, words, ap);
	va_end(ap);
}

CRL_PUBLIC int
crl_check_size(struct crl_err *err, const char *step, uint32_t size, size_t known)
{
	if (size == known)
		return 0;
	if (size == 0)
		return crl_err_set(err, -EINVAL, step, "pass one, with .size set to its sizeof",
			"there is no config struct, or its size is 0");
	return crl_err_set(err, -EINVAL, step,
		"set .size to sizeof the struct and build program and library from the same "
		"version",
		"config struct says it has %u bytes, this library knows %zu", size, known);
}
