//! A fabric's name as text: `NAME,key=value,...`.

use std::fmt;
use std::str::FromStr;

use super::catalogue::{FabricTemplate, find_template};
use super::error::GenerateError;
use super::irregular;
use super::shape::Shape;
use crate::shorten;
use crate::{Lid, LinkSpeed};

/// A fabric by name with its keys, parsed from text such as `kary,k=4,n=3`. Parsing checks each value;
/// [`generate`](super::generate) checks that the whole fits one subnet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FabricSpec {
    pub(super) entry: &'static FabricTemplate,
    pub(super) shape: Shape,
    pub(super) options: CommonOptions,
}

/// What every fabric can be asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CommonOptions {
    pub hosts: HostsOption,
    pub redundancy: Option<u32>,
    pub aggregation: Option<bool>,
    pub faults: FaultAmount,
    pub switch_faults: FaultAmount,
    pub disconnect: bool,
    pub seed: Option<u64>,
    pub speed: Option<LinkSpeed>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum HostsOption {
    #[default]
    ByFabric,
    PerSwitch(u32),
    InAll(u32),
}

/// How many of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FaultAmount {
    Count(u32),
    /// Thousandths of a percent, whole numbers so that every platform rounds alike.
    Share(u32),
}

impl Default for FaultAmount {
    fn default() -> Self {
        Self::Count(0)
    }
}

impl FaultAmount {
    const WHOLE: u64 = 100_000;

    /// The number that is meant out of `total`, rounded; a share above nothing means one at least.
    pub fn resolve(self, total: usize) -> usize {
        match self {
            Self::Count(count) => count as usize,
            Self::Share(0) => 0,
            Self::Share(share) => {
                let rounded = (total as u64 * u64::from(share) + Self::WHOLE / 2) / Self::WHOLE;
                (rounded as usize).max(1).min(total)
            }
        }
    }

    fn read(text: &str) -> Option<Self> {
        let Some(percent) = text.strip_suffix('%') else { return text.parse().ok().map(Self::Count) };
        let (whole, part) = percent.split_once('.').unwrap_or((percent, ""));
        if part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let thousandths: u32 = format!("{part:0<3}").parse().ok()?;
        let share = whole.parse::<u32>().ok().filter(|w| *w <= 100)? * 1000 + thousandths;
        (u64::from(share) <= Self::WHOLE).then_some(Self::Share(share))
    }
}

impl fmt::Display for FaultAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Share(share) if share % 1000 == 0 => write!(f, "{}%", share / 1000),
            Self::Share(share) => {
                let part = format!("{:03}", share % 1000);
                write!(f, "{}.{}%", share / 1000, part.trim_end_matches('0'))
            }
        }
    }
}

/// The values as they were given, each key at most once.
pub(super) struct SpecValues {
    pub fabric: &'static str,
    given: Vec<(&'static str, String)>,
}

impl SpecValues {
    pub fn text(&self, key: &'static str) -> Option<&str> {
        self.given.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str())
    }

    pub fn bad_value(&self, key: &'static str, value: &str, allowed: impl Into<String>) -> GenerateError {
        GenerateError::BadValue { fabric: self.fabric, key, value: shorten(value), allowed: allowed.into() }
    }

    fn number(&self, key: &'static str, low: u32, high: u32) -> Result<Option<u32>, GenerateError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let value = text.parse().ok().filter(|value| (low..=high).contains(value));
        value
            .map(Some)
            .ok_or_else(|| self.bad_value(key, text, format!("a whole number from {low} to {high}")))
    }

    fn boolean(&self, key: &'static str) -> Result<Option<bool>, GenerateError> {
        match self.text(key) {
            None => Ok(None),
            Some("yes" | "true" | "1") => Ok(Some(true)),
            Some("no" | "false" | "0") => Ok(Some(false)),
            Some(text) => Err(self.bad_value(key, text, "yes or no")),
        }
    }

    fn amount(&self, key: &'static str) -> Result<FaultAmount, GenerateError> {
        let Some(text) = self.text(key) else { return Ok(FaultAmount::default()) };
        FaultAmount::read(text)
            .ok_or_else(|| self.bad_value(key, text, "a count as 5, or a share from 0% to 100% as 1%"))
    }
}

/// A value of the fabric's own, or what the catalogue says stands for it.
pub(super) struct ValuesOrDefaults<'a> {
    pub values: &'a SpecValues,
    pub entry: &'static FabricTemplate,
}

