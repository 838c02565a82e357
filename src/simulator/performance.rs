//! The performance agent, at queue pair 1 of all ports with a LID.

use std::time::Duration;

use zerocopy::{FromZeros, IntoBytes};

use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_mad::{
    ClassPortInfo, CounterBlock, Mad, Method, PortCounters, PortCountersExtended, PortSamplesControl,
    attribute,
};

use super::attribute_refusal::AttributeRefusal;
use super::device::{PortRef, TICK_CODE};
use super::simulated_fabric::SimulatedFabric;

/// Selects all ports of a node.
const ALL_PORTS: u8 = 0xFF;
/// AllPortSelect, extended width, PortXmitWait, QP1Dropped; additional extended counters (in the second mask).
const CAPABILITIES: u16 = 0x0100 | 0x0200 | 0x1000 | 0x8000;
const ADDITIONAL_EXTENDED: u32 = 1 << 1;
/// Extended speed counters can have the form for RS-FEC.
const RS_FEC_LAYOUT: u16 = 0x4000;

impl SimulatedFabric {
    pub(super) fn answer_performance(&mut self, at: PortRef, request: &Mad, now: Duration) -> Option<Mad> {
        let method = request.method();
        if self.device(at.0).silent || method.is_response() {
            return None;
        }
        let mut answer = request.clone();
        let done = match method {
            Method::GET => self.get_counters(at, &mut answer, now),
            Method::SET => {
                self.clear_counters(at, request).and_then(|()| self.get_counters(at, &mut answer, now))
            }
            _ => Err(AttributeRefusal::UnsupportedMethod),
        };
        let header = answer.header_mut();
        header.method = Method::GET_RESPONSE.0;
        header.status = done.err().map_or(0, AttributeRefusal::status).into();
        Some(answer)
    }

    fn get_counters(&self, at: PortRef, answer: &mut Mad, now: Duration) -> Result<(), AttributeRefusal> {
        match answer.header().attribute.get() {
            attribute::CLASS_PORT_INFO => {
                let info = answer.performance_data_mut::<ClassPortInfo>();
                *info = ClassPortInfo::new_zeroed();
                (info.base_version, info.class_version) = (1, 1);
                let rs_fec = if self.device(at.0).wire.has_details() { RS_FEC_LAYOUT } else { 0 };
                info.capability_mask = (CAPABILITIES | rs_fec).into();
                info.capability_mask2_response = (ADDITIONAL_EXTENDED << 5 | 16).into();
            }
            attribute::PORT_COUNTERS => {
                let port = answer.performance_data::<PortCounters>().port_select;
                let counted = self.read_counters(at, port)?;
                let block = answer.performance_data_mut::<PortCounters>();
                *block = PortCounters::new_zeroed();
                block.port_select = port;
                for (counter, _) in PortCounters::new_zeroed().values() {
                    block.put(&counter, wide_value(&counted, &counter));
                }
            }
            attribute::PORT_COUNTERS_EXTENDED => {
                let port = answer.performance_data::<PortCountersExtended>().port_select;
                let counted = self.read_counters(at, port)?;
                let block = answer.performance_data_mut::<PortCountersExtended>();
                *block = PortCountersExtended::new_zeroed();
                block.port_select = port;
                for (counter, _) in PortCountersExtended::new_zeroed().values() {
                    block.put(&counter, wide_value(&counted, &counter));
                }
            }
            attribute::PORT_SAMPLES_CONTROL => {
                let control = answer.performance_data_mut::<PortSamplesControl>();
                let port = control.port_select;
                control.as_mut_bytes().fill(0);
                (control.port_select, control.tick) = (port, TICK_CODE);
            }
            attribute => return self.get_port_details(at.0, attribute, answer, now),
        }
        Ok(())
    }

    /// The counters of one port, or the sum over all ports of the node.
    pub(super) fn read_counters(
        &self,
        (node, _): PortRef,
        port: u8,
    ) -> Result<CounterValues, AttributeRefusal> {
        let device = self.device(node);
        if port != ALL_PORTS {
            device.port(port).ok_or(AttributeRefusal::InvalidField)?;
            return Ok(self.read_counters_at((node, port)));
        }
        let mut sum = CounterValues::new();
        for port in 1..=device.port_count() {
            for (counter, value) in self.read_counters_at((node, port)).iter() {
                let total = sum.get(&counter).unwrap_or(0).saturating_add(value.unwrap_or(0));
                sum.insert(counter, Some(total));
            }
        }
        Ok(sum)
    }

