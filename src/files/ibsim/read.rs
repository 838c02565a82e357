//! Reads net files as ibsim does: GUIDs are assigned in order, links come up with the best values that both ends have
//! enabled, and descriptions default to ids.

use rustc_hash::FxHashMap;

use super::enabled::EnabledRates;
use crate::FileError;
use crate::content::TopologyFile;
use crate::limit::check_node_count;
use crate::text::{Input, TextLine};
use crate::topology_text::{
    AttributeKey, CableClaim, Dialect, LineFault, LineKind, PortLine, RecordLine, classify, detect_dialect,
    excerpt, is_whole_end_of_ibsim, join_cables, note_duplicates, note_noise, note_tail, note_truncated,
    parse_c_number, parse_port, parse_record, read_port_guid, trusted_part,
};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{FabricBuilder, Guid, NodeFacts, NodeKey, NodeKind, PortNum};

pub const ID: &str = "ibsim";

/// Whether the beginning of a file has records whose ids are plain names, or words that only ibsim knows.
pub fn looks_like(head: &str) -> bool {
    detect_dialect(head) == Some(Dialect::Net)
}

pub fn read(input: Input<'_>) -> Result<TopologyFile, Box<FileError>> {
    let mut reader = NetFileReader {
        file: input.name,
        builder: FabricBuilder::new(),
        ids: FxHashMap::default(),
        aliases: FxHashMap::default(),
        cables: Vec::new(),
        notes: Notes::new(),
        settings: RecordSettings::default(),
        owner: None,
        pending: None,
        expected: 0,
        bare: None,
    };
    for line in input.lines_with_end(|line| is_whole_end_of_ibsim(input, line)) {
        let line = line?;
        reader.read_line(&line)?;
        check_node_count(reader.builder.len(), || input.line_place(line.number))?;
    }
    reader.finish()
}

/// Settings for the next record, by ibsim's rule: vendor and system image for one node, the others for all later
/// nodes.
struct RecordSettings {
    vendor: u32,
    device: u32,
    system: u64,
    module: String,
    /// The next GUID of each kind, and the base of relative ones (`switchguid+16`).
    next: [u64; 3],
    base: [u64; 3],
    enabled: EnabledRates,
}

impl Default for RecordSettings {
    fn default() -> Self {
        // Routers have no base in ibsim; its table has zeros there.
        let bases = [0x20_0000, 0x10_0000, 0];
        Self {
            vendor: 0,
            device: 0,
            system: 0,
            module: String::new(),
            next: bases,
            base: bases,
            enabled: EnabledRates::default(),
        }
    }
}

fn kind_index(kind: NodeKind) -> usize {
    match kind {
        NodeKind::Switch => 0,
        NodeKind::ChannelAdapter => 1,
        NodeKind::Router => 2,
    }
}

/// A cable whose other end is a text until all records are read.
struct Cable {
    near: (NodeKey, PortNum),
    far: FarEnd,
    line: u64,
    far_lid: Option<fabdeck_fabric::Lid>,
    far_guid: Option<Guid>,
    /// `None` if the line is cut.
    enabled: Option<EnabledRates>,
}

enum FarEnd {
    Port(Box<str>, PortNum),
    Alias(Box<str>),
}

struct NetFileReader<'a> {
    file: &'a str,
    builder: FabricBuilder,
    ids: FxHashMap<Box<str>, NodeKey>,
    aliases: FxHashMap<Box<str>, ((NodeKey, PortNum), EnabledRates)>,
    cables: Vec<Cable>,
    notes: Notes,
    settings: RecordSettings,
    owner: Option<NodeKey>,
    /// First line of settings for one node, until its record comes.
    pending: Option<u64>,
    /// Number of port lines that ibsim still expects. ibsim ignores the line that ends a record early.
    expected: u8,
    /// Line of the last record, while no port line follows it.
    bare: Option<u64>,
}

