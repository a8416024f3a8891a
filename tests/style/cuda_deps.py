#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every CUDA object of a build folder is made again when a header that it includes changes.

  cuda_deps.py BUILD

Asks ninja which headers it has recorded for each *.cu.o. An object without any stays as it was when a
struct changes, and its program then meets queues of another layout: seen once, on a GPU.
"""
import os
import re
import subprocess
import sys

text = subprocess.run(['ninja', '-C', sys.argv[1], '-t', 'deps'], capture_output=True, text=True, check=True).stdout
objects = {m[1]: (int(m[2]), m[3]) for m in re.finditer(r'^(\S+\.cu\.o): #deps (\d+), .*\((\w+)\)$', text, re.M)}
rules = subprocess.run(['ninja', '-C', sys.argv[1], '-t', 'targets', 'all'], capture_output=True, text=True,
                       check=True).stdout
built = set(re.findall(r'^(\S+\.cu\.o):', rules, re.M))
bad = 0
for o in sorted(built):
    deps, state = objects.get(o, (0, 'none recorded'))
    print(f'{o}: {deps} files, {state}')
    if deps < 2 and not os.path.exists(os.path.join(sys.argv[1], o)):
        print(f'  FAIL: {o} is not built. Fix: ninja -C {sys.argv[1]}')
        bad += 1
    elif deps < 2:
        print(f'  FAIL: no header of {o} is known to ninja. Fix: give its target -MD -MF FILE.o.d, as '
              'gpu_queues/meson.build does')
        bad += 1
if not built:
    sys.exit('no CUDA object in this build folder')
sys.exit(1 if bad else 0)
