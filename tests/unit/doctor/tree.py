# SPDX-License-Identifier: BSD-3-Clause
"""Makes file trees as a machine's sysfs, proc and dev show them, for carillon-doctor --root.

A Machine starts well: one ConnectX-6 Dx and one GPU below one PCIe switch, all set up as it should
be. A situation changes one thing of it. write() lays it down with relative links only, so that
the tree means the same wherever it lies.
"""
import os
import struct

NIC, GPU = "0000:43:00.0", "0000:44:00.0"
SITUATIONS = []


def situation(function):
    """Registers a function that changes a Machine; its doc string says what must be found then."""
    SITUATIONS.append(function)
    return function


def acs_config(control):
    """Config space of a bridge: one extended capability, ACS, whose control register is given."""
    space = bytearray(4096)
    space[0x100:0x108] = struct.pack("<IHH", 0x0001000D, 0x00FF, control)
    return bytes(space)


def bars(*sizes):
    """sysfs' table of a function's BARs; a size of 0 is a BAR without memory."""
    lines, base = [], 0x1000000000
    for size in list(sizes) + [0] * (7 - len(sizes)):
        lines.append(f"0x{base:016x} 0x{base + size - 1:016x} 0x{0x14220C:016x}" if size else "0x0 0x0 0x0")
        base += max(size, 1 << 40)
    return "\n".join(lines) + "\n"