impl ValuesOrDefaults<'_> {
    pub fn text(&self, key: &'static str) -> &str {
        let default =
            || self.entry.keys.iter().find(|known| known.name == key).map_or("", |known| known.default);
        self.values.text(key).unwrap_or_else(default)
    }

    pub fn number(&self, key: &'static str, low: u32, high: u32) -> Result<u32, GenerateError> {
        let text = self.text(key);
        let value = text.parse().ok().filter(|value| (low..=high).contains(value));
        value.ok_or_else(|| self.values.bad_value(key, text, format!("a whole number from {low} to {high}")))
    }

    /// Sizes joined by `x`.
    pub fn list(&self, key: &'static str, low: u32, most: usize) -> Result<Vec<u32>, GenerateError> {
        const HIGH: u32 = Lid::MAX as u32;
        let text = self.text(key);
        let item = |part: &str| part.parse().ok().filter(|value| (low..=HIGH).contains(value));
        let list: Option<Vec<u32>> = text.split('x').take(most + 1).map(item).collect();
        list.filter(|list| list.len() <= most).ok_or_else(|| {
            let allowed = format!("1 to {most} whole numbers from {low} to {HIGH} joined by x, as 4x4x3");
            self.values.bad_value(key, text, allowed)
        })
    }
}

impl FromStr for FabricSpec {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let mut parts = text.trim().split(',').map(str::trim);
        let entry = find_template(parts.next().unwrap_or(""))?;
        let mut values = SpecValues { fabric: entry.name, given: Vec::new() };
        for part in parts {
            let not_a_pair = || GenerateError::NotAPair { fabric: entry.name, text: shorten(part) };
            let (key, value) = part.split_once('=').ok_or_else(not_a_pair)?;
            let key = entry.find_key(key.trim())?.name;
            if values.text(key).is_some() {
                return Err(GenerateError::RepeatedKey { key });
            }
            values.given.push((key, value.trim().to_owned()));
        }
        let shape = Shape::read(&ValuesOrDefaults { values: &values, entry })?;
        Ok(Self { entry, shape, options: read_options(&values)? })
    }
}

fn read_options(values: &SpecValues) -> Result<CommonOptions, GenerateError> {
    let hosts = match (values.number("terminals", 0, 254)?, values.number("hosts", 0, u32::from(Lid::MAX))?) {
        (Some(_), Some(_)) => {
            let why = "one is the number of hosts of a switch, the other that of the fabric";
            return Err(GenerateError::Conflict { a: "terminals", b: "hosts", why });
        }
        (Some(each), None) => HostsOption::PerSwitch(each),
        (None, Some(all)) => HostsOption::InAll(all),
        (None, None) => HostsOption::ByFabric,
    };
    let speed = match values.text("speed") {
        None => None,
        Some(text) => Some(LinkSpeed::from_word(text).ok_or_else(|| {
            let words: Vec<&str> = LinkSpeed::ALL.iter().map(|speed| speed.word()).collect();
            values.bad_value("speed", text, format!("one of {}", words.join(" ")))
        })?),
    };
    let seed = match values.text("seed") {
        None => None,
        Some(text) => {
            let wrong = |_| values.bad_value("seed", text, format!("a whole number from 0 to {}", u64::MAX));
            Some(text.parse().map_err(wrong)?)
        }
    };
    Ok(CommonOptions {
        hosts,
        redundancy: values.number("redundancy", 1, 127)?,
        aggregation: values.boolean("aggregation")?,
        faults: values.amount("faults")?,
        switch_faults: values.amount("switch-faults")?,
        disconnect: values.boolean("disconnect")?.unwrap_or(false),
        seed,
        speed,
    })
}

impl FabricSpec {
    /// The catalogue entry of the family.
    pub fn entry(&self) -> &'static FabricTemplate {
        self.entry
    }

    pub(super) fn seed(&self) -> u64 {
        self.options.seed.unwrap_or(1)
    }

    /// Definition 3.3: unless said otherwise every link stands once.
    pub(super) fn redundancy(&self) -> u32 {
        self.options.redundancy.or_else(|| self.shape.paper_row().map(|row| row.redundancy)).unwrap_or(1)
    }

    pub(super) fn aggregation(&self) -> bool {
        self.options.aggregation.unwrap_or_else(|| match self.shape {
            Shape::Demo => true,
            Shape::Irregular { family, .. } => irregular::draw_aggregation(family, self.seed()),
            _ => false,
        })
    }
}

