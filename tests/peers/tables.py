"""fabdeck as a program that is asked, and the tables of its plans as OpenSM would dump them."""
import json
import os
import subprocess
from pathlib import Path

import efi


class Fabdeck:
    """Asks a fabdeck program, whose state and configuration lie in a folder of their own."""

    def __init__(self, program, work):
        self.program = program
        homes = ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
        self.folders = dict.fromkeys(homes, str(work))

    def __call__(self, *words, environment=os.environ):
        """The answer of a command as JSON, or the words of its refusal."""
        environment = dict(environment, **self.folders)
        done = subprocess.run([self.program, *map(str, words)], env=environment, capture_output=True, text=True)
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr.strip()


def write(before, plan, path):
    """Tables in force with the blocks of a plan in them, in the lines of OpenSM's dump."""
    rows, row = {}, {}
    with open(before, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if heading := efi.HEADING.match(line):
                row = rows.setdefault(int(heading.group(1), 16), {})
            elif line.startswith("0x"):
                lid, port = line.split(None, 2)[:2]
                row[int(lid, 16)] = int(port) if port.isdigit() else efi.NOWHERE
    for write in json.loads(Path(plan).read_text())["writes"]:
        row = rows[int(write["switch"], 16)]
        for offset, port in enumerate(bytes.fromhex(write["new"])):
            row[write["block"] * 64 + offset] = port
    with open(path, "w") as out:
        for guid, row in rows.items():
            top = max(row, default=0)
            out.write(f"Unicast lids [0x0-0x{top:x}] of switch Lid 0 guid 0x{guid:016x} (''):\n")
            held = sorted(lid for lid, port in row.items() if port != efi.NOWHERE and lid)
            out.writelines(f"0x{lid:04x} {row[lid]:03d} # \n" for lid in held)
            out.write(f"{len(held)} lids dumped \n")
