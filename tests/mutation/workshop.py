# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree with a build folder of its own, where faults are put in and tests are run.

Tests are meson's (introspection says command, environment and what they are built from); which of
them can see a file at all is read from ninja's inputs and the sources' #include lines.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

# Of the end-to-end suites only those that are about queues and their driver, and seconds long.
WIDE = re.compile(r"mlx5 .*|golden_netmlx5|carillon_(ports|testpmd_errors)|gpu_queue|gpudev")
# Of other programs, what is run a second time in another way, and the software NIC's own.
NOT_OURS = re.compile("_remote$|^fuzz|^doctor|^front_pci|^cuda|^scx|^arm64|^dp_|^fw_|^testpmd")
SUITES = ("unit", "fail", "order", "golden", "e2e")
# The checker takes its packets as an argument; a fault shows within few or not at all.
SHORTER = {"hb_intact": "3000"}
# As the check's own build with sanitizers: an index beside its array and a shift that processors
# do not agree on are faults, even where this one gets away with it; so is what nobody stored, which is no
# leftover that happens to be right.
C_ARGS = "-O1 -fsanitize=bounds-strict,shift -fsanitize-undefined-trap-on-error -ftrivial-auto-var-init=pattern"
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.MULTILINE)
MEMORY_MAX = 8 << 30
ALONE = __import__("threading").Lock()  # for tests that want no other beside them


class Test:
    def __init__(self, entry, targets):
        self.name, self.cmd, self.env = entry["name"], list(entry["cmd"]), entry["env"]
        self.targets, self.alone = targets, not entry["is_parallel"]
        self.suite = entry["suite"][0].split(":")[-1]
        self.limit_s = entry["timeout"]
        self.seconds = 0.3  # a guess until it ran
        self.own = self.link = self.quick_of = None  # how its own sources alone are built: quick()
        if self.name in SHORTER:
            self.cmd[-1] = SHORTER[self.name]


def tree_files(root):
    """The files of the tree as they are now, tracked or new, no build output."""
    out = subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True
    )
    if out.returncode == 0:
        names = out.stdout.splitlines()
    else:
        names = [
            os.path.relpath(os.path.join(folder, name), root)
            for folder, _, files in os.walk(root)
            if not re.search(r"/(\.git|\.deps|build[^/]*)(/|$)", folder)
            for name in files
        ]
    return [n for n in names if os.path.isfile(os.path.join(root, n)) and not n.startswith(".deps")]


def copy_tree(root, folder):
    for name in tree_files(root):
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(root, name), target, follow_symlinks=False)
    if os.path.exists(os.path.join(root, ".deps")):
        os.symlink(os.path.realpath(os.path.join(root, ".deps")), os.path.join(folder, ".deps"))


def _limits(cpu_s, memory):
    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        if cpu_s:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return apply


def _wait(child, limit_s):
    """(exit status, the processor's seconds), or None for the status of what runs on."""
    end = time.monotonic() + limit_s
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        if time.monotonic() > end:
            return None, limit_s
        time.sleep(0.005)


