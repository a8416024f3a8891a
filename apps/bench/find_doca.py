#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the include folder that has NCCL's copy of NVIDIA's open DOCA GPUNetIO device header.

usage: find_doca.py [FOLDER]...       looks there first, then beside nvcc, then in the nvidia-nccl
                                      wheel of this python and of the one on PATH
Prints nothing and exits with status 1 where there is none: carillon-bench then says so.
"""
import glob
import os
import shutil
import sys

HEADER = 'nccl_device/gin/gdaki/doca_gpunetio/doca_gpunetio_device.h'


def folders(first):
    yield from first
    nvcc = shutil.which('nvcc')
    if nvcc:
        top = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
        yield from (top + '/include', top + '/targets/x86_64-linux/include')
    yield from ('/usr/local/cuda/include', '/usr/include')
    for path in sys.path:
        yield from glob.glob(path + '/nvidia/nccl/include')
        yield from glob.glob(path + '/nvidia/cu*/include')


for folder in folders(sys.argv[1:]):
    if os.path.exists(os.path.join(folder, HEADER)):
        print(os.path.realpath(folder))
        sys.exit(0)
sys.exit(1)
