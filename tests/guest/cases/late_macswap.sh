# SPDX-License-Identifier: BSD-3-Clause
#: like macswap
#: nic --faults dma-delay=40,overwrite,records
#: quick yes
# As macswap, on a NIC whose writes arrive late and in another order, as PCI Express allows, which overwrites what
# was given back to it, and which reads records before anybody rang.
