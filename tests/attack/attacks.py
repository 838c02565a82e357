"""Attacks on a change that waits. Each is a function of the lab and a `Round`; it returns once it has done its worst."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import time

from lab import INTRUDER

# A rollback that a guard or the second process begins; where both are gone somebody has to start `guard --resume`.
KEPT_BOUND_S = 5
RESUMED_BOUND_S = 75


class Round:
    """One change under attack: what may be late, and what the attack came to."""

    def __init__(self, folder, change, window_s):
        self.folder = folder
        self.change = change
        self.window_s = window_s
        self.bound_s = KEPT_BOUND_S
        self.counts = {}
        self.undo = []

    def count(self, what, many=1):
        self.counts[what] = self.counts.get(what, 0) + many


def intrude(lab, this, action, seconds, **more):
    """Runs an action of the user without rights."""
    script = f"{lab.folder}/intruder.py"
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "intruder.py"), script)
    os.chmod(script, 0o644)
    pids = [pid for several in lab.pids(this.folder).values() for pid in several]
    told = {"state": lab.state, "run": lab.run_folder, "config": lab.config, "change": this.folder, "pids": pids,
            "socket": f"{lab.run_folder}/{this.change}.sock", "seconds": seconds, "seed": lab.rng.random(), **more}
    ended = subprocess.run(
        ["/usr/bin/python3", "-B", script, action, json.dumps(told)], cwd="/", capture_output=True, text=True,
        user=INTRUDER, group=INTRUDER, extra_groups=[], timeout=seconds + 120)
    if ended.returncode != 0:
        raise RuntimeError(f"intruder {action}: {ended.stderr[-500:]}")
    for what, many in json.loads(ended.stdout.splitlines()[-1]).items():
        this.count(what, many)


def hold_locks(lab, this):
    """Locks of files as this version leaves them."""
    intrude(lab, this, "hold_locks", this.window_s + 10)


def hold_old_locks(lab, this):
    """Locks of files that everybody may read, as older versions left them; the guards are killed."""
    for folder, folders, files in os.walk(lab.state):
        for name in folders + files:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and not stat.S_ISSOCK(os.lstat(path).st_mode):
                os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)
    os.chmod(lab.state, 0o755)
    this.undo.append(lambda: os.chmod(lab.state, 0o700))
    this.undo.append(lambda: os.chmod(f"{lab.state}/changes", 0o700))
    kill_both(lab, this)
    intrude(lab, this, "hold_locks", this.window_s + 20)


def plant_outside(lab, this):
    """Links, pipes and devices of the user without rights."""
    intrude(lab, this, "plant", 10)


def rename_outside(lab, this):
    """Renames, removals and sockets of the user without rights."""
    intrude(lab, this, "rename", 10)


def signal_outside(lab, this):
    """Signals of the user without rights."""
    intrude(lab, this, "signal", 5)


def impersonate(lab, this):
    """Requests in the name of root, by the socket and by commands."""
    for words in (["confirm", this.change], ["rollback", this.change], ["extend", this.change, "10h"]):
        code, _ = lab.command(words, user=INTRUDER)
        this.count("command refused" if code == 4 else f"BREACH command ended with {code}")
    intrude(lab, this, "impersonate", 10)


def garbage(lab, this):
    """Bytes that are no question, until the deadline is over."""
    intrude(lab, this, "garbage", this.window_s + 5)


def flood(lab, this):
    """20 to 200 callers at once, until the deadline is over."""
    intrude(lab, this, "flood", this.window_s + 5, callers=lab.rng.choice([20, 60, 200]))


def signal_all(lab, this, roles, number, what):
    for role in roles:
        for pid in lab.pids(this.folder).get(role, []):
            try:
                os.kill(pid, number)
                this.count(what)
            except ProcessLookupError:
                pass


def stop_guard(lab, this):
    """The guard is stopped beyond its deadline."""
    signal_all(lab, this, ["guard"], signal.SIGSTOP, "guard stopped")


def stop_second(lab, this):
    """The second process is stopped; the guard keeps the deadline."""
    signal_all(lab, this, ["second"], signal.SIGSTOP, "second stopped")


def kill_guard(lab, this):
    signal_all(lab, this, ["guard"], signal.SIGKILL, "guard killed")


def kill_both(lab, this):
    """Both at once; `guard --resume` runs every 30 s."""
    this.bound_s = RESUMED_BOUND_S
    signal_all(lab, this, ["second", "guard"], signal.SIGKILL, "killed")


def end_guard(lab, this):
    """SIGTERM, again and again: each guard leaves a successor."""
    for _ in range(5):
        signal_all(lab, this, ["guard"], signal.SIGTERM, "SIGTERM")
        time.sleep(1)


def resume_storm(lab, this):
    """Many guards at once want the change, among them those that nobody should start."""
    words = [["guard", "--resume"], ["guard", "--keep", this.change], ["guard", "--second", this.change],
             ["guard", "--begin", this.change]]
    started = []
    for _ in range(6):
        for line in words:
            started.append(lab.start(["--source", "sim:./lab.sock", "--state-dir", lab.state, "--config", lab.config, *line]))
        if lab.rng.random() < 0.5:
            signal_all(lab, this, ["guard"], signal.SIGKILL, "guard killed")
        time.sleep(0.3)
    this.bound_s = RESUMED_BOUND_S
    this.count("guards started", len(started))


def forged_neighbours(lab, this):
    """Folders of changes that are none: rubbish, links, pipes, numbers that are taken, a copy without its end."""
    changes = f"{lab.state}/changes"
    made = []

    def forge(name, make):
        path = f"{changes}/{name}"
        if not os.path.lexists(path):
            make(path)
            made.append(path)
            this.count("forged")

    def rubbish(path):
        os.mkdir(path, 0o700)
        with open(f"{path}/journal", "wb") as file:
            file.write(random.choice([b"", b"\n", os.urandom(300), b"00000000 0000000000000000 {}\n"]))

    def copied(path):
        shutil.copytree(this.folder, path, symlinks=True, ignore=lambda *_: ["guard.sock", "socket"])
        with open(f"{path}/journal", "r+b") as file:
            text = file.read()
            file.truncate(lab.rng.randrange(1, len(text)))

    forge("999999999999", lambda path: os.mkdir(path))
    forge("999999", rubbish)
    forge("999998", lambda path: os.symlink("/etc", path))
    forge("999997", lambda path: os.mkfifo(path))
    forge("999996", lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5)))
    forge("999995", copied)
    this.undo.append(lambda: [shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
                              for path in made])


def forged_files(lab, this):
    """Files of the change and of the folder become links, pipes and devices; the guard is killed."""
    for name in ("ended", "guard.log", "plan.json", "socket", "second.lock"):
        path = f"{this.folder}/{name}"
        if lab.rng.random() < 0.5:
            if os.path.lexists(path):
                os.rename(path, path + ".kept")
            lab.rng.choice([lambda: os.symlink("/etc/passwd", path), lambda: os.mkfifo(path),
                            lambda: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5)), lambda: os.mkdir(path)])()
            this.count("planted")
            this.undo.append(lambda path=path: remove_planted(path))
    if lab.rng.random() < 0.5:
        kill_guard(lab, this)
    this.bound_s = RESUMED_BOUND_S


def remove_planted(path):
    if not os.path.lexists(path):
        return
    if os.path.isdir(path) and not os.path.islink(path):
        os.rmdir(path)
    elif not stat.S_ISREG(os.lstat(path).st_mode):
        os.remove(path)


def linked_trail(lab, this):
    """The trail is a link to itself elsewhere, and links lie beside it."""
    trail = f"{lab.state}/audit"
    os.rename(trail, f"{lab.home}/audit.moved")
    os.symlink(f"{lab.home}/audit.moved", trail)
    os.symlink("/etc/passwd", f"{lab.state}/audit.1")

    def put_back():
        for path in (trail, f"{lab.state}/audit.1"):
            if os.path.islink(path):
                os.remove(path)
        if not os.path.exists(trail):
            os.rename(f"{lab.home}/audit.moved", trail)

    this.undo.append(put_back)
    code, text = lab.command(["changes"])
    this.count("link named" if "FD-5646" in text else f"BREACH link not named, {code}")


def prolong(lab, this):
    """The owner prolongs within limits and beyond them."""
    for time_wanted, wanted in (("24h", 4), ("9999h", None), ("-5s", None), ("5s", None), ("30s", 0)):
        code, text = lab.command(["extend", this.change, time_wanted])
        # On a busy machine the window may be over before the request arrives.
        is_late = wanted == 0 and code == 4 and ("FD-5655" in text or "FD-7985" in text)
        fine = is_late or (code == wanted if wanted is not None else code != 0)
        this.count(f"extend {time_wanted}: {code}" if fine else f"BREACH extend {time_wanted} ended with {code}")


def second_change(lab, this):
    """Another plan while the first is pending."""
    plan = f"{lab.home}/other.plan"
    lab.command(["route", "--engine", lab.rng.choice(["updn", "minhop", "dfsssp"]), "-o", plan, "--force"])
    code, text = lab.command(["apply", plan, "--yes", "--accept", "transition"])
    refused = code in (3, 4, 64) or (code == 0 and "nothing to do" in text)
    this.count(f"second apply: {code}" if refused else f"BREACH second apply ended with {code}: {text[-200:]}")


ATTACKS = [hold_locks, hold_old_locks, plant_outside, rename_outside, signal_outside, impersonate, garbage, flood,
           stop_guard, stop_second, kill_guard, kill_both, end_guard, resume_storm, forged_neighbours, forged_files,
           linked_trail, prolong, second_change]
