#!/usr/bin/env python3
"""A second opinion on forwarding tables, which shares nothing with fabdeck: python3 and nothing else.

  efi.py opensm-subnet.lst opensm-lfts.dump [--switches]    one JSON object

pairs            ordered pairs of adapter ports with a LID; with --switches, of switches too
unreachable      those whose path does not arrive
efi_max          paths of adapter pairs over the busiest directed channel between switches
longest          hops between switches of the longest such path
cyclic           dependencies of all paths that arrive have a cycle, as if they shared one lane
"""
import json
import re
import sys

END = re.compile(r"(\w+) Ports:\w+ SystemGUID:\w+ NodeGUID:(\w+) PortGUID:(\w+) .*LID:(\w+) PN:(\w+)")
HEADING = re.compile(r"Unicast lids .* guid (0x[0-9a-fA-F]+)")
NOWHERE = 255


class Fabric:
    """Switches by number, and what stands at the end of each of their ports."""

    def __init__(self, path):
        self.number = {}    # GUID of a switch -> its number
        self.lid = {}       # LID -> (switch, port) where it is delivered; port 0 is the switch itself
        self.peers = []     # switch -> {port: switch}
        self.hosts = []     # switch -> how many adapter ports with a LID hang on it
        links = []
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                ends = [END.search(part) for part in line.split("} {")]
                if len(ends) == 2 and all(ends):
                    links.append([end.groups() for end in ends])
        for link in links:
            for kind, node, _, lid, _ in link:
                if kind == "SW" and node not in self.number:
                    self.number[node] = len(self.peers)
                    self.peers.append({})
                    self.hosts.append(0)
                    self.lid[int(lid, 16)] = (self.number[node], 0)
        for one, other in links + [link[::-1] for link in links]:
            if one[0] == "SW":
                self.plug(self.number[one[1]], int(one[4], 16), other)

    def plug(self, switch, port, peer):
        kind, node, _, lid, _ = peer
        if kind == "SW":
            self.peers[switch][port] = self.number[node]
        elif int(lid, 16) and int(lid, 16) not in self.lid:
            self.lid[int(lid, 16)] = (switch, port)
            self.hosts[switch] += 1


def tables(path, fabric):
    """A row of ports by LID for each switch, as OpenSM dumps them."""
    rows = [bytearray() for _ in fabric.peers]
    row = bytearray()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("0x"):
                lid, port = line.split(None, 2)[:2]
                lid = int(lid, 16)
                if lid >= len(row):
                    row.extend([NOWHERE] * (lid + 1 - len(row)))
                row[lid] = int(port) if port.isdigit() else NOWHERE
            elif heading := HEADING.match(line):
                number = fabric.number.get(f"{int(heading.group(1), 16):016x}")
                row = bytearray() if number is None else rows[number]
    top = max(fabric.lid, default=0) + 1
    for row in rows:
        row.extend([NOWHERE] * (top - len(row)))
    return rows


class Judge:
    def __init__(self, fabric, rows, switches):
        self.fabric, self.rows, self.switches = fabric, rows, switches
        count = len(fabric.peers)
        # Where a port leads, as a list by port: a switch, or None.
        self.leads = [[peers.get(port) for port in range(256)] for peers in fabric.peers]
        self.load = [0] * (count * 256)
        self.waits = set()
        self.arrived = self.longest = 0

    def destination(self, lid):
        """Follows the column of one LID: its paths are a forest, and what hangs on the right port arrives."""
        root, port = self.fabric.lid[lid]
        column = [row[lid] for row in self.rows]
        after = [leads[port] for leads, port in zip(self.leads, column)]
        after[root] = None
        before = [0] * len(after)
        for switch in after:
            if switch is not None:
                before[switch] += 1
        # From the far ends to the root; what goes round in a cycle is never free.
        order = [switch for switch, waiting in enumerate(before) if not waiting]
        for switch in order:
            ahead = after[switch]
            if ahead is not None:
                before[ahead] -= 1
                if not before[ahead]:
                    order.append(ahead)
        self.flow(lid, order, after, column)

    def flow(self, lid, order, after, column):
        fabric, (root, port) = self.fabric, self.fabric.lid[lid]
        adapter = port != 0
        # A root whose column leads to another port takes nothing.
        hops = [None] * len(after)
        hops[root] = 0 if column[root] == port else None
        for switch in reversed(order):
            ahead = after[switch]
            if ahead is not None and hops[ahead] is not None:
                hops[switch] = hops[ahead] + 1
        hosts = list(fabric.hosts)
        hosts[root] -= adapter
        own = [1] * len(after) if self.switches else [0] * len(after)
        own[root] = int(self.switches and adapter)
        paths, sends = list(hosts) if adapter else [0] * len(after), [a + b for a, b in zip(hosts, own)]
        load, waits = self.load, self.waits
        for switch in order:
            far = hops[switch]
            if far is None:
                continue
            self.arrived += hosts[switch] + own[switch]
            if adapter and hosts[switch] and far > self.longest:
                self.longest = far
            if switch == root or not sends[switch]:
                continue
            ahead, channel = after[switch], switch << 8 | column[switch]
            load[channel] += paths[switch]
            paths[ahead] += paths[switch]
            sends[ahead] += sends[switch]
            if ahead != root:
                waits.add(channel << 24 | ahead << 8 | column[ahead])

    def cyclic(self):
        """Whether the dependencies cannot be sorted."""
        after, before = {}, {}
        for pair in self.waits:
            first, then = pair >> 24, pair & 0xFFFFFF
            after.setdefault(first, []).append(then)
            before[then] = before.get(then, 0) + 1
        free = [channel for channel in after if channel not in before]
        for channel in free:
            for then in after.get(channel, ()):
                before[then] -= 1
                if not before[then]:
                    free.append(then)
        return any(before.values())


def judge(fabric, rows, switches=False):
    verdict = Judge(fabric, rows, switches)
    wanted = [lid for lid, (_, port) in fabric.lid.items() if port or switches]
    for lid in wanted:
        verdict.destination(lid)
    senders = sum(fabric.hosts) + (len(fabric.peers) if switches else 0)
    pairs = senders * (senders - 1)
    return dict(
        pairs=pairs, unreachable=pairs - verdict.arrived, efi_max=max(verdict.load, default=0),
        longest=verdict.longest, cyclic=verdict.cyclic(),
    )


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if len(words) != 2:
        sys.exit(__doc__)
    fabric = Fabric(words[0])
    print(json.dumps(judge(fabric, tables(words[1], fabric), "--switches" in sys.argv)))


if __name__ == "__main__":
    main()
