//! Shards, processes that share a folder, kills and a full disk: the same bytes in the end.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use super::study_runs::{StudyHome, segments, whole_sample};

#[test]
fn shards_and_shared_folders_have_the_table_of_one_process() {
    let home = StudyHome::new();
    let whole = whole_sample(&home);
    let run = |folder: &str, more: &[&str]| {
        let mut process =
            home.command(&[&["study", "run", "sample", "-o", folder, "--threads", "1"], more].concat());
        process.spawn().unwrap()
    };
    // Seven shards, three at a time.
    let shards: Vec<String> = (0..7).map(|shard| format!("{shard}/7")).collect();
    for some in shards.chunks(3) {
        let processes: Vec<_> = some.iter().map(|shard| run("shards", &["--shard", shard])).collect();
        processes.into_iter().for_each(|mut process| assert!(process.wait().unwrap().success()));
    }
    assert_eq!(home.left("shards"), 0);
    assert!(home.table("shards") == whole, "seven shards have another table");
    // Two processes that take whatever has no result yet.
    let processes = [run("shared", &[]), run("shared", &[])];
    processes.into_iter().for_each(|mut process| assert!(process.wait().unwrap().success()));
    assert!(home.table("shared") == whole, "two processes have another table");
    assert_eq!(segments(&home.path("shared")).len(), 2);
}

#[test]
fn a_shard_runs_its_share_and_no_other_cell() {
    let home = StudyHome::new();
    let mut done = 0;
    for shard in 0..3 {
        let (folder, shard) = (format!("part{shard}"), format!("{shard}/3"));
        home.run(&["study", "run", "sample", "-o", &folder, "--shard", &shard, "--threads", "1"]);
        let share = 60 - home.left(&folder);
        assert!(share > 0, "shard {shard} has no cells");
        done += share;
    }
    assert_eq!(done, 60, "the shares of three shards are the whole study");
    // What machines ran without a folder that they share, is put together afterwards.
    for part in ["part1", "part2"] {
        for segment in segments(&home.path(part)) {
            fs::copy(&segment, home.path("part0/segments").join(segment.file_name().unwrap())).unwrap();
        }
    }
    assert_eq!(home.left("part0"), 0);
}

#[test]
fn a_run_that_is_killed_again_and_again_comes_to_the_same_table() {
    let home = StudyHome::new();
    let whole = whole_sample(&home);
    let written = || {
        let all = fs::read_dir(home.path("killed/segments")).into_iter().flatten().flatten();
        all.map(|file| file.metadata().map_or(0, |held| held.len())).sum::<u64>()
    };
    // Each process writes a record at least, and is killed some milliseconds later.
    for kill in 0..10_u64 {
        let before = written();
        let mut process =
            home.command(&["study", "run", "sample", "-o", "killed", "--threads", "1"]).spawn().unwrap();
        while written() == before && process.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(kill * 7 % 10));
        process.kill().unwrap();
        process.wait().unwrap();
    }
    // A record that is half written, and bits that the disk changed, cost their cells another run.
    let all = segments(&home.path("killed"));
    if let Some(longest) = all.iter().max_by_key(|path| fs::metadata(path).unwrap().len()) {
        let mut bytes = fs::read(longest).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes.truncate(bytes.len() - 7);
        fs::write(longest, bytes).unwrap();
    }
    let before = home.left("killed");
    home.run(&["study", "run", "killed"]);
    assert!(home.table("killed") == whole, "after kills with {before} cells left the table is another one");
}

#[test]
fn sigterm_leaves_whole_cells_and_the_rest_continues() {
    let home = StudyHome::new();
    // A cell of this study takes long, so that the signal meets one under way.
    let study = "name = \"long\"\n[[topology]]\nname = \"torus,dims=6x6,terminals=6\"\n[engines]\nuse = [\"dfsssp\"]\n\
                 [[measure]]\nkind = \"routes\"\n[[measure]]\nkind = \"exchange\"\nmessage = 1000\n";
    fs::write(home.path("long.toml"), study).unwrap();
    let mut process = home.command(&["study", "run", "long.toml", "-o", "long"]).spawn().unwrap();
    let began = std::time::Instant::now();
    while fs::read_dir(home.path("long/segments")).map_or(0, Iterator::count) == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "no cell ended");
        std::thread::sleep(Duration::from_millis(10));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&process), rustix::process::Signal::TERM)
        .unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(143));
    assert_eq!(home.left("long"), 1);
}

#[test]
fn a_full_disk_ends_the_run_and_room_continues_it() {
    let home = StudyHome::new();
    let whole = whole_sample(&home);
    // A limit of the size of a file stands for the disk: writes beyond 16 KiB fail.
    let program = env!("CARGO_BIN_EXE_fabdeck");
    let line = format!("trap '' XFSZ; ulimit -f 16; exec {program} study run sample -o full --threads 1");
    let mut process = home.command_of("bash", &["-c", &line]).stdout(Stdio::null()).spawn().unwrap();
    let mut message = String::new();
    process.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(8), "{message}");
    assert!(message.contains("FD-9422") && message.contains("run the same command again"), "{message}");
    let left = home.left("full");
    assert!(left > 0 && left < 60, "{left}");
    home.run(&["study", "run", "sample", "-o", "full"]);
    assert!(home.table("full") == whole, "after a full disk the table is another one");
}

/// As on a cluster: 1,000 tasks over one folder. Set `FABDECK_LONG=1` to run it.
#[test]
fn a_thousand_shards_over_one_folder_have_the_table_of_one_process() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    let home = StudyHome::new();
    let whole = whole_sample(&home);
    let shards: Vec<u32> = (0..1000).collect();
    for some in shards.chunks(16) {
        let start = |shard: &u32| {
            let shard = format!("{shard}/1000");
            home.command(&["study", "run", "sample", "-o", "array", "--shard", &shard, "--threads", "1"])
                .spawn()
                .unwrap()
        };
        let processes: Vec<_> = some.iter().map(start).collect();
        processes.into_iter().for_each(|mut process| assert!(process.wait().unwrap().success()));
    }
    assert!(home.table("array") == whole, "a thousand shards have another table");
    println!("1,000 shards: {} segments", segments(&home.path("array")).len());
}
