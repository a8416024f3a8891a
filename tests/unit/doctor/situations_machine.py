# SPDX-License-Identifier: BSD-3-Clause
"""Situations of GPU, PCIe, link and host; doctor_trees.py says what the form is."""
from tree import GPU, NIC, acs_config, bars, situation


def far_nic(m):
    """A second NIC on another socket whose address, and so its place in the list, comes first."""
    m.nodes("0-1")
    m.bridge("devices/pci0000:00/0000:00:01.0", "0000:00:01.0")
    m.nic("0000:01:00.0", "devices/pci0000:00/0000:00:01.0", node=1)


@situation
def nouveau(m):
    """stop gpu.no_driver 0000:44:00.0"""
    m.links[f"{m.gpus[0]}/driver"] = "sys/bus/pci/drivers/nouveau"
    m.put("sys/bus/pci/drivers/nouveau/bind", "")
    m.drop("proc/driver/nvidia")
    m.facts["cuda"] = "libcuda.so.1: cannot open shared object file"


@situation
def libcuda_does_not_start(m):
    """stop gpu.no_cuda"""
    m.facts["cuda"] = "cuInit returned 803"


@situation
def closed_modules(m):
    """stop gpu-data.no_way"""
    m.put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu\n")


@situation
def closed_modules_with_peermem(m):
    """note gpu-data.peermem_only"""
    m.put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu\n")
    m.put("sys/module/nvidia_peermem/refcnt", "0\n")


@situation
def open_modules_on_an_old_kernel(m):
    """stop gpu-data.no_way"""
    m.put("proc/version", "Linux version 5.4.0-190-generic (buildd) #210-Ubuntu SMP\n")


@situation
def first_kernel_with_dmabuf(m):
    m.put("proc/version", "Linux version 5.12.0 (x) #1\n")


@situation
def gpu_without_gpudirect(m):
    """stop gpu-data.no_gpudirect 0000:44:00.0"""
    m.facts[f"cuda.{GPU}.gpu_direct_rdma"] = "0"


@situation
def gpu_without_dmabuf(m):
    """stop gpu-data.no_way"""
    m.facts[f"cuda.{GPU}.dma_buf"] = "0"


@situation
def no_peer_mapping_override(m):
    """stop gpu-control.no_override"""
    m.put("proc/driver/nvidia/params", 'EnableMSI: 1\nRegistryDwords: ""\n')


@situation
def no_peer_mapping_override_but_root(m):
    """note gpu-control.root_only"""
    m.put("proc/driver/nvidia/params", 'EnableMSI: 1\nRegistryDwords: ""\n')
    m.facts["uid"] = "0"


@situation
def override_in_another_parameter(m):
    """stop gpu-control.no_override"""
    m.put("proc/driver/nvidia/params", 'RegistryDwords: ""\nRmMsg: "PeerMappingOverride=1"\n')


@situation
def small_bar1(m):
    """warn bar1.small 0000:44:00.0"""
    m.put(f"{m.gpus[0]}/resource", bars(16 << 20, 256 << 20, 0, 32 << 20))


@situation
def no_bar1(m):
    """stop bar1.none 0000:44:00.0"""
    m.put(f"{m.gpus[0]}/resource", bars(0))


@situation
def iommu_translates_both(m):
    """warn iommu.translates 0000:43:00.0
    warn iommu.translates 0000:44:00.0"""
    m.iommu(m.nics[0], "DMA-FQ")
    m.iommu(m.gpus[0], "DMA", "8")


@situation
def iommu_passes_through(m):
    m.iommu(m.nics[0], "identity")
    m.iommu(m.gpus[0], "identity", "8")


@situation
def acs_redirects_on_one_port(m):
    """warn acs.redirects 0000:42:00.0"""
    m.put("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0/config", acs_config(0x1D))


@situation
def acs_only_validates(m):
    m.put("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0/config", acs_config(0x01))


@situation
def acs_hidden_from_users(m):
    """note acs.blind"""
    for path in [p for p in m.files if p.endswith("/config")]:
        m.put(path, bytes(64))


@situation
def two_nics_far_one_first(m):
    """warn path.first_is_far 0000:44:00.0"""
    far_nic(m)
    return {GPU: ("mlx5_0", "PIX")}


@situation
def two_nics_near_one_first(m):
    m.nodes("0-1")
    m.bridge("devices/pci0000:80/0000:80:01.0", "0000:80:01.0")
    m.nic("0000:81:00.0", "devices/pci0000:80/0000:80:01.0", node=1)
    return {GPU: ("mlx5_0", "PIX")}


@situation
def near_nic_is_vfios(m):
    """stop nic.other_driver 0000:43:00.0
    warn path.far 0000:44:00.0"""
    m.no_nic()
    m.nodes("0-1")
    m.nic(NIC, "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0", driver="vfio-pci", rdma=False)
    m.bridge("devices/pci0000:80/0000:80:01.0", "0000:80:01.0")
    m.nic("0000:81:00.0", "devices/pci0000:80/0000:80:01.0", node=1)
    return {GPU: ("mlx5_1", "SYS")}


@situation
def two_ports_only_second_plugged_in(m):
    """note link.down eth0"""
    m.nic("0000:43:00.1", "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0")
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/ports/1/state", "1: DOWN\n")
    m.put(f"{m.nics[0]}/net/eth0/carrier", "0\n")
    return {GPU: ("mlx5_1", "PIX")}


