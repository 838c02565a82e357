//! Machines that a test writes as files: libibumad itself reads them from a folder instead of the kernel's, and so does
//! the port without the library, which has to say the same in every case. Faults of a host appear here in the same way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fabdeck_live::MadLibrary;
use fabdeck_mad::access::{AddressedMad, MadAddress, MadPort};
use fabdeck_mad::{Method, Smp, attribute};
use tempfile::TempDir;

use crate::{adapters::tool_lines, ibsim};

/// Environment variable with the part that the process on the machine runs; it is unset elsewhere.
const PART: &str = "FABDECK_MACHINES_PART";
const ADAPTER: &str = "FABDECK_MACHINES_ADAPTER";
const PORT: &str = "FABDECK_MACHINES_PORT";
/// Environment variable with the word of the library to read with.
const LIBRARY: &str = "FABDECK_MACHINES_LIBRARY";

/// The process on the machine: this program, started for this test. Without a part it does nothing.
#[test]
fn entered() {
    let Ok(part) = std::env::var(PART) else { return };
    // The test harness has begun a line.
    println!();
    let library = MadLibrary::of(&std::env::var(LIBRARY).unwrap()).unwrap();
    if part == "list" {
        for adapter in library.adapters().unwrap() {
            println!("said: {} {:?}", adapter.name, adapter.node_guid);
            for port in adapter.ports {
                println!(
                    "said:   {} {:?} {:?} {:?} {:?} {:?} {} {}",
                    port.number,
                    port.guid,
                    port.lid,
                    port.manager_lid,
                    port.state,
                    port.physical_state,
                    port.rate_gbps,
                    port.link_layer
                );
            }
        }
        return println!("said: that is all");
    }
    let adapter = std::env::var(ADAPTER).ok();
    let port = std::env::var(PORT).ok().map(|port| port.parse().unwrap());
    let mut port = match library.open_port(adapter.as_deref(), port) {
        Ok(port) => port,
        Err(e) => return println!("said: {e}"),
    };
    println!("said: opened {}", port.local_port().name);
    let mad = Smp::directed(Method::GET, attribute::NODE_INFO, 0, &[]).unwrap().0;
    let parcel = AddressedMad { mad, address: MadAddress::directed() };
    match port.send(&parcel, Duration::from_secs(1)) {
        Ok(()) => println!("said: sent"),
        Err(e) => println!("said: {e}"),
    }
    match port.receive(Duration::ZERO) {
        Ok(arrival) => println!("said: {arrival:?}"),
        Err(e) => println!("said: {e}"),
    }
}

/// The description of a machine as the kernel writes it, with the library that redirects to it.
struct Machine(TempDir);

struct Port {
    state: &'static str,
    physical: &'static str,
    layer: &'static str,
}

const ACTIVE: Port = Port { state: "4: ACTIVE", physical: "5: LinkUp", layer: "InfiniBand" };
const DOWN: Port = Port { state: "1: DOWN", physical: "2: Polling", layer: "InfiniBand" };
const ROCE: Port = Port { state: "4: ACTIVE", physical: "5: LinkUp", layer: "Ethernet" };

