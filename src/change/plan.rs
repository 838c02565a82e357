//! A plan as a file: readable JSON with everything that would be written and why it may be.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fingerprint::Fingerprint;
use super::lanes::{self, PlanLanes};
use super::transition::TransitionReport;
use super::writes::BlockWrite;
use crate::fabric::{BLOCK_LIDS, Fabric, Lft, Lid, NO_PATH, PortNum, Routes, Tables};

pub const SCHEMA: &str = "fabdeck.plan/1";

/// What would be done, to which fabric, and what was known of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub schema: String,
    pub source: String,
    pub engine: String,
    /// The engine whose tables stand for those of the fabric, which were not known: such a plan is for simulators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
    /// What was marked as failed when it was made.
    pub failed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    pub fingerprint: Fingerprint,
    pub lanes: PlanLanes,
    pub certificate: Value,
    pub impact: Value,
    pub transition: TransitionReport,
    /// In the order in which they are written.
    pub writes: Vec<BlockWrite>,
}

/// A file that is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFileError {
    #[error("line {line}: FD-5511: this is no plan: {what}; 'fabdeck route -o FILE' writes plans")]
    Malformed { line: usize, what: String },
    #[error("line 1: FD-5512: this is '{0}', and this version reads {SCHEMA}")]
    OtherSchema(String),
    #[error("line 1: FD-5513: the plan was changed by hand: its fingerprint does not fit; make it again")]
    Edited,
    #[error("line 1: FD-5514: write {at}: {what}; make the plan again")]
    Write { at: usize, what: &'static str },
    #[error("line 1: FD-5515: the plan's lanes: {0}; make the plan again")]
    Lanes(&'static str),
}

impl Plan {
    /// Reads a plan and checks that it says what it was written with.
    pub fn read(text: &str) -> Result<Self, PlanFileError> {
        let plan: Self = serde_json::from_str(text)
            .map_err(|error| PlanFileError::Malformed { line: error.line(), what: error.to_string() })?;
        if plan.schema != SCHEMA {
            return Err(PlanFileError::OtherSchema(plan.schema.chars().take(40).collect()));
        }
        if !plan.fingerprint.is_sound() {
            return Err(PlanFileError::Edited);
        }
        if let Some(fault) = plan.lanes.fault(&plan.fingerprint) {
            return Err(PlanFileError::Lanes(fault));
        }
        for (at, write) in plan.writes.iter().enumerate() {
            let wrong = |what| PlanFileError::Write { at: at + 1, what };
            if !plan.fingerprint.tables.contains_key(&write.switch) {
                return Err(wrong("its switch is not one of the fabric that the plan is for"));
            }
            if write.block > Lid::MAX / BLOCK_LIDS {
                return Err(wrong("there is no such block"));
            }
            if [&write.old, &write.new].iter().any(|text| block(text).is_none()) {
                return Err(wrong("a block has 64 ports, two hexadecimal digits each"));
            }
        }
        Ok(plan)
    }

    /// The file, a write a line.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        let writes = value.as_object_mut().and_then(|plan| plan.remove("writes"));
        let lines: Result<Vec<String>, _> =
            writes.iter().filter_map(Value::as_array).flatten().map(serde_json::to_string).collect();
        let head = serde_json::to_string_pretty(&value)?;
        let head = head.trim_end().trim_end_matches('}').trim_end();
        let lines: Vec<String> = lines?.iter().map(|line| format!("    {line}")).collect();
        Ok(format!("{head},\n  \"writes\": [\n{}\n  ]\n}}\n", lines.join(",\n")))
    }

    /// The routes after the plan, on its lanes.
    pub fn routes(&self, fabric: &Fabric, after: &Tables) -> Routes {
        let mut routes = Routes::of_tables(fabric.switches().map(|(id, _)| after.lft(id)));
        routes.lanes = self.lanes.lanes(fabric, routes.stride());
        routes
    }

    /// The tables after the plan, from those before it.
    pub fn outcome(&self, fabric: &Fabric, tables: &Tables) -> Tables {
        let mut after = tables.clone();
        for write in &self.writes {
            let guid = crate::fabric::Guid::from_hex(&write.switch).ok();
            let Some(id) = guid.and_then(|guid| fabric.node_by_guid(guid)) else { continue };
            let lft = after.entry(id).lft.get_or_insert_with(Lft::new);
            for (offset, port) in block(&write.new).into_iter().flatten().enumerate() {
                let lid = u32::from(write.block) * u32::from(BLOCK_LIDS) + offset as u32;
                let Some(lid) = Lid::new(lid) else { continue };
                lft.set(lid, (port != NO_PATH).then_some(PortNum(port)));
            }
        }
        after
    }
}

/// The ports of a block.
fn block(text: &str) -> Option<Vec<u8>> {
    lanes::bytes(text).filter(|ports| ports.len() == usize::from(BLOCK_LIDS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::writes;
    use crate::fabric::{Faults, NodeId};
    use crate::generate::{Spec, generate};
    use crate::routing::{NoPulse, Problem, Request, engine};

    fn plan() -> (Fabric, Tables, Routes, Plan) {
        let fabric = generate(&"kary,k=3,n=2".parse::<Spec>().unwrap()).unwrap().fabric;
        let mut tables = Tables::default();
        for (id, _) in fabric.switches() {
            tables.entry(id).lft = Some(Lft::of(vec![NO_PATH, 1, 2]));
        }
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes =
            (engine("minhop").unwrap().route)(&problem, &Request::default(), &NoPulse).unwrap().routes;
        let plan = Plan {
            schema: SCHEMA.into(),
            source: "x".into(),
            engine: "minhop".into(),
            assumed: None,
            failed: Vec::new(),
            created: None,
            author: None,
            fingerprint: Fingerprint::of(&fabric, &tables, None),
            lanes: PlanLanes::of(&fabric, &routes),
            certificate: Value::Null,
            impact: Value::Null,
            transition: TransitionReport::default(),
            writes: writes(&fabric, &tables, &routes, |_| true).unwrap(),
        };
        (fabric, tables, routes, plan)
    }

    #[test]
    fn a_plan_reads_back_and_leads_to_its_routes() {
        let (fabric, tables, routes, plan) = plan();
        let text = plan.text().unwrap();
        assert_eq!(Plan::read(&text).unwrap(), plan);
        let after = plan.outcome(&fabric, &tables);
        for (id, _) in fabric.switches() {
            assert_eq!(after.lft(id), Some(&routes.lft(id.0)));
        }
        assert_ne!(after.lft(NodeId(0)), tables.lft(NodeId(0)));
    }

    #[test]
    fn what_is_no_plan_or_was_edited_is_refused() {
        let (.., plan) = plan();
        let text = plan.text().unwrap();
        let error = |text: &str| Plan::read(text).unwrap_err().to_string();
        assert!(error("{").contains("FD-5511"));
        assert!(error(&text.replace("fabdeck.plan/1", "fabdeck.plan/9")).contains("FD-5512"));
        let guid = plan.fingerprint.tables.keys().next().unwrap();
        assert!(error(&text.replacen(guid.as_str(), "0x00000000000000aa", 1)).contains("FD-55"));
        assert!(error(&text.replace("\"block\":0", "\"block\":60000")).contains("FD-5514"));
        assert!(error(&text.replace("\"by\": \"one\"", "\"by\": \"two\"")).contains("FD-5515"));
        assert!(error(&text.replacen("\"new\":\"", "\"new\":\"zz", 1)).contains("FD-5514"));
        for cut in (0..text.len()).step_by(7) {
            assert!(Plan::read(&text[..cut]).is_err(), "{cut}");
        }
    }
}
