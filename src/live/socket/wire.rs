//! The protocol of the socket. Every frame begins alike; numbers are in network order:
//!
//! ```text
//!  byte 0     1       2..4              4..
//!       kind  0       payload's length  payload
//! ```
//!
//! | kind | from | payload |
//! |---|---|---|
//! | 1 hello | client | greeting, node (text; empty: the server chooses) |
//! | 2 welcome | server | greeting, port number (1), GUID (8), LID (2), manager's LID (2), name (text); 0: not known |
//! | 3 refusal | server | greeting, reason (1), text; the connection ends behind it |
//! | 4 datagram | both | LID (2), service level (1), 0, queue pair (4), the 256 bytes |
//!
//! A greeting is the magic (8), the protocol (2) and the program's version (text). The greeting and the head of the
//! frame stay the same in every version, so that different versions can report each other. A text is its length (1) and
//! UTF-8.

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use fabdeck_fabric::{Guid, Lid, PortNum};
use fabdeck_mad::access::{AddressedMad, LocalPort, MadAddress};
use fabdeck_mad::{MAD_SIZE, Mad};

/// The version of everything after the greeting.
pub const PROTOCOL: u16 = 1;
/// Length of a MAD frame in bytes, with its head.
pub const DATAGRAM_FRAME: usize = HEAD_BYTES + size_of::<Datagram>();

const MAGIC: [u8; 8] = *b"fabdeck~";
const PROGRAM: &str = env!("CARGO_PKG_VERSION");
const HEAD_BYTES: usize = size_of::<FrameHead>();
/// Longest payload of any other frame, in any version.
const MAX_CONTROL_BYTES: usize = 1024;
const MAX_TEXT_BYTES: usize = u8::MAX as usize;

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy)]
#[repr(C)]
struct FrameHead {
    kind: u8,
    zero: u8,
    length: U16,
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy)]
#[repr(C)]
struct Greeting {
    magic: [u8; 8],
    protocol: U16,
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy)]
#[repr(C)]
struct WelcomePort {
    number: u8,
    guid: U64,
    lid: U16,
    manager_lid: U16,
}

/// A MAD as it lies in the buffer.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy)]
#[repr(C)]
pub struct Datagram {
    lid: U16,
    service_level: u8,
    zero: u8,
    queue_pair: U32,
    mad: [u8; MAD_SIZE],
}

const _: () = assert!(HEAD_BYTES == 4 && DATAGRAM_FRAME == 268);

impl Datagram {
    pub fn to_addressed_mad(&self) -> AddressedMad {
        let Self { lid, service_level, queue_pair, .. } = *self;
        let address = MadAddress { lid: lid.get(), queue_pair: queue_pair.get(), service_level };
        AddressedMad { mad: Mad(self.mad), address }
    }
}

impl std::fmt::Debug for Datagram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_addressed_mad().fmt(f)
    }
}

/// Why a server ends a connection, for programs; the text beside it is for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefusalReason {
    /// No node of that name has a port.
    Node,
    /// The server has too many clients.
    Full,
    /// The client violated the protocol.
    Protocol,
    /// A reason that this version does not know.
    Other(u8),
}

impl RefusalReason {
    fn of(code: u8) -> Self {
        match code {
            1 => Self::Node,
            2 => Self::Full,
            3 => Self::Protocol,
            code => Self::Other(code),
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Node => 1,
            Self::Full => 2,
            Self::Protocol => 3,
            Self::Other(code) => code,
        }
    }
}

/// The last frame of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerRefusal<'a> {
    pub reason: RefusalReason,
    pub text: &'a str,
}

