"""A served fabric, the user who changes it, and what the fabric and the journal say of a change."""

import datetime
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

# Users that need no account: the one who changes the fabric, and one without rights.
OWNER = 20001
INTRUDER = 65534

FABRIC = "sim:kary,k=4,n=2,traffic=none"
ENGINES = ["updn", "ftree", "minhop", "dfsssp"]


class Failed(Exception):
    """A command ended as it should not."""


class Lab:
    """One fabric with its state folder. Everything in it is ended and removed by `close`."""

    def __init__(self, program, number, rng):
        self.rng = rng
        self.folder = tempfile.mkdtemp(prefix=f"fabdeck-attack-{number}-")
        os.chmod(self.folder, 0o755)
        self.program = f"{self.folder}/fabdeck"
        shutil.copy(program, self.program)
        os.chmod(self.program, 0o755)
        self.home = self.made("home", 0o755)
        self.run_folder = self.made("home/run", 0o755)
        self.config = f"{self.home}/lab.toml"
        self.state = f"{self.home}/state"
        with open(self.config, "w") as file:
            file.write(f'socket-dir = "{self.run_folder}"\n[rights]\nlist = ["*"]\n')
        os.chmod(self.config, 0o644)
        self.engine = 0
        self.server = self.start(["--source", FABRIC, "simulate", "--serve", "lab.sock"])
        self.wait_for(lambda: os.path.exists(f"{self.home}/lab.sock"), 60, "the simulator")

    def made(self, name, mode):
        path = f"{self.folder}/{name}"
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, OWNER, OWNER)
        return path

    def start(self, words, user=OWNER, out=subprocess.DEVNULL):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8"}
        return subprocess.Popen(
            [self.program, *words], cwd=self.home, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            user=user, group=user, extra_groups=[], start_new_session=True)

    def command(self, words, user=OWNER, patience=120):
        """Exit code and text of a command; 124 where it did not end."""
        common = ["--source", "sim:./lab.sock", "--state-dir", self.state, "--config", self.config]
        with tempfile.TemporaryFile() as out:
            process = self.start([*common, *words], user, out)
            try:
                code = process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = 124
            out.seek(0)
            return code, out.read().decode(errors="replace")

    @staticmethod
    def wait_for(holds, seconds, what):
        since = time.monotonic()
        while not holds():
            if time.monotonic() - since > seconds:
                raise Failed(f"{what} was not there within {seconds} s")
            time.sleep(0.05)

    def tables(self):
        """What switches hold, as a hash."""
        for _ in range(20):
            code, text = self.command(["convert", "sim:./lab.sock", "--to", "lfts", "-o", "-"])
            if code == 0:
                return hashlib.sha256(text.encode()).hexdigest()
            time.sleep(0.5)
        raise Failed(f"the tables cannot be read: {text}")

    def begin(self, window_s):
        """Applies another engine's routes: exit code, text, id, tables before and after."""
        before = self.tables()
        for _ in ENGINES:
            self.engine += 1
            plan = f"{self.home}/{self.engine % 2}.plan"
            self.command(["route", "--engine", ENGINES[self.engine % len(ENGINES)], "-o", plan, "--force"])
            code, text = 0, ""
            for accepted in ("transition", "transition,cycle", "cycle", None):
                words = ["apply", plan, "--yes", "--confirm-within", f"{window_s}s"]
                code, text = self.command(words + (["--accept", accepted] if accepted else []))
                if "FD-7982" not in text and "FD-7983" not in text:
                    break
            if "nothing to do" not in text and "FD-7983" not in text:
                break
        return code, text, self.newest(), before, self.tables() if code == 0 else before

    def change_folders(self):
        return sorted(folder for folder in glob.glob(f"{self.state}/changes/[0-9]*") if os.path.isdir(folder))

    def newest(self):
        """The folder of the change that was begun last."""
        begun = [folder for folder in self.change_folders() if self.records(folder)]
        return begun[-1] if begun else None

    @staticmethod
    def records(folder):
        """Records of a journal, as far as they can be read."""
        try:
            with open(f"{folder}/journal", "rb") as file:
                lines = file.read().decode(errors="replace").split("\n")
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line.split(" ", 2)[2]))
            except (IndexError, ValueError):
                continue
        return found

    def phase(self, folder):
        """How a change stands by its journal, its deadline, and when its rollback was done."""
        phase, deadline, returned = "begun", None, None
        for record in self.records(folder):
            kind = record.get("record")
            deadline = record.get("deadline", deadline)
            if kind == "returned":
                phase, returned = "incomplete" if record.get("left") else "rolled back", record["time"]
            elif kind in ("applied", "confirmed", "refused"):
                phase = kind
            elif kind in ("returning", "again"):
                phase = "rolling back"
        return phase, seconds_of(deadline), seconds_of(returned)

    def change_id(self, folder):
        return self.records(folder)[0]["id"]

    def pids(self, folder):
        """Guard and second process of a change: by the locks that they hold."""
        change = self.change_id(folder)
        found = {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                # A process may end between any two of these.
                if os.stat(f"/proc/{name}").st_uid != OWNER:
                    continue
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if words and words[0] == self.program and change in words:
                role = next((word for word in ("--second", "--begin", "--keep") if word in words), None)
                if role:
                    found.setdefault("second" if role == "--second" else "guard", []).append(int(name))
        return found

    def close(self):
        """Ends the processes of this lab and removes its folder."""
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.readlink(f"/proc/{name}/exe").startswith(self.folder + "/"):
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                continue
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def seconds_of(text):
    """Seconds since 1970 of a record's time; it has up to nine digits of a fraction."""
    if text is None:
        return None
    whole, _, fraction = text.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc)
    return at.timestamp() + float(f"0.{fraction or 0}")
