# SPDX-License-Identifier: BSD-3-Clause
"""Situations of NIC, RDMA device, DevX and libraries; doctor_trees.py says what the form is."""
from tree import GPU, NIC, situation


@situation
def all_well(m):
    return {GPU: ("mlx5_0", "PIX")}


@situation
def nothing_at_all(m):
    """stop nic.none"""
    m.no_nic()
    m.no_gpu()


@situation
def gpu_without_nic(m):
    """stop nic.none"""
    m.no_nic()


@situation
def nic_without_gpu(m):
    m.no_gpu()


@situation
def connectx3(m):
    """stop nic.too_old 0000:43:00.0"""
    m.no_nic()
    m.nic(NIC, "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0", device=0x1003,
          driver="mlx4_core", rdma=False)


@situation
def connectx4_without_capabilities(m):
    """stop devx.refused mlx5_0
    warn nic.doubtful 0000:43:00.0"""
    m.put(f"{m.nics[0]}/device", "0x1013\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "12.28.2006\n")
    m.facts["devx.mlx5_0"] = "query capabilities: the NIC does not take 64-byte send WQEs"
    del m.facts["devx.mlx5_0.uar"]


@situation
def connectx4_lx_that_works(m):
    """warn nic.doubtful 0000:43:00.0
    note devx.inline mlx5_0"""
    m.put(f"{m.nics[0]}/device", "0x1015\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "14.32.1010\n")
    m.facts["devx.mlx5_0.inline_mode"] = "1"


@situation
def connectx4_old_firmware(m):
    """stop firmware.old mlx5_0
    warn nic.doubtful 0000:43:00.0"""
    m.put(f"{m.nics[0]}/device", "0x1013\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "12.18.2000\n")


@situation
def connectx5(m):
    m.put(f"{m.nics[0]}/device", "0x1017\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "16.35.4030\n")


@situation
def connectx5_oldest_firmware_that_goes(m):
    m.put(f"{m.nics[0]}/device", "0x1019\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "16.21.1000\n")


@situation
def connectx7(m):
    m.put(f"{m.nics[0]}/device", "0x1021\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "28.39.1002\n")


@situation
def bluefield3(m):
    m.put(f"{m.nics[0]}/device", "0xa2dc\n")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "32.41.1000\n")


@situation
def card_of_the_future(m):
    """note nic.unknown_id 0000:43:00.0"""
    m.put(f"{m.nics[0]}/device", "0x1099\n")


@situation
def old_firmware(m):
    """stop firmware.old mlx5_0"""
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver", "22.9.9999\n")


@situation
def firmware_not_said(m):
    """note firmware.unknown mlx5_0"""
    m.drop(f"{m.nics[0]}/infiniband/mlx5_0/fw_ver")


@situation
def vfio_has_it(m):
    """stop nic.other_driver 0000:43:00.0"""
    m.no_nic()
    m.nic(NIC, "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0", driver="vfio-pci", rdma=False)


@situation
def no_driver(m):
    """stop nic.no_driver 0000:43:00.0"""
    m.no_nic()
    m.nic(NIC, "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0", driver=None, rdma=False)


@situation
def virtual_function(m):
    """warn nic.vf 0000:43:00.0"""
    m.put(f"{m.nics[0]}/device", "0x101e\n")
    m.put(f"{m.nics[0]}/physfn", "")


@situation
def no_mlx5_ib(m):
    """stop rdma.no_mlx5_ib 0000:43:00.0"""
    m.no_rdma()
    m.drop("sys/module/mlx5_ib")


@situation
def no_rdma_device_though_loaded(m):
    """stop rdma.no_device 0000:43:00.0"""
    m.no_rdma()


@situation
def no_uverbs_module(m):
    """stop rdma.no_uverbs mlx5_0"""
    m.drop(f"{m.nics[0]}/infiniband_verbs")
    m.drop("sys/class/infiniband_verbs/uverbs0")
    m.drop("sys/module/ib_uverbs")


@situation
def node_missing(m):
    """stop rdma.no_node mlx5_0"""
    m.drop("dev/infiniband/uverbs0")


@situation
def node_missing_in_container(m):
    """stop rdma.no_node mlx5_0
    note place.container"""
    m.drop("dev/infiniband/uverbs0")
    m.put(".dockerenv", "")


@situation
def node_not_ours(m):
    """stop rdma.permission mlx5_0"""
    m.modes["dev/infiniband/uverbs0"] = 0o660


@situation
def node_not_ours_but_root(m):
    m.modes["dev/infiniband/uverbs0"] = 0o600
    m.facts["uid"] = "0"


@situation
def speaks_infiniband(m):
    """stop rdma.infiniband mlx5_0"""
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n")


@situation
def devx_not_allowed(m):
    """stop devx.refused mlx5_0"""
    m.facts["devx.mlx5_0"] = "open the device: mlx5_0 does not open for DevX: Operation not permitted"
    del m.facts["devx.mlx5_0.uar"]


@situation
def devx_not_tried(m):
    """note devx.not_tried mlx5_0"""
    del m.facts["devx.mlx5_0"]


@situation
def no_events(m):
    """warn devx.no_events mlx5_0"""
    m.facts["devx.mlx5_0.events"] = "0"
    m.facts["devx.mlx5_0.events_why"] = "Operation not supported"


@situation
def short_rings(m):
    """warn devx.short_rings mlx5_0"""
    m.facts["devx.mlx5_0.log_max_wq_sz"] = "8"


@situation
def blueflame_doorbells(m):
    """note uar.bf mlx5_0
    note rdma-core.no_nc_dedicated"""
    m.facts["devx.mlx5_0.uar"] = "bf"
    m.facts["lib.rdma-core"] = "44"


@situation
def no_write_combining(m):
    """note uar.nc_shared mlx5_0
    note rdma-core.no_nc_dedicated"""
    m.facts["devx.mlx5_0.uar"] = "nc_shared"
    m.facts["lib.rdma-core"] = "44"


@situation
def no_doorbell_page(m):
    """stop uar.none mlx5_0"""
    m.facts["devx.mlx5_0.uar"] = "none"


@situation
def no_rdma_core(m):
    """stop rdma-core.missing"""
    del m.facts["lib.rdma-core"]


@situation
def old_rdma_core(m):
    """stop rdma-core.old"""
    m.facts["lib.rdma-core"] = "28"


@situation
def no_mlx5_provider(m):
    """stop rdma-core.no_provider"""
    m.facts["lib.mlx5_provider"] = "0"


@situation
def rdma_core_45(m):
    m.facts["lib.rdma-core"] = "45"


@situation
def no_dpdk(m):
    """stop dpdk.missing"""
    del m.facts["lib.dpdk"]


@situation
def dpdk_of_ubuntu_2204(m):
    """stop dpdk.old
    note rdma-core.no_nc_dedicated"""
    m.facts["lib.dpdk"] = "21.11.9"
    m.facts["lib.rdma-core"] = "39"


@situation
def dpdk_without_mlx5(m):
    """stop dpdk.no_net_mlx5"""
    m.facts["lib.net_mlx5"] = "0"
