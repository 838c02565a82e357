//! Which LID each host sends to, for the environment of its jobs: a line for each port with the name of the host, what it
//! adds to the base LID of a destination, and the port.

use std::fmt::Write;

use fabdeck_fabric::{Fabric, Faults, Lmc, Names, PathBits, SwitchGraph, Terminal};

use super::slurm::host_name;

pub const ID: &str = "path-bits";

/// The largest LMC of a host's port.
pub fn max_lmc(fabric: &Fabric) -> Lmc {
    let graph = SwitchGraph::new(fabric, &Faults::new());
    graph.terminals().iter().filter(|end| end.lid.is_some()).map(|end| end.lmc).max().unwrap_or_default()
}

/// Writes the path bits of all hosts, in the order of switches and ports.
pub fn write(fabric: &Fabric, names: &Names, path_bits: &PathBits) -> String {
    let graph = SwitchGraph::new(fabric, &Faults::new());
    let is_host = |end: &&Terminal| {
        end.lid.is_some() && !fabric.node(fabric.port(end.port).node).facts.is_aggregation()
    };
    let hosts = || graph.terminals().iter().filter(is_host);
    let mut text = String::from(
        "# Path bits: what each host adds to the base LID of a destination. HOST BITS PORT\n\
         # UCX: UCX_IB_LID_PATH_BITS=BITS in the environment of the host. fabdeck counts paths by these bits.\n",
    );
    let unaligned = |end: &Terminal| end.lid.is_some_and(|lid| lid.value() % end.lmc.lid_count() != 0);
    if let Some(end) = hosts().find(|end| unaligned(end)) {
        let name = names.unique_name(fabric, fabric.port(end.port).node);
        // Writing to a string does not fail.
        _ = writeln!(
            text,
            "# The base LID of {name} is no multiple of its {} LIDs; hosts cannot use path bits before it is.",
            end.lmc.lid_count()
        );
    }
    for end in hosts() {
        let port = fabric.port(end.port);
        let own = names.name(port.node);
        let host = host_name(own).unwrap_or_else(|| own.replace(char::is_whitespace, "_"));
        let unique = names.unique_name(fabric, port.node);
        _ = writeln!(text, "{host} {} {unique}[{}]", path_bits.get(end.port), port.number);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::NameMap;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn every_host_has_a_line_and_odd_base_lids_are_named() {
        let spec: FabricSpec = "mport,m=4,n=2".parse().unwrap();
        let fabric = generate(&spec).unwrap().fabric;
        assert_eq!(max_lmc(&fabric).value(), 1);
        let names = Names::new(&fabric, &NameMap::default());
        let text = write(&fabric, &names, &PathBits::by_place(&fabric));
        let bits: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().nth(1).unwrap())
            .collect();
        assert_eq!(bits, ["0", "1"].repeat(4), "{text}");
        assert!(text.contains("no multiple of its 2 LIDs"), "{text}");
    }
}
