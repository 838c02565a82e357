//! Finds FDR10. PortInfo calls it QDR, so ports at QDR of devices with ExtPortInfo are asked for that attribute. One
//! port of each kind of device comes first: a kind that refuses, stays silent or has no FDR10 gets no second query in the
//! session.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::discovery_state::DiscoveryState;
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::PortReader;
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{ExtendedPortInfo, Smp, has_vendor_attributes};

/// An unanswered query is sent once more at most, whatever the policy says.
const RETRIES: u32 = 1;

/// Devices with ExtPortInfo, as `ibnetdiscover` lists them: SwitchX and Switch-IB to Quantum, ConnectX-3 to ConnectX-7.
fn can_have_fdr10(device: u32) -> bool {
    matches!(device, 0xC738..=0xC73B | 0xC838 | 0xC839 | 0xCB20 | 0xCF08 | 0xCF09 | 0xD2F0 | 0xD2F2 | 0x1003..=0x1021)
}

/// The vendor and the device number of kinds of devices that a session does not ask again: no port of them runs at FDR10.
#[derive(Clone, Debug, Default)]
pub struct KindsWithoutFdr10(BTreeSet<(u32, u32)>);

/// Asks the ports at QDR, and stores where it is FDR10.
pub fn read_fdr10(
    reader: &mut PortReader<'_>,
    found: &mut DiscoveryState,
    without: &mut KindsWithoutFdr10,
) -> Result<(), SourceError> {
    let mut kinds: BTreeMap<(u32, u32), Vec<(usize, u8)>> = BTreeMap::new();
    for (node, port) in found.qdr_ports() {
        let kind = found.device_kind(node);
        if has_vendor_attributes(kind.0) && can_have_fdr10(kind.1) && !without.0.contains(&kind) {
            kinds.entry(kind).or_default().push((node, port));
        }
    }
    if kinds.is_empty() || reader.is_ibsim() {
        return Ok(());
    }
    let mut phase = reader.open_phase::<(usize, u8)>("vendor speeds");
    let retries = phase.exchange.retries().min(RETRIES);
    let mut waiting: FxHashMap<(u32, u32), Vec<(usize, u8)>> = FxHashMap::default();
    for (kind, mut ports) in kinds {
        let first = ports.remove(0);
        waiting.insert(kind, ports);
        phase.exchange.ask(question(found, first, retries));
    }
    while let Some((at, reply)) = phase.next()? {
        let kind = found.device_kind(at.0);
        let rest = waiting.remove(&kind);
        let info = match &reply {
            Reply::Answer(mad) => Some(*Smp(mad.clone()).data::<ExtendedPortInfo>()),
            Reply::Refused(_) | Reply::Silence => None,
        };
        let has_fdr10 = info.is_some_and(|info| info.supports_fdr10() || info.is_fdr10());
        if let Some(info) = info.filter(|_| has_fdr10) {
            found.set_fdr10(at.0, at.1, info.is_fdr10());
        }
        if rest.is_some() && !has_fdr10 {
            // A busy device, or one that does not accept the port, says nothing about its kind.
            let settles = match &reply {
                Reply::Refused(status) => status.is_unsupported() && !status.is_busy(),
                Reply::Answer(_) | Reply::Silence => true,
            };
            if settles {
                without.0.insert(kind);
            }
            continue;
        }
        for port in rest.unwrap_or_default() {
            phase.exchange.ask(question(found, port, retries));
        }
    }
    phase.end();
    Ok(())
}

fn question(found: &DiscoveryState, at: (usize, u8), retries: u32) -> Question<(usize, u8)> {
    let node = &found.nodes[at.0];
    let route = node.route_to(at.1);
    let parcel = directed_get(ExtendedPortInfo::ATTRIBUTE, at.1.into(), route, node.m_key.0);
    Question { parcel, target: at.0 as u32, retries, tag: at }
}
