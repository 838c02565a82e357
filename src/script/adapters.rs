//! The adapters of this machine, as the kernel lists them. Only their names are read: nothing is opened.

use std::path::Path;

use crate::fabric::Guid;

/// Where the kernel lists them.
pub const FOLDER: &str = "/sys/class/infiniband";

/// One adapter.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Adapter {
    pub name: String,
    /// `0x` and 16 digits.
    pub node_guid: Option<String>,
    pub ports: usize,
}

/// In the order of their names. A machine without the folder has none.
pub fn list(folder: &Path) -> Vec<Adapter> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut adapters: Vec<Adapter> = entries.flatten().map(|entry| adapter(&entry.path())).collect();
    adapters.sort_by(|a, b| a.name.cmp(&b.name));
    adapters
}

fn adapter(folder: &Path) -> Adapter {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let guid = std::fs::read_to_string(folder.join("node_guid")).ok();
    let guid = guid.and_then(|text| Guid::from_hex(&text.trim().replace(':', "")).ok());
    let ports = std::fs::read_dir(folder.join("ports")).map_or(0, |ports| ports.flatten().count());
    Adapter { name, node_guid: guid.map(|guid| guid.to_string()), ports }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_listed_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, guid) in [("mlx5_1", "0002:c903:0000:0002\n"), ("mlx5_0", "nonsense")] {
            std::fs::create_dir_all(folder.path().join(name).join("ports/1")).unwrap();
            std::fs::write(folder.path().join(name).join("node_guid"), guid).unwrap();
        }
        let found = list(folder.path());
        let names: Vec<&str> = found.iter().map(|adapter| adapter.name.as_str()).collect();
        assert_eq!(names, ["mlx5_0", "mlx5_1"]);
        assert_eq!(found[0].node_guid, None);
        assert_eq!((found[1].node_guid.as_deref(), found[1].ports), (Some("0x0002c90300000002"), 1));
        assert_eq!(list(&folder.path().join("absent")), []);
    }
}
