# SPDX-License-Identifier: BSD-3-Clause
#: like bulk
#: nic --faults dma-delay=40,overwrite,records
# As bulk, on a NIC whose writes arrive late and in another order, as PCI Express allows, which overwrites what was
# given back to it, and which reads records before anybody rang.
