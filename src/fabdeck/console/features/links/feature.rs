//! The actions of Links: a link goes out of service, or comes back. A cable has a page.

use super::{cable_page, draw_cable};
use crate::console::features::changes::change_actions;
use crate::console::features::feature::Feature;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::operations::plans::link_service::LinkService;

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::LinkService,
        actions: &[
            new(
                "disable",
                &[],
                "Take a link out of service: the port of a switch is disabled",
                |state, argument| change_actions::set_link_service(state, argument, LinkService::Disable),
            )
            .with_argument("[ELEMENT]")
            .with_precondition(change_actions::can_write)
            .writes_fabric(),
            new("enable", &[], "Bring a link back into service", |state, argument| {
                change_actions::set_link_service(state, argument, LinkService::Enable)
            })
            .with_argument("[ELEMENT]")
            .with_precondition(change_actions::can_write)
            .writes_fabric(),
        ],
    }],
    follow: cable_page::follow,
    has_own_panes: |state| state.screens.links.page.is_some(),
    draw: draw_cable::draw,
    ..Feature::NEW
};
