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
    /// Runs the program that the operator names, and keeps a file of the flows that it moved.
    RunsProgram,
    /// Opens a socket that other processes of the same user can reach.
    OpensSocket,
}

impl Danger {
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "changes nothing",
            Self::WritesFile => "writes the file you name",
            Self::WritesFabric => "writes to the fabric, where that was opted in",
            Self::RunsProgram => "runs the program you name, and keeps in the state folder what it moved",
            Self::OpensSocket => "opens the socket you name to other processes of yours",
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
        "List what can be looked at",
        "The names of generated fabrics with their keys, the files of known formats in the current folder (told by \
         content), and the adapters of this machine with their ports.",
    )
    .examples(&["fabdeck sources", "fabdeck sources --json"]),
    command_of("show", "Browse a fabric", "Tables of what was read from the source, with filters, fields and an order.").needs_fabric(),
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
    command_of("show ports", "The ports and their peers", "A row for each port that the source spoke of.")
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
        "Who uses a cable",
        "A row for each destination that is reached over the cable under the tables in force, with the number of hosts \
         that send to it that way. A cable to a host carries what its host sends and is sent, and has no rows.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source sim:demo show users 'link:rack3-leaf[10]' --sort sources"]),
    command_of(
        "show counters",
        "The counters as they were read",
        "A row for each sample and a column for each counter that some sample has; raw values, no rates. With --format \
         prometheus all counters and the states of links as node_exporter's textfile collector reads them, under the names \
         of the usual exporter; with --interval they are read twice, and rates stand beside them.",
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
        "The jobs that run, a row for each",
        "As `jobs`, without what is of all of them together.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad show jobs --slurm --sort max --top 10"]),
    command_of(
        "trace",
        "Follow the forwarding tables from SRC to DST, hop by hop",
        "SRC and DST are an element (switch:NAME, host:NAME, port:NAME[PORT]), a name, a GUID or a LID. Of an adapter \
         with several cabled ports the first is taken. A loop, a dead end or a switch whose table is not known is \
         named, and the command ends with exit code 2.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:demo trace node01 node24",
        "fabdeck --source capture/ trace port:node01/1 13",
    ]),
    command_of(
        "check",
        "Certify forwarding tables",
        "From the tables: whether every pair has a path, whether any path goes round, whether there is a credit \
         loop, that is packets that wait for each other forever (with the channels and paths that close one), how long paths are and how evenly they \
         lie. The lanes of paths come from SL2VL tables and from path records, where a subnet manager answers. Findings \
         end with exit code 2. Where nothing tells service levels, level 0 is judged through the SL2VL tables, and the report says so \
         (\"level 0 assumed\"); SL2VL tables alone put no lane in use. A QoS policy of OpenSM in the folder sets service \
         levels; where its rules leave those of paths open, deadlock freedom is not known. A list of levels of paths (psl) there sets \
         the level of each path. With --strict a verdict that is \
         not known is a finding too (FN-707). With --partitions only ports that share a partition are pairs, in \
         counts, lengths and loads; deadlock freedom is judged over all pairs all the same, for members change without a \
         word from the tables.",
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
        "Who is congested, who is held up, and which links are in trouble",
        "All counters are read twice, and nothing is cleared. A port of a switch that waits and leads to an adapter \
         makes that adapter a hot-spot; adapters that wait are contributors to it, or its victims, told apart as far as the forwarding tables and what \
         channels carried can prove it; where links between switches wait and no adapter is a hot-spot they are too narrow. Links that count \
         errors, go down, or run below what both ends can do are named too. Each line says which rate is above which \
         threshold; [hotspots] in the configuration sets them. On a simulator of its own the time between is simulated \
         and takes none. With --before, --after and --seconds two files are compared, of any format with counters. \
         Findings end with exit code 2.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:demo hotspots --interval 2s",
        "fabdeck --source sim:kary,k=4,n=2 hotspots --interval 1s --count 3 --json",
        "fabdeck --source capture/ hotspots --before capture/first.txt --after capture/second.txt --seconds 60",
    ]),
    command_of(
        "lanes",
        "Which flows are on a slow lane, and whether the tables on their ways are as they should be",
        "dFtree keeps flows to a hot-spot on a lane of their own. Shown are the hot-spots of changes that stand, and every port on \
         the ways there whose SL2VL or arbitration table is not what slow lanes need; such tables end with exit code 2. \
         docs/lanes.md says more.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source sim:demo lanes", "fabdeck --source sim:kary,k=4,n=2 lanes --json"]),
    command_of(
        "lanes propose",
        "Which flows should go to a slow lane or come back, as a plan",
        "Counters are read twice, as `hotspots` reads them. Flows of contributors to a hot-spot go to the slow twin of their \
         lane, new ones join, and where an adapter is a hot-spot no more they come back; victims stay. The plan has the tables that slow \
         lanes need on every way there, the flows with who of their hosts will follow, and a certificate; routes stay as they \
         are. What cannot be is refused with the port that stands against it. With nothing to move the exit code is 0, with moves and no \
         -o it is 2, and with -o it is 2 where the plan has findings.",
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
        "The jobs that run on the fabric, and what the tables make of them",
        "Which jobs run is asked of Slurm (--slurm) or read from a list (--file); without either a capture has those that were \
         recorded with it, and for a simulated fabric some are made up. Of each job: its hosts, the switches that they are \
         on, and under the tables in force the channels between switches that paths between its hosts cross, the most such \
         paths over one (its effective edge forwarding index) and the dark fiber; then the same of all jobs, each among its own \
         hosts. Hosts of the list that the fabric does not have are counted and named in a note. A Slurm that does not answer in \
         its time is left (exit code 8). docs/jobs.md says more.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad jobs --slurm", "fabdeck --source capture/ jobs --file jobs.txt --json"]),
    command_of(
        "jobs channels",
        "The channels between switches that paths within jobs cross",
        "A row for each directed channel: the ports at its ends, how many paths within jobs cross it under the tables in force \
         (its effective edge forwarding index), of how many jobs, and which of them has the most there. Those with the most \
         paths come first. The list of jobs is asked for as by `jobs`.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad jobs channels --slurm --top 10"]),
    command_of(
        "jobs watch",
        "Propose routes for the jobs that run, whenever these are others",
        "Every --interval the jobs are asked for. Where those on several switches are on other hosts than before, whatever their \
         ids, sar routes for them; the proposal is told if it gains --gain percent against the tables in force, and not more \
         often than --at-most-every. With -o each is written as a plan. Nothing is applied but with --apply: `apply` takes the plan. A line for \
         each list, until it is asked to end; a Slurm that does not answer is told, and the last list stays.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&["fabdeck --source umad jobs watch --slurm -o plans/"]),
    command_of(
        "whatif",
        "What failures cost, and what each engine would make of them",
        "Nothing is touched: elements are marked as failed, the paths that the tables in force lose are counted (lost \
         until the fabric is rerouted; cut off for good), beside what as many random links would take, or --expect of them. \
         Then every engine routes what is left, each with a certificate that does not trust it, and what it would take \
         to get there: switches and blocks to write, pairs whose path changes, and whether old and new \
         paths together have a credit loop. A certificate with findings ends with exit code 2.",
    )
    .needs_fabric()
    .examples(&[
        "fabdeck --source sim:kary,k=4,n=2 whatif --fail link:leaf0/5",
        "fabdeck --source capture/ whatif --fail-random 3 --seed 7 --engine minhop",
    ]),
    command_of(
        "route",
        "Route with one engine and write a plan",
        "The engine routes what is left of the fabric, a certificate that does not trust it is computed, and a plan is \
         written: which fabric it is for, every block that would change with its old and new bytes, what was certified, \
         and what it takes. On tables that are assumed it is a plan for simulators. Nothing is sent to any switch. A certificate with findings ends with exit code 2.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&["fabdeck --source sim:demo route --engine minhop --fail switch:spine-2 -o reroute.plan"]),
    command_of("plan", "Read plans", "What a plan would do, whether it still holds, and what is different from it now."),
    command_of("plan show", "What a plan would do", "Read from the file alone.")
        .examples(&["fabdeck plan show capture/reroute.plan"]),
    command_of(
        "plan check",
        "Whether a plan still holds",
        "A plan is for one fabric in one state. A fabric that is another now makes it stale, and the first difference is \
         named (exit code 3); else the tables that it leads to are certified again.",
    )
    .needs_fabric()
    .examples(&["fabdeck --source umad plan check capture/reroute.plan"]),
    command_of("plan diff", "Where the fabric differs from a plan", "Switches whose tables are not what the plan leads to.")
        .needs_fabric()
        .examples(&["fabdeck --source umad plan diff capture/reroute.plan"]),
    command_of(
        "disable",
        "A plan that takes a link out of service",
        "One port of a switch is disabled by it; routes stay as they are, so a reroute that does without the link comes first: paths \
         that still lead over it are findings (exit code 2). A disabled link is brought back by `enable`, or by rolling the change \
         back.",
    )
    .needs_fabric()
    .writes_file()
    .examples(&["fabdeck --source umad disable link:leaf0[3] -o out.plan"]),
    command_of("enable", "A plan that brings a link back into service", "The port of a switch that was disabled is enabled by it.")
        .needs_fabric()
        .writes_file()
        .examples(&["fabdeck --source umad enable port:leaf0[3] -o back.plan"]),
    command_of(
        "apply",
        "Write exactly what a plan says, and take it back unless it is confirmed",
        "The fabric has to be the one that the plan is for (exit code 3 else), and the plan without findings, or with those \
         that --accept names (4). Everything is in a journal before the first write; every part is compared with what the plan \
         found there, written, and read back. A process of its own does that, keeps the time and takes the change back when \
         nobody confirms it in time, whatever becomes of this terminal. A fabric that is not simulated has to be opted in: \
         --allow-write, and an entry that `sources --identity` prints. docs/safety.md says what is promised.",
    )
    .needs_fabric()
    .writes_fabric()
    .examples(&[
        "fabdeck --source umad --allow-write apply reroute.plan",
        "fabdeck --source sim:./lab.sock apply reroute.plan --yes --confirm-within 2m",
    ]),
    command_of(
        "run",
        "Carry out a runbook",
        "A file of steps with guards between them: expect, fail, unmark, preview, route, disable, enable, apply, wait, verify, hotspots, \
         lanes, confirm, rollback, record, run and notify (docs/runbooks.md). It is checked wholly before the first step, and all \
         that is wrong with it is told with file, line and reason (exit code 7). The first guard that does not hold ends it (2): \
         what was applied and not confirmed is taken back, as it is when somebody ends the run, and what the book has for a \
         failure is done. With --dry-run everything is read and computed, and nothing written. A book that applies nothing needs no leave \
         to write; one that does needs what `apply` needs, and nobody is asked again.",
    )
    .needs_fabric()
    .writes_fabric()
    .examples(&[
        "fabdeck --source umad run docs/runbooks/nightly-check.toml",
        "fabdeck --source sim:./lab.sock run docs/runbooks/failed-spine.toml --set switch=spine-2 --dry-run",
    ]),
    command_of("confirm", "Keep a change that was applied", "ID is what `apply` and `changes` say; a change is confirmed by nothing else.")
        .writes_fabric()
        .examples(&["fabdeck confirm 3f2a91bc"]),
    command_of("extend", "Give a change more time to be confirmed", "It waits longer before it is rolled back; a day at most.")
        .writes_fabric()
        .examples(&["fabdeck extend 3f2a91bc 30m"]),
    command_of(
        "rollback",
        "Take a change back now",
        "What is still as the change wrote it is restored and read back; what another tool wrote since, \
         and what does not answer, is left and named (exit code 6). Where the fabric has changed so that going back loses \
         paths, it says how many and asks for --force. A rollback that ended incomplete is begun again.",
    )
    .writes_fabric()
    .examples(&["fabdeck rollback 3f2a91bc"]),
    command_of("changes", "The pending change and those before it", "From the journals of the state folder, the newest last; with --json it comes first. With --format prometheus the numbers of \
         pending and overdue changes, for node_exporter's textfile collector. With --verify each confirmed change of the source's \
         fabric is compared with the tables there, entry by entry: it stands, no longer stands (exit code 3, with the switches and \
         who may have written), or is not known as a switch does not answer (8). Entries that a newer change wrote count for that one.")
        .examples(&["fabdeck changes", "fabdeck changes --json", "fabdeck changes --format prometheus", "fabdeck --source sim:demo changes --verify"]),
    command_of(
        "guard",
        "Take over changes whose guard is gone",
        "After a crash or a reboot: what was written half is taken back, what waits to be confirmed goes on waiting, and is \
         taken back where its time is over. Any fabdeck that starts does the same; docs/systemd has a unit that does it at boot.",
    )
    .writes_fabric()
    .examples(&["fabdeck guard --resume"]),
    command_of(
        "generate",
        "Make a fabric by name",
        "NAME may carry keys after commas, as in `kary,k=10,n=3,faults=1%,seed=7`; `fabdeck sources` lists names and \
         keys. The same name gives the same bytes. With --json and no file, only the numbers are printed.",
    )
    .writes_file()
    .examples(&["fabdeck generate demo", "fabdeck generate kary,k=4,n=2 -o tree.net", "fabdeck generate demo --json"]),
    command_of(
        "convert",
        "Read files and write another format",
        "Several files are one fabric: the topology may come from one, tables and names from others. The formats of \
         the input are told by content. A plan of `route` may be one of them: what is written is the fabric as the plan \
         leads it to be, and its lanes go to psl (ibdmchk -c), slvl and qos-policy. A plan that is stale for these files \
         is refused (exit code 3).",
    )
    .writes_file()
    .examples(&[
        "fabdeck convert site.topo opensm-lfts.dump reroute.plan -o active.lft --to lfts",
        "fabdeck convert site.topo -o site.net --to ibsim",
        "fabdeck convert site.topo opensm-lfts.dump -o opensm.fdbs --to fdbs",
    ]),
    command_of(
        "simulate",
        "Run traffic over a fabric, or a fabric for other processes",
        "With --pattern packets flow over virtual lanes with credits under the tables in force, those that are assumed, or \
         those of --engine, and it prints throughput (of the whole, by host, by flow), latency, the lanes' share and the \
         ports that wait. Lanes come from SL2VL tables and path records as for `check`; arbitration tables count. A \
         deadlock, buffers that wait for each other in a circle, is named and ends with exit code 2; congestion is none. \
         The same seed gives the same run. With --serve the fabric answers other processes behind a Unix socket, until Ctrl-C; `--source sim:./SOCKET` \
         is that fabric, `sim:./SOCKET,at=NODE` seen from a node. All clients share one fabric, and a client that ends or \
         hangs harms no other. At the end it says how many clients there were and what they sent, by method.",
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
        "Looks once at everything (topology, tables, lanes), then reads all counters again and again, and writes every sweep \
         to the file as it comes: whatever ends the recording, what was seen before can be read. `--source FILE.fdcap` \
         shows the end of it, with --at any other time; check, whatif, hotspots and the console work there as they do live. \
         Ctrl-C ends it. Nothing is written to the fabric, and no key to the file. With --rotate-size or --rotate-every it \
         goes on in another file again and again, each of them a whole capture; with --notes each line of stdin is a note, in \
         the file with the next sweep; with --slurm or --jobs it holds which jobs ran, which `jobs` and the console show. `-o -` writes to stdout, for a pipe; once nobody reads it any more, it ends.",
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
        "Runs on a host: subscribes at the subnet manager to the notices that say which flows leave the fast lane or come back \
         to it, and runs the site's program (--hook) for each that means this host. It hears the subnet manager alone, at a \
         limited rate, and each notice once; it says how far it is to whoever asks, and unsubscribes when it ends. Nothing else \
         goes out: InformInfo to the manager, answers to its reports, answers to that question. At a simulated host \
         (sim:SOCKET,at=NODE) it moves the flows of that host itself. A line for each event goes to stdout; with --json an \
         object each.",
    )
    .needs_fabric()
    .runs_program()
    .examples(&[
        "fabdeck --source sim:demo,at=node05 agent --for 5s",
        "fabdeck --source umad agent --hook /usr/local/sbin/move-flows",
    ]),
    command_of("capture", "Work on captures", "What `record` wrote."),
    command_of(
        "capture info",
        "What a capture holds",
        "What was recorded, from when to when, how many sweeps, the first of what operators noted, gaps in which nothing was \
         recorded, and damage with the place of each. Every frame is read and checked.",
    )
    .examples(&["fabdeck capture info night.fdcap", "fabdeck capture info night.fdcap --json"]),
    command_of(
        "capture cut",
        "Make a capture of a stretch of one",
        "The sweeps from one time to another with everything said between them, at the times they had. It begins with all \
         that was known at the first of them. What cannot be read is left out and told, in the new capture too; so it also \
         makes a whole capture of one that was cut short.",
    )
    .writes_file()
    .examples(&["fabdeck capture cut night.fdcap --from 02:10 --to 02:20 -o incident.fdcap"]),
    command_of(
        "capture export",
        "Counters over time, comma-separated",
        "A line for each port at each sweep: time, GUID, port, name, and each counter as it was read; with --rates what was \
         sent, taken in and waited a second since the sweep before. One moment in another format writes `convert`, with --at: \
         topology, forwarding tables, Prometheus' text.",
    )
    .writes_file()
    .examples(&[
        "fabdeck capture export night.fdcap --from -10m -o counters.csv",
        "fabdeck convert night.fdcap --at 02:13:40 --to prometheus -o moment.prom",
    ]),
    command_of(
        "capture anonymize",
        "Make a capture that can be given away",
        "GUIDs and names become numbers in canonical order, so that answers stay what they were; makers and devices, names \
         of vendors' own counters, the source, words of remarks and notes are left out. Times, LIDs, cabling, tables and counters stay: who knows the \
         fabric may know it again. The same capture gives the same bytes.",
    )
    .writes_file()
    .examples(&["fabdeck capture anonymize incident.fdcap -o incident-anonymous.fdcap"]),
    command_of(
        "capture note",
        "Add a note to a capture",
        "An operator's words, at the end or at the time of --at. The capture is written anew beside itself and takes its own \
         place once all of it is there. One that has no end may still be written, and is refused.",
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
