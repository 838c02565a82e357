//! Sockets of guards, each of one machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use fabdeck_change::{AccessPolicy, QueuedRequest};

use super::scheduler::Pid;

#[derive(Clone)]
pub struct Listener {
    pub pid: Pid,
    pub user: u32,
    pub orders: Sender<QueuedRequest>,
    pub policy: Arc<AccessPolicy>,
}

#[derive(Default)]
pub struct Sockets(BTreeMap<(usize, PathBuf), Listener>);

impl Sockets {
    pub fn open(&mut self, host: usize, path: &Path, listener: Listener) {
        self.0.insert((host, path.to_owned()), listener);
    }

    pub fn get(&self, host: usize, path: &Path) -> Option<&Listener> {
        self.0.get(&(host, path.to_owned()))
    }

    pub fn close_of(&mut self, pid: Pid) {
        self.0.retain(|_, listener| listener.pid != pid);
    }
}
