//! The output of the console's `status`.

/// The lines of `status` that fabdeck uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpensmStatus {
    /// `OpenSM 3.3.23`.
    pub version: String,
    pub state: String,
    /// The engine whose tables were set last.
    pub engine: String,
    /// Number of MADs without an answer so far.
    pub outstanding: u64,
    pub errors: u64,
    /// The GUID of OpenSM's port; below, further subnet managers with GUID, state and priority.
    pub own: Option<u64>,
    pub others: Vec<String>,
}

impl OpensmStatus {
    pub fn read(text: &str) -> Self {
        let mut status = Self::default();
        for line in text.lines().map(str::trim) {
            match line.split_once(" : ").map(|(key, value)| (key.trim(), value.trim())) {
                Some(("OpenSM Version", value)) => status.version = value.to_owned(),
                Some(("SM State", value)) => status.state = value.to_owned(),
                Some(("Routing Engine", value)) => status.engine = value.to_owned(),
                Some(("QP0 MADs outstanding", value)) => status.outstanding = value.parse().unwrap_or(0),
                Some(("Subnet Init errors", value)) => status.errors = value.parse().unwrap_or(0),
                Some(_) => {}
                None => status.read_manager_line(line),
            }
        }
        status
    }

    /// Reads a line of the list of subnet managers.
    fn read_manager_line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(guid) = words.first().and_then(|word| word.strip_prefix("0x")) else { return };
        let Ok(guid) = u64::from_str_radix(guid, 16) else { return };
        if words.last() == Some(&"SELF") {
            self.own = Some(guid);
        } else {
            self.others.push(words.join(" "));
        }
    }

    pub fn is_master(&self) -> bool {
        self.state.eq_ignore_ascii_case("master")
    }

    /// Whether no MAD is outstanding.
    pub fn is_done(&self) -> bool {
        self.outstanding == 0
    }

    /// Whether this is upstream OpenSM 3.3.20 to 3.3.29, whose loading of files is known.
    pub fn is_upstream(&self) -> bool {
        let number = self.version.strip_prefix("OpenSM 3.3.");
        number.and_then(|number| number.parse().ok()).is_some_and(|number: u32| (20..30).contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_console_are_read() {
        let text = "   OpenSM Version       : OpenSM 3.3.23\n   SM State             : Master     \n   \
                    Routing Engine       : minhop\n   QP0 MADs outstanding           : 3\n   \
                    QP0 MADs outstanding (on wire) : 0\n   Subnet Init errors             : 1\n   Known SMs\n   ---------\n   \
                    Port GUID       SM State    Priority\n   ---------       --------    --------\n   \
                    0x100001 Master      0        SELF\n   0x100004 Standby     3\n\nOpenSM $ ";
        let status = OpensmStatus::read(text);
        assert!(status.is_master() && status.is_upstream() && !status.is_done());
        assert_eq!((status.engine.as_str(), status.errors, status.own), ("minhop", 1, Some(0x10_0001)));
        assert_eq!(status.others, ["0x100004 Standby 3"]);
        let upstream =
            |version: &str| OpensmStatus { version: version.into(), ..OpensmStatus::default() }.is_upstream();
        for other in ["OpenSM 5.17.0.MLNX20240405.0c3e7a1a", "OpenSM 3.3.19", "OpenSM 3.3.23.MLNX", ""] {
            assert!(!upstream(other), "{other}");
        }
    }
}
