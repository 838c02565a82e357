//! The certificate of the current tables, from which problems of tables are read. It takes long on a large fabric and
//! changes only with the tables.

use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::lanes::levels::{LevelsInForce, check_in_force};
use fabdeck_fabric::Faults;
use fabdeck_routing::{EngineRefusal, RouteProgress};

/// The certificate of the current tables; `None` without tables.
pub fn certify_tables(
    look: &Snapshot,
    progress: &dyn RouteProgress,
) -> Result<Option<CertificateReport>, EngineRefusal> {
    let tables = &look.observation.tables;
    match tables.has_forwarding() {
        true => {
            check_in_force(look, tables, &Faults::new(), false, LevelsInForce::Unsaid, progress).map(Some)
        }
        false => Ok(None),
    }
}

/// The certificate in force, `None` without tables; or the reason why there is none.
pub type CertificateInForce = Result<Option<CertificateReport>, String>;

/// Why the certificate leaves open what packets can do: switches with adaptive routing whose tables are not known, or paths
/// whose lanes are not.
pub fn uncertified_reason(certificate: &CertificateReport) -> Option<String> {
    let choices = certificate.choices.as_ref().filter(|choices| !choices.certified)?;
    Some(format!("not certified, because {}", choices.reason.as_deref().unwrap_or("it is not known why")))
}
