//! Lists of ports in the order of dimensions, as OpenSM's `dimn_ports_file` for `dor`: on each line the GUID of a switch
//! and its ports, separated by blanks. Text after `#` is a comment.

use fabdeck_fabric::{Guid, PortNum};

use super::FileError;
use super::content::DimensionPortFile;
use super::opensm::{bad_line, bad_port, no_content, parse_decimal, parse_prefixed_hex};
use super::text::Input;

pub fn read(input: Input<'_>) -> Result<DimensionPortFile, Box<FileError>> {
    let mut file = DimensionPortFile::default();
    for line in input.lines() {
        let line = line?;
        let place = || input.line_place(line.number);
        let text = line.text.split('#').next().unwrap_or_default().trim();
        let mut words = text.split_whitespace();
        let Some(word) = words.next() else { continue };
        let wrong = |what: &str| bad_line(place(), text, what);
        let Some(guid) = parse_prefixed_hex(word).filter(|guid| *guid != 0).map(Guid) else {
            return Err(wrong("the GUID of a switch (0x and up to 16 hexadecimal digits), and ports"));
        };
        let mut ports = Vec::new();
        for word in words {
            let port = parse_decimal(word).and_then(|port| u8::try_from(port).ok());
            match port.filter(|port| (1..=254).contains(port)).map(PortNum) {
                Some(port) if ports.contains(&port) => return Err(wrong("each port once")),
                Some(port) => ports.push(port),
                None => return Err(bad_port(word, place())),
            }
        }
        if line.unended && line.text.split('#').count() == 1 {
            return Err(wrong(
                "the end of this line: the file ends within it, so the last number may be cut",
            ));
        }
        if ports.is_empty() {
            return Err(wrong("ports after the GUID"));
        }
        if file.switches.insert(guid, ports).is_some() {
            return Err(wrong("each switch once"));
        }
    }
    if file.switches.is_empty() {
        return Err(no_content(input.name, "GUID of a switch with its ports"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<DimensionPortFile, Box<FileError>> {
        read(Input::new("dimensions", text.as_bytes()))
    }

    #[test]
    fn ports_stay_in_the_order_of_the_line() {
        let file = read_text("# x y\n0x10 3 1 2 # first\n\n\t0x00fab10000000001\t4\n").unwrap();
        let ports = |ports: &[u8]| ports.iter().copied().map(PortNum).collect::<Vec<_>>();
        let wanted = [(Guid(0x10), ports(&[3, 1, 2])), (Guid(0x00fa_b100_0000_0001), ports(&[4]))];
        assert_eq!(file.switches, wanted.into());
    }

    #[test]
    fn damaged_lines_are_refused_with_their_number() {
        for (line, code) in [
            ("leaf0 1 2\n", "FD-2303"),
            ("0x0 1\n", "FD-2303"),
            ("0x11\n", "FD-2303"),
            ("0x11 1 1\n", "FD-2303"),
            ("0x10 1\n", "FD-2303"),
            ("0x11 1 2", "FD-2303"),
            ("0x11 0\n", "FD-2302"),
            ("0x11 255\n", "FD-2302"),
            ("0x11 1,2\n", "FD-2302"),
        ] {
            let error = read_text(&format!("0x10 1\n{line}")).unwrap_err();
            assert_eq!((error.code, error.place.line), (code, Some(2)), "{line}");
        }
        assert_eq!(read_text("# nothing\n").unwrap_err().code, "FD-2307");
    }
}