/// A decoded frame.
#[derive(Clone, Debug)]
pub enum Frame<'a> {
    Hello { node: Option<&'a str> },
    Welcome(LocalPort),
    Refusal(ServerRefusal<'a>),
    Datagram(&'a Datagram),
}

/// Why bytes are no frame of this protocol.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WireError {
    #[error("a frame begins with 0x{kind:02x} 0x{zero:02x}, which is invalid")]
    Kind { kind: u8, zero: u8 },
    #[error("a frame of kind {kind} claims {length} bytes, and has {allowed}")]
    Length { kind: u8, length: usize, allowed: &'static str },
    #[error("a frame of kind {0} does not begin with the greeting of fabdeck")]
    Magic(u8),
    #[error(
        "the other side is fabdeck {} with protocol {protocol}, this side is fabdeck {PROGRAM} with protocol {PROTOCOL}",
        program.escape_default()
    )]
    Version { protocol: u16, program: String },
    #[error("a frame of kind {kind} lacks {what}")]
    Field { kind: u8, what: &'static str },
}

/// The first frame in the bytes and its length; `None` while it is incomplete.
pub fn decode(bytes: &[u8]) -> Result<Option<(Frame<'_>, usize)>, WireError> {
    let Some((head, rest)) = split_struct::<FrameHead>(bytes) else {
        // The first byte already reveals garbage.
        return bytes.first().map_or(Ok(None), |kind| check_kind(*kind, 0).map(|()| None));
    };
    let FrameHead { kind, zero, length } = *head;
    check_kind(kind, zero)?;
    let length = usize::from(length.get());
    let refused = |allowed| WireError::Length { kind, length, allowed };
    if kind == kind::DATAGRAM {
        if length != size_of::<Datagram>() {
            return Err(refused("264"));
        }
        return Ok(split_struct::<Datagram>(rest)
            .map(|(datagram, _)| (Frame::Datagram(datagram), HEAD_BYTES + length)));
    }
    if length > MAX_CONTROL_BYTES {
        return Err(refused("at most 1024"));
    }
    let Some(payload) = rest.get(..length) else { return Ok(None) };
    Ok(Some((decode_control(kind, payload)?, HEAD_BYTES + length)))
}

mod kind {
    pub const HELLO: u8 = 1;
    pub const WELCOME: u8 = 2;
    pub const REFUSAL: u8 = 3;
    pub const DATAGRAM: u8 = 4;
}

fn check_kind(kind: u8, zero: u8) -> Result<(), WireError> {
    let known = matches!(kind, kind::HELLO..=kind::DATAGRAM) && zero == 0;
    if known { Ok(()) } else { Err(WireError::Kind { kind, zero }) }
}

fn decode_control(kind: u8, payload: &[u8]) -> Result<Frame<'_>, WireError> {
    let missing = |what| WireError::Field { kind, what };
    let (greeting, rest) = split_struct::<Greeting>(payload).ok_or(WireError::Magic(kind))?;
    if greeting.magic != MAGIC {
        return Err(WireError::Magic(kind));
    }
    let (program, rest) = split_text(rest).ok_or_else(|| missing("version"))?;
    let protocol = greeting.protocol.get();
    if protocol != PROTOCOL {
        return Err(WireError::Version { protocol, program: program.to_owned() });
    }
    match kind {
        kind::HELLO => {
            let (node, _) = split_text(rest).ok_or_else(|| missing("node"))?;
            Ok(Frame::Hello { node: Some(node).filter(|node| !node.is_empty()) })
        }
        kind::WELCOME => {
            let (port, rest) = split_struct::<WelcomePort>(rest).ok_or_else(|| missing("port"))?;
            let (name, _) = split_text(rest).ok_or_else(|| missing("name"))?;
            Ok(Frame::Welcome(LocalPort {
                name: name.to_owned(),
                number: PortNum(port.number),
                guid: Some(Guid(port.guid.get())).filter(|guid| guid.0 != 0),
                lid: Lid::new(port.lid.get().into()),
                manager_lid: Lid::new(port.manager_lid.get().into()),
                simulated: true,
            }))
        }
        _ => {
            let (reason, rest) = rest.split_first().ok_or_else(|| missing("reason"))?;
            let (text, _) = split_text(rest).ok_or_else(|| missing("text"))?;
            Ok(Frame::Refusal(ServerRefusal { reason: RefusalReason::of(*reason), text }))
        }
    }
}

