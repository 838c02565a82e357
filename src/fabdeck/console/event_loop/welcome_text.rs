//! The first message of a console without a source.

use crate::system::adapter_row::{AdapterPortRow, AdapterRow};

/// First message of a console without `--source`: the console shows the simulator, and `--source` names another
/// source.
pub fn welcome_text(adapters: &[AdapterRow]) -> String {
    let is_fabric = |port: &&AdapterPortRow| port.link_layer == "InfiniBand";
    let ports: Vec<&AdapterPortRow> =
        adapters.iter().flat_map(|adapter| &adapter.port_list).filter(is_fabric).collect();
    // An active port is the best suggestion.
    let best = ports.iter().find(|port| port.state == Some("Active")).or(ports.first());
    match best {
        None => "no source was given: this is the built-in simulator; --source names a fabric, a file or a folder, and \
                 `fabdeck sources` lists some"
            .to_owned(),
        Some(best) => {
            let state = best.state.unwrap_or("state unknown");
            let more = match ports.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more (`fabdeck sources` lists them)"),
            };
            format!(
                "no source was given: this is the built-in simulator; this machine has an adapter, {source} ({state}){more}: \
                 fabdeck --source {source} reads its fabric",
                source = best.source
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::adapter_row::{AdapterPortRow, AdapterRow};

    #[test]
    fn the_welcome_text_explains_how_to_use_an_adapter() {
        let port = |number: u8, state, link_layer: &str| AdapterPortRow {
            number,
            guid: None,
            lid: None,
            manager_lid: None,
            state,
            physical_state: None,
            rate_gbps: 200,
            link_layer: link_layer.to_owned(),
            classes: "all classes".to_owned(),
            source: format!("umad:mlx5_0:{number}"),
        };
        let words = |port_list: Vec<AdapterPortRow>| {
            welcome_text(&[AdapterRow {
                name: "mlx5_0".into(),
                node_guid: None,
                ports: port_list.len(),
                port_list,
            }])
        };
        let several = words(vec![port(1, Some("Down"), "InfiniBand"), port(2, Some("Active"), "InfiniBand")]);
        assert!(several.contains("umad:mlx5_0:2 (Active) and 1 more"), "{several}");
        assert!(several.contains("--source umad:mlx5_0:2 reads"), "{several}");
        let down = words(vec![port(1, Some("Down"), "InfiniBand")]);
        assert!(down.contains("umad:mlx5_0:1 (Down): fabdeck"), "{down}");
        for none in [words(vec![port(1, Some("Active"), "Ethernet")]), welcome_text(&[])] {
            assert!(none.contains("built-in simulator") && !none.contains("umad"), "{none}");
        }
    }
}
