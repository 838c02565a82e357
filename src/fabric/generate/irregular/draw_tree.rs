//! Draws an irregular tree into a plan: its family, its switches and links, then what happens to them.

use super::super::plan::FabricPlan;
use super::families;
use super::parameters::{Family, Scale, draw_family};
use super::tree_draft::TreeDraft;

pub fn draw_tree(plan: &mut FabricPlan, family: Option<Family>, scale: Scale, seed: u64) {
    let (family, rng) = draw_family(family, seed);
    let mut site = TreeDraft::new(rng, scale);
    families::build(&mut site, family);
    let accidents = site.apply_accidents();
    site.write_plan(plan);
    plan.notes.push(format!("family {}{accidents}", family.word()));
}
