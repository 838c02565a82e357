"""OpenSM over ibsim: a fabric from a net file, one engine, the seconds of its routing and the files it dumps."""
import itertools
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from glob import glob
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Engines by the names that the tables here use.
ENGINES = {name: ["-R", f"{name},no_fallback"] for name in "minhop updn ftree sssp dfsssp lash dor".split()}
# Fat-tree routing with the lists that an administrator gives it: roots, and the adapters on the lowest rank.
ENGINES["ftree-roots"] = ENGINES["ftree"]
ENGINES["ftree-lists"] = ENGINES["ftree"]
ENGINES["torus"] = ["-R", "torus-2QoS,no_fallback", "-Q"]
for lanes in (1, 2, 4, 8):
    words = ["-R", "nue,no_fallback", "--nue_max_num_vls", str(lanes)]
    ENGINES[f"nue{lanes}"] = words + (["-Q"] if lanes > 1 else [])
ONE_LANE = {"minhop", "updn", "ftree", "ftree-roots", "ftree-lists", "sssp", "dor", "nue1"}
# Discovery, writing the tables and dumping them, besides routing.
AROUND_ROUTING = 400
DUMPS = "opensm-subnet.lst", "opensm-lfts.dump"


def program(name, package):
    """A program of a Debian package, which must be there."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if not path:
        raise SystemExit(f"{name} is missing: apt-get install {package}")
    return path


def umad2sim():
    found = glob("/usr/lib/*/umad2sim/libumad2sim.so")
    if not found:
        raise SystemExit("libumad2sim.so is missing: apt-get install ibsim-utils")
    return found[0]


def shim(folder):
    """The library that reads OpenSM's clock, built when its source is newer."""
    source, built = HERE / "routing_time.c", Path(folder) / "routing_time.so"
    if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
        words = [program("gcc", "gcc"), "-O2", "-shared", "-fPIC", "-o", str(built), str(source), "-ldl"]
        subprocess.run(words, check=True)
    return built


# Switches on top by their names, the second where there is none of the first.
TOPS = r"(core|root|top|mgmt)\d+", r"(d\d+-|t\d+-)?spine\d+|mgmt\d+"
SIMULATORS = itertools.count()


