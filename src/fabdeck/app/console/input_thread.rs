//! Events from the terminal, and the end of the terminal.

use std::time::Instant;
use std::{io, thread};

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::fault_injection;
use super::terminal_ground::{AnswerFilter, FilteredEvent};
use super::workers::WorkerMessage;
use crate::console::drawing::terminal_keys::translate_event;
use crate::console::event_loop::event::SessionInput;

/// Reads events in a thread of its own, because reading a terminal blocks.
/// The answer of the terminal about its ground goes to `words`.
pub fn spawn_input_thread(words: UnboundedSender<WorkerMessage>) -> UnboundedReceiver<SessionInput> {
    let (to_loop, inputs) = unbounded_channel();
    thread::spawn(move || {
        let mut answers = AnswerFilter::new(Instant::now());
        while let Ok(event) = crossterm::event::read() {
            if matches!(event, Event::Paste(_)) {
                fault_injection::panic_if_injected("input");
            }
            let events = match answers.filter(event, Instant::now()) {
                FilteredEvent::Events(events) => events,
                FilteredEvent::Ground(ground) => {
                    let _ = words.send(WorkerMessage::Ground(ground));
                    continue;
                }
            };
            let mut inputs = events.into_iter().filter_map(translate_event);
            if inputs.any(|what| to_loop.send(what).is_err()) {
                break;
            }
        }
    });
    inputs
}

/// Reports the hangup of the terminal. Reads then return nothing and no error, and not every process gets SIGHUP.
pub fn watch_for_hangup(words: UnboundedSender<WorkerMessage>) {
    thread::spawn(move || {
        let terminal = io::stdin();
        // A poll without requested events returns only for a hangup or an error.
        let mut ends = [PollFd::new(&terminal, PollFlags::empty())];
        while poll(&mut ends, None).is_err_and(|error| error == rustix::io::Errno::INTR) {}
        let _ = words.send(WorkerMessage::HungUp);
    });
}