/// Builds a library that redirects paths of the machine into a folder.
pub fn redirect(folder: &Path) -> PathBuf {
    let source = Path::new(env!("FABDECK_ROOT")).join("tests/live/redirect.c");
    let library = folder.join("redirect.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    let built = ibsim::finish(cc);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        redirect(folder.path());
        let machine = Self(folder);
        machine.write("sys/class/infiniband_mad/abi_version", "5");
        fs::create_dir_all(machine.0.path().join("sys/class/infiniband")).unwrap();
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    /// Adds an adapter whose ports have devices from number `device` on.
    fn adapter(self, name: &str, guid: u16, device: usize, ports: &[Port]) -> Self {
        let folder = format!("sys/class/infiniband/{name}");
        for (file, text) in [
            ("node_type", "1: CA".to_owned()),
            ("fw_ver", "16.35.2000".to_owned()),
            ("hw_rev", "0".to_owned()),
            ("hca_type", "MT4119".to_owned()),
            ("node_guid", format!("0002:c903:0000:{guid:04x}")),
            ("sys_image_guid", format!("0002:c903:0000:{guid:04x}")),
        ] {
            self.write(&format!("{folder}/{file}"), &text);
        }
        for (number, port) in (1..).zip(ports) {
            let folder = format!("{folder}/ports/{number}");
            for (file, text) in [
                ("state", port.state),
                ("phys_state", port.physical),
                ("link_layer", port.layer),
                ("rate", "100 Gb/sec (4X EDR)"),
                ("lid", "0x11"),
                ("sm_lid", "0x1"),
                ("sm_sl", "0"),
                ("lid_mask_count", "0"),
                ("cap_mask", "0x2651e848"),
                ("gids/0", &format!("fe80:0000:0000:0000:0002:c903:0000:{:04x}", guid + number)),
                ("pkeys/0", "0xffff"),
            ] {
                self.write(&format!("{folder}/{file}"), text);
            }
            let device = device + usize::from(number) - 1;
            self.write(&format!("sys/class/infiniband_mad/umad{device}/ibdev"), name);
            self.write(&format!("sys/class/infiniband_mad/umad{device}/port"), &number.to_string());
            self.write(&format!("dev/infiniband/umad{device}"), "");
        }
        self
    }

    fn remove(self, path: &str) -> Self {
        let path = self.0.path().join(path);
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
        self
    }

    fn command(&self, part: &str, library: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "umad_folders::entered", "--nocapture"])
            .env("LD_PRELOAD", self.0.path().join("redirect.so"))
            .env("FABDECK_MACHINE", self.0.path())
            .env(PART, part)
            .env(LIBRARY, library);
        command
    }

    /// What the library lists, and the kernel's files without it.
    fn list(&self) -> Vec<String> {
        let [listed, alone] =
            ["libibumad", "none"].map(|library| tool_lines(ibsim::finish(self.command("list", library))));
        assert_eq!(alone, listed, "without libibumad, and with it");
        listed
    }

    /// What opening says with the library, and without it.
    fn open(&self, adapter: Option<&str>, port: Option<u8>, settings: &[(&str, &str)]) -> Vec<String> {
        let [said, alone] =
            ["libibumad", "none"].map(|library| self.open_with(library, adapter, port, settings));
        assert_eq!(alone, said, "without libibumad, and with it");
        said
    }

    fn open_with(
        &self,
        library: &str,
        adapter: Option<&str>,
        port: Option<u8>,
        settings: &[(&str, &str)],
    ) -> Vec<String> {
        let mut command = self.command("open", library);
        command.envs(settings.iter().copied());
        command.envs(adapter.map(|name| (ADAPTER, name)));
        command.envs(port.map(|number| (PORT, number.to_string())));
        tool_lines(ibsim::finish(command))
    }

    #[track_caller]
    fn refuses(&self, adapter: Option<&str>, port: Option<u8>, settings: &[(&str, &str)], parts: &[&str]) {
        let said = self.open(adapter, port, settings);
        println!("{}", said.join("\n"));
        assert!(parts.iter().all(|part| said[0].contains(part)), "{said:?}");
    }
}

fn two_adapters() -> Machine {
    Machine::new().adapter("mlx5_0", 0x10, 0, &[ROCE]).adapter("mlx5_1", 0x20, 1, &[DOWN, ACTIVE])
}

#[test]
fn adapters_are_listed_with_their_ports() {
    let expected = [
        "mlx5_0 Some(0x0002c90300000010)",
        "  1 Some(0x0002c90300000011) Some(Lid(17)) Some(Lid(1)) Some(Active) Some(LinkUp) 100 Ethernet",
        "mlx5_1 Some(0x0002c90300000020)",
        "  1 Some(0x0002c90300000021) Some(Lid(17)) Some(Lid(1)) Some(Down) Some(Polling) 100 InfiniBand",
        "  2 Some(0x0002c90300000022) Some(Lid(17)) Some(Lid(1)) Some(Active) Some(LinkUp) 100 InfiniBand",
        "that is all",
    ];
    assert_eq!(two_adapters().list(), expected);
}

#[test]
fn a_machine_without_adapters_lists_none_and_opens_none() {
    let none = ["FD-4202: this machine has no InfiniBand adapter", "modprobe mlx5_ib"];
    let empty = Machine::new();
    assert_eq!(empty.list(), ["that is all"]);
    empty.refuses(None, None, &[], &none);
    let bare = Machine::new().remove("sys");
    assert_eq!(bare.list(), ["that is all"]);
    bare.refuses(None, None, &[], &none);
}

#[test]
fn a_machine_without_the_library_is_read_without_it() {
    let (machine, without) = (two_adapters(), ("FABDECK_NO_LIBRARY", "1"));
    assert_eq!(machine.open_with("auto", None, None, &[without])[0], "opened mlx5_1 port 2");
    let mut list = machine.command("list", "auto");
    list.env(without.0, without.1);
    assert_eq!(tool_lines(ibsim::finish(list)), machine.list());
    // Where the library is asked for, its package is named.
    let said = machine.open_with("libibumad", None, None, &[without]);
    for part in [
        "FD-4201: libibumad.so.3 cannot be loaded",
        "cannot open shared object",
        "apt-get install libibumad3",
    ] {
        assert!(said[0].contains(part), "{said:?}");
    }
}

