//! Shared parts of ibnetdiscover dumps and ibsim net files: lines, GUIDs as text, and joining the two ends of a cable.

mod cable_claims;
mod dialect;
mod guid_text;
mod line_cursor;
mod line_end;
mod line_kind;
mod line_tail;
mod port_line;
mod reader_notes;
mod record_line;
mod writer_text;

pub use cable_claims::{CableClaim, join_cables};
pub use dialect::{Dialect, NET_FILE_MARK, detect_dialect};
pub use guid_text::GuidText;
pub use line_cursor::{LineFault, excerpt, parse_c_number, parse_count};
pub use line_end::{is_whole_end, is_whole_end_of_ibsim, trusted_part};
pub use line_kind::{AttributeKey, LineKind, classify};
pub use line_tail::LineTail;
pub use port_line::{PortLine, parse_port};
pub use reader_notes::{
    note_duplicates, note_noise, note_rate, note_tail, note_truncated, note_unknown_lid, read_guid_noted,
    read_port_guid,
};
pub use record_line::{RecordLine, parse_record};
pub use writer_text::{clean_name, guid_key, is_down, node_id, note_down, record_word};
