//! What the callers of a guard may ask: the rights that the configuration grants, applied to each request.

use std::sync::atomic::{AtomicBool, Ordering};

use super::access_rights::{Caller, Rights, refusal};
use super::protocol::{GuardAnswer, GuardRequest};
use super::refusal_log::RefusalLog;
use crate::journal::record::BeginRecord;

/// What callers may ask, and where refusals are logged.
#[derive(Debug)]
pub struct AccessPolicy {
    pub begun: BeginRecord,
    /// What users other than the owner and root may ask.
    pub rights: Rights,
    pub refusals: RefusalLog,
    /// Whether such a user sent a request: that user cannot read in the journal how the change ended.
    pub asked_by_others: AtomicBool,
}

impl AccessPolicy {
    /// The request in the name of its caller, or the refusal of a caller without the right.
    pub fn authorize(
        &self,
        ask: GuardRequest,
        caller: &Caller,
        owner: u32,
    ) -> Result<GuardRequest, Box<GuardAnswer>> {
        if caller.uid != owner {
            self.asked_by_others.store(true, Ordering::SeqCst);
        }
        if self.rights.is_allowed(&ask, caller, owner) {
            let user = caller.signature(ask.user()).to_owned();
            return Ok(ask.with_user(&user));
        }
        let why = refusal(&ask, caller);
        self.refusals.add(&caller.name, &format!("{}: {why}", ask.command_name()));
        Err(Box::new(GuardAnswer::Refused { why }))
    }
}
