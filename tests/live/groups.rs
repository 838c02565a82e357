//! Partitions and multicast groups of a real OpenSM over ibsim, which delivers only the first packet of a table.

use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ibsim::{self, Stage};
use fabdeck_fabric::NodeKind;

/// Joins a port to the broadcast groups of some partitions: a Set of McMemberRecord by multicast GID, port GID and join
/// state.
const JOIN: &str = r#"
import ctypes, struct, sys
library = ctypes.CDLL("libibumad.so.3")
library.umad_init()
port = library.umad_open_port(None, 0)
agent = library.umad_register(port, 3, 2, 0, None)
manager, guid = int(sys.argv[1]), int(sys.argv[2], 16)
for word in sys.argv[3:]:
    key, state = (int(part, 16) for part in word.split(":"))
    mad = bytearray(256)
    mad[0:4] = bytes([1, 3, 2, 2])
    mad[8:16] = struct.pack(">Q", 77)
    mad[16:18] = struct.pack(">H", 0x38)
    mad[48:56] = struct.pack(">Q", 1 | 2 | 1 << 16)
    mad[56:72] = struct.pack(">HHHHHHHH", 0xff12, 0x401b, key, 0, 0, 0, 0xffff, 0xffff)
    mad[72:88] = struct.pack(">QQ", 0xfe80000000000000, guid)
    mad[56 + 48] = 2 << 4 | state
    packet = ctypes.create_string_buffer(64 + 2048)
    ctypes.memmove(ctypes.addressof(packet) + 64, bytes(mad), 256)
    library.umad_set_addr(packet, manager, 1, 0, ctypes.c_int(-0x7fff0000))
    assert library.umad_send(port, agent, packet, 256, 5000, 0) == 0
    length = ctypes.c_int(2048)
    assert library.umad_recv(port, packet, ctypes.byref(length), 5000) >= 0
    status = struct.unpack(">H", packet.raw[64 + 4:64 + 6])[0]
    assert status == 0, hex(status)
print("joined")
"#;

#[test]
fn groups_of_opensm_have_their_members_though_tables_arrive_in_part() {
    let fabric = ibsim::fabric("kary,k=2,n=2");
    let stage = Stage::play(&fabric);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("partitions.conf");
    // Every partition has a group, and six of them do not fit into one packet.
    let partitions = (1..=5).map(|key| format!("p{key}={key:#x}, ipoib, defmember=full : ALL ;\n"));
    let text = format!("Default=0x7fff, ipoib, defmember=full : ALL ;\n{}", partitions.collect::<String>());
    fs::write(&file, text).unwrap();
    let _manager = stage.opensm_stays(&["-P", &file.display().to_string()]);
    let hosts: Vec<_> =
        fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter).collect();
    let at = |node: usize| format!("H-{:016x}", hosts[node].1.guid().0);
    let lid =
        String::from_utf8(ibsim::finish(stage.command(ibsim::program("sminfo", "infiniband-diags"))).stdout)
            .unwrap();
    let lid = lid.split("sm lid ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let join = |node: usize, words: &[&str]| {
        let mut command = stage.command(ibsim::program("python3", "python3"));
        let guid = format!("{:x}", hosts[node].1.guid().0 + 1);
        command.env("SIM_HOST", at(node)).args(["-c", JOIN, &lid, &guid]).args(words);
        let output = ibsim::finish(command);
        assert!(output.status.success(), "{output:?}");
    };
    join(1, &["ffff:1", "8001:1", "8002:1", "8003:1", "8004:1", "8005:1"]);
    join(2, &["ffff:1", "8001:4", "8002:1", "8003:1", "8004:1", "8005:1"]);
    let ask = |view: &str, more: &[&str]| -> Vec<Value> {
        let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
        command.env("SIM_HOST", at(3)).args(["--source", "umad", "show", view, "--json"]).args(more);
        let output = ibsim::finish(command);
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
        assert_eq!(answer["partial"], Value::from(false), "{answer}");
        answer["rows"].as_array().unwrap().clone()
    };
    let keys = ["0x7fff", "0x0001", "0x0002", "0x0003", "0x0004", "0x0005"];
    let name = |node: usize| hosts[node].1.facts.description.clone();
    let of = |rows: &[Value], node: usize| -> BTreeSet<String> {
        let own = rows.iter().filter(|row| row["node"] == name(node).as_str());
        own.map(|row| {
            format!("{} {} {}", row["pkey"].as_str().unwrap(), row["state"].as_str().unwrap(), row["tree"])
        })
        .collect()
    };
    // OpenSM writes the trees of new members a while after it has answered them.
    let begun = Instant::now();
    let rows = loop {
        let rows = ask("groups", &["--fields", "pkey,group,node,state,tree"]);
        if of(&rows, 1).len() == keys.len() || begun.elapsed() > Duration::from_secs(20) {
            break rows;
        }
        sleep(Duration::from_millis(200));
    };
    println!("{rows:?}");
    let expected: BTreeSet<String> = keys.iter().map(|key| format!("{key} joined true")).collect();
    assert_eq!((of(&rows, 1), of(&rows, 2)), (expected.clone(), expected));
    assert!(of(&rows, 0).is_empty() && rows.iter().all(|row| row["group"] == "IPoIB broadcast"));

    let members = ask("partitions", &["--fields", "pkey,node,member"]);
    for key in ["0x7fff", "0x0001", "0x0005"] {
        let full = members.iter().filter(|row| row["pkey"] == key && row["member"] == "full").count();
        assert_eq!(full, fabric.nodes().len(), "{key}: {members:?}");
    }
}
