"""What a user without rights tries, one action for each call: intruder.py ACTION JSON. Prints what came of it as JSON."""

import fcntl
import json
import os
import random
import socket
import stat
import sys
import threading
import time

counts = {}
guard = threading.Lock()


def count(what, many=1):
    with guard:
        counts[what] = counts.get(what, 0) + many


def tried(what, act):
    """Does something that must be denied."""
    try:
        act()
        count("BREACH " + what)
    except OSError:
        count("denied " + what)


def below(folder):
    """Every path that can be seen below a folder."""
    for path, folders, files in os.walk(folder, onerror=lambda _: count("denied list")):
        for name in folders + files:
            yield os.path.join(path, name)


def hold_locks(lab, until):
    """Takes the lock of every file that can be opened, as soon as it is free."""
    held = {}
    while time.monotonic() < until:
        for path in list(below(lab["state"])) + list(below(lab["run"])):
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    continue
                key = os.lstat(path).st_ino
                if key not in held:
                    held[key] = [os.open(path, os.O_RDONLY), False]
                    count("opened")
                if not held[key][1]:
                    fcntl.flock(held[key][0], fcntl.LOCK_EX | fcntl.LOCK_NB)
                    held[key][1] = True
                    count("locks held")
            except OSError:
                count("denied lock")
        time.sleep(0.05)


def plant(lab, until):
    """Puts links, pipes, devices, folders and sockets where guards look."""
    number = 0
    while time.monotonic() < until:
        number += 1
        for folder in (lab["state"], lab["state"] + "/changes", lab["change"], lab["run"]):
            name = f"{folder}/{random.choice(['journal', 'audit', 'ended', 'socket', 'lock', '999999999999', 'x'])}.{number}"
            tried("link", lambda: os.symlink("/etc/passwd", name))
            tried("pipe", lambda: os.mkfifo(name))
            tried("folder", lambda: os.mkdir(name))
            tried("device", lambda: os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, 5)))
            tried("file", lambda: open(name, "x").close())
        time.sleep(0.2)


def rename(lab, until):
    """Moves, removes and overwrites what guards need, and binds their sockets."""
    while time.monotonic() < until:
        paths = [lab["state"], lab["run"], lab["change"], lab["socket"], lab["config"]]
        for path in paths + list(below(lab["state"]))[:50]:
            tried("rename", lambda: os.rename(path, path + ".gone"))
            tried("remove", lambda: os.unlink(path))
            tried("chmod", lambda: os.chmod(path, 0o777))
            tried("write", lambda: open(path, "r+b").close() if os.path.isfile(path) else os.truncate(path, 0))
        tried("bind", lambda: socket.socket(socket.AF_UNIX).bind(lab["socket"]))
        time.sleep(0.2)


def signal(lab, until):
    """Sends signals to the owner's processes and looks into them."""
    while time.monotonic() < until:
        for pid in lab["pids"]:
            for number in (9, 15, 19):
                tried("signal", lambda: os.kill(pid, number))
            tried("memory", lambda: open(f"/proc/{pid}/mem", "r+b").close())
            tried("descriptors", lambda: os.listdir(f"/proc/{pid}/fd"))
        time.sleep(0.5)


def ask(lab, line, patience=2.0):
    """One line to the guard; its answer."""
    caller = socket.socket(socket.AF_UNIX)
    caller.settimeout(patience)
    try:
        caller.connect(lab["socket"])
        caller.sendall(line)
        answer = b""
        while not answer.endswith(b"\n"):
            part = caller.recv(65536)
            if not part:
                break
            answer += part
        return answer
    finally:
        caller.close()


def asks(**words):
    return (json.dumps(words) + "\n").encode()


FORBIDDEN = [
    asks(ask="confirm", user="root"),
    asks(ask="roll-back", user="root", anyway=True),
    asks(ask="extend", user="root", seconds=80000),
    asks(ask="go-on", user="root"),
    asks(ask="name-opensm", user="root", process="1"),
]


def impersonate(lab, until):
    """Asks in the name of root for everything that is not granted."""
    while time.monotonic() < until:
        for line in FORBIDDEN:
            try:
                answer = ask(lab, line)
                count("refused" if b"refused" in answer else "no answer" if not answer else "BREACH " + answer.decode()[:60])
            except OSError:
                count("not reached")
        time.sleep(0.1)


def garbage(lab, until):
    """Bytes that are no question."""
    while time.monotonic() < until:
        shape = random.randrange(6)
        line = [
            os.urandom(random.randrange(1, 4096)),
            b"{" * 60000 + b"\n",
            b"x" * 200000,
            b'{"ask":"confirm"}\n' * 100,
            b'{"ask":"extend","user":"root","seconds":-1}\n',
            b"\xff\xfe\x00\n",
        ][shape]
        try:
            answer = ask(lab, line, 0.5)
            count("answered" if answer else "no answer")
            if b'"confirmed"' in answer:
                count("BREACH confirmed by garbage")
        except OSError:
            count("cut off")


def flood(lab, until):
    """Many callers at once: some ask, some send half a line and wait."""

    def call(number):
        while time.monotonic() < until:
            try:
                if number % 4 == 0:
                    caller = socket.socket(socket.AF_UNIX)
                    caller.settimeout(2)
                    caller.connect(lab["socket"])
                    caller.sendall(b'{"ask"')
                    time.sleep(random.random())
                    caller.close()
                    count("half a line")
                else:
                    ask(lab, asks(ask="status") if number % 2 else FORBIDDEN[number % 5])
                    count("asked")
            except OSError:
                count("turned away")
                time.sleep(0.01)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(lab["callers"])]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()


ACTIONS = {act.__name__: act for act in (hold_locks, plant, rename, signal, impersonate, garbage, flood)}

if __name__ == "__main__":
    lab = json.loads(sys.argv[2])
    random.seed(lab["seed"])
    ACTIONS[sys.argv[1]](lab, time.monotonic() + lab["seconds"])
    print(json.dumps(counts))
