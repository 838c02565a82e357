//! The stage: one ibsim with sockets of its own, ended by its process id, and the tools that run over it.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, Guid, NodeKind};
use fabdeck_files::content::{Content, TableFile, TopologyFile};
use fabdeck_files::text::Input;
use fabdeck_files::{detect, ibsim};
use tempfile::TempDir;

/// Timeout of a tool; the slowest (OpenSM on 720 switches) takes about twenty seconds.
const PATIENCE: Duration = Duration::from_secs(150);

static STAGES: AtomicU32 = AtomicU32::new(0);

/// Whether the long run is wanted (`tests/run --long`).
pub fn long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}

pub fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

/// Path of a program from a Debian package; without it the test fails.
pub fn program(name: &str, package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian installs these outside of a user's PATH.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/bin"].map(PathBuf::from));
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{name} is missing: apt-get install {package}"))
}

/// The library that connects tools to ibsim instead of a device.
fn umad2sim() -> PathBuf {
    let folders =
        fs::read_dir("/usr/lib").unwrap().flatten().map(|entry| entry.path().join("umad2sim/libumad2sim.so"));
    folders
        .into_iter()
        .find(|file| file.is_file())
        .expect("libumad2sim.so is missing: apt-get install ibsim-utils")
}

/// Tools that send a single query.
const QUERIES: [&str; 4] = ["perfquery", "saquery", "sminfo", "smpquery"];

/// A fabric that ibsim plays.
pub struct Stage {
    pub folder: TempDir,
    child: Child,
    socket: String,
    /// The node at which tools run, and the GUID of its port.
    host: String,
    host_port: String,
    /// Output of ibsim.
    log: PathBuf,
}

/// An OpenSM that stays; dropping this value ends it by its process id.
pub struct Manager(Child);