impl NetFileReader<'_> {
    fn place(&self, line: u64) -> NotePlace {
        NotePlace::line(self.file, line)
    }

    fn read_line(&mut self, line: &TextLine<'_>) -> Result<(), Box<FileError>> {
        if !line.unended {
            return self
                .read_content(&line.text, line.number, false)
                .map_err(|fault| fault.with_place(self.place(line.number)));
        }
        let outcome = self.read_content(trusted_part(&line.text), line.number, true);
        let place = self.place(line.number);
        note_truncated(&mut self.notes, place, outcome.is_err());
        Ok(())
    }

    fn read_content(&mut self, text: &str, number: u64, cut: bool) -> Result<(), LineFault> {
        let kind = classify(text);
        match kind {
            LineKind::Port(_) | LineKind::Alias(_) => self.expected = self.expected.saturating_sub(1),
            LineKind::Comment(_) => {}
            _ => self.end_record(&kind, number),
        }
        match kind {
            LineKind::Blank | LineKind::Comment(_) | LineKind::Heading => {}
            LineKind::Record(keyword, rest) => {
                self.begin_record(&parse_record(keyword, rest, cut)?, number, cut)?
            }
            LineKind::Port(rest) => self.read_port(rest, number, cut)?,
            // In a cut line the rest is uncertain.
            _ if cut => {}
            LineKind::Key { key, value, relative } => self.read_key(key, value, relative, number)?,
            LineKind::Alias(rest) => self.read_alias(rest)?,
            LineKind::Include(name) => {
                let what = format!("ibsim would read the file {} here", excerpt(name));
                return Err(LineFault::new("FD-2107", what, "replace this line with the text of that file"));
            }
            LineKind::Command(command) => {
                let place = self.place(number);
                self.notes.add("FN-221", place, || {
                    format!("ibsim would run its command '{}' here; fabdeck does not", excerpt(command))
                });
            }
            LineKind::ToolError | LineKind::Noise => {
                let place = self.place(number);
                note_noise(&mut self.notes, place, text);
            }
        }
        Ok(())
    }

    fn end_record(&mut self, kind: &LineKind<'_>, number: u64) {
        if std::mem::take(&mut self.expected) > 0 && !matches!(kind, LineKind::Blank) {
            let place = self.place(number);
            self.notes.add("FN-225", place, || {
                "no blank line between a record and this line: ibsim would skip this line".to_owned()
            });
        }
    }

    fn read_key(
        &mut self,
        key: AttributeKey,
        value: &str,
        relative: bool,
        number: u64,
    ) -> Result<(), LineFault> {
        if key == AttributeKey::Module {
            return self.set_module(value);
        }
        let wrong = || {
            let what = format!("'{}' is no number", excerpt(value));
            LineFault::new("FD-2105", what, "write it as C does: 0x10 or 16")
        };
        let parsed = parse_c_number(value).ok_or_else(wrong)?;
        let small = || {
            u32::try_from(parsed).map_err(|_| {
                let what = format!("{parsed} is above the 32 bits of its key");
                LineFault::new("FD-2105", what, "write a number up to 0xffffffff")
            })
        };
        match key {
            AttributeKey::Vendor => self.settings.vendor = small()?,
            AttributeKey::Device => self.settings.device = small()?,
            AttributeKey::SystemImage => self.settings.system = parsed,
            AttributeKey::Guid(kind) => {
                let at = kind_index(kind);
                if !relative {
                    self.settings.base[at] = parsed;
                }
                let offset = if relative { parsed } else { 0 };
                self.settings.next[at] = self.settings.base[at].wrapping_add(offset);
            }
            AttributeKey::Width => self.settings.enabled.set_widths(small()?)?,
            AttributeKey::Speed => self.settings.enabled.set_speeds(small()?)?,
            AttributeKey::ExtendedSpeed => self.settings.enabled.set_extended(small()?)?,
            AttributeKey::Module => {}
        }
        if matches!(key, AttributeKey::Vendor | AttributeKey::SystemImage | AttributeKey::Guid(_))
            && self.pending.is_none()
        {
            self.pending = Some(number);
        }
        Ok(())
    }

    /// Sets the prefix of ids from here on.
    fn set_module(&mut self, value: &str) -> Result<(), LineFault> {
        const LONGEST: usize = 20;
        let quoted = value.split_once('"').and_then(|(_, rest)| rest.split_once('"'));
        let Some((name, _)) = quoted.filter(|(name, _)| name.len() <= LONGEST) else {
            let what = format!("'{}' is no name of a module", excerpt(value));
            return Err(LineFault::new("FD-2105", what, "write module=\"name\" with at most 20 characters"));
        };
        name.clone_into(&mut self.settings.module);
        Ok(())
    }

    /// An id as ibsim stores it: with the module's name in front, unless the id names a module itself.
    fn full_id(&self, id: &str) -> Box<str> {
        match self.settings.module.as_str() {
            "" => id.into(),
            _ if id.contains('#') => id.into(),
            module => format!("{module}#{id}").into(),
        }
    }

    fn begin_record(&mut self, record: &RecordLine<'_>, number: u64, cut: bool) -> Result<(), LineFault> {
        self.pending = None;
        if record.id.contains(['#', '@']) {
            let what = format!("the id \"{}\" has a character that ibsim reserves", excerpt(record.id));
            return Err(LineFault::new(
                "FD-2108",
                what,
                "ids contain neither # nor @; put the name after a # instead",
            ));
        }
        let id = self.full_id(record.id);
        let kind = record.kind;
        let guid = Guid(self.settings.next[kind_index(kind)]);
        // A switch uses one GUID, an adapter one for itself and one for each port.
        let takes = if kind == NodeKind::Switch { 1 } else { u64::from(record.port_count) + 1 };
        self.settings.next[kind_index(kind)] = guid.0.wrapping_add(takes);
        let system = std::mem::take(&mut self.settings.system);
        let name = match record.name {
            Some(name) if !name.is_empty() => name,
            _ if cut => "",
            _ => &id,
        };
        let facts = NodeFacts {
            vendor_id: Some(std::mem::take(&mut self.settings.vendor)),
            device_id: Some(self.settings.device),
            system_image_guid: Some(if system == 0 { guid } else { Guid(system) }),
            enhanced_port0: (kind == NodeKind::Switch && !cut)
                .then_some(record.tail.enhanced_port0.unwrap_or(false)),
            ..NodeFacts::new(kind, guid, record.port_count, name)
        };
        if record.port_count == 0 {
            let what = format!("node \"{}\" has no ports", excerpt(&id));
            return Err(LineFault::new("FD-2102", what, "ibsim takes nodes of 1 to 254 ports"));
        }
        let file = self.file;
        note_tail(&mut self.notes, || NotePlace::line(file, number), &record.tail, None);
        let Ok(key) = self.builder.add_node(facts) else {
            let what = format!("a second {} with the GUID {guid}", kind.word());
            return Err(LineFault::new("FD-2108", what, "ibsim stops here; give one of them another GUID"));
        };
        if self.ids.insert(id.clone(), key).is_some() {
            let what = format!("a second node with the id \"{}\"", excerpt(&id));
            return Err(LineFault::new("FD-2108", what, "ibsim stops here; rename one of them"));
        }
        self.owner = Some(key);
        self.expected = record.port_count;
        self.bare = Some(number);
        if kind == NodeKind::Switch {
            let port = self.builder.port(key, PortNum::MANAGEMENT);
            port.guid = Some(guid);
            port.lid = record.tail.lid.and_then(|lid| lid.known_lid());
            port.lmc = record.tail.lmc.unwrap_or_default();
        }
        Ok(())
    }

    fn read_port(&mut self, rest: &str, number: u64, cut: bool) -> Result<(), LineFault> {
        let owner = self.owner.ok_or_else(|| {
            LineFault::new("FD-2106", "a port before the first node", "a port belongs to the record above it")
        })?;
        let (kind, node_guid, port_count) = {
            let node = self.builder.node(owner);
            (node.kind, node.guid, node.port_count)
        };
        let line = parse_port(kind, rest, cut)?;
        check_port(line.port, port_count)?;
        let file = self.file;
        note_tail(&mut self.notes, || NotePlace::line(file, number), &line.tail, line.own_lid);
        let far = self.far_end(&line, number, cut)?;
        let mut enabled = self.settings.enabled;
        enabled.read_words(kind, &line.tail)?;
        let place = || NotePlace::line(file, number);
        // The peer's record may come later, so its kind is unknown; a switch gets no GUID from this.
        let far_port = line.peer_port.unwrap_or(PortNum(1));
        let far_guid = line.peer_label.and_then(|label| {
            read_port_guid(&mut self.notes, place, label, NodeKind::ChannelAdapter, far_port)
        });
        let facts = self.builder.port(owner, line.port);
        if kind != NodeKind::Switch {
            // ibsim ignores the GUID in parentheses, but the file states it.
            let stated =
                line.label.and_then(|label| read_port_guid(&mut self.notes, place, label, kind, line.port));
            let counted = Guid(node_guid.0.wrapping_add(u64::from(line.port.value())));
            facts.guid = Some(stated.unwrap_or(counted)).filter(|_| !cut || stated.is_some());
        }
        facts.lid = facts.lid.or(line.own_lid.and_then(|lid| lid.known_lid()));
        facts.lmc = line.own_lmc.unwrap_or(facts.lmc);
        self.bare = None;
        self.cables.push(Cable {
            near: (owner, line.port),
            far,
            line: number,
            far_lid: line.tail.lid.and_then(|lid| lid.known_lid()),
            far_guid,
            enabled: (!cut).then_some(enabled),
        });
        Ok(())
    }

    fn far_end(&mut self, line: &PortLine<'_>, number: u64, cut: bool) -> Result<FarEnd, LineFault> {
        if line.peer.contains('@') {
            let module = if line.peer.starts_with('@') { self.settings.module.as_str() } else { "" };
            return Ok(FarEnd::Alias(format!("{module}{}", line.peer).into()));
        }
        if line.spaced {
            let place = self.place(number);
            self.notes.add("FN-222", place, || {
                "a blank before the bracket of the peer's port: ibsim would use port 1 instead".to_owned()
            });
        }
        let port = match line.peer_port {
            Some(port) => port,
            None if cut => return Err(LineFault::new("FD-2103", "a cut line", "take the file again")),
            // ibsim's default.
            None => PortNum(1),
        };
        Ok(FarEnd::Port(self.full_id(line.peer), port))
    }

    /// Reads `@[3] "uplink"`: other ports refer to this one by the name `module@uplink`.
    fn read_alias(&mut self, rest: &str) -> Result<(), LineFault> {
        let owner = self.owner.ok_or_else(|| {
            LineFault::new(
                "FD-2106",
                "an alias before the first node",
                "an alias belongs to the record above it",
            )
        })?;
        let line = parse_port(self.builder.node(owner).kind, rest, false)?;
        check_port(line.port, self.builder.node(owner).port_count)?;
        self.builder.port(owner, line.port);
        let mut enabled = self.settings.enabled;
        enabled.read_words(self.builder.node(owner).kind, &line.tail)?;
        let alias = format!("{}@{}", self.settings.module, line.peer);
        if self.aliases.insert(alias.into(), ((owner, line.port), enabled)).is_some() {
            let what = format!("a second port with the alias \"{}\"", excerpt(line.peer));
            return Err(LineFault::new("FD-2108", what, "ibsim stops here; rename one of them"));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TopologyFile, Box<FileError>> {
        if self.builder.is_empty() {
            let hint = "a net file has records that begin with Switch, Ca, Hca or Rt";
            return Err(FileError::new("FD-2101", NotePlace::file(self.file), "no node in the file", hint));
        }
        if let Some(line) = self.pending {
            let place = self.place(line);
            self.notes.add_partial("FN-227", place, || {
                format!("truncated at line {line}: the record of the last node is missing")
            });
        }
        if let Some(line) = self.bare {
            let place = self.place(line);
            self.notes.add("FN-219", place, || {
                "the last node has no cables: the file may end too early".to_owned()
            });
        }
        let (claims, enabled) = self.cable_claims();
        let partners = join_cables(&mut self.builder, &claims, &mut self.notes, self.file)?;
        for (at, claim) in claims.iter().enumerate() {
            // Width and speed depend on both ends.
            let other = partners[at].and_then(|partner| enabled[partner as usize]);
            let (Some(own), Some(other)) = (enabled[at], other) else { continue };
            let (width, speed) = own.common_rate(other);
            let facts = self.builder.port(claim.near.0, claim.near.1);
            (facts.width, facts.speed) = (width, speed);
            if width.is_none() || speed.is_none() {
                self.notes.add("FN-223", NotePlace::line(self.file, claim.line), || {
                    "the ends have no width or no speed in common: ibsim would stop here".to_owned()
                });
            }
        }
        let fabric = self.builder.finish();
        note_duplicates(&mut self.notes, self.file, &fabric);
        Ok(TopologyFile { fabric, notes: self.notes, ..TopologyFile::default() })
    }

    /// The cables with known other ends, and for each the enabled values of its port.
    fn cable_claims(&mut self) -> (Vec<CableClaim>, Vec<Option<EnabledRates>>) {
        let mut claims = Vec::with_capacity(self.cables.len());
        let mut enabled = Vec::with_capacity(self.cables.len());
        let mut aliased = Vec::new();
        for cable in std::mem::take(&mut self.cables) {
            let (name, far) = match &cable.far {
                FarEnd::Port(id, port) => (id, self.ids.get(id).map(|key| ((*key, *port), None))),
                FarEnd::Alias(alias) => {
                    let known = self.aliases.get(alias).copied();
                    (alias, known.map(|(end, enabled)| (end, Some(enabled))))
                }
            };
            let Some((far, far_enabled)) = far else {
                self.notes.add_partial("FN-224", NotePlace::line(self.file, cable.line), || {
                    format!(
                        "\"{}\" has no record, and ibsim would stop here: the cable is left out",
                        excerpt(name)
                    )
                });
                continue;
            };
            let Cable { near, line, far_lid, far_guid, .. } = cable;
            claims.push(CableClaim { near, far, line, far_lid, far_guid });
            enabled.push(cable.enabled);
            if let Some(far_enabled) = far_enabled {
                // A port with an alias does not name its cable itself: this line counts for both ends.
                let back = CableClaim { near: far, far: near, line, far_lid: None, far_guid: None };
                aliased.push((back, Some(far_enabled)));
            }
        }
        for (claim, of_alias) in aliased {
            claims.push(claim);
            enabled.push(of_alias);
        }
        (claims, enabled)
    }
}

fn check_port(port: PortNum, port_count: u8) -> Result<(), LineFault> {
    if port.value() <= port_count {
        return Ok(());
    }
    let what = format!("port {port} of a node with {port_count} ports");
    Err(LineFault::new("FD-2104", what, "the number of ports in the record or this port is wrong"))
}