class Net:
    """What a net file says of its nodes: enough to give ibsim room, OpenSM roots and a torus its axes."""

    def __init__(self, path):
        self.path = Path(path)
        self.switches, self.names, self.links, self.hosts = [], {}, {}, {}
        self.adapters, self.ports, self.behind = [], 0, {}
        node = None
        for line in self.path.read_text().splitlines():
            if begun := re.match(r'(Switch|Ca|Hca)\s+(\d+)\s+"[SH]-([0-9a-f]+)"\s*#\s*"([^"]*)"', line):
                kind, ports, node, name = begun.groups()
                self.ports += int(ports) + 2
                if kind == "Switch":
                    self.switches.append(node)
                    self.names[node], self.links[node], self.hosts[node] = name, [], 0
                else:
                    self.adapters.append(node)
            elif node in self.adapters[-1:] and (end := re.match(r'\[\d+\]\S*\s*"S-([0-9a-f]+)"', line)):
                self.behind.setdefault(node, end.group(1))
            elif node in self.links and (end := re.match(r'\[\d+\]\S*\s*"([SH])-([0-9a-f]+)"', line)):
                if end.group(1) == "S":
                    self.links[node].append(end.group(2))
                elif "Aggregation Node" not in line:
                    self.hosts[node] += 1

    def limits(self):
        nodes = len(self.switches) + len(self.adapters)
        return ["-N", str(nodes + 16), "-S", str(len(self.switches) + 16), "-P", str(self.ports + 64)]

    def roots(self):
        """The switches farthest from hosts; where every switch has hosts, the first."""
        far = {switch: 0 for switch in self.switches if self.hosts[switch]}
        front = list(far)
        while front:
            front = [peer for switch in front for peer in self.links[switch] if far.setdefault(peer, -1) == -1
                     and not far.update({peer: far[switch] + 1})]
        top = max(far.values())
        return [switch for switch in self.switches if far.get(switch) == top] if top else self.switches[:1]

    def named_roots(self):
        """The switches that the names of an irregular tree put on top, each part of a mixed tree for itself."""
        parts = {}
        for switch in self.switches:
            part, name = re.fullmatch(r"(b-)?(.*)", self.names[switch]).groups()
            parts.setdefault(part, []).append((name, switch))
        roots = []
        for part in parts.values():
            found = [[switch for name, switch in part if re.fullmatch(top, name)] for top in TOPS]
            only_managers = all(name.startswith("mgmt") for name, switch in part if switch in found[0])
            roots += found[1] if only_managers else found[0]
        return roots or self.roots()

    def lowest_adapters(self, roots):
        """The adapters on the switches that are farthest from the roots."""
        rank, front = dict.fromkeys(roots, 0), list(roots)
        for switch in front:
            for peer in self.links[switch]:
                if peer not in rank:
                    rank[peer] = rank[switch] + 1
                    front.append(peer)
        lowest = max(rank.values())
        return [adapter for adapter, switch in self.behind.items() if rank.get(switch) == lowest]

    def axes(self):
        """The lines of torus-2QoS.conf: sizes, and two corners whose six links all stand."""
        at = {tuple(map(int, name.split("_")[1:4])): switch for switch, name in self.names.items()
              if re.fullmatch(r"sw_\d+_\d+_\d+", name.split(" ")[0])}
        if len(at) != len(self.switches) or not at:
            return None
        sizes = [max(place[axis] for place in at) + 1 for axis in range(3)]
        seeds = []
        for place in sorted(at, key=lambda place: (place != (0, 0, 0), place)):
            lines = []
            for axis, letter in enumerate("xyz"):
                for sign, step in (("p", 1), ("m", -1)):
                    there = list(place)
                    there[axis] = (place[axis] + step) % sizes[axis]
                    if at[tuple(there)] in self.links[at[place]]:
                        lines.append(f"{letter}{sign}_link 0x{at[place]} 0x{at[tuple(there)]}")
            if len(lines) == 6:
                # The corner of a seed is the origin: the datelines go back to where the numbers begin.
                seeds.append(lines + [f"{letter}_dateline -{k}" for letter, k in zip("xyz", place) if k])
            if len(seeds) == 2:
                break
        text = "\nnext_seed\n".join("\n".join(seed) for seed in seeds)
        return f"torus {' '.join(map(str, sizes))}\nportgroup_max_ports 64\n{text}\n"


class Simulator:
    """An ibsim with a socket of its own, ended by its id."""

    def __init__(self, net, folder):
        self.log, self.socket = folder / "ibsim.log", f"fabdeck-peers-{os.getpid()}-{next(SIMULATORS)}"
        words = [program("ibsim", "ibsim-utils"), "-s", *net.limits(), str(net.path)]
        with open(self.log, "w") as log:
            environment = dict(os.environ, IBSIM_SOCKNAME=self.socket)
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)

    def __enter__(self):
        begun = time.monotonic()
        while "sim> " not in self.log.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() - begun > 120:
                end(self.process)
                raise SystemExit(f"ibsim does not start: {self.log.read_text(errors='replace')[-500:]}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        end(self.process)


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def words_of(engine, net, folder):
    words = list(ENGINES[engine])
    if engine in ("updn", "ftree-roots", "ftree-lists"):
        roots = folder / "roots"
        roots.write_text("".join(f"0x{guid}\n" for guid in net.roots()))
        words += ["-a", str(roots)]
    if engine == "ftree-lists":
        nodes = folder / "compute-nodes"
        nodes.write_text("".join(f"0x{int(guid, 16) + 1:x}\n" for guid in net.lowest_adapters(net.roots())))
        words += ["-u", str(nodes)]
    if engine == "torus":
        axes = net.axes()
        if not axes:
            return None
        (folder / "torus-2QoS.conf").write_text(axes)
        words += ["--torus_config", str(folder / "torus-2QoS.conf")]
    return words


def told(path, word):
    """The seconds behind a word that the shim wrote."""
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split()[1:] for line in lines if line.startswith(word)), None)


