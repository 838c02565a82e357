//! What marks cost where switches route adaptively: the paths that some choice of switches loses, and those that every
//! choice loses. The cost by static ports says neither: a packet may leave by another port, to a place without a way on.

use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::choices::{has_choices, uncertified_reason};
use crate::operations::check::judgement::CertificateNames;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Faults, Tables};
use fabdeck_routing::certificate::{ChoiceCertificate, certify_choices};
use fabdeck_routing::{EngineRefusal, Problem, RouteProgress};

json_type! {
    /// The paths of the marked fabric over all choices. Ends that the marks cut off are not counted.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ChoiceLoss {
        /// Why the choices are not known; the counts are then 0.
        pub reason: Option<String>,
        /// Number of (source port, LID, service level) between ends that cables still connect.
        pub paths: u64,
        /// Paths that some choice loses.
        pub lost_by_some_choice: u64,
        /// Paths that every choice loses.
        pub lost_by_every_choice: u64,
        /// Paths that some choice loses without the marks.
        pub lost_before: u64,
    }
}

/// Counts the paths over all choices; `None` where no switch has any.
pub fn count_choice_loss(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    progress: &dyn RouteProgress,
) -> Result<Option<ChoiceLoss>, EngineRefusal> {
    if !has_choices(tables) {
        return Ok(None);
    }
    let judge = |faults: &Faults| -> Result<ChoiceCertificate, EngineRefusal> {
        certify_choices(&Problem::new(look.fabric(), faults), tables, false, None, progress)
    };
    let problem = Problem::new(look.fabric(), faults);
    let reason = uncertified_reason(&CertificateNames { look, problem: &problem }, tables, 0);
    let (now, before) = match reason {
        Some(_) => Default::default(),
        None => (judge(faults)?, judge(&Faults::new())?),
    };
    Ok(Some(ChoiceLoss {
        reason,
        paths: now.paths,
        lost_by_some_choice: now.lost_count(),
        lost_by_every_choice: now.always_lost,
        lost_before: before.lost_count(),
    }))
}

impl ChoiceLoss {
    /// The line of a page.
    pub fn words(&self) -> String {
        if let Some(reason) = &self.reason {
            return format!("not known, because {reason}");
        }
        let [paths, some, every, before] =
            [self.paths, self.lost_by_some_choice, self.lost_by_every_choice, self.lost_before]
                .map(digits_in_groups);
        let already = match self.lost_before {
            0 => String::new(),
            _ => format!("; {before} before the marks"),
        };
        match self.lost_by_some_choice {
            0 => format!("none of {paths} paths is lost by any choice{already}"),
            _ => format!("{some} of {paths} paths can be lost by a choice, {every} by every choice{already}"),
        }
    }
}
