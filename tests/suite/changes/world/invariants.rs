//! What holds after every step:
//!
//! 1. No change is both confirmed and taken back, neither in its journal nor in any answer.
//! 2. The rollback of an unconfirmed change begins at its deadline at the earliest, and within a bound after it.
//! 3. Nothing outside the plan is written, nothing before the journal is durable, and nothing is taken back that holds
//!    anything but what this change wrote.
//!
//! And at the end: every change is over, the fabric has what its journal says, and so had every answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::fabric::site;
use super::scheduler::{Pid, State};
use fabdeck_change::{ChangePhase, GuardAnswer, Journal, JournalError};
use fabdeck_mad::access::DeviceAttribute;

/// A guard that lives, or the second process beside it, begins the rollback so soon.
const KEPT_BOUND_MS: u64 = 5_000;
/// Where both are gone systemd's timer finds the change: every 30 s, and once more where a lock was in its way.
const RESUMED_BOUND_MS: u64 = 75_000;

/// One change, as it is watched from outside.
#[derive(Debug)]
pub struct WatchedChange {
    pub host: usize,
    pub plan: usize,
    window_ms: u64,
    journal: Option<PathBuf>,
    /// What the disk had written when the journal was looked for in vain.
    looked_at: Option<u64>,
    read_bytes: usize,
    pub phase: Option<ChangePhase>,
    /// When its window is over, by the true time.
    due_ms: Option<u64>,
    boot_applied: u32,
    /// How long it was overdue while its machine could have taken it back.
    overdue_ms: u64,
    /// At some moment since then neither its guard nor the second process ran.
    was_alone: bool,
    writing: bool,
    begun_durable: bool,
    pub damaged: bool,
    wrote: BTreeSet<DeviceAttribute>,
    pub told_confirmed: bool,
    pub told_rolled_back: bool,
}

#[derive(Debug, Default)]
pub struct Monitor {
    pub handles: u64,
    /// When a process last called for bytes to be appended to a file, by disk: two hosts may have files of one path.
    pub append_calls: BTreeMap<(usize, PathBuf), u64>,
    pub changes: BTreeMap<String, WatchedChange>,
}

impl Monitor {
    pub fn watch(&mut self, id: &str, host: usize, plan: usize, window_s: u64) {
        let watched = WatchedChange {
            host,
            plan,
            window_ms: window_s * 1000,
            journal: None,
            looked_at: None,
            read_bytes: 0,
            phase: None,
            due_ms: None,
            boot_applied: 0,
            overdue_ms: 0,
            was_alone: false,
            writing: false,
            begun_durable: false,
            damaged: false,
            wrote: BTreeSet::new(),
            told_confirmed: false,
            told_rolled_back: false,
        };
        self.changes.insert(id.to_owned(), watched);
    }

    pub fn has_open_change(&self) -> bool {
        let is_open =
            |watched: &WatchedChange| !watched.damaged && watched.phase.is_none_or(ChangePhase::is_pending);
        self.changes.values().any(is_open)
    }

    pub fn has_guard(&self, state: &State) -> bool {
        self.changes.keys().any(|id| !state.keepers(id).is_empty())
    }
}

impl State {
    /// Processes that keep a change: its guard and the second one, and whether a signal has stopped them.
    pub fn keepers(&self, id: &str) -> Vec<(Pid, bool)> {
        let keeps = |name: &str| {
            name.strip_prefix("guard ").or_else(|| name.strip_prefix("second ")).is_some_and(|of| of == id)
        };
        let alive =
            self.processes.iter().filter(|(pid, process)| keeps(&process.name) && self.is_alive(**pid));
        alive.map(|(pid, process)| (*pid, process.stopped)).collect()
    }

