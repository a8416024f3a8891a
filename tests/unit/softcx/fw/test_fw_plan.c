/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the firmware does by itself, by the fault plan: page requests as events, counted in
 * commands, and a link that goes down and up.
 */
#include <unistd.h>

#include "drivers/softcx/fault.h"
#include "guest.h"

static void
page_requests(void **state)
{
	struct fx *fx = *state;
	const uint8_t *e = bus + EQ_AT;

	scx_page_request(fx->nic, 5); /* nobody asked to be told */
	guest_cmd_eq(fx, 1, 1ull << SCX_EVENT_PAGE_REQUEST), fx_ok(fx);
	assert_true(scx_eq_takes(fx->nic, SCX_EVENT_PAGE_REQUEST));
	scx_page_request(fx->nic, 5);
	assert_int_equal(0x0b, e[1]);
	assert_int_equal(0, crl_prm_get(e, (0x20 * 8) << 16 | 32)); /* function 0 */
	assert_int_equal(5, crl_prm_get(e, (0x24 * 8) << 16 | 32));
	scx_page_request(fx->nic, -7);
	assert_int_equal(-7, (int32_t)crl_prm_get(e + 64, (0x24 * 8) << 16 | 32));
}

/* Counted in commands after INIT_HCA; each once, and only when a queue takes it. */
static void
page_plan(void **state)
{
	struct fx *fx = *state;
	const struct scx_fault_plan plan = {
		.pages = {{.at = 2, .nr = 64}, {.at = 4, .nr = -32}}, .nr_pages = 2};
	const uint8_t *e = bus + EQ_AT;

	fx->nic->cfg.faults = &plan;
	fx->nic->hca->state = SCX_HCA_RUNNING;
	fx_cmd_td(fx), fx_ok(fx);
	fx_cmd_td(fx), fx_ok(fx); /* due, and no queue */
	guest_cmd_eq(fx, 1, 1ull << SCX_EVENT_PAGE_REQUEST), fx_ok(fx);
	assert_int_equal(64, crl_prm_get(e, (0x24 * 8) << 16 | 32));
	assert_int_equal(0, e[64 + 1]);
	fx_cmd_td(fx), fx_ok(fx);
	assert_int_equal(-32, (int32_t)crl_prm_get(e + 64, (0x24 * 8) << 16 | 32));
	fx_cmd_td(fx), fx_ok(fx);
	assert_int_equal(0, e[128 + 1]);
	fx->nic->cfg.faults = NULL;
}

/* Down, up, down: an event each, and none while the driver has the port down. */
static void
link_flap(void **state)
{
	struct fx *fx = *state;
	const struct scx_fault_plan plan = {.link_flap = 2};
	const uint8_t *e = bus + EQ_AT;

	fx->nic->cfg.faults = &plan;
	fx->nic->hca->state = SCX_HCA_RUNNING;
	guest_cmd_eq(fx, 1, 1ull << SCX_EVENT_PORT_CHANGE), fx_ok(fx);
	for (int i = 0; i < 1000 && e[2 * 64 + 1] == 0; i++) {
		scx_nic_poll(fx->nic);
		usleep(1000);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(SCX_EVENT_PORT_CHANGE, e[i * 64 + 1]);
		assert_int_equal(
			i % 2 ? SCX_EVENT_PORT_ACTIVE : SCX_EVENT_PORT_DOWN, e[i * 64 + 3]);
		assert_int_equal(1, e[i * 64 + 0x28] >> 4);
	}
	fx->nic->cfg.faults = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(page_requests, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(page_plan, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(link_flap, guest_new, guest_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
