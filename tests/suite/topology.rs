//! Topology text: dumps of ibnetdiscover, net files of ibsim, port reports.

use fabdeck::files::{ibnetdiscover, ibsim, port_report, text::Input};

#[test]
#[ignore]
fn byhand() {
    for e in std::env::var("FILES").unwrap().split(':') {
        let bytes = std::fs::read(e).unwrap();
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(8192)]).into_owned();
        println!(
            "== {e} dump {} net {} report {}",
            ibnetdiscover::looks_like(&head),
            ibsim::looks_like(&head),
            port_report::looks_like(&head)
        );
        let input = Input::new(e, &bytes);
        let t = std::time::Instant::now();
        let r = if ibsim::looks_like(&head) {
            ibsim::read(input)
        } else if port_report::looks_like(&head) {
            port_report::read(input)
        } else {
            ibnetdiscover::read(input)
        };
        println!("{:?}", t.elapsed());
        match r {
            Ok(f) => {
                println!(
                    "{} nodes {} switches {} links; time {:?}",
                    f.fabric.nodes().len(),
                    f.fabric.switch_count(),
                    f.fabric.links().len(),
                    f.time
                );
                for n in f.notes.iter() {
                    println!("  {n} partial={}", n.partial)
                }
                if let Ok(out) = std::env::var("OUT") {
                    let w = ibsim::write(&f.fabric).unwrap();
                    for n in w.notes.iter() {
                        println!("  W {n} partial={}", n.partial)
                    }
                    std::fs::write(&out, w.text).unwrap();
                    let t = std::time::Instant::now();
                    let w = ibnetdiscover::write(&f.fabric, None).unwrap();
                    println!("write {:?}", t.elapsed());
                    for n in w.notes.iter() {
                        println!("  W {n} partial={}", n.partial)
                    }
                    std::fs::write(out + ".dump", w.text).unwrap();
                }
            }
            Err(e) => println!("ERR {e}"),
        }
    }
}
