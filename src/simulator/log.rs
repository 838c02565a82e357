//! A log with one line for each event: time, client, datagram. Keys are blanked before a datagram is written or
//! hashed.

use std::fmt::Write;
use std::hash::Hasher;
use std::time::Duration;

use rustc_hash::FxHasher;

use fabdeck_mad::{Class, Mad, Smp, attribute};

/// The lines so far; `None` until logging is switched on.
#[derive(Clone, Debug, Default)]
pub struct EventLog {
    lines: Option<String>,
}

impl EventLog {
    pub fn enable(&mut self) {
        self.lines.get_or_insert_default();
    }

    pub fn text(&self) -> &str {
        self.lines.as_deref().unwrap_or_default()
    }

    pub(super) fn add(&mut self, at: Duration, seat: u32, what: &str, mad: &Mad) {
        let Some(lines) = &mut self.lines else { return };
        let header = mad.header();
        // Writing into a string cannot fail.
        let _ = write!(
            lines,
            "{}.{:09} seat {seat} {what} class {:02x} method {:02x} attribute {:04x} modifier {:08x} status {:04x}",
            at.as_secs(),
            at.subsec_nanos(),
            header.class,
            header.method,
            header.attribute,
            header.modifier,
            header.status
        );
        if mad.class() == Class::SUBNET_DIRECTED {
            let _ = write!(lines, " route {:?}", Smp(mad.clone()).route().unwrap_or_default());
        }
        let _ = writeln!(lines, " hash {:016x}", fingerprint(mad));
    }
}

/// A hash over all bytes except those of keys.
fn fingerprint(mad: &Mad) -> u64 {
    let mut open = mad.clone();
    if matches!(mad.class(), Class::SUBNET_DIRECTED | Class::SUBNET_LID) {
        let mut smp = Smp(open);
        smp.set_m_key(0);
        if mad.header().attribute.get() == attribute::PORT_INFO {
            smp.data_mut::<fabdeck_mad::PortInfo>().m_key = 0.into();
        }
        open = smp.0;
    }
    let mut hasher = FxHasher::default();
    hasher.write(&open.0);
    hasher.finish()
}
