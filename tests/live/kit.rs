//! Irregular trees beside OpenSM: `tests/peers/kit` routes with both, judges both and checks the bounds of fabdeck's
//! engines.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::ibsim;

/// Runs twenty small trees; with `--long` the whole kit for at most half an hour, from where the last run stopped.
#[test]
fn engines_keep_their_bounds_on_irregular_trees() {
    let root = PathBuf::from(env!("FABDECK_ROOT"));
    let mut command = Command::new(ibsim::program("python3", "python3"));
    command.arg(root.join("tests/peers/kit")).args(["--fabdeck", env!("CARGO_BIN_EXE_fabdeck")]);
    match ibsim::long() {
        true => command.args(["--minutes", "30", "--theirs", "minhop,ftree,updn,sssp,dfsssp"]),
        false => command.args(["--ci", "--minutes", "2", "--theirs", "minhop,ftree"]),
    };
    let output = command.stdin(Stdio::null()).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}{errors}");
    let beyond: Vec<&str> = said.lines().filter(|line| line.contains("BEYOND")).collect();
    assert!(output.status.success(), "{}\n{errors}", beyond.join("\n"));
}