class Machine:
    def __init__(self):
        self.files = {}
        self.links = {}
        self.modes = {}
        self.facts = {
            "uid": "1000", "memlock": "unlimited", "cap_ipc_lock": "0",
            "lib.rdma-core": "56", "lib.mlx5_provider": "1", "lib.dpdk": "24.11.1", "lib.net_mlx5": "1",
            "cuda": "ok",
        }
        self.nics, self.gpus = {}, {}
        self.switch("pci0000:40", "0000:40:01.0", "0000:41:00.0", ["0000:42:00.0", "0000:42:01.0"])
        self.nic("0000:43:00.0", "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:00.0")
        self.gpu("0000:44:00.0", "devices/pci0000:40/0000:40:01.0/0000:41:00.0/0000:42:01.0")
        self.put("proc/driver/nvidia/version",
                 "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n")
        self.put("proc/driver/nvidia/params",
                 'EnableMSI: 1\nRegistryDwords: "PeerMappingOverride=1;"\nRmMsg: ""\n')
        self.put("proc/version", "Linux version 6.1.0-40-amd64 (debian-kernel) #1 SMP\n")
        self.hugepages(1024, 1024)
        for module in ("mlx5_core", "mlx5_ib", "ib_uverbs", "nvidia"):
            self.put(f"sys/module/{module}/refcnt", "1\n")
        self.nodes("0")

    # ---- pieces ----

    def put(self, path, content):
        self.files[path] = content if isinstance(content, bytes) else str(content).encode()

    def drop(self, prefix):
        for table in (self.files, self.links, self.modes):
            for path in [p for p in table if p == prefix or p.startswith(prefix + "/")]:
                del table[path]

    def bridge(self, path, bdf):
        self.put(f"sys/{path}/class", "0x060400\n")
        self.put(f"sys/{path}/vendor", "0x1000\n")
        self.put(f"sys/{path}/device", "0xc030\n")
        self.put(f"sys/{path}/config", acs_config(0))
        self.links[f"sys/bus/pci/devices/{bdf}"] = f"sys/{path}"

    def switch(self, root, port, up, downs):
        self.bridge(f"devices/{root}/{port}", port)
        self.bridge(f"devices/{root}/{port}/{up}", up)
        for down in downs:
            self.bridge(f"devices/{root}/{port}/{up}/{down}", down)

    def pci(self, bdf, parent, vendor, device, pci_class, driver, node):
        path = f"sys/{parent}/{bdf}"
        self.put(f"{path}/vendor", f"0x{vendor:04x}\n")
        self.put(f"{path}/device", f"0x{device:04x}\n")
        self.put(f"{path}/class", f"0x{pci_class:06x}\n")
        self.put(f"{path}/numa_node", f"{node}\n")
        self.links[f"sys/bus/pci/devices/{bdf}"] = path
        if driver:
            self.put(f"sys/bus/pci/drivers/{driver}/bind", "")
            self.links[f"{path}/driver"] = f"sys/bus/pci/drivers/{driver}"
        return path

    def nic(self, bdf, parent, device=0x101D, driver="mlx5_core", node=0, fw="22.41.1000", rdma=True):
        i = len(self.nics)
        path = self.pci(bdf, parent, 0x15B3, device, 0x020000, driver, node)
        self.nics[i] = path
        self.put(f"{path}/current_link_width", "16\n")
        self.put(f"{path}/max_link_width", "16\n")
        if not rdma:
            return
        ib = f"{path}/infiniband/mlx5_{i}"
        self.put(f"{ib}/fw_ver", f"{fw}\n")
        self.put(f"{ib}/ports/1/link_layer", "Ethernet\n")
        self.put(f"{ib}/ports/1/state", "4: ACTIVE\n")
        self.links[f"sys/class/infiniband/mlx5_{i}"] = ib
        self.put(f"{path}/infiniband_verbs/uverbs{i}/ibdev", f"mlx5_{i}\n")
        self.links[f"sys/class/infiniband_verbs/uverbs{i}"] = f"{path}/infiniband_verbs/uverbs{i}"
        self.put(f"dev/infiniband/uverbs{i}", "")
        self.modes[f"dev/infiniband/uverbs{i}"] = 0o666
        self.put(f"{path}/net/eth{i}/mtu", "1500\n")
        self.put(f"{path}/net/eth{i}/carrier", "1\n")
        self.facts.update({f"devx.mlx5_{i}": "ok", f"devx.mlx5_{i}.log_max_wq_sz": "15",
                           f"devx.mlx5_{i}.inline_mode": "0", f"devx.mlx5_{i}.ts_format": "1",
                           f"devx.mlx5_{i}.events": "1", f"devx.mlx5_{i}.uar": "nc_dedicated"})

    def no_nic(self, i=0):
        path = self.nics.pop(i)
        bdf = path.rsplit("/", 1)[1]
        self.drop(path)
        for link in (f"sys/bus/pci/devices/{bdf}", f"sys/class/infiniband/mlx5_{i}",
                     f"sys/class/infiniband_verbs/uverbs{i}", f"dev/infiniband/uverbs{i}"):
            self.drop(link)

    def no_rdma(self, i=0):
        self.drop(f"{self.nics[i]}/infiniband")
        self.drop(f"{self.nics[i]}/infiniband_verbs")
        self.drop(f"sys/class/infiniband/mlx5_{i}")
        self.drop(f"sys/class/infiniband_verbs/uverbs{i}")

    def gpu(self, bdf, parent, driver="nvidia", node=0, bar1=128 << 30):
        path = self.pci(bdf, parent, 0x10DE, 0x2330, 0x030200, driver, node)
        self.gpus[len(self.gpus)] = path
        self.put(f"{path}/resource", bars(16 << 20, bar1, 0, 32 << 20))
        self.facts.update({f"cuda.{bdf}.gpu_direct_rdma": "1", f"cuda.{bdf}.dma_buf": "1",
                           f"cuda.{bdf}.writes_ordering": "100"})

    def no_gpu(self):
        for path in self.gpus.values():
            self.drop(path)
            self.drop("sys/bus/pci/devices/" + path.rsplit("/", 1)[1])
        self.gpus = {}
        self.drop("proc/driver/nvidia")
        self.facts.pop("cuda")

    def nodes(self, online):
        self.put("sys/devices/system/node/online", f"{online}\n")

    def hugepages(self, total, free, node_free=None):
        self.put("proc/meminfo", f"MemTotal: 64000000 kB\nHugePages_Total: {total}\n"
                 f"HugePages_Free: {free}\nHugepagesize: 2048 kB\n")
        self.put("sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages",
                 f"{free if node_free is None else node_free}\n")

    def iommu(self, path, kind, group="7"):
        self.put(f"sys/kernel/iommu_groups/{group}/type", f"{kind}\n")
        self.links[f"{path}/iommu_group"] = f"sys/kernel/iommu_groups/{group}"

    # ---- laying it down ----

    def write(self, root):
        for path, content in self.files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(content)
        for path, mode in self.modes.items():
            os.chmod(os.path.join(root, path), mode)
        for path, target in self.links.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            os.symlink(os.path.relpath(os.path.join(root, target), os.path.dirname(full)), full)
        with open(os.path.join(root, "facts"), "w", encoding="utf-8") as file:
            file.writelines(f"{key} {value}\n" for key, value in self.facts.items())