    pub fn check_every_step(&mut self) {
        let grown = |watched: &WatchedChange| {
            let disk = &self.disks[self.hosts[watched.host].disk];
            match &watched.journal {
                Some(path) => disk.bytes(path).map_or(0, <[u8]>::len) != watched.read_bytes,
                None => watched.looked_at != Some(disk.written),
            }
        };
        let changes = self.monitor.changes.iter().filter(|(_, watched)| grown(watched));
        let ids: Vec<String> = changes.map(|(id, _)| id.clone()).collect();
        ids.iter().for_each(|id| self.check_journal(id));
    }

    /// A bit flips in the last newline of a journal, and the sign that the change is over is lost. Nothing flips under
    /// a guard: it knows the line as ended, and its next record would follow the wrong byte.
    pub fn flip_newline(&mut self, id: &str) {
        let has_guard = !self.keepers(id).is_empty();
        let Some(watched) = self.monitor.changes.get_mut(id).filter(|_| !has_guard) else { return };
        let (Some(path), disk) = (watched.journal.clone(), self.hosts[watched.host].disk) else { return };
        let Some(bytes) = self.disks[disk].bytes(&path).filter(|bytes| bytes.ends_with(b"\n")) else {
            return;
        };
        let mut bytes = bytes.to_vec();
        *bytes.last_mut().expect("it ends with a newline") ^= 0x10;
        watched.read_bytes = 0;
        self.disks[disk].put(&path, &bytes, (0, 0));
        self.disks[disk].forget(&path.with_file_name("ended"));
    }

    fn find_journal(&self, id: &str, disk: usize) -> Option<PathBuf> {
        let has_id = |path: &Path| {
            let bytes = self.disks[disk].bytes(path).unwrap_or_default();
            bytes.windows(id.len()).any(|part| part == id.as_bytes())
        };
        let mut journals = self.disks[disk].files().filter(|path| path.ends_with("journal"));
        journals.find(|path| has_id(path)).cloned()
    }

    /// Reads the journal where it has grown, or was cut.
    fn check_journal(&mut self, id: &str) {
        let disk = self.hosts[self.monitor.changes[id].host].disk;
        if self.monitor.changes[id].journal.is_none() {
            let (found, written) = (self.find_journal(id, disk), self.disks[disk].written);
            let watched = self.monitor.changes.get_mut(id).expect("it is watched");
            (watched.journal, watched.looked_at) = (found, Some(written));
        }
        let watched = &self.monitor.changes[id];
        let Some(path) = &watched.journal else { return };
        let bytes = self.disks[disk].bytes(path).unwrap_or_default();
        if bytes.len() == watched.read_bytes {
            return;
        }
        let (read, length) = (Journal::read("journal", bytes), bytes.len());
        let has = |word: &str| String::from_utf8_lossy(bytes).contains(word);
        let both = has("\"record\":\"confirmed\"") && has("\"record\":\"returning\"");
        let host = &self.hosts[watched.host];
        let (now, booted, boot) = (self.now_ms, host.booted_ms, host.boot);
        let appended = self.monitor.append_calls.get(&(disk, path.clone())).copied();
        let boot_name = format!("{} {boot}", host.name);
        let watched = self.monitor.changes.get_mut(id).expect("it is watched");
        watched.read_bytes = length;
        let mut wrong = both.then(|| format!("{id} is confirmed and taken back in its journal"));
        match read {
            Err(JournalError::Damaged { .. }) => watched.damaged = true,
            Err(_) => watched.phase = None,
            Ok(read) => {
                let told = read.state;
                watched.writing |= told.writing;
                let ends =
                    told.ends.as_ref().filter(|ends| ends.boot == boot_name).map(|ends| booted + ends.ms);
                if told.phase == ChangePhase::Applied {
                    if watched.phase != Some(ChangePhase::Applied) {
                        // A record that failed and could not be cut off yet may hide that it waits, for a while.
                        let is_first = watched.due_ms.is_none();
                        // After a restart the wall clock decides, and may end the window early.
                        if is_first || ends.is_some() {
                            watched.boot_applied = boot;
                        }
                        let called = appended.unwrap_or(now);
                        let short =
                            is_first && ends.is_some_and(|ends| ends + 1_000 < called + watched.window_ms);
                        wrong = wrong.or_else(|| short.then(|| format!("the window of {id} is too short")));
                    }
                    watched.due_ms = ends.or(watched.due_ms);
                }
                // A user may ask for it, and a decision that cannot be recorded takes the change back.
                let is_due_early = |why: &str| why.starts_with("requested by") || why.contains("FD-560");
                let untimely = told.phase == ChangePhase::RollingBack
                    && watched.phase == Some(ChangePhase::Applied)
                    && !told.why.as_deref().is_some_and(is_due_early)
                    && boot == watched.boot_applied
                    && watched.due_ms.is_some_and(|due| now + 5 < due);
                wrong = wrong.or_else(|| untimely.then(|| format!("{id} is taken back before its deadline")));
                watched.phase = Some(told.phase);
            }
        }
        if let Some(wrong) = wrong {
            self.violate(wrong);
        }
    }