#[test]
fn an_adapter_of_which_nothing_can_be_read_is_listed_by_its_name() {
    let machine = two_adapters().remove("sys/class/infiniband/mlx5_1/ports/1/state");
    assert_eq!(machine.list()[2..], ["mlx5_1 None", "that is all"]);
    machine.refuses(Some("mlx5_1"), None, &[], &["FD-4204: mlx5_1 has no port that can be read"]);
}

#[test]
fn the_first_active_infiniband_port_is_opened() {
    let machine = two_adapters();
    assert_eq!(machine.open(None, None, &[])[0], "opened mlx5_1 port 2");
    assert_eq!(machine.open(Some("mlx5_1"), None, &[])[0], "opened mlx5_1 port 2");
    assert_eq!(machine.open(None, Some(2), &[])[0], "opened mlx5_1 port 2");
}

#[test]
fn what_is_named_and_cannot_be_used_is_refused() {
    let machine = two_adapters();
    machine.refuses(Some("mlx4_0"), None, &[], &["FD-4203: no adapter is called 'mlx4_0'", "mlx5_0, mlx5_1"]);
    machine.refuses(Some("mlx5_1"), Some(3), &[], &["FD-4204: mlx5_1 has no port 3", "mlx5_1 port 2"]);
    machine.refuses(Some("mlx5_1"), Some(1), &[], &["FD-4206: mlx5_1 port 1 is Down (Polling)", "cable"]);
    machine.refuses(Some("mlx5_0"), Some(1), &[], &["FD-4207: mlx5_0 port 1 is Ethernet", "RoCE"]);
    let down = Machine::new().adapter("mlx5_0", 0x10, 0, &[DOWN, DOWN]);
    down.refuses(
        None,
        None,
        &[],
        &["FD-4206", "mlx5_0 port 1 is Down (Polling), mlx5_0 port 2 is Down (Polling)"],
    );
}

#[test]
fn a_device_that_may_not_be_opened_is_named() {
    let denied =
        ["FD-4205: /dev/infiniband/umad2 (mlx5_1 port 2) may not be opened", "KERNEL==\"umad*\"", "sudo"];
    // EACCES comes from the mode of the file, EPERM from a container's list of devices.
    for errno in ["13", "1"] {
        two_adapters().refuses(None, None, &[("FABDECK_DEVICE_ERRNO", errno)], &denied);
    }
    let busy = ["FD-4210: /dev/infiniband/umad2 (mlx5_1 port 2) cannot be opened", "busy"];
    two_adapters().refuses(None, None, &[("FABDECK_DEVICE_ERRNO", "16")], &busy);
    let absent = two_adapters().remove("dev/infiniband/umad2");
    absent.refuses(
        None,
        None,
        &[],
        &["FD-4210: /dev/infiniband/umad2 (mlx5_1 port 2) does not exist", "--device"],
    );
}

#[test]
fn a_missing_kernel_module_is_named() {
    let module = ["FD-4208: mlx5_1 port 2 has no device", "modprobe ib_umad"];
    two_adapters().remove("sys/class/infiniband_mad").refuses(None, None, &[], &module);
    two_adapters().remove("sys/class/infiniband_mad/umad2").refuses(None, None, &[], &module);
    two_adapters().refuses(None, None, &[("FABDECK_OLD_KERNEL", "1")], &["FD-4209: /dev/infiniband/umad2"]);
}

#[test]
fn a_kernel_that_refuses_is_quoted() {
    let said = two_adapters().open(None, None, &[]);
    assert!(
        said[1].starts_with("FD-4211: mlx5_1 port 2 (/dev/infiniband/umad2): the kernel refuses"),
        "{said:?}"
    );
    assert!(said[1].contains("class 0x81: Operation not permitted"), "{said:?}");
    let sent = |settings: &[(&str, &str)]| {
        let agents = [("FABDECK_AGENTS", "1")];
        two_adapters().open(None, None, &[&agents, settings].concat())
    };
    let said = sent(&[("FABDECK_WRITE_ERRNO", "19")]);
    assert!(
        said[1].starts_with("FD-4212: mlx5_1 port 2 (/dev/infiniband/umad2): a datagram could not"),
        "{said:?}"
    );
    assert!(said[1].contains("No such device"), "{said:?}");
    let said = sent(&[("FABDECK_WRITE_ERRNO", "22")]);
    assert!(said[1].starts_with("FD-4214: mlx5_1 port 2"), "{said:?}");
    // A plain file accepts a write, and then has nothing to read.
    let said = sent(&[]);
    assert_eq!(said[1], "sent");
    println!("{}", said.join("\n"));
    assert!(said[2].starts_with("FD-4213: mlx5_1 port 2 (/dev/infiniband/umad2): nothing more"), "{said:?}");
}