@situation
def gpu_on_another_host_bridge(m):
    """note path.host_bridge 0000:65:00.0"""
    m.drop(m.gpus.pop(0))
    m.drop(f"sys/bus/pci/devices/{GPU}")
    m.bridge("devices/pci0000:64/0000:64:01.0", "0000:64:01.0")
    m.gpu("0000:65:00.0", "devices/pci0000:64/0000:64:01.0")
    return {"0000:65:00.0": ("mlx5_0", "NODE")}


def gpu_alone(m, node):
    m.drop(m.gpus.pop(0))
    m.drop(f"sys/bus/pci/devices/{GPU}")
    m.bridge("devices/pci0000:64/0000:64:01.0", "0000:64:01.0")
    m.gpu("0000:65:00.0", "devices/pci0000:64/0000:64:01.0", node=node)


@situation
def virtual_machine_whose_gpu_says_no_node(m):
    """note path.host_bridge 0000:65:00.0"""
    gpu_alone(m, -1)
    return {"0000:65:00.0": ("mlx5_0", "NODE")}


@situation
def several_nodes_and_the_gpus_is_not_said(m):
    """warn path.maybe_far 0000:65:00.0"""
    m.nodes("0-1")
    gpu_alone(m, -1)
    return {"0000:65:00.0": ("mlx5_0", "SYS")}


@situation
def gpu_by_the_same_root_complex(m):
    """note path.host_bridge 0000:45:00.0"""
    m.drop(m.gpus.pop(0))
    m.drop(f"sys/bus/pci/devices/{GPU}")
    m.bridge("devices/pci0000:40/0000:40:03.0", "0000:40:03.0")
    m.gpu("0000:45:00.0", "devices/pci0000:40/0000:40:03.0")
    return {"0000:45:00.0": ("mlx5_0", "PHB")}


@situation
def gpu_below_two_switches(m):
    m.drop(m.gpus.pop(0))
    m.drop(f"sys/bus/pci/devices/{GPU}")
    below = "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:01.0"
    m.bridge(f"{below}/0000:50:00.0", "0000:50:00.0")
    m.bridge(f"{below}/0000:50:00.0/0000:51:00.0", "0000:51:00.0")
    m.gpu("0000:52:00.0", f"{below}/0000:50:00.0/0000:51:00.0")
    return {"0000:52:00.0": ("mlx5_0", "PXB")}


@situation
def no_link_anywhere(m):
    """stop link.all_down eth0"""
    m.put(f"{m.nics[0]}/infiniband/mlx5_0/ports/1/state", "1: DOWN\n")
    m.put(f"{m.nics[0]}/net/eth0/carrier", "0\n")


@situation
def no_netdev_here(m):
    """warn link.no_netdev mlx5_0"""
    m.drop(f"{m.nics[0]}/net")


@situation
def mtu_jumbo(m):
    m.put(f"{m.nics[0]}/net/eth0/mtu", "9000\n")


@situation
def mtu_tiny(m):
    """warn link.mtu_odd eth0"""
    m.put(f"{m.nics[0]}/net/eth0/mtu", "576\n")


@situation
def half_the_lanes(m):
    """warn pcie.narrow 0000:43:00.0"""
    m.put(f"{m.nics[0]}/current_link_width", "8\n")


@situation
def no_hugepages(m):
    """warn hugepages.none"""
    m.hugepages(0, 0)


@situation
def kernel_without_hugepages(m):
    """warn hugepages.no_kernel"""
    m.put("proc/meminfo", "MemTotal: 64000000 kB\nAnonHugePages: 0 kB\n")


@situation
def one_gigabyte_hugepages_only(m):
    m.put("proc/meminfo", "HugePages_Total: 0\nHugePages_Free: 0\n")
    m.put("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "4\n")
    m.put("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "4\n")
    m.put("sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages", "4\n")


@situation
def hugepages_all_used(m):
    """warn hugepages.all_used"""
    m.hugepages(512, 0)


@situation
def hugepages_on_the_other_node(m):
    """warn hugepages.not_on_node 0000:43:00.0"""
    m.hugepages(512, 512, node_free=0)


@situation
def memlock_of_a_user(m):
    """stop memlock.low"""
    m.facts["memlock"] = "8388608"


@situation
def memlock_of_root_without_the_capability(m):
    """stop memlock.low"""
    m.facts.update({"memlock": "65536", "uid": "0"})


@situation
def memlock_with_the_capability(m):
    m.facts.update({"memlock": "65536", "cap_ipc_lock": "1"})


@situation
def node_not_said(m):
    """warn numa.unknown 0000:43:00.0"""
    m.nodes("0-1")
    m.put(f"{m.nics[0]}/numa_node", "-1\n")


@situation
def one_node_not_said(m):
    m.put(f"{m.nics[0]}/numa_node", "-1\n")


@situation
def nvidias_own_stack(m):
    """note place.ofed"""
    m.put("sys/module/mlx_compat/refcnt", "0\n")


@situation
def five_faults_at_once(m):
    """stop rdma.permission mlx5_0
    stop memlock.low
    stop gpu-control.no_override
    warn hugepages.none
    warn pcie.narrow 0000:43:00.0"""
    m.modes["dev/infiniband/uverbs0"] = 0o600
    m.facts["memlock"] = "65536"
    m.drop("proc/driver/nvidia/params")
    m.hugepages(0, 0)
    m.put(f"{m.nics[0]}/current_link_width", "4\n")
