//! The command table: every action once, with its description and what it may change. The command line, its
//! help, the man pages and `docs/commands.md` are made from it.

/// What an action may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Danger {
    /// Nothing.
    None,
    /// Writes a file that the operator names.
    WritesFile,
    /// Writes to the fabric, with a journal, and only after an opt-in.
    WritesFabric,
    /// Runs the program that the operator names, and stores the flows that it moved in a file.
    RunsProgram,
    /// Opens a socket that other processes of the same user can reach.
    OpensSocket,
}

impl Danger {
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "changes nothing",
            Self::WritesFile => "writes the file you name",
            Self::WritesFabric => "writes to the fabric, after an opt-in",
            Self::RunsProgram => "runs the program you name, and stores the moved flows in the state folder",
            Self::OpensSocket => "opens the socket you name for other processes of the same user",
        }
    }
}

/// The precondition of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Requirement {
    Nothing,
    /// A fabric: `--source`, or `source =` in the config.
    Fabric,
}

impl Requirement {
    pub fn title(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Fabric => "a source (`--source`, or `source =` in the config)",
        }
    }
}

/// One action of the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// The words of the action on the command line.
    pub name: &'static str,
    /// The description in one line, without a full stop.
    pub summary: &'static str,
    /// Further details of the description.
    pub details: &'static str,
    pub needs: Requirement,
    pub danger: Danger,
    /// Command lines that work as written, except for the names of files.
    pub examples: &'static [&'static str],
}

const fn command_of(name: &'static str, summary: &'static str, details: &'static str) -> Command {
    Command { name, summary, details, needs: Requirement::Nothing, danger: Danger::None, examples: &[] }
}

impl Command {
    const fn needs_fabric(mut self) -> Self {
        self.needs = Requirement::Fabric;
        self
    }

    const fn writes_file(mut self) -> Self {
        self.danger = Danger::WritesFile;
        self
    }

    const fn writes_fabric(mut self) -> Self {
        self.danger = Danger::WritesFabric;
        self
    }

    const fn opens_socket(mut self) -> Self {
        self.danger = Danger::OpensSocket;
        self
    }

    const fn runs_program(mut self) -> Self {
        self.danger = Danger::RunsProgram;
        self
    }

    const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }
}