/// The canonical text: the fabric's own values all, of the common ones those that were given.
impl fmt::Display for FabricSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        for (key, value) in self.shape.values() {
            write!(f, ",{key}={value}")?;
        }
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let options = &self.options;
        match options.hosts {
            HostsOption::ByFabric => {}
            HostsOption::PerSwitch(each) => write!(f, ",terminals={each}")?,
            HostsOption::InAll(all) => write!(f, ",hosts={all}")?,
        }
        if let Some(redundancy) = options.redundancy {
            write!(f, ",redundancy={redundancy}")?;
        }
        if let Some(aggregation) = options.aggregation {
            write!(f, ",aggregation={}", yes(aggregation))?;
        }
        for (key, amount) in [("faults", options.faults), ("switch-faults", options.switch_faults)] {
            if amount != FaultAmount::default() {
                write!(f, ",{key}={amount}")?;
            }
        }
        if options.disconnect {
            f.write_str(",disconnect=yes")?;
        }
        if let Some(seed) = options.seed {
            write!(f, ",seed={seed}")?;
        }
        if let Some(speed) = options.speed {
            write!(f, ",speed={speed}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        text.parse::<FabricSpec>().unwrap().to_string()
    }

    #[test]
    fn the_canonical_text_states_the_fabric_and_what_was_asked() {
        for (given, canonical_text) in [
            ("demo", "demo"),
            (" Kary , n=2 , k=4 ", "kary,k=4,n=2"),
            ("torus", "torus,dims=6x5x5"),
            ("cascade", "cascade,groups=2,global=192"),
            (
                "mesh,seed=7,speed=hdr,faults=0.500%,dims=3x3,hosts=5,aggregation=true,disconnect=1",
                "mesh,dims=3x3,hosts=5,aggregation=yes,faults=0.5%,disconnect=yes,seed=7,speed=HDR",
            ),
        ] {
            assert_eq!(canonical(given), canonical_text);
            assert_eq!(canonical(canonical_text), canonical_text);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        for (text, code, said) in [
            ("", "FD-3001", "known names: demo, kary"),
            ("karry", "FD-3001", "did you mean kary?"),
            ("kary,k", "FD-3002", "kary,KEY=VALUE"),
            ("kary,k=4,", "FD-3002", "'' is not key=value"),
            ("kary,terminal=4", "FD-3003", "did you mean terminals?"),
            ("torus,k=4", "FD-3003", "its keys: dims, terminals"),
            ("kary,k=4,K=5", "FD-3004", "'k' is given twice"),
            ("kary,k=0", "FD-3005", "k=0 is not possible for kary: a whole number from 1 to"),
            ("kary,k=-1", "FD-3005", "k=-1"),
            ("kary,k=99999999999999999999", "FD-3005", "k=99999999999999999999"),
            ("torus,dims=4x", "FD-3005", "joined by x"),
            ("torus,dims=4x1", "FD-3005", "from 2 to"),
            ("mport,m=6", "FD-3005", "power of two"),
            ("xgft,m=4x4,w=2x4", "FD-3005", "first"),
            ("xgft,m=4x4,w=1", "FD-3005", "as many"),
            ("dragonfly,a=2,h=1,g=4", "FD-3005", "from 1 to 3"),
            ("cascade,groups=4,global=321", "FD-3005", "from 1 to 320"),
            ("random,switches=10,links=9", "FD-3005", "from 10 to"),
            ("kary,faults=101%", "FD-3005", "from 0% to 100%"),
            ("kary,faults=1.2345%", "FD-3005", "from 0% to 100%"),
            ("kary,faults=-1", "FD-3005", "faults=-1"),
            ("kary,aggregation=maybe", "FD-3005", "yes or no"),
            ("kary,speed=QQR", "FD-3005", "SDR DDR"),
            ("kary,seed=x", "FD-3005", "18446744073709551615"),
            ("kary,terminals=2,hosts=3", "FD-3006", "exclude each other"),
        ] {
            let error = text.parse::<FabricSpec>().unwrap_err();
            assert_eq!(error.code(), code, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_share_is_rounded_and_never_nothing() {
        let of = |text, total| FaultAmount::read(text).unwrap().resolve(total);
        assert_eq!(of("1%", 87_808), 878);
        assert_eq!(of("1%", 20), 1);
        assert_eq!(of("0.25%", 1000), 3);
        assert_eq!(of("0%", 1000), 0);
        assert_eq!(of("100%", 7), 7);
        assert_eq!(of("3%", 0), 0);
        assert_eq!(of("5", 3), 5);
    }
}