fn split_struct<T: FromBytes + KnownLayout + Immutable + Unaligned>(bytes: &[u8]) -> Option<(&T, &[u8])> {
    T::ref_from_prefix(bytes).ok()
}

fn split_text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*length))?;
    Some((std::str::from_utf8(text).ok()?, rest))
}

/// Appends frames to a buffer.
pub mod encode {
    use super::*;

    pub fn datagram(parcel: &AddressedMad, to: &mut Vec<u8>) {
        let MadAddress { lid, queue_pair, service_level } = parcel.address;
        let length = U16::new(size_of::<Datagram>() as u16);
        to.extend_from_slice(FrameHead { kind: kind::DATAGRAM, zero: 0, length }.as_bytes());
        to.extend_from_slice(&lid.to_be_bytes());
        to.extend_from_slice(&[service_level, 0]);
        to.extend_from_slice(&queue_pair.to_be_bytes());
        to.extend_from_slice(&parcel.mad.0);
    }

    /// The name of a node is cut after 255 bytes, as every text is.
    pub fn hello(node: Option<&str>, to: &mut Vec<u8>) {
        write_control(kind::HELLO, to, |to| push_text(node.unwrap_or_default(), to));
    }

    pub fn welcome(port: &LocalPort, to: &mut Vec<u8>) {
        let LocalPort { name, number, guid, lid, manager_lid, simulated: _ } = port;
        let lid_of = |lid: &Option<Lid>| U16::new(lid.map_or(0, Lid::value));
        let guid = U64::new(guid.map_or(0, |guid| guid.0));
        let port = WelcomePort { number: number.0, guid, lid: lid_of(lid), manager_lid: lid_of(manager_lid) };
        write_control(kind::WELCOME, to, |to| {
            to.extend_from_slice(port.as_bytes());
            push_text(name, to);
        });
    }

    pub fn refusal(reason: RefusalReason, text: &str, to: &mut Vec<u8>) {
        write_control(kind::REFUSAL, to, |to| {
            to.push(reason.code());
            push_text(text, to);
        });
    }

    /// Three texts and some numbers stay below the limit of 1,024 bytes.
    fn write_control(kind: u8, to: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
        let mut payload = Vec::new();
        payload.extend_from_slice(Greeting { magic: MAGIC, protocol: PROTOCOL.into() }.as_bytes());
        push_text(PROGRAM, &mut payload);
        body(&mut payload);
        let length = U16::new(payload.len() as u16);
        to.extend_from_slice(FrameHead { kind, zero: 0, length }.as_bytes());
        to.extend_from_slice(&payload);
    }

    fn push_text(text: &str, to: &mut Vec<u8>) {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        to.push(text.len() as u8);
        to.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hello(node: Option<&str>) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode::hello(node, &mut bytes);
        bytes
    }

    fn port() -> LocalPort {
        LocalPort {
            name: "node01 port 1".into(),
            number: PortNum(1),
            guid: Some(Guid(0x0002_c903_0000_0001)),
            lid: Lid::new(5),
            manager_lid: None,
            simulated: true,
        }
    }

    #[test]
    fn the_first_frame_of_a_client_byte_by_byte() {
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        let length = (8 + 2 + 1 + version.len() + 1 + 6) as u16;
        let mut expected = vec![1, 0];
        expected.extend(length.to_be_bytes());
        expected.extend(b"fabdeck~\x00\x01");
        expected.push(version.len() as u8);
        expected.extend(version);
        expected.extend(b"\x06node01");
        assert_eq!(hello(Some("node01")), expected);
    }

