//! Ties `simulate --serve` to the simulator behind a socket.

use std::io;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::access::{Source, SourceError};
use crate::script::{Served, Stop};
use crate::simulator::{Line, Simulator, World};
use crate::source::GeneratedSource;
use crate::source::socket::Server;

/// Lines that may wait to be said. A terminal that is held loses some; the fabric goes on.
const LINES: usize = 1024;

pub fn serve(
    source: &str,
    socket: &Path,
    stop: &Stop,
    say: &mut dyn FnMut(String),
) -> Result<Served, SourceError> {
    let server = Server::bind(socket, simulator_of(source)?)?;
    let asked = stop.heed();
    say(format!("serving {source} on {}; stop with Ctrl-C", socket.display()));
    let (teller, lines) = sync_channel(LINES);
    let serve = move || server.run(asked, &mut |event| drop(teller.try_send(event.to_string())));
    let ended = thread::scope(|scope| {
        let serving = thread::Builder::new().spawn_scoped(scope, serve)?;
        lines.iter().for_each(&mut *say);
        Ok(serving.join())
    });
    let summary = ended.map_err(no_thread)?.unwrap_or_else(|bug| std::panic::resume_unwind(bug));
    Ok(Served { clients: summary.clients, dropped: summary.dropped, traffic: summary.traffic })
}

/// The fabric that a source names, with lines that lose nothing.
fn simulator_of(source: &str) -> Result<Simulator, SourceError> {
    let refused = |what: String| SourceError::Name {
        code: "FD-4326",
        what,
        hint: "give sim:NAME; 'fabdeck sources' lists the names and their keys".into(),
    };
    let spec = source.strip_prefix("sim:").ok_or_else(|| refused(format!("'{source}' is not simulated")))?;
    let observation = GeneratedSource::new(source, spec)?.observe()?;
    let world = World::new(&observation.fabric, &observation.tables)
        .ok_or_else(|| refused(format!("'{source}' has no host with a cable to sit on")))?;
    Ok(Simulator::new(world, Line::default(), 1))
}

fn no_thread(why: io::Error) -> SourceError {
    let what = format!("the fabric cannot be served: {why}");
    SourceError::Unreachable { code: "FD-4325", what, hint: "let this user run more threads".into() }
}