impl Manager {
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    /// Writes the net file as `generate` does and lets ibsim load it.
    pub fn play(fabric: &Fabric) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let net = folder.path().join("fabric.net");
        fs::write(&net, ibsim::write(fabric).unwrap().text).unwrap();
        let (_, host) = fabric.nodes().find(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter).unwrap();
        let ports: usize = fabric.nodes().map(|(_, node)| usize::from(node.facts.port_count) + 2).sum();
        let limits = [fabric.nodes().len(), fabric.switch_count() + 1, ports];
        let host_port = format!("0x{:x}", host.guid().0 + 1);
        Self::load(folder, &net, limits, format!("H-{:016x}", host.guid().0), host_port)
    }

    /// Loads an existing net file. `host` is the name of the node at which tools run.
    pub fn play_file(net: &Path, host: &str, host_port: &str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self::load(folder, net, [64, 64, 1_024], host.to_owned(), host_port.to_owned())
    }

    /// Starts ibsim; `limits` are numbers of nodes, switches and ports.
    fn load(folder: TempDir, net: &Path, limits: [usize; 3], host: String, host_port: String) -> Self {
        let socket = format!("fabdeck-{}-{}", std::process::id(), STAGES.fetch_add(1, Ordering::Relaxed));
        let log = folder.path().join("ibsim.log");
        let [nodes, switches, ports] = limits.map(|limit| limit.to_string());
        let child = Command::new(program("ibsim", "ibsim-utils"))
            .args(["-s", "-N", &nodes, "-S", &switches, "-P", &ports])
            .arg(net)
            .env("IBSIM_SOCKNAME", &socket)
            .stdin(Stdio::piped())
            .stdout(fs::File::create(&log).unwrap())
            .stderr(fs::File::create(folder.path().join("ibsim.err")).unwrap())
            .spawn()
            .unwrap();
        Self { folder, child, socket, host, host_port, log }.wait_until_ready()
    }

    /// Types a command at ibsim's prompt, checks that ibsim confirms it, and returns the output.
    pub fn console(&mut self, command: &str, done: &str) -> String {
        let heard = |log: &Path| fs::read_to_string(log).unwrap_or_default();
        let before = heard(&self.log).len();
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{command}\n").as_bytes()).unwrap();
        let begun = Instant::now();
        loop {
            let said = heard(&self.log).split_off(before);
            // ibsim prints its prompt after each command, the last one alone on its line.
            if said.ends_with("sim> ") {
                assert!(said.contains(done) && !said.contains('#'), "{command}: {said}");
                return said;
            }
            assert!(begun.elapsed() < PATIENCE, "{command}: {said}");
            sleep(Duration::from_millis(5));
        }
    }

    /// Detaches killed processes from ibsim, which keeps their places and has only ten. Living ones stay.
    pub fn forget_the_dead(&mut self) {
        let attached = self.console("Attached", "");
        let clients = attached.lines().filter_map(|line| line.split_once("Client ")?.1.split_once(':'));
        for (client, line) in clients {
            let pid = line.split_once("pid ").and_then(|(_, rest)| rest.split_whitespace().next());
            let lives = pid.is_some_and(|pid| Path::new("/proc").join(pid).exists());
            if !lives {
                self.console(&format!("X {client}"), "");
            }
        }
    }

    /// Whether ibsim ended by itself. It does when a process dies that has just asked it for a connection.
    pub fn has_panicked(&self) -> bool {
        let said = fs::read_to_string(self.folder.path().join("ibsim.err")).unwrap_or_default();
        said.contains("ibpanic")
    }

    /// Ends ibsim without warning.
    pub fn vanish(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn wait_until_ready(mut self) -> Self {
        let log = self.log.clone();
        let begun = Instant::now();
        while !fs::read_to_string(&log).unwrap_or_default().contains("sim> ") {
            let ended = self.child.try_wait().unwrap();
            let said = || fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "ibsim ended on the net file: {}", said());
            assert!(begun.elapsed() < PATIENCE, "ibsim is not ready: {}", said());
            sleep(Duration::from_millis(20));
        }
        self
    }

    /// Command that finds this fabric in place of a device.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            // libumad2sim creates a folder in the working directory.
            .current_dir(self.folder.path())
            .env("IBSIM_SOCKNAME", &self.socket)
            .env("SIM_HOST", &self.host)
            .env("LD_PRELOAD", umad2sim())
            .env("OSM_TMP_DIR", self.folder.path())
            .env("OSM_CACHE_DIR", self.folder.path());
        command
    }

    /// A command over this fabric that does not use libibumad.
    pub fn command_without_library(&self, program: impl AsRef<OsStr>) -> Command {
        let source = Path::new(env!("FABDECK_ROOT")).join("tests/live/header_size.c");
        let library = self.folder.path().join("header_size.so");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        let built = finish(cc);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let mut command = self.command(program);
        command.env("LD_PRELOAD", format!("{}:{}", library.display(), umad2sim().display()));
        command
    }

    /// Runs a tool over this fabric, checks that it succeeds, and returns its output.
    pub fn run<S: AsRef<OsStr>>(&self, tool: &str, package: &str, args: &[S]) -> String {
        let mut command = self.command(program(tool, package));
        if QUERIES.contains(&tool) {
            // These tools give up after a second, which a busy machine can exceed. A value from the caller comes
            // later and wins.
            command.args(["-t", "5000"]);
        }
        command.args(args);
        let output = finish(command);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool}: {}\n{talk}\n{}", output.status, tail(&said));
        said
    }

    /// Runs OpenSM once: it assigns LIDs, routes, and leaves its dumps in the folder.
    pub fn opensm(&self, args: &[&str]) {
        let mut all = self.opensm_args();
        all.push("-o".to_owned());
        all.extend(args.iter().map(|word| (*word).to_owned()));
        self.run("opensm", "opensm", &all);
    }

    /// Starts an OpenSM that stays in charge of the fabric as an earlier one left it.
    pub fn opensm_stays(&self, args: &[&str]) -> Manager {
        self.opensm_stays_at(&self.host, args)
    }

    /// Does the same at another node; `args` contain the GUID of its port.
    pub fn opensm_stays_at(&self, node: &str, args: &[&str]) -> Manager {
        let mut command = self.command(program("opensm", "opensm"));
        command
            .env("SIM_HOST", node)
            .args(self.opensm_args())
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let manager = Manager(command.stderr(Stdio::null()).spawn().unwrap());
        let begun = Instant::now();
        loop {
            let output = finish(self.command(program("sminfo", "infiniband-diags")));
            // OpenSM is master before its first sweep is done, and answers no queries until then.
            if String::from_utf8_lossy(&output.stdout).contains("SMINFO_MASTER") && self.is_answering() {
                return manager;
            }
            assert!(begun.elapsed() < PATIENCE, "OpenSM does not take charge: {output:?}");
            sleep(Duration::from_millis(20));
        }
    }

    /// Whether the manager answers queries.
    fn is_answering(&self) -> bool {
        let mut query = self.command(program("saquery", "infiniband-diags"));
        query.arg("-c");
        finish(query).status.success()
    }

    /// Starts a further OpenSM at another host, which waits as standby and takes over within seconds.
    pub fn opensm_waits(&self, host: Guid) -> Manager {
        let folder = self.folder.path().join("waiting");
        fs::create_dir(&folder).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        fs::write(path("opensm.conf"), "sminfo_polling_timeout 500\npolling_retry_number 2\n").unwrap();
        let mut command = self.command(program("opensm", "opensm"));
        command.env("SIM_HOST", format!("H-{:016x}", host.0));
        command.env("OSM_TMP_DIR", &folder).env("OSM_CACHE_DIR", &folder);
        command.args(["-F", &path("opensm.conf"), "-f", &path("opensm.log"), "-R", "minhop", "-t", "300"]);
        command.args(["-g", &format!("0x{:x}", host.0 + 1), "-D", "0x43"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let manager = Manager(command.spawn().unwrap());
        let begun = Instant::now();
        while !fs::read_to_string(path("opensm.log")).unwrap_or_default().contains("Entering STANDBY state") {
            assert!(begun.elapsed() < PATIENCE, "OpenSM does not wait: {}", path("opensm.log"));
            sleep(Duration::from_millis(20));
        }
        manager
    }

    fn opensm_args(&self) -> Vec<String> {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        fs::write(path("opensm.conf"), "max_smps_timeout 600000\n").unwrap();
        let words = [
            ("-F", path("opensm.conf")),
            ("-s", "0".to_owned()),
            ("-f", path("opensm.log")),
            ("-D", "0x43".to_owned()),
            ("-t", "2000".to_owned()),
            ("--dump_files_dir", self.folder.path().display().to_string()),
            ("-g", self.host_port.clone()),
        ];
        let flags = words.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]);
        flags.chain(["-e".to_owned()]).collect()
    }

    /// The bytes of a dump, and its name for messages.
    pub fn dump(&self, name: &str) -> (String, Vec<u8>) {
        let path = self.folder.path().join(name);
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (name.to_owned(), bytes)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            println!("what the tools left behind: {}", self.folder.path().display());
        }
    }
}

