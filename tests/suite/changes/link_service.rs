//! Links out of service and back: what is cut off is said, and whatever was taken out can be brought back by the name that it
//! was taken out by.

use super::processes::{DEMO, ServedLab};

/// A host's only cable, then one between switches: neither keeps the other from coming back, nor a reroute from being made.
#[test]
fn what_was_taken_out_of_service_comes_back_by_its_name() {
    let lab = ServedLab::new(DEMO);
    let keep = |plan: &str| {
        let accept = ["apply", plan, "--yes", "--accept", "transition,unreachable,cycle,lanes"];
        lab.run_to_end(&accept, 0);
        let id = lab.row()["id"].as_str().unwrap().to_owned();
        lab.run_to_end(&["confirm", &id], 0);
    };
    let disable = |link: &str, plan: &str| lab.run(&["disable", link, "-o", plan]);
    disable("rack3-leaf/1", "host.plan");
    // Cables do not join the host to anybody any more, so no pair counts as lost: it is said all the same.
    let refused = lab.run_to_end(&["apply", "host.plan", "--yes", "--accept", "transition,cycle"], 4);
    assert!(refused.contains("cut off") && refused.contains("unreachable"), "{refused}");
    keep("host.plan");
    assert!(lab.row()["engine"].as_str().unwrap().contains("disable link:rack3-leaf[1]"), "{}", lab.row());
    disable("rack3-leaf/10", "uplink.plan");
    keep("uplink.plan");
    let made = lab.run(&["route", "--engine", "updn", "-o", "around.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    for link in ["rack3-leaf/10", "link:rack3-leaf[1]"] {
        let made = lab.run(&["enable", link, "-o", "back.plan", "--force"]);
        assert!(matches!(made.status.code(), Some(0 | 2)), "{link}: {made:?}");
        keep("back.plan");
    }
    let fabric = lab.run_to_end(&["show", "fabric", "--json"], 0);
    let fabric: serde_json::Value = serde_json::from_str(&fabric).unwrap();
    assert_eq!((&fabric["hosts"], &fabric["links"]), (&45.into(), &81.into()));
}

/// What is pending goes back by itself, so a plan that meets it is neither stale nor applied.
#[test]
fn a_pending_change_is_reported_before_its_effect_on_the_fabric() {
    let lab = ServedLab::new(DEMO);
    let made = lab.run(&["route", "--engine", "updn", "-o", "other.plan", "--no-times"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let made = lab.run(&["route", "--engine", "minhop", "-o", "stale.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let id = lab.apply();
    for plan in ["stale.plan", "other.plan"] {
        let refused = lab.run_to_end(&["apply", plan, "--yes", "--accept", "transition,cycle"], 4);
        assert!(refused.contains("FD-5632") && refused.contains(&id), "{plan}: {refused}");
    }
    // The same plan once more would write nothing, and what stands there is not confirmed.
    assert!(lab.run_to_end(&["apply", "a.plan", "--yes"], 4).contains("FD-5632"));
    lab.run_to_end(&["confirm", &id], 0);
    assert!(lab.run_to_end(&["apply", "a.plan", "--yes"], 0).contains("nothing to do"));
    assert!(lab.run_to_end(&["apply", "stale.plan", "--yes"], 3).contains("FD-7986"));
}
