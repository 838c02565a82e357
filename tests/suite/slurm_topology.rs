//! Slurm's topology.yaml, read by a strict reader of its grammar (topology.yaml(5) of Slurm 25.05): a list of
//! topologies, each a tree or blocks; unknown keys are refused. Its trees are those of topology.conf, which a real
//! slurmctld reads in `tests/live/slurm_trees.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, NameMap, Names};
use fabdeck_files::slurm;
use serde::Deserialize;

use super::incident::draw;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topology {
    topology: String,
    cluster_default: bool,
    tree: Option<Tree>,
    block: Option<Block>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tree {
    switches: Vec<TreeSwitch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeSwitch {
    switch: String,
    children: Option<String>,
    nodes: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    block_sizes: Vec<usize>,
    blocks: Vec<NamedBlock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedBlock {
    block: String,
    nodes: String,
}

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

fn names(fabric: &Fabric) -> Names {
    Names::new(fabric, &NameMap::default())
}

/// The topologies of a file, each with one kind, one of them the default.
fn topologies(text: &str) -> Vec<Topology> {
    let all: Vec<Topology> = serde_yaml_ng::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    assert!(all.iter().all(|one| one.tree.is_some() != one.block.is_some()));
    assert_eq!(all.iter().filter(|one| one.cluster_default).count(), 1);
    let called: BTreeSet<&str> = all.iter().map(|one| one.topology.as_str()).collect();
    assert_eq!(called.len(), all.len());
    all
}

/// The nodes of a tree. Names are unique and short enough, a switch has children or nodes, and children stand before it.
fn nodes_of(tree: &Tree) -> Vec<String> {
    let (mut known, mut nodes) = (BTreeSet::new(), Vec::new());
    for switch in &tree.switches {
        match (&switch.nodes, &switch.children) {
            (Some(list), None) => nodes.extend(slurm::expand(list).unwrap()),
            (None, Some(list)) => {
                let children = slurm::expand(list).unwrap();
                assert!(children.iter().all(|child| known.contains(child)), "{}: {list}", switch.switch);
            }
            _ => panic!("{} has both or nothing", switch.switch),
        }
        assert!(switch.switch.len() <= 64 && known.insert(switch.switch.clone()), "{}", switch.switch);
    }
    nodes
}

fn once(mut nodes: Vec<String>) -> BTreeSet<String> {
    let count = nodes.len();
    nodes.sort();
    nodes.dedup();
    assert_eq!(nodes.len(), count, "a node is listed twice");
    nodes.into_iter().collect()
}

/// The nodes of the blocks, by their names. Each block has the base size at least; other sizes are it times powers of two.
fn blocks_of(block: &Block) -> BTreeMap<String, BTreeSet<String>> {
    let (base, powers) = (block.block_sizes[0], block.block_sizes.iter().zip(0..));
    powers.for_each(|(size, power)| assert_eq!(*size, block.block_sizes[0] << power));
    let named = block.blocks.iter().map(|one| (one.block.clone(), once(slurm::expand(&one.nodes).unwrap())));
    let blocks: BTreeMap<_, _> = named.collect();
    assert_eq!(blocks.len(), block.blocks.len());
    assert!(blocks.values().all(|nodes| nodes.len() >= base));
    blocks
}

/// The tree of the file as topology.conf has it.
fn as_conf(tree: &Tree) -> String {
    let line = |switch: &TreeSwitch| match (&switch.nodes, &switch.children) {
        (Some(nodes), _) => format!("SwitchName={} Nodes={nodes}\n", switch.switch),
        (_, children) => format!("SwitchName={} Switches={}\n", switch.switch, children.clone().unwrap()),
    };
    tree.switches.iter().map(line).collect()
}

#[test]
fn a_tree_and_its_pods_as_blocks() {
    for (name, block_sizes, blocks) in [
        ("kary,k=4,n=3", vec![16, 32, 64], vec![("pod0", 16), ("pod1", 16), ("pod2", 16), ("pod3", 16)]),
        ("kary,k=3,n=2", vec![3, 6], vec![("leaf0", 3), ("leaf1", 3), ("leaf2", 3)]),
    ] {
        let fabric = fabric(name);
        let names = names(&fabric);
        let text = slurm::write_yaml(&fabric, &names, None).text;
        let all = topologies(&text);
        let [
            Topology { topology: first, tree: Some(tree), .. },
            Topology { topology: second, block: Some(block), .. },
        ] = all.as_slice()
        else {
            panic!("{name}: a tree and blocks: {text}")
        };
        assert_eq!((first.as_str(), second.as_str()), ("tree", "block"));
        let found = blocks_of(block);
        let sizes: Vec<_> = found.iter().map(|(name, nodes)| (name.as_str(), nodes.len())).collect();
        assert_eq!((&block.block_sizes, sizes), (&block_sizes, blocks), "{name}");
        assert_eq!(once(nodes_of(tree)), found.into_values().flatten().collect(), "{name}");
        assert_eq!(as_conf(tree), slurm::write(&fabric, &names, None).text, "{name}");
    }
}

#[test]
fn pods_are_what_is_connected_below_the_spines() {
    let fabric = fabric("kary,k=4,n=3");
    let text = slurm::write_yaml(&fabric, &names(&fabric), None).text;
    let all = topologies(&text);
    let (tree, block) = (all[0].tree.as_ref().unwrap(), all[1].block.as_ref().unwrap());
    for nodes in blocks_of(block).values() {
        let is_of_block = |switch: &&TreeSwitch| {
            switch
                .nodes
                .as_ref()
                .is_some_and(|list| slurm::expand(list).unwrap().iter().all(|node| nodes.contains(node)))
        };
        let leaves: BTreeSet<&str> =
            tree.switches.iter().filter(is_of_block).map(|switch| switch.switch.as_str()).collect();
        let above = tree.switches.iter().filter_map(|switch| switch.children.as_deref());
        let of_leaves = above
            .filter(|list| slurm::expand(list).unwrap().iter().any(|child| leaves.contains(child.as_str())));
        let below_one: BTreeSet<String> = of_leaves.flat_map(|list| slurm::expand(list).unwrap()).collect();
        assert_eq!(below_one.iter().map(String::as_str).collect::<BTreeSet<_>>(), leaves);
    }
}

/// Two hosts with two rails, each rail with a leaf for each host.
#[test]
fn each_rail_has_a_tree_and_blocks_of_its_own() {
    let fabric = draw(
        "switch leaf1\nswitch leaf2\nswitch leaf3\nswitch leaf4\nswitch spine\n\
         host a=node0 mlx5_0\nhost b=node0 mlx5_1\nhost c=node1 mlx5_0\nhost d=node1 mlx5_1\n\
         a/1 leaf1/1\nb/1 leaf2/1\nc/1 leaf3/1\nd/1 leaf4/1\n\
         leaf1/9 spine/1\nleaf2/9 spine/2\nleaf3/9 spine/3\nleaf4/9 spine/4\n",
    );
    let written = slurm::write_yaml(&fabric, &names(&fabric), None);
    insta::assert_snapshot!("two_rails", written.text);
    assert_eq!(topologies(&written.text).len(), 4);
    let second = topologies(&slurm::write_yaml(&fabric, &names(&fabric), Some(2)).text);
    assert_eq!(second.len(), 2);
    let tree = |all: &[Topology], at: usize| as_conf(all[at].tree.as_ref().unwrap());
    assert_eq!(tree(&second, 0), tree(&topologies(&written.text), 2));
}

#[test]
fn what_blocks_cannot_say_is_named() {
    let mut text = String::from(
        "switch leaf0\nswitch leaf1\nswitch leaf2\nswitch spine\nhost x=login mlx5_0\nx/1 spine/9\n\
         leaf0/9 spine/1\nleaf1/9 spine/2\nleaf2/9 spine/3\nhost y=odd mlx5_0\ny/1 leaf2/1\n",
    );
    for at in 0..8 {
        writeln!(text, "host n{at}=node{at} HCA-1\nn{at}/1 leaf{}/{}", at / 4, at % 4 + 1).unwrap();
    }
    let fabric = draw(&text);
    let written = slurm::write_yaml(&fabric, &names(&fabric), None);
    let codes: Vec<_> = written.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["FN-454", "FN-469", "FN-470"], "{}", written.text);
    let all = topologies(&written.text);
    assert_eq!(once(nodes_of(all[0].tree.as_ref().unwrap())).len(), 10);
    assert_eq!(blocks_of(all[1].block.as_ref().unwrap()).values().map(BTreeSet::len).sum::<usize>(), 9);
}
