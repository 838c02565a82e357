//! Lines that a window wrapped, and dumps with a prompt or remark, which are not wrapped.

use std::fs;
use std::path::Path;

use fabdeck_fabric::observe::Notes;
use fabdeck_files::FileError;
use fabdeck_files::content::Content;
use fabdeck_files::transcript;

fn fixture(path: &str) -> String {
    fs::read_to_string(Path::new(env!("FABDECK_ROOT")).join("tests/fixtures").join(path)).unwrap()
}

fn read(text: &str) -> Result<Content, Box<FileError>> {
    transcript::read("file", text.as_bytes(), &mut Notes::new()).map(|found| found.unwrap().1)
}

/// Tables of switches in which all rows have one length.
fn tables() -> String {
    let table = |switch: usize| {
        let row = |lid| {
            format!(
                "0x{lid:04x} 001 # Channel Adapter portguid 0x{lid:016x}: 'host {lid:02} of rack 7 HCA-1'\n"
            )
        };
        let rows: String = (1..=12).map(row).collect();
        let heading = format!("Unicast lids [0x0-0xc] of switch Lid {switch} guid 0x{switch:016x} ('leaf'):");
        format!("{heading}\n{rows}12 valid lids dumped\n")
    };
    (1..=12).map(table).collect()
}

/// Samples of ports, each below its heading, which is the longest line.
fn samples() -> String {
    let sample = |port: usize| {
        format!(
            "# Port extended counters: Lid 1 port {port} (CapMask: 0x5300 CapMask2: 0x0000002)\n\
             PortSelect:......................{port}\nPortXmitData:....................17\n\
             PortRcvData:.....................18\nPortXmitPkts:....................19\n\
             PortRcvPkts:.....................20\n"
        )
    };
    (10..22).map(sample).collect()
}

fn dumps() -> Vec<(&'static str, String)> {
    vec![
        ("forwarding tables", tables()),
        ("counters", samples()),
        ("lanes", fixture("tables/opensm-sl2vl.dump")),
        ("names", fixture("tables/node-name-map")),
        ("port report", fixture("topology/report.ports")),
        ("topology", fixture("topology/plain.ibnetdiscover")),
        ("db_csv", fixture("incident/fabric.db_csv")),
    ]
}

#[test]
fn a_prompt_in_a_dump_is_no_wrapped_line() {
    for (name, text) in [("forwarding tables", tables()), ("counters", samples())] {
        let plain = read(&text).unwrap();
        for prompt in ["[root@mgmt ~]# dump_lfts.sh\n", "admin@mgmt:~$ perfquery -x 1 1\n"] {
            for (place, prompted) in
                [("in front", format!("{prompt}{text}")), ("at the end", format!("{text}{prompt}"))]
            {
                let content =
                    read(&prompted).unwrap_or_else(|error| panic!("{name}, {prompt} {place}: {error}"));
                match (&content, &plain) {
                    (Content::Tables(read), Content::Tables(plain)) => {
                        assert_eq!(read.sections.len(), plain.sections.len());
                        assert!(read.sections.iter().zip(&plain.sections).all(|(a, b)| a.tables == b.tables));
                    }
                    (Content::Counters(read), Content::Counters(plain)) => {
                        assert_eq!(read.samples, plain.samples)
                    }
                    other => panic!("{other:?}"),
                }
                assert!(content.notes().has("FN-307") || content.notes().has("FN-407"), "{name}");
            }
        }
    }
}

/// A remark is put after the longest lines, where it looks most like the rest of one.
#[test]
fn remarks_after_the_longest_lines_are_no_wrapped_lines() {
    for (name, text) in dumps() {
        let lines: Vec<&str> = text.lines().collect();
        let mut longest: Vec<usize> = (0..lines.len()).collect();
        longest.sort_by_key(|at| std::cmp::Reverse(lines[*at].len()));
        for remark in ["[root@mgmt ~]# ibnetdiscover -p", "this line is a remark of an operator"] {
            for count in 1..=3 {
                let mut noted: Vec<&str> = Vec::new();
                for (at, line) in lines.iter().enumerate() {
                    noted.push(line);
                    noted.extend(longest[..count].contains(&at).then_some(remark));
                }
                let outcome = read(&(noted.join("\n") + "\n"));
                assert!(
                    outcome.as_ref().err().is_none_or(|error| error.code != "FD-2008"),
                    "{name}, {count} times '{remark}': {outcome:?}"
                );
            }
        }
    }
}

/// Each line cut at a width.
fn folded(text: &str, width: usize) -> String {
    let fold = |line: &str| {
        let signs: Vec<char> = line.chars().collect();
        let rows: Vec<String> = signs.chunks(width).map(|row| row.iter().collect()).collect();
        rows.join("\n") + "\n"
    };
    text.lines().map(fold).collect()
}

#[test]
fn wrapped_dumps_of_each_format_are_named_with_the_width() {
    let lanes = |port| format!("0x0002c90100000000 0 {port} 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n");
    let mut dumps = dumps();
    // Names fit into any window, the wrapped part of a heading has no counters, and the module of transcripts wraps a
    // topology.
    dumps.retain(|(name, _)| !["names", "counters", "topology"].contains(name));
    dumps.push(("db_csv of ibdiagnet 2.10", fixture("incident/other_version.db_csv")));
    dumps.push(("slvl", (1..40).map(lanes).collect()));
    let widest = |text: &str| text.lines().map(str::len).max().unwrap();
    for (name, text) in dumps {
        for width in [50, 60, 80].into_iter().filter(|width| width + 10 < widest(&text)) {
            let outcome = transcript::read("file", folded(&text, width).as_bytes(), &mut Notes::new());
            let error = outcome.expect_err(&format!("{name} at {width} columns")).to_string();
            assert!(
                error.contains("FD-2008") && error.contains(&format!("wrapped at {width} columns")),
                "{name} at {width} columns: {error}"
            );
        }
    }
}