/// Output of a command; a command that hangs is ended by its id and fails the test.
pub fn finish(mut command: Command) -> Output {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |from: &mut dyn Read| {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    };
    std::thread::scope(|scope| {
        let stdout = scope.spawn(move || read(&mut out));
        let stderr = scope.spawn(move || read(&mut err));
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                panic!("{command:?} did not end within {PATIENCE:?}");
            }
            sleep(Duration::from_millis(10));
        };
        Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    })
}

/// Runs ibdmchk on a list of links and routes and returns its report. Its exit code is always 0.
pub fn ibdmchk(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(program("ibdmchk", "ibutils"));
    let output = finish({
        command.args(args).current_dir(folder);
        command
    });
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(2_000);
    text.get(start..).unwrap_or(text)
}

/// Reads a topology as any file is read, with the format found by content.
pub fn topology(name: &str, bytes: &[u8]) -> TopologyFile {
    match read(name, bytes) {
        Content::Topology(file) => *file,
        other => panic!("{name} is no topology: {other:?}"),
    }
}

pub fn tables(name: &str, bytes: &[u8]) -> TableFile {
    match read(name, bytes) {
        Content::Tables(file) => file,
        _ => panic!("{name} has no tables"),
    }
}

pub fn read(name: &str, bytes: &[u8]) -> Content {
    let format = detect(bytes).unwrap_or_else(|| panic!("{name} is of no known format"));
    (format.read)(Input::new(name, bytes)).unwrap_or_else(|e| panic!("{e}"))
}