    /// Time passes up to a moment: nothing may be overdue for longer than the bound.
    pub fn check_time_passes(&mut self, later_ms: u64) {
        let ids: Vec<String> = self.monitor.changes.keys().cloned().collect();
        for id in ids {
            let keepers = self.keepers(&id);
            let runs = keepers.iter().any(|(_, stopped)| !stopped);
            let now = self.now_ms;
            let watched = &self.monitor.changes[&id];
            let host = &self.hosts[watched.host];
            let disk_works = now >= host.disk_fails_until_ms.max(host.disk_full_until_ms);
            let works = host.up && disk_works && now >= self.fabric.silent_until_ms;
            let (Some(due), Some(ChangePhase::Applied), false) =
                (watched.due_ms, watched.phase, watched.damaged)
            else {
                continue;
            };
            // Where all that keep it are stopped nothing but their going on helps.
            // And a guard goes back without its journal where its disk has failed: nothing says so there before the end.
            let has_failed = host.disk_fails_until_ms.max(host.disk_full_until_ms) > 0 || host.sync_failed;
            let silent = has_failed && runs;
            if later_ms <= due || silent || !works || (!keepers.is_empty() && !runs) {
                continue;
            }
            let watched = self.monitor.changes.get_mut(&id).expect("it is watched");
            watched.overdue_ms += later_ms - now.max(due);
            watched.was_alone |= !runs || host.boot != watched.boot_applied;
            let bound = if watched.was_alone { RESUMED_BOUND_MS } else { KEPT_BOUND_MS };
            let overdue = watched.overdue_ms;
            if overdue > bound {
                self.violate(format!("{id} is overdue for {overdue} ms and is not taken back"));
            }
        }
    }

    /// A Set is about to go out.
    pub fn check_set(&mut self, (pid, id): (Pid, &str), slot: &DeviceAttribute, bytes: &[u8]) {
        let Some(watched) = self.monitor.changes.get(id) else {
            return self.violate(format!("{pid} writes for {id}, which nobody began"));
        };
        let step = site().plans[watched.plan].steps.get(slot);
        let (held, writer) = self.fabric.held.get(slot).cloned().unwrap_or_default();
        let is_altered = writer == id && self.fabric.altered.contains(slot);
        let disk = &self.disks[self.hosts[watched.host].disk];
        let durable = watched.begun_durable
            || watched.journal.as_ref().and_then(|path| disk.durable(path)).is_some_and(|bytes| {
                Journal::read("journal", before_damage(bytes))
                    .is_ok_and(|read| read.state.has_possible_writes())
            });
        let wrong = match step {
            None => Some("is not in the plan".to_owned()),
            Some(_) if !durable => Some("goes out before its journal is durable".to_owned()),
            Some((_, new)) if bytes == new => match () {
                // What OpenSM read before that still goes out; `check_file` looks at what it reads.
                () if watched.told_rolled_back && self.opensm.is_none() => {
                    Some("goes out after it was told to be rolled back".to_owned())
                }
                () if held == site().plans[watched.plan].steps[slot].0 => None,
                () => Some(format!("writes over what {writer} wrote")),
            },
            Some((old, new)) if bytes == old => match () {
                () if watched.told_confirmed && self.opensm.is_none() => {
                    Some("takes back what was told to be confirmed".to_owned())
                }
                () if !watched.writing => {
                    Some(format!("takes back what {writer} wrote, nothing being its own"))
                }
                () if &held != new && !is_altered => {
                    Some(format!("takes back what {writer} wrote otherwise"))
                }
                () => None,
            },
            Some(_) => Some("holds neither the old nor the new bytes".to_owned()),
        };
        let is_back = step.is_some_and(|(old, _)| bytes == old);
        if let Some(wrong) = wrong {
            self.violate(format!("a Set of {slot} for {id} {wrong}"));
        }
        if self.opensm.is_none() {
            self.check_flood(id, is_back);
        }
        let watched = self.monitor.changes.get_mut(id).expect("it is watched");
        watched.begun_durable = true;
        watched.wrote.insert(*slot);
    }