class Workshop:
    """One copy. Not for two threads at a time."""

    def __init__(self, root, folder, options=()):
        self.root, self.tree, self.build = root, folder, os.path.join(folder, "b")
        self.env = dict(os.environ, LC_ALL="C", TMPDIR=os.path.join(folder, "tmp"))
        shutil.copytree(root, folder, symlinks=True)
        os.makedirs(self.env["TMPDIR"])
        compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
        self.check(
            ["meson", "setup", self.build, "-Dcuda=disabled", "-Dbuildtype=plain", f"-Dc_args={C_ARGS}", *options],
            dict(self.env, CC=compiler), folder,
        )
        self.tests = {t.name: t for t in self._tests()}
        self.env["CCACHE_DISABLE"] = "1"
        self._closures, self._includes, self._objects = {}, {}, {}

    def check(self, cmd, env, cwd):
        done = subprocess.run(cmd, env=env, cwd=cwd, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(cmd)} failed:\n{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout

    def _info(self, name):
        with open(os.path.join(self.build, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
            return json.load(file)

    def _tests(self):
        files = {t["id"]: t["filename"] for t in self._info("targets")}
        loaded = [os.path.relpath(f, self.build) for names in files.values() for f in names
                  if os.path.basename(f) in ("libsoftcx.so", "librte_gpu_crl.so")]
        for entry in self._info("tests"):
            suite = entry["suite"][0].split(":")[-1]
            if suite not in SUITES or NOT_OURS.search(entry["name"]):
                continue
            if suite == "order" and entry["name"] not in SHORTER:
                continue  # of the checker itself, or of order.h
            if suite == "e2e" and not WIDE.fullmatch(entry["name"]):
                continue
            made = [os.path.relpath(f, self.build) for i in entry["depends"] for f in files.get(i, ())]
            if any("/softcx" in word for word in [*entry["cmd"], *entry["env"].values()]):
                made += loaded  # what it loads by name
            if made:
                yield Test(entry, made)

    # ---- what sees what ----

    def _included(self, name):
        """Files of the tree that name includes, and they include, and itself."""
        if name in self._includes:
            return self._includes[name]
        self._includes[name] = found = {name}
        path = os.path.join(self.tree, name)
        if not os.path.isfile(path) or not name.endswith((".c", ".h")):
            return found
        with open(path, encoding="utf-8", errors="replace") as file:
            for inc in INCLUDE.findall(file.read()):
                for base in (os.path.dirname(name), "", "drivers/mlx5/include"):
                    other = os.path.normpath(os.path.join(base, inc))
                    if os.path.isfile(os.path.join(self.tree, other)):
                        found |= self._included(other)
                        break
        return found

    def _inputs(self, test):
        if test.name not in self._closures:
            out = self.check(["ninja", "-C", self.build, "-t", "inputs", *test.targets], self.env, self.tree)
            names = {os.path.normpath(os.path.join("b", line.strip())) for line in out.splitlines()}
            self._closures[test.name] = {n: self._included(n) for n in names if n.endswith(".c")}
        return self._closures[test.name]

    def sees(self, test, path):
        """Whether anything that test is built from includes path."""
        return any(path in seen for seen in self._inputs(test).values())

    # ---- the short way: a test's own sources, all else as it was ----

    def prepare(self, test):
        """After the tree as it is was built: what quick() needs, where it can be of use."""
        test.own = {}
        if test.suite != "unit" or len(test.targets) != 1 or test.cmd != [os.path.join(self.build, test.targets[0])]:
            return
        undefined = self.check(["nm", "-u", test.targets[0]], self.env, self.build)
        if re.search(r"\bU crl_", undefined):
            return  # it calls a library, which a fault in a header changes as well
        objects = {e["output"]: e for e in self._compile_commands()}
        out = self.check(["ninja", "-C", self.build, "-t", "commands", test.targets[0]], self.env, self.tree)
        link, folder = out.splitlines()[-1], f"{self.build}/quick/{test.targets[0]}"
        os.makedirs(folder, exist_ok=True)
        for name in set(re.findall(r"\S+\.a\b", link)):
            if os.path.isfile(os.path.join(self.build, name)):
                # Thin: a list of objects. Copies, as a later mutant changes the ones there.
                parts = self.check(["ar", "t", name], self.env, self.build).split()
                for part in parts:
                    shutil.copy2(os.path.join(self.build, part), folder)
                link = link.replace(name, " ".join(f"{folder}/{os.path.basename(part)}" for part in parts))
        for name in set(re.findall(r"\S+\.o\b", link)) & set(objects):
            source = os.path.relpath(os.path.normpath(os.path.join(self.build, objects[name]["file"])), self.tree)
            shutil.copy2(os.path.join(self.build, name), folder)
            mine = f"{folder}/{os.path.basename(name)}"
            link = link.replace(name, mine)
            test.own[source] = self._plain(objects[name]["command"], f"-o {mine}")
        test.link, test.quick_cmd = link.replace(f"-o {test.targets[0]}", f"-o {folder}/test"), [f"{folder}/test"]

    def affects(self, path, test):
        """Whether path is seen by what the test really uses: a library that it does not call is not."""
        return any(
            path in seen and (not test.own or name in test.own or not name.startswith("gpu_queues/"))
            for name, seen in self._inputs(test).items()
        )

    def can_quick(self, test, path):
        """Whether path is seen by the test's own sources and by nothing else that it uses."""
        if not test.own:
            return False
        return all(
            name in test.own or name.startswith("gpu_queues/") or path not in seen
            for name, seen in self._inputs(test).items()
        )

    def quick(self, test, path):
        """As make(), into a folder of its own."""
        of_other, test.quick_of = test.quick_of != path, path
        for name, command in test.own.items():
            if of_other or path in self._included(name):
                done = subprocess.run(command, shell=True, cwd=self.build, env=self.env, capture_output=True, text=True)
                if done.returncode != 0:
                    return done.stdout + done.stderr or "no words"
        done = subprocess.run(test.link, shell=True, cwd=self.build, env=self.env, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stderr or "no words"

    def _compile_commands(self):
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            return json.load(file)

    def _plain(self, command, out):
        """A compiler call without ccache and the making of dependency files, with another output."""
        words = re.sub(r"^ccache | -M[DQF]\b(?: '?\S+\.[od]'?)?", " ", command)
        return re.sub(r" -o \S+", f" {out} -w", words)

    # ---- building and running ----

    def put(self, path, text):
        with open(os.path.join(self.tree, path), "w", encoding="utf-8") as file:
            file.write(text)

    def make(self, test, cached=False):
        """Builds what the test needs; '' or the compiler's words."""
        env = {k: v for k, v in self.env.items() if not (cached and k == "CCACHE_DISABLE")}
        done = subprocess.run(
            ["ninja", "-C", self.build, "-j", "1", *test.targets], env=env, capture_output=True, text=True
        )
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def make_all(self, tests, jobs):
        """As make(), of many tests; it goes on past what does not compile."""
        targets = sorted({name for t in tests for name in t.targets})
        env = {k: v for k, v in self.env.items() if k != "CCACHE_DISABLE"}
        done = subprocess.run(
            ["ninja", "-C", self.build, "-k", "0", "-j", str(jobs), *targets], env=env, capture_output=True, text=True
        )
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def run(self, test, limit_s, cpu_s=0, cmd=None, number=0, more=None):
        """'ok', 'fail', 'timeout' or 'skip', and the processor's seconds it took."""
        env = dict(self.env, CRL_MUTANT=str(number), CHECK_FIRST="1", **(more or {}))
        for key, value in test.env.items():
            more = ":" + os.environ[key] if key == "LD_LIBRARY_PATH" and os.environ.get(key) else ""
            env[key] = value + more
        memory = MEMORY_MAX if test.suite == "unit" else 0
        with open(os.devnull, "r+b") as null:
            if test.alone:
                ALONE.acquire()
            try:
                child = subprocess.Popen(
                    cmd or test.cmd, env=env, cwd=self.build, stdin=null, stdout=null, stderr=null,
                    start_new_session=True, preexec_fn=_limits(cpu_s, memory),
                )
                code, used = _wait(child, limit_s)
                try:  # what it left behind, and itself where it hangs
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                if code is None:
                    os.wait4(child.pid, 0)
                child.returncode = 0  # it was waited for, here
            finally:
                if test.alone:
                    ALONE.release()
        if code is None or code == -signal.SIGXCPU:
            return "timeout", used
        return {0: "ok", 77: "skip"}.get(code, "fail"), used

    # ---- the same machine code ----

    def _commands(self):
        if not self._objects:
            for entry in self._compile_commands():
                name = os.path.relpath(os.path.normpath(os.path.join(self.build, entry["file"])), self.tree)
                if name.startswith(("gpu_queues/", "drivers/mlx5/", "tests/unit/", "tests/order/")):
                    self._objects.setdefault((name, "fail/" in entry["output"]), [entry["command"], {}])
        return self._objects

    def _object(self, command):
        words = self._plain(re.sub(r" -O[01]\b| -fsanitize\S+", " -O2 -g0", command), f"-o {self.build}/same.o")
        done = subprocess.run(words, shell=True, cwd=self.build, env=self.env, capture_output=True)
        if done.returncode != 0:
            return None
        with open(os.path.join(self.build, "same.o"), "rb") as file:
            return file.read()

    def same_code(self, path, before, after, deadline):
        """Whether gcc -O2 makes the same of every source that sees path, with text before and after."""
        seen = 0
        self.put(path, after)
        for (name, _), (command, made) in self._commands().items():
            if path not in self._included(name):
                continue
            if time.monotonic() > deadline:
                return False
            if made.get("of") != hash(before):
                self.put(path, before)
                made.update(of=hash(before), object=self._object(command))
                self.put(path, after)
            code = self._object(command)
            if code is None or code != made["object"]:
                return False
            seen += 1
        return seen > 0
