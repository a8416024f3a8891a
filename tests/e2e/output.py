#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every program of ours where it cannot write: on a full disk, into a pipe whose reader has gone, a log or a capture
that stops half-way. Each must say so on standard error and must not exit with 0; and with room it must exit with 0.

usage: output.py BUILD-DIR, as root
"""
import os
import subprocess
import sys
import tempfile

build = os.path.abspath(sys.argv[1])
EAL = ["-l", "0", "--no-huge", "-m", "128", "--no-shconf", "--no-telemetry", "--file-prefix", "output"]
bad = 0


def program(path):
    return os.path.join(build, "apps", path)


SOFTCX = program("softcx/softcx")
SOAK = [SOFTCX, "run", "--", program("soak/carillon-soak"), *EAL, "--", "--packets=2000", "--rounds=3"]
TESTPMD = [SOFTCX, "run", "--", program("testpmd/carillon-testpmd"), "-l", "0,1", *EAL[2:], "--"]
TESTPMD += ["--tx-first", "--duration=0.2"]
DRIVER = os.path.join(build, "tests/e2e/vfio/vfio_driver")
BENCH = [program("bench/carillon-bench"), "post", "--on", "host", "--quick"]


def run(command, stdout, env=None):
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    return subprocess.run(command, stdin=null, stdout=stdout, stderr=pipe, timeout=60, text=True, env=env, check=False)


def full():
    return open("/dev/full", "wb", buffering=0)


def closed():
    read, write = os.pipe()
    os.close(read)
    return os.fdopen(write, "wb", buffering=0)


def expect(name, result, words, good=False):
    """good: an exit status of 0 and none of the words."""
    global bad
    said = words in result.stderr
    if (result.returncode == 0) != good or said == good or result.returncode < 0:
        print(f"{name}: status {result.returncode}, not said: {words!r}\n{result.stderr[-600:]}")
        bad += 1
    else:
        print(f"{name}: as it should be")


def prints(name, command, who, room=True, pipe=True):
    """What goes to standard output."""
    if room:
        expect(f"{name}, room", run(command, subprocess.DEVNULL), "standard output", good=True)
    with full() as out:
        expect(f"{name}, full disk", run(command, out), f"{who}: standard output: No space left")
    if pipe:
        with closed() as out:
            expect(f"{name}, closed pipe", run(command, out), f"{who}: standard output: Broken pipe")


def reports(name, command):
    """What goes to a file by --json."""
    expect(f"{name} --json, full disk", run([*command, "--json=/dev/full"], subprocess.DEVNULL), "/dev/full")


def fill(path):
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(file, b"x" * 4096)
    except OSError:
        os.close(file)


def halves(folder):
    """A log and a capture on a small file system, which is full half-way."""
    talk = [SOFTCX, "run", "--log", f"{folder}/log", "--", "ibv_devinfo"]
    expect("log, room", run(talk, subprocess.DEVNULL), "the log takes no more", good=True)
    with open(f"{folder}/log", "wb") as log:
        log.write(b"x" * 4000 + b"\n")  # of a page
    fill(f"{folder}/fill")
    expect("log, full half-way", run(talk, subprocess.DEVNULL), "the log takes no more: No space left")
    with open(f"{folder}/log", encoding="ascii") as log:
        if "softcx mlx5_0: profile" not in log.read():
            expect("log, full half-way: its first line", run(["false"], None), "the line")
    os.remove(f"{folder}/fill")
    os.remove(f"{folder}/log")
    full_log = [SOFTCX, "run", "--log", "/dev/full", "--", "ibv_devinfo"]
    expect("log, full device", run(full_log, subprocess.DEVNULL), "the log takes no more: No space left")
    tap = [SOFTCX, "run", "--pcap-out", f"{folder}/pcap", *TESTPMD[2:]]
    expect("capture, full half-way", run(tap, subprocess.DEVNULL), "the capture file takes no more: No space left")


def streams():
    """With a standard stream closed no file of the program's own takes its place: a prompt is at its end at once."""
    command = [*TESTPMD[:-2], "-i"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30, text=True,
                            preexec_fn=lambda: os.close(0), check=False)
    global bad
    if result.returncode != 0 or "Command not found" in result.stdout or "Bye" not in result.stdout:
        print(f"standard input closed: status {result.returncode}\n{result.stdout[-600:]}")
        bad += 1


def stuck(folder):
    """A log that is a pipe whose reader does not read, and one without a reader: neither holds the program for ever."""
    os.mkfifo(f"{folder}/pipe")
    reader = os.open(f"{folder}/pipe", os.O_RDONLY | os.O_NONBLOCK)
    talk = [SOFTCX, "run", "--log", f"{folder}/pipe", "--log-dump=1000", *TESTPMD[2:]]
    expect("log, stuck", run(talk, subprocess.DEVNULL), "the log takes no more: Connection timed out")
    os.close(reader)
    expect("log, no reader", run(talk, subprocess.DEVNULL), "No such device or address")
    os.remove(f"{folder}/pipe")


def vfio(folder):
    """The same of `softcx vfio`, which has become the program when the log or the capture is full."""
    fill(f"{folder}/fill")
    for name, option, words in (("log", f"--log={folder}/log", "the log takes no more: No space left"),
                                ("log, none", f"--log={folder}/none/log", "No such file"),
                                ("capture", f"--pcap-out={folder}/pcap", "capture file")):
        expect(f"vfio {name}, full", run([SOFTCX, "vfio", option, "--", DRIVER, "50"], subprocess.DEVNULL), words)
    os.remove(f"{folder}/fill")
    expect("vfio log, room", run([SOFTCX, "vfio", f"--log={folder}/log", "--", DRIVER, "5"], subprocess.DEVNULL),
           "takes no more", good=True)


def main():
    prints("softcx --help", [SOFTCX, "--help"], "softcx")
    prints("softcx run --help", [SOFTCX, "run", "--help"], "softcx")
    # what it finds on this machine is not the question
    prints("carillon-doctor", [program("doctor/carillon-doctor")], "carillon-doctor", room=False)
    prints("carillon-doctor --json", [program("doctor/carillon-doctor"), "--json"], "carillon-doctor", room=False)
    prints("carillon-bench", BENCH, "carillon-bench")
    reports("carillon-bench", BENCH)
    # that these go well is other tests' business
    prints("carillon-soak", SOAK, "carillon-soak", room=False, pipe=False)
    reports("carillon-soak", SOAK)
    prints("carillon-testpmd", TESTPMD, "carillon-testpmd", room=False)
    reports("carillon-testpmd", TESTPMD)
    streams()
    if os.access(program("loop/carillon-loop"), os.X_OK):
        prints("carillon-loop --help", [program("loop/carillon-loop"), "--help"], "carillon-loop")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "output", folder], check=True)
        try:
            halves(folder)
            for name in os.listdir(folder):
                os.remove(f"{folder}/{name}")
            stuck(folder)
            vfio(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


if os.environ.get("OUTPUT_MOUNTS") is None:  # a place for mounts of our own
    os.environ["OUTPUT_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv])
main()
sys.exit(bad != 0)