    /// A process got the status of a change.
    pub fn observe_answer(&mut self, pid: Pid, answer: &GuardAnswer) {
        if let GuardAnswer::Status(status) = answer {
            self.observe_phase(pid, &status.id, status.phase);
        }
    }

    pub fn observe_phase(&mut self, pid: Pid, id: &str, phase: ChangePhase) {
        self.note(pid, &format!("hears that {id} is {phase:?}"));
        let Some(watched) = self.monitor.changes.get_mut(id) else { return };
        watched.told_confirmed |= phase == ChangePhase::Confirmed;
        watched.told_rolled_back |= matches!(phase, ChangePhase::RolledBack | ChangePhase::Refused);
        if watched.told_confirmed && watched.told_rolled_back {
            self.violate(format!("{id} was told to be confirmed and to be rolled back"));
        }
    }

    /// All is over.
    pub fn check_end(&mut self) {
        self.check_every_step();
        let mut wrongs = Vec::new();
        for (id, watched) in &self.monitor.changes {
            if watched.damaged {
                continue;
            }
            let steps = &site().plans[watched.plan].steps;
            let own = |slot: &DeviceAttribute| self.fabric.held[slot].1 == *id;
            let holds = |slot: &DeviceAttribute| &self.fabric.held[slot].0;
            let wrong = match watched.phase {
                Some(phase) if phase.is_pending() => Some(format!("is {} at the end", phase.title())),
                Some(ChangePhase::Confirmed) => {
                    let lost = steps.iter().find(|(slot, (_, new))| own(slot) && holds(slot) != new);
                    lost.map(|(slot, _)| format!("is confirmed, and {slot} does not hold it"))
                }
                Some(ChangePhase::RolledBack) => {
                    let left = steps.iter().find(|(slot, (old, _))| own(slot) && holds(slot) != old);
                    left.map(|(slot, _)| format!("is rolled back, and {slot} still holds it"))
                }
                Some(ChangePhase::Refused) | None => {
                    watched.wrote.first().map(|slot| format!("has written {slot}"))
                }
                _ => None,
            };
            let wrong = wrong.or_else(|| match watched.phase {
                Some(ChangePhase::Confirmed) if watched.told_rolled_back => {
                    Some("was told to be rolled back".to_owned())
                }
                Some(ChangePhase::RolledBack | ChangePhase::Refused) | None if watched.told_confirmed => {
                    Some("was told to be confirmed".to_owned())
                }
                _ => None,
            });
            wrongs.extend(wrong.map(|wrong| format!("{id} {wrong}")));
        }
        wrongs.into_iter().for_each(|wrong| self.violate(wrong));
        self.check_files_of_opensm();
    }
}

/// The lines before an empty one. A guard damages its journal so if it cannot cut a record off that failed; OpenSM may
/// still set what it read before.
fn before_damage(journal: &[u8]) -> &[u8] {
    let empty = journal.windows(2).position(|pair| pair == b"\n\n");
    empty.map_or(journal, |at| &journal[..=at])
}