    #[test]
    fn a_welcome_comes_back_as_it_was() {
        for port in [port(), LocalPort { guid: None, lid: None, manager_lid: Lid::new(9), ..port() }] {
            let mut bytes = Vec::new();
            encode::welcome(&port, &mut bytes);
            let Some((Frame::Welcome(back), length)) = decode(&bytes).unwrap() else { panic!() };
            assert_eq!((back, length), (port, bytes.len()));
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let long = "ä".repeat(200);
        let bytes = hello(Some(&long));
        let Some((Frame::Hello { node: Some(node) }, _)) = decode(&bytes).unwrap() else { panic!() };
        assert_eq!(node, "ä".repeat(127));
    }

    #[test]
    fn another_version_is_told_by_name_whatever_stands_behind_it() {
        let mut bytes = vec![2, 0, 0, 40];
        bytes.extend(b"fabdeck~\x00\x07\x059.9.9");
        bytes.resize(44, 0xEE);
        let told = decode(&bytes).unwrap_err();
        assert_eq!(told, WireError::Version { protocol: 7, program: "9.9.9".into() });
        assert!(told.to_string().contains("fabdeck 9.9.9 with protocol 7"), "{told}");
    }

    #[test]
    fn garbage_is_refused_from_its_first_byte_on() {
        for garbage in [&b"G"[..], b"GET / HTTP/1.1\r\n", b"\0", b"\x05", b"\x01\x01\0\0", b"\x03\0\x04\x01"]
        {
            assert!(decode(garbage).is_err(), "{garbage:?}");
        }
        assert_eq!(
            decode(b"\x04\0\xff\xff"),
            Err(WireError::Length { kind: 4, length: 65535, allowed: "264" })
        );
        let mut bytes = hello(None);
        bytes[4] = b'F';
        assert_eq!(decode(&bytes), Err(WireError::Magic(1)));
        assert_eq!(decode(b"\x01\0\0\0"), Err(WireError::Magic(1)));
    }

    #[test]
    fn a_text_that_is_longer_than_its_frame_is_refused() {
        let mut bytes = hello(Some("node01"));
        let at = bytes.len() - 7;
        bytes[at] = 200;
        assert_eq!(decode(&bytes), Err(WireError::Field { kind: 1, what: "node" }));
    }

    impl PartialEq for Frame<'_> {
        fn eq(&self, other: &Self) -> bool {
            format!("{self:?}") == format!("{other:?}")
        }
    }

    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let node = "[a-z0-9/]{0,20}".prop_map(|node| hello(Some(&node)));
        let refusal = (any::<u8>(), ".{0,80}").prop_map(|(reason, text)| {
            let mut bytes = Vec::new();
            encode::refusal(RefusalReason::of(reason), &text, &mut bytes);
            bytes
        });
        let datagram = parcels().prop_map(|parcel| {
            let mut bytes = Vec::new();
            encode::datagram(&parcel, &mut bytes);
            bytes
        });
        prop_oneof![node, refusal, datagram]
    }

    fn parcels() -> impl Strategy<Value = AddressedMad> {
        let mad = prop::collection::vec(any::<u8>(), MAD_SIZE);
        (mad, any::<u16>(), any::<u32>(), any::<u8>()).prop_map(|(mad, lid, queue_pair, service_level)| {
            AddressedMad {
                mad: Mad(mad.try_into().unwrap()),
                address: MadAddress { lid, queue_pair, service_level },
            }
        })
    }

    proptest! {
        #[test]
        fn a_datagram_comes_back_as_it_was(parcel in parcels()) {
            let mut bytes = Vec::new();
            encode::datagram(&parcel, &mut bytes);
            prop_assert_eq!(bytes.len(), DATAGRAM_FRAME);
            let Some((Frame::Datagram(back), length)) = decode(&bytes).unwrap() else { panic!() };
            prop_assert_eq!((back.to_addressed_mad(), length), (parcel, DATAGRAM_FRAME));
        }

        #[test]
        fn a_frame_is_whole_or_not_there(bytes in frames(), more in prop::collection::vec(any::<u8>(), 0..9)) {
            for end in 0..bytes.len() {
                prop_assert!(matches!(decode(&bytes[..end]), Ok(None)), "{} of {}", end, bytes.len());
            }
            let longer = [&bytes[..], &more].concat();
            let (_, length) = decode(&longer).unwrap().unwrap();
            prop_assert_eq!(length, bytes.len());
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            if let Ok(Some((_, length))) = decode(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }

        #[test]
        fn a_damaged_frame_is_read_or_refused(bytes in frames(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            let mut bytes = bytes;
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Ok(Some((_, length))) = decode(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
