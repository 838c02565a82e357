//! OpenSM's console is a port of the host, and while OpenSM is down any user can listen there.

use std::io::{BufRead, BufReader};

use super::other_users::run_as_second_user;
use fabdeck_change::{LocalSystem, OpensmSite};

/// A rollback that took this answer for OpenSM would end before OpenSM is back.
#[test]
fn a_console_of_another_user_is_no_opensm() {
    let script = "import socket\nl=socket.socket()\nl.bind(('127.0.0.1',0))\nl.listen(9)\nprint(l.getsockname()[1],flush=True)\n\
                  while True:\n s=l.accept()[0]\n s.sendall(b'OpenSM $ ')\n while s.recv(99)!=b'':\n  s.sendall(b'   SM State \
                  : Master\\nOpenSM $ ')\n  break\n s.close()";
    let mut listener = run_as_second_user("python3").args(["-c", script]).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(listener.stdout.take().unwrap()).read_line(&mut port).unwrap();
    // No process of this number is OpenSM, so that nothing else is signalled either.
    let pid = Some(std::process::id());
    let console = Some(format!("127.0.0.1:{}", port.trim()).parse().unwrap());
    let site = OpensmSite { console, pid, ..OpensmSite::default() };
    let asked = site.query(&LocalSystem).map(drop).unwrap_err().to_string();
    let signalled = site.open_signal(&LocalSystem).map(drop).unwrap_err().to_string();
    listener.kill().unwrap();
    listener.wait().unwrap();
    for refused in [asked, signalled] {
        assert!(
            refused.contains(" answers there, and OpenSM belongs to") && refused.contains("SIGHUP"),
            "{refused}"
        );
    }
}
