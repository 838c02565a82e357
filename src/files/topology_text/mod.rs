//! Shared parts of ibnetdiscover dumps and ibsim net files: lines, GUIDs as text, and joining the two ends of a cable.

mod cables;
mod dialect;
mod guid_text;
mod line;
mod notes;
mod port_line;
mod print;
mod record;
mod scan;
mod tail;

pub use cables::{Claim, join};
pub use dialect::{Dialect, NET_FILE_MARK, dialect};
pub use guid_text::{GuidText, read_guid};
pub use line::{Key, LineKind, classify, is_whole_end, is_whole_end_of_ibsim, trusted};
pub use notes::{
    note_duplicates, note_noise, note_rate, note_tail, note_truncated, note_unknown_lid, noted_guid,
    port_guid, sample,
};
pub use port_line::{PortLine, parse_port};
pub use print::{clean_name, guid_key, is_down, node_id, note_down, record_word};
pub use record::{RecordLine, parse_record};
pub use scan::{Fault, c_number, count};
pub use tail::{LidText, Tail};