def wait(process, times, most, around):
    """Until OpenSM ends, gives up or takes too long; says why it was stopped."""
    begun, routing = time.monotonic(), None
    while process.poll() is None:
        time.sleep(0.05)
        now = time.monotonic()
        if told(times, "failed"):
            return "refused"
        if routing is None and told(times, "begun"):
            routing = now
        if routing and not told(times, "computed") and now - routing > most:
            return f"over {most:.0f} s"
        if now - begun > most + around:
            return f"not done after {now - begun:.0f} s"
    return None


def route(net, engine, folder, most, library=None, around=AROUND_ROUTING):
    """One engine on one fabric: cpu and wall seconds, lanes, why it has no routes; dumps lie in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = words_of(engine, net, folder)
    if words is None:
        return dict(refused="no torus")
    times, log = folder / "times", folder / "opensm.log"
    (folder / "opensm.conf").write_text("max_smps_timeout 600000\n")
    host = net.adapters[0]
    with Simulator(net, folder) as simulator:
        environment = dict(
            os.environ, IBSIM_SOCKNAME=simulator.socket, SIM_HOST=f"H-{host}", ROUTING_TIME=str(times),
            LD_PRELOAD=f"{shim(library or folder.parent)} {umad2sim()}", OSM_TMP_DIR=str(folder), OSM_CACHE_DIR=str(folder),
        )
        words = [
            program("opensm", "opensm"), "-F", str(folder / "opensm.conf"), "-o", "-s", "0", "-e", "-f", str(log),
            "-D", "0x43", "-t", "2000", "-n", "32", "--dump_files_dir", str(folder),
            "-g", f"0x{int(host, 16) + 1:x}", *words,
        ]
        with open(folder / "opensm.out", "w") as out:
            process = subprocess.Popen(words, env=environment, stdout=out, stderr=out, cwd=folder)
        try:
            stopped = wait(process, times, most, around)
        finally:
            end(process)
    return outcome(engine, folder, times, log.read_text(errors="replace") if log.exists() else "", stopped)


@contextmanager
def in_charge(net, engine, folder, most=120):
    """OpenSM with an engine, resident over an ibsim; gives the environment of a program at the last host."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with Simulator(net, folder) as simulator:
        # ibsim hands datagrams of a port to one program, so each has a host of its own.
        at = lambda host: dict(
            os.environ, IBSIM_SOCKNAME=simulator.socket, SIM_HOST=f"H-{host}", LD_PRELOAD=umad2sim(),
            OSM_TMP_DIR=str(folder), OSM_CACHE_DIR=str(folder),
        )
        manager = net.adapters[0]
        words = [
            program("opensm", "opensm"), "-s", "0", "-f", str(folder / "opensm.log"),
            "-g", f"0x{int(manager, 16) + 1:x}", *words_of(engine, net, folder),
        ]
        with open(folder / "opensm.out", "w") as out:
            process = subprocess.Popen(words, env=at(manager), stdout=out, stderr=out, cwd=folder)
        try:
            # It is master before its first sweep is done, and answers no queries until then.
            query = [program("saquery", "infiniband-diags"), "-c"]
            begun = time.monotonic()
            while subprocess.run(query, env=at(net.adapters[-1]), capture_output=True).returncode:
                if process.poll() is not None or time.monotonic() - begun > most:
                    raise SystemExit(f"OpenSM with {engine} does not take charge: see {folder}")
                time.sleep(0.1)
            yield at(net.adapters[-1])
        finally:
            end(process)


def outcome(engine, folder, times, log, stopped):
    needed = re.search(r"[Ll]ane requirements \((\d+)\) exceed", log)
    if needed:
        return dict(refused=f"needs {needed.group(1)} lanes")
    computed = told(times, "computed")
    if stopped or not computed:
        return dict(refused=stopped or "refused")
    missing = [name for name in DUMPS if not (folder / name).exists()]
    if missing:
        raise SystemExit(f"OpenSM with {engine} left no {missing[0]}: see {folder}")
    lanes = re.findall(r"Lanes needed: (\d+)", log)
    known = 1 if engine in ONE_LANE else int(engine[3:]) if engine.startswith("nue") else None
    cpu, wall = map(float, computed)
    return dict(cpu=cpu, wall=wall, lanes=int(lanes[-1]) if lanes else known)
