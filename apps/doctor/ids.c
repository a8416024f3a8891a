/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mellanox and NVIDIA network devices by PCI device id, with the least firmware that DPDK's mlx5
 * guide asks for. An id that is missing here is no fault: the doctor then goes by what the device
 * says of itself. Source: Linux mlx5_core's table of ids, DPDK's guide. Host only.
 */
#include "doctor.h"

static const struct dr_model models[] = {
	{0x1003, .too_old = true, .name = "ConnectX-3"},
	{0x1004, .is_vf = true, .too_old = true, .name = "ConnectX-3 VF"},
	{0x1007, .too_old = true, .name = "ConnectX-3 Pro"},
	{0x1013, .doubtful = true, .name = "ConnectX-4", .fw_min = "12.21.1000"},
	{0x1014, .is_vf = true, .doubtful = true, .name = "ConnectX-4 VF", .fw_min = "12.21.1000"},
	{0x1015, .doubtful = true, .name = "ConnectX-4 Lx", .fw_min = "14.21.1000"},
	{0x1016, .is_vf = true, .doubtful = true, .name = "ConnectX-4 Lx VF",
		.fw_min = "14.21.1000"},
	{0x1017, .name = "ConnectX-5", .fw_min = "16.21.1000"},
	{0x1018, .is_vf = true, .name = "ConnectX-5 VF", .fw_min = "16.21.1000"},
	{0x1019, .name = "ConnectX-5 Ex", .fw_min = "16.21.1000"},
	{0x101a, .is_vf = true, .name = "ConnectX-5 Ex VF", .fw_min = "16.21.1000"},
	{0x101b, .name = "ConnectX-6", .fw_min = "20.27.0090"},
	{0x101c, .is_vf = true, .name = "ConnectX-6 VF", .fw_min = "20.27.0090"},
	{0x101d, .name = "ConnectX-6 Dx", .fw_min = "22.27.0090"},
	{0x101e, .is_vf = true, .name = "ConnectX VF"}, /* of every later card */
	{0x101f, .name = "ConnectX-6 Lx", .fw_min = "26.27.0090"},
	{0x1021, .name = "ConnectX-7"},
	{0x1023, .name = "ConnectX-8"},
	{0xa2d2, .name = "BlueField"},
	{0xa2d3, .is_vf = true, .name = "BlueField VF"},
	{0xa2d6, .name = "BlueField-2", .fw_min = "24.28.1002"},
	{0xa2dc, .name = "BlueField-3"},
};

const struct dr_model *
dr_model(uint16_t device)
{
	for (unsigned i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (models[i].device == device)
			return &models[i];
	return NULL;
}
