//! Whether a plan can go through an OpenSM, and what its files are to hold.

use std::path::{Path, PathBuf};

use crate::access::Part;
use crate::change::plan::Plan;
use crate::change::writes::Step;
use crate::fabric::Tables;
use crate::observe::Observation;

use super::files::{self, Note, Wanted};
use super::made::{self, Policy};
use super::reach::Told;
use super::refusal::Refusal;

/// Where a file of tables could lie on a site that has none.
const SUGGESTED: &str = "/var/cache/opensm/fabdeck.lft";
/// What programs are called in that are no upstream OpenSM.
const VENDORS: [&str; 3] = ["/opt/ufm", "mlnx", "nvidia"];

/// All that speaks against it, or the files.
#[derive(Debug, Default)]
pub struct Judged {
    pub refusals: Vec<Refusal>,
    /// What somebody should know who goes on.
    pub remarks: Vec<String>,
    /// That of the tables first.
    pub files: Vec<Wanted>,
    /// The tables that all switches are to have.
    pub outcome: Tables,
}

pub fn judge(told: &Told, plan: &Plan, steps: &[Step], look: &Observation) -> Judged {
    let mut judged = Judged { outcome: plan.outcome(&look.fabric, &look.tables), ..Judged::default() };
    judged.manager(told, look);
    let other = steps.iter().find(|step| !matches!(step.slot.part, Part::Block(_)));
    judged.refusals.extend(
        other.map(|step| Refusal::OtherPart { part: step.slot.part.to_string(), switch: step.slot.switch }),
    );
    let config = &told.config;
    let file = config.lfts_file().map(|file| files::real(&file));
    match file.filter(|_| config.engines().first() == Some(&"file")) {
        Some(file) => judged.tables(told, plan, look, file),
        None => judged.refusals.push(no_file_engine(told)),
    }
    if config.caches() && told.status.is_none() {
        judged.refusals.push(Refusal::Cached);
    }
    judged.policy(told, plan, look);
    judged
}

fn no_file_engine(told: &Told) -> Refusal {
    let engines = told.config.engines();
    let others: Vec<&str> = engines.iter().copied().filter(|engine| *engine != "file").collect();
    let or = |words: &[&str], none: &str| if words.is_empty() { none.to_owned() } else { words.join(",") };
    Refusal::NoFileEngine {
        engines: or(&engines, "minhop (none is named)"),
        next: or(&others, "minhop"),
        file: told.config.lfts_file().unwrap_or_else(|| SUGGESTED.into()),
    }
}

impl Judged {
    fn manager(&mut self, told: &Told, look: &Observation) {
        let mut refuse = |refusal: Refusal| self.refusals.push(refusal);
        if let Some(option) = told.config.vendors {
            refuse(Refusal::OtherManager(format!("'{option}' is an option of NVIDIA's OpenSM alone")));
        }
        if let Some(program) = &told.program {
            let path = program.display().to_string();
            if VENDORS.iter().any(|vendor| path.to_lowercase().contains(vendor)) {
                refuse(Refusal::OtherManager(format!("{path} is a vendor's subnet manager")));
            }
        }
        let Some(manager) = &look.subnet_manager else {
            return refuse(Refusal::NotMaster("no subnet manager answers".to_owned()));
        };
        let elsewhere = |port: u64| format!("0x{port:016x} is not in charge, {} is", manager.guid);
        let own = told.status.as_ref().map_or_else(|| told.config.port(), |status| status.own);
        if let Some(port) = own.filter(|port| *port != manager.guid.0) {
            refuse(Refusal::NotMaster(elsewhere(port)));
        }
        let Some(status) = &told.status else {
            let what = "without a console it is not known whether there are further subnet managers: each would need the same \
                        two files, or its own routes come when it takes over";
            return self.remarks.push(what.to_owned());
        };
        if !status.is_upstream() {
            refuse(Refusal::OtherManager(format!("it calls itself '{}'", status.version)));
        }
        if !status.is_master() {
            refuse(Refusal::NotMaster(format!("its state is {}", status.state)));
        }
        self.remarks.extend(status.others.iter().map(|other| {
            format!(
                "there is a further subnet manager ({other}): it needs the same two files, or its own routes come when it takes \
                 over"
            )
        }));
    }

    /// The file of tables, and whether the one that is there now can be gone back to.
    fn tables(&mut self, told: &Told, plan: &Plan, look: &Observation, file: PathBuf) {
        match made::tables(look, &self.outcome) {
            Ok(bytes) => self.files.insert(0, (file.clone(), bytes)),
            Err(refusal) => self.refusals.push(refusal),
        }
        match self.there(&file) {
            Some(Some(bytes)) if !is_own(&file, plan) => {
                let fabric = &look.fabric;
                let differs = made::loaded(fabric, &bytes)
                    .map_or_else(Some, |held| made::difference(fabric, &held, &look.tables));
                self.refusals.extend(differs.map(|what| Refusal::Armed { file, what }));
            }
            Some(None) if !told.config.has_next() => self.refusals.push(Refusal::NoWayBack { file }),
            _ => {}
        }
    }

    /// What is in a file; outside: it cannot be read.
    fn there(&mut self, file: &Path) -> Option<Option<Vec<u8>>> {
        let held = files::content(file).map_err(|error| Refusal::Disk { file: file.to_owned(), error });
        held.map_err(|refusal| self.refusals.push(refusal)).ok()
    }

    fn policy(&mut self, told: &Told, plan: &Plan, look: &Observation) {
        let lanes = plan.lanes.count;
        if !told.config.qos() {
            if lanes > 1 {
                self.refusals.push(Refusal::NoQos { lanes });
            }
            return;
        }
        let file = files::real(&told.config.policy());
        let Some(there) = self.there(&file) else { return };
        match made::policy(plan, look, &self.outcome, there.as_deref()) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                self.files.push((file, bytes));
                let what = "service levels come with new path records: connections that are open keep theirs, and programs that \
                            set one of their own are not asked";
                self.remarks.push(what.to_owned());
            }
            Err(Policy::Own(error)) => self.refusals.push(Refusal::OwnPolicy { file, error }),
            Err(Policy::Lanes(what)) => self.refusals.push(Refusal::Lanes(what)),
        }
    }
}

/// Whether this very plan put the file there.
fn is_own(file: &Path, plan: &Plan) -> bool {
    Note::of(file).is_ok_and(|note| note.is_some_and(|note| note.plan == plan.hash))
}
