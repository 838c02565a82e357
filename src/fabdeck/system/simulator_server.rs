//! Connects `simulate --serve` to the simulator's socket server.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::{io, thread};

use super::access::{ServeReport, SourceOptions};
use super::open_sources::live_options;
use super::stop_flag::StopFlag;
use fabdeck_live::create_simulator;
use fabdeck_live::socket::Server;
use fabdeck_mad::access::SourceError;

/// Number of messages that can wait to be printed. Further messages are lost while the terminal is stopped, so that
/// the simulation continues.
const MAX_WAITING_LINES: usize = 1024;

pub fn serve(
    source: &str,
    reach: &SourceOptions,
    socket: &Path,
    stop: &StopFlag,
    report: &mut dyn FnMut(String),
) -> Result<ServeReport, SourceError> {
    if !source.starts_with("sim:") {
        return Err(SourceError::Name {
            code: "FD-4326",
            what: format!("'{source}' is not a simulated fabric"),
            hint: "give sim:NAME; 'fabdeck sources' lists the names and their keys".into(),
        });
    }
    let (mut simulator, notes) = create_simulator(source, &live_options(reach)?)?;
    // The simulator answers no request while it computes tables, which for a large fabric exceeds the timeouts of
    // clients.
    simulator.fabric_mut().fill_tables();
    let server = Server::bind(socket, simulator)?;
    let asked = stop.listen();
    report(format!("serving {source} on {}; stop with Ctrl-C", socket.display()));
    let (sender, lines) = sync_channel(MAX_WAITING_LINES);
    let serve = move || server.run(asked, &mut |event| drop(sender.try_send(event.to_string())));
    let ended = thread::scope(|scope| {
        let serving = thread::Builder::new().spawn_scoped(scope, serve)?;
        lines.iter().for_each(&mut *report);
        Ok(serving.join())
    });
    let summary = ended.map_err(thread_failure)?.unwrap_or_else(|bug| std::panic::resume_unwind(bug));
    let (clients, dropped) = (summary.clients, summary.dropped);
    let behind = summary.behind.map(|behind| [behind.asked, behind.held]);
    Ok(ServeReport { clients, dropped, traffic: summary.traffic, behind, notes })
}

fn thread_failure(why: io::Error) -> SourceError {
    let what = format!("the fabric cannot be served: {why}");
    SourceError::Unreachable {
        code: "FD-4325",
        what,
        hint: "raise the limit of threads for this user (ulimit -u)".into(),
    }
}