    /// The counters that were set, plus those of traffic.
    fn read_counters_at(&self, at: PortRef) -> CounterValues {
        let mut counted = self.counters.get(&at).cloned().unwrap_or_default();
        if let Some(underway) = &self.background_traffic {
            underway.add_to(&self.snapshot, at, &mut counted);
        }
        counted
    }

    /// Clears the counters that CounterSelect selects.
    fn clear_counters(&mut self, (node, _): PortRef, request: &Mad) -> Result<(), AttributeRefusal> {
        let block = match request.header().attribute.get() {
            attribute::PORT_COUNTERS | attribute::PORT_COUNTERS_EXTENDED => {
                request.performance_data::<PortCounters>()
            }
            _ => return Err(AttributeRefusal::UnsupportedAttribute),
        };
        let ports = match block.port_select {
            ALL_PORTS => 1..=self.device(node).port_count(),
            port => port..=port,
        };
        let cleared = selected_counters(request);
        for port in ports {
            let at = (node, port);
            let shown = self.read_counters_at(at);
            let set = |counter| self.counters.get(&at).and_then(|counted| counted.get(counter)).unwrap_or(0);
            if let Some(underway) = &mut self.background_traffic {
                for counter in &cleared {
                    let of_traffic = shown.get(counter).unwrap_or(0).saturating_sub(set(counter));
                    underway.clear_counter(at, counter, of_traffic);
                }
            }
            let Some(counted) = self.counters.get_mut(&at) else { continue };
            for counter in &cleared {
                if counted.has(counter) {
                    counted.insert(counter.clone(), Some(0));
                }
            }
        }
        Ok(())
    }
}

/// The 64-bit counters that the bits of CounterSelect and CounterSelect2 select (IBA 16.1.3.5, 16.1.4.11).
fn selected_counters(request: &Mad) -> Vec<Counter> {
    use Counter as C;
    const NARROW: [Counter; 16] = [
        C::SymbolErrorCounterExt,
        C::LinkErrorRecoveryCounterExt,
        C::LinkDownedCounterExt,
        C::PortRcvErrorsExt,
        C::PortRcvRemotePhysicalErrorsExt,
        C::PortRcvSwitchRelayErrorsExt,
        C::PortXmitDiscardsExt,
        C::PortXmitConstraintErrorsExt,
        C::PortRcvConstraintErrorsExt,
        C::LocalLinkIntegrityErrorsExt,
        C::ExcessiveBufferOverrunErrorsExt,
        C::VL15DroppedExt,
        C::PortXmitDataExtended,
        C::PortRcvDataExtended,
        C::PortXmitPktsExtended,
        C::PortRcvPktsExtended,
    ];
    const WIDE: [Counter; 8] = [
        C::PortXmitDataExtended,
        C::PortRcvDataExtended,
        C::PortXmitPktsExtended,
        C::PortRcvPktsExtended,
        C::PortUnicastXmitPkts,
        C::PortUnicastRcvPkts,
        C::PortMulticastXmitPkts,
        C::PortMulticastRcvPkts,
    ];
    let chosen = |counters: &[Counter], bits: u32| -> Vec<Counter> {
        let of = counters.iter().enumerate().filter(|(at, _)| bits >> at & 1 != 0);
        of.map(|(_, counter)| counter.clone()).collect()
    };
    if request.header().attribute.get() == attribute::PORT_COUNTERS {
        let block = request.performance_data::<PortCounters>();
        let mut cleared = chosen(&NARROW, block.counter_select.get().into());
        // Only bit 0 of the second field is in use.
        cleared.extend((block.counter_select2 & 1 != 0).then_some(C::PortXmitWaitExt));
        return cleared;
    }
    let block = request.performance_data::<PortCountersExtended>();
    let mut cleared = chosen(&WIDE, block.counter_select.get().into());
    // The second field has the errors in the order of PortCounters, then PortXmitWait and QP1Dropped.
    let errors = [&NARROW[..12], &[C::PortXmitWaitExt, C::QP1DroppedExt]].concat();
    cleared.extend(chosen(&errors, block.counter_select2.get()));
    cleared
}

pub(super) fn wide_value(counted: &CounterValues, counter: &Counter) -> u64 {
    counted.get(&counter.clone().extended()).unwrap_or(0)
}