/// Every action, in the order of help and documentation.
pub const COMMANDS: &[Command] = &[
    command_of(
        "sources",
        "List the available sources",
        "The generated fabrics with their keys, the files of known formats in the current folder (recognized by \
         content), and the adapters of this machine with their ports.",
    )
    .examples(&["fabdeck sources", "fabdeck sources --json"]),
    command_of(
        "show",
        "Browse a fabric",
        "Tables of what the source has, with filters, fields and an order.",
    ).needs_fabric(),
    command_of(
        "show fabric",
        "The fabric in numbers",
        "How many switches, hosts, routers, cables and ports there are, and which subnet manager is in charge.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source sim:demo show fabric", "fabdeck --source site.topo show fabric --json"]),
    command_of("show switches", "The switches", "A row for each switch.")
        .needs_fabric()
        .examples(&["fabdeck --source sim:demo show switches --sort hosts --top 5"]),
    command_of(
        "show hosts",
        "The hosts and where they are attached",
        "A row for each cabled port of a channel adapter, and one for an adapter without a cable.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source sim:demo show hosts --filter switch=rack1-leaf"]),
    command_of("show links", "The cables", "A row for each cable, those of hosts included.")
        .needs_fabric()
        .examples(&["fabdeck --source sim:demo show links --filter 'width<4x,kind=switch-switch'"]),
    command_of(
        "show ports",
        "The ports and their peers",
        "A row for each port in the source.",
    )
        .needs_fabric()
        .examples(&["fabdeck --source sim:demo show ports --filter node=rack1-leaf --fields number,state,peer"]),
    command_of(
        "show tables",
        "The forwarding tables",
        "A row for each switch; with a switch named, a row for each LID that its table routes or the fabric owns.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source capture/ show tables", "fabdeck --source capture/ show tables switch:leaf1"]),
    command_of(
        "show users",
        "The destinations over a cable",
        "A row for each destination that is reached over the cable under the tables in force, with the number of \
         hosts that send to it over this cable. A cable to a host has no rows: it carries the paths of that host \
         alone.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source sim:demo show users 'link:rack3-leaf[10]' --sort sources"]),
    command_of(
        "show counters",
        "The counters as they were read",
        "A row for each sample and a column for each counter that some sample has; raw values, no rates. --format \
         prometheus prints all counters and the states of links for node_exporter's textfile collector, under the \
         names of the usual InfiniBand exporter. With --interval the counters are read twice, and rates are added.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source capture/ show counters --sort PortXmitWait --top 10",
        "fabdeck --source sim:kary,k=4,n=2 show counters --format prometheus --interval 10s",
    ]),
    command_of(
        "show lanes",
        "The virtual lanes of each egress port",
        "A row for each egress port whose SL2VL or arbitration table is known.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source capture/ show lanes --filter uniform=no"]),
    command_of(
        "show jobs",
        "The running jobs, a row for each",
        "As `jobs`, without the totals over all jobs.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad show jobs --slurm --sort max --top 10"]),
    command_of(
        "trace",
        "Follow the forwarding tables from SRC to DST, hop by hop",
        "SRC and DST are an element (switch:NAME, host:NAME, port:NAME[PORT]), a name, a GUID or a LID. For an \
         adapter with several cabled ports, the first is taken. A loop, a dead end or a switch with an unknown \
         table is named, and the command ends with exit code 2.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:demo trace node01 node24",
        "fabdeck --source capture/ trace port:node01/1 13",
    ]),
    command_of(
        "check",
        "Certify forwarding tables",
        "Reports whether every pair has a path, whether a path runs in a loop, and whether there is a credit \
         loop: packets that wait for each other forever, with the channels and paths that close it. It also \
         reports the length of paths and their balance over channels. The lanes of paths come from SL2VL tables, \
         and from path records where a subnet manager answers. Findings end with exit code 2. Where no source \
         states service levels, level 0 is judged through the SL2VL tables, and the report has \"level 0 assumed\": \
         SL2VL tables alone put no lane in use. A QoS policy of OpenSM in the folder sets service levels; where \
         its rules do not determine those of paths, deadlock freedom is not known. A list of levels of paths \
         (psl) in the folder sets the level of each path. With --strict an unknown verdict is a finding too \
         (FN-707). With --partitions only ports that share a partition are pairs, in counts, lengths and loads. \
         Deadlock freedom is judged over all pairs even then, because members change without a change of the \
         tables.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:demo check",
        "fabdeck --source sim:kary,k=4,n=2 check --lanes one",
        "fabdeck --source site.topo check --tables opensm-lfts.dump --switches",
        "fabdeck --source site.topo check --tables opensm-lfts.dump --partitions partitions.conf",
    ]),
    command_of(
        "hotspots",
        "Hot-spots, the hosts that wait for them, and links with errors",
        "All counters are read twice, and nothing is cleared. A switch port that waits and leads to an adapter \
         makes that adapter a hot-spot. Adapters that wait are its contributors or its victims, as far as the \
         forwarding tables and the data on channels prove it. Where links between switches wait and no adapter is \
         a hot-spot, these links are too narrow. Links that count errors, go down, or run below what both ends \
         can do are named too. Each line has the rate and the threshold that it exceeds; [hotspots] in the \
         configuration sets the thresholds. On a simulator in this process, the time between the readings is \
         simulated and takes no time. --before, --after and --seconds compare two files, of any format with \
         counters. Findings end with exit code 2.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:demo hotspots --interval 2s",
        "fabdeck --source sim:kary,k=4,n=2 hotspots --interval 1s --count 3 --json",
        "fabdeck --source capture/ hotspots --before capture/first.txt --after capture/second.txt --seconds 60",
    ]),
    command_of(
        "lanes",
        "The flows on a slow lane, and the tables on their paths",
        "dFtree moves the traffic to an overloaded host (a hot-spot) to a virtual lane of its own. Listed are the \
         hot-spots of changes in force, and every port on the paths to them whose SL2VL or arbitration table is \
         not what slow lanes need. Such tables end with exit code 2. docs/lanes.md has more.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source sim:demo lanes", "fabdeck --source sim:kary,k=4,n=2 lanes --json"]),
    command_of(
        "lanes propose",
        "Propose flows for a slow lane or back, as a plan",
        "Counters are read twice, as by `hotspots`. Flows of contributors to a hot-spot move to the slow twin of \
         their lane, and new contributors join them. Where an adapter is no longer a hot-spot, its flows move \
         back; victims stay. The plan has the tables that slow lanes need on every path to the hot-spot, the \
         flows, how their hosts follow, and a certificate; routes stay as they are. A plan that is impossible is \
         refused with the port that prevents it. The exit code is 0 with nothing to move, 2 with moves and no -o, \
         and with -o 2 where the plan has findings.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&[
        "fabdeck --source sim:demo lanes propose --interval 5s",
        "fabdeck --source umad lanes propose -o slow.plan",
        "fabdeck --source umad lanes propose --back -o back.plan",
    ]),
    command_of(
        "jobs",
        "The running jobs, and their paths under the tables in force",
        "The running jobs come from Slurm (--slurm) or from a list (--file). Without either, a capture has the \
         recorded ones, and a simulated fabric has generated ones. For each job: its hosts, their switches, the \
         channels between switches that paths between its hosts cross, the largest number of such paths over one \
         channel (its effective edge forwarding index), and the dark fiber. Then the totals of all jobs. Hosts of \
         the list that are not in the fabric are counted, and named in a note. A Slurm that does not answer \
         within its timeout ends with exit code 8. docs/jobs.md has more.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad jobs --slurm", "fabdeck --source capture/ jobs --file jobs.txt --json"]),
    command_of(
        "jobs channels",
        "The channels between switches that paths within jobs cross",
        "A row for each directed channel: the ports at its ends, how many paths within jobs cross it under the \
         tables in force (its effective edge forwarding index), the number of these jobs, and the job with the \
         most paths there. The channels with the most paths come first. The jobs come from the same sources as \
         for `jobs`.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad jobs channels --slurm --top 10"]),
    command_of(
        "jobs watch",
        "Propose routes whenever the running jobs change",
        "The list of jobs is read every --interval. Where jobs on several switches run on other hosts than \
         before, whatever their ids, sar routes for them. A proposal is reported if it gains --gain percent over \
         the tables in force, and at most once in --at-most-every. With -o each proposal is written as a plan. \
         Nothing is applied without --apply, which applies the plan as `apply` does. The command prints a line \
         for each list until it is interrupted. When Slurm does not answer, that is reported and the last list \
         stays.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&["fabdeck --source umad jobs watch --slurm -o plans/"]),
    command_of(
        "whatif",
        "What failures cost, and what each engine would route instead",
        "Nothing is written to the fabric. Elements are marked as failed, and the paths that the tables in force \
         lose are counted: until the fabric is rerouted, and cut off for good. Beside them is the expected loss \
         of as many random links, or of --expect links. Then every engine routes the fabric without the marked \
         elements. Each engine has a certificate that does not trust it, and the cost of its tables: switches and \
         blocks to write, pairs whose path changes, and whether old and new paths together have a credit loop. A \
         certificate with findings ends with exit code 2.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:kary,k=4,n=2 whatif --fail link:leaf0/5",
        "fabdeck --source capture/ whatif --fail-random 3 --seed 7 --engine minhop",
    ]),
    command_of(
        "route",
        "Route with one engine and write a plan",
        "The engine routes the fabric without the failed elements, and a certificate that does not trust the \
         engine is computed. The plan has the fabric that it is for, every block that would change with its old \
         and new bytes, the certificate, and the impact. On assumed tables it is a plan for simulators. Nothing \
         is sent to any switch. A certificate with findings ends with exit code 2.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&["fabdeck --source sim:demo route --engine minhop --fail switch:spine-2 -o reroute.plan"]),
    command_of(
        "plan",
        "Read plans",
        "What a plan would do, whether it still fits, and how the fabric differs from it.",
    ),
    command_of(
        "plan show",
        "What a plan would do",
        "From the file alone.",
    )
        .examples(&["fabdeck plan show capture/reroute.plan"]),
    command_of(
        "plan check",
        "Whether a plan still fits its fabric",
        "A plan is for one fabric in one state. If the fabric has changed, the plan is stale, and the first \
         difference is named (exit code 3). Otherwise the tables of the plan are certified again.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad plan check capture/reroute.plan"]),
    command_of(
        "plan diff",
        "Where the fabric differs from a plan",
        "The switches whose tables are not those of the plan.",
    )
        .needs_fabric()
        .examples(&["fabdeck --source umad plan diff capture/reroute.plan"]),
    command_of(
        "disable",
        "A plan that takes a link out of service",
        "The plan disables one port of a switch, and routes stay as they are. Reroute without the link first \
         (`route --fail`): paths that still use it are findings (exit code 2). `enable` brings the link back, and so does a \
         rollback of the change.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&["fabdeck --source umad disable 'link:leaf0[3]' -o out.plan"]),
    command_of(
        "enable",
        "A plan that brings a link back into service",
        "The plan enables the port of a switch that was disabled.",
    )
        .needs_fabric()
        .writes_file()
        .examples(&["fabdeck --source umad enable 'port:leaf0[3]' -o back.plan"]),
    command_of(
        "apply",
        "Write exactly what a plan says, and roll it back unless it is confirmed",
        "The fabric has to be the one that the plan is for (exit code 3 otherwise), and the plan has to be \
         without findings, or with those that --accept names (4). Everything is in a journal before the first \
         write. Every part is compared with what the plan found there, written, and read back. The guard, a \
         process of its own, does that and holds the deadline. It rolls the change back unless it is confirmed in \
         time, even if this terminal is closed. A fabric that is not simulated needs an opt-in: --allow-write, \
         and an entry that `sources --identity` prints. docs/safety.md has the guarantees.",
    )
    .needs_fabric()
    .writes_fabric()
    .examples(&[
        "fabdeck --source umad --allow-write apply reroute.plan",
        "fabdeck --source sim:./lab.sock apply reroute.plan --yes --confirm-within 2m",
    ]),
    command_of(
        "run",
        "Run a runbook",
        "A file of steps with guards between them: expect, fail, unmark, preview, route, disable, enable, apply, \
         wait, verify, compare, jobs, hotspots, lanes, confirm, rollback, record, run and notify (docs/runbooks.md). The whole \
         file is checked before the first step; every mistake is reported with file, line and reason (exit code \
         7). The first guard that does not hold ends the run (2): an applied and unconfirmed change is rolled \
         back, as it is when the run is interrupted, and the steps on failure run. With --dry-run everything is \
         read and computed, and nothing is written. A runbook that applies nothing needs no permission to write. \
         One that does needs what `apply` needs, and has no further question.",
    )
    .needs_fabric()
    .writes_fabric()
    .examples(&[
        "fabdeck --source umad run docs/runbooks/nightly-check.toml",
        "fabdeck --source sim:./lab.sock run docs/runbooks/failed-spine.toml --set switch=spine-2 --dry-run",
    ]),
    command_of(
        "confirm",
        "Keep a change that was applied",
        "ID is printed by `apply` and `changes`. Only this command, the console and a runbook confirm a change.",
    )
        .writes_fabric()
        .examples(&["fabdeck confirm 3f2a91bc"]),
    command_of(
        "extend",
        "Give a change more time to be confirmed",
        "The guard waits longer before it rolls the change back; a day at most.",
    )
        .writes_fabric()
        .examples(&["fabdeck extend 3f2a91bc 30m"]),
    command_of(
        "rollback",
        "Roll a change back now",
        "Everything that is still as the change wrote it is restored and read back. What another tool has written \
         since, and what does not answer, stays and is named (exit code 6). If the fabric has changed so that the \
         rollback would lose paths, the command prints how many and needs --force. A rollback that ended \
         incomplete starts again.",
    )
    .writes_fabric()
    .examples(&["fabdeck rollback 3f2a91bc"]),
    command_of(
        "changes",
        "The pending change and those before it",
        "From the journals of the state folder, the newest last; with --json the newest comes first. --format \
         prometheus prints the numbers of pending and overdue changes for node_exporter's textfile collector. \
         With --verify each confirmed change of the source's fabric is compared with the tables there, entry by \
         entry: it stands, it no longer stands (exit code 3, with the switches and the possible writers), or it \
         is not known because a switch does not answer (8). Entries that a newer change wrote count for that \
         change.",
    )
        .examples(&["fabdeck changes", "fabdeck changes --json", "fabdeck changes --format prometheus", "fabdeck --source sim:demo changes --verify"]),
    command_of(
        "guard",
        "Take over changes whose guard has ended",
        "After a crash or a reboot: a change that was written in part is rolled back. A change that waits for \
         confirmation continues to wait, and is rolled back if its deadline is over. Any fabdeck that starts does \
         the same; docs/systemd has a unit for the boot.",
    )
    .writes_fabric()
    .examples(&["fabdeck guard --resume"]),
    command_of(
        "generate",
        "Generate a fabric by name",
        "NAME may carry keys after commas, as in `kary,k=10,n=3,faults=1%,seed=7`; `fabdeck sources` lists names \
         and keys. The same name gives the same bytes. With --json and no file, only the numbers are printed.",
    )
    .writes_file()
    .examples(&["fabdeck generate demo", "fabdeck generate kary,k=4,n=2 -o tree.net", "fabdeck generate demo --json"]),
    command_of(
        "convert",
        "Read files and write another format",
        "Several files are one fabric: the topology may come from one, tables and names from others. The formats \
         of the input are recognized by content. One of the files may be a plan of `route`: the output is then \
         the fabric after the plan, and its lanes go to psl (ibdmchk -c), slvl and qos-policy. A plan that is \
         stale for these files is refused (exit code 3).",
    )
    .writes_file()
    .examples(&[
        "fabdeck convert site.topo opensm-lfts.dump reroute.plan -o active.lft --to lfts",
        "fabdeck convert site.topo -o site.net --to ibsim",
        "fabdeck convert site.topo opensm-lfts.dump -o opensm.fdbs --to fdbs",
    ]),
    command_of(
        "simulate",
        "Simulate traffic, or serve a simulated fabric to other processes",
        "With --pattern packets flow over virtual lanes with credits, under the tables in force, assumed tables, \
         or those of --engine. The output has throughput (total, by host, by flow), latency, the share of each \
         lane, and the ports that wait. Lanes come from SL2VL tables and path records as for `check`; arbitration \
         tables count. A deadlock (buffers that wait for each other) is named and ends with exit code 2; \
         congestion does not. The same seed gives the same run. With --serve the fabric answers other processes \
         behind a Unix socket, until Ctrl-C. `--source sim:./SOCKET` is that fabric, `sim:./SOCKET,at=NODE` the \
         same seen from a node. All clients share one fabric, and a client that ends or hangs disturbs no other. \
         At the end the number of clients and their requests by method are printed.",
    )
    .needs_fabric()
    .opens_socket()
    .examples(&[
        "fabdeck --source sim:demo simulate --pattern uniform --for 200us",
        "fabdeck --source sim:torus,dims=6 simulate --pattern uniform --engine dfsssp --for 100us",
        "fabdeck --source sim:demo simulate --pattern hotspot --share 20% --slow-level 1 --for 200us",
        "fabdeck --source sim:switch648 simulate --serve fabric.sock",
    ]),
    command_of(
        "record",
        "Record a fabric over time",
        "Reads the fabric once (topology, tables, lanes), then all counters repeatedly, and writes every sweep to \
         the file at once. Whatever ends the recording, the sweeps until then can be read. `--source FILE.fdcap` \
         shows its end, and with --at any other time; check, whatif, hotspots and the console work there as on a \
         live fabric. Ctrl-C ends it. Nothing is written to the fabric, and no key to the file. --rotate-size and \
         --rotate-every continue in a new file, each a whole capture. With --notes each line of stdin is a note, \
         stored with the next sweep. With --slurm or --jobs the file has the running jobs, which `jobs` and the \
         console show. `-o -` writes to stdout, for a pipe, and ends when the reader closes it.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&[
        "fabdeck --source sim:demo record -o demo.fdcap --for 1m",
        "fabdeck --source umad record -o night.fdcap --interval 5s --for 8h",
        "fabdeck --source umad record -o week.fdcap --rotate-every 1d --keep 7",
        "fabdeck --source umad record -o night.fdcap --for 8h --slurm",
        "fabdeck --source umad record -o - | ssh laptop 'cat > night.fdcap'",
    ]),
    command_of(
        "agent",
        "Follow notices at a host",
        "Runs on a host. It subscribes at the subnet manager to the notices about flows that leave the fast lane \
         or return to it. For each notice about this host it runs the site's program (--hook). It accepts notices \
         from the subnet manager alone, at a limited rate, and each notice once. It answers requests for its \
         state, and unsubscribes when it ends. It sends nothing else: InformInfo to the manager, answers to its \
         reports, answers to those requests. At a simulated host (sim:SOCKET,at=NODE) it moves the flows of that \
         host itself. A line for each event goes to stdout; with --json an object for each.",
    )
    .needs_fabric()
    .runs_program()
    .examples(&[
        "fabdeck --source sim:demo,at=node05 agent --for 5s",
        "fabdeck --source umad agent --hook /usr/local/sbin/move-flows",
    ]),
    command_of(
        "capture",
        "Work on captures",
        "A capture is a file that `record` wrote.",
    ),
    command_of(
        "capture info",
        "What a capture has",
        "The source, the times of begin and end, the number of sweeps, the first notes of operators, gaps without \
         sweeps, and damage with its place. Every frame is read and checked.",
    )
    .examples(&["fabdeck capture info night.fdcap", "fabdeck capture info night.fdcap --json"]),
    command_of(
        "capture cut",
        "Make a capture of a part of one",
        "The sweeps from one time to another with all notes and events between them, at their times. It begins \
         with everything that was known at the first sweep. Unreadable parts are left out and reported, in the \
         new capture too; so the command also repairs a capture that was cut short.",
    )
    .writes_file()
    .examples(&["fabdeck capture cut night.fdcap --from 02:10 --to 02:20 -o incident.fdcap"]),
    command_of(
        "capture export",
        "Counters over time, comma-separated",
        "A line for each port at each sweep: time, GUID, port, name, and each counter as it was read. With \
         --rates: data sent and received, and waiting, a second since the sweep before. `convert` with --at \
         writes one moment in another format: topology, forwarding tables, Prometheus' text.",
    )
    .writes_file()
    .examples(&[
        "fabdeck capture export night.fdcap --from -10m -o counters.csv",
        "fabdeck convert night.fdcap --at 02:13:40 --to prometheus -o moment.prom",
    ]),
    command_of(
        "capture anonymize",
        "Make an anonymous capture",
        "GUIDs and names become numbers in canonical order, so that answers stay the same. Vendors and devices, \
         names of vendors' own counters, the source, and the texts of remarks and notes are left out. Times, \
         LIDs, cabling, tables and counters stay, so an operator of the fabric may recognize it. The same capture \
         gives the same bytes.",
    )
    .writes_file()
    .examples(&["fabdeck capture anonymize incident.fdcap -o incident-anonymous.fdcap"]),
    command_of(
        "capture note",
        "Add a note to a capture",
        "The note is added at the end or at the time of --at. The capture is written to a temporary file, which \
         replaces it once it is complete. A capture without an end may still be in use by a recorder, and is \
         refused.",
    )
    .writes_file()
    .examples(&["fabdeck capture note night.fdcap 'cable 3 was pulled' --at 02:13:40"]),
    command_of(
        "completions",
        "Print completions for a shell",
        "For bash: `fabdeck completions bash > ~/.local/share/bash-completion/completions/fabdeck`.",
    )
    .examples(&["fabdeck completions bash"]),
    command_of(
        "man",
        "Print the man page",
        "In troff on stdout; with --dir a page for each command is written there.",
    )
    .writes_file()
    .examples(&["fabdeck man | man -l -", "fabdeck man --dir ~/.local/share/man/man1"]),
];

/// The action with this name.
pub fn command(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}
