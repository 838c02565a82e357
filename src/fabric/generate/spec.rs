//! A fabric's name as text: `NAME,key=value,...`.

use std::fmt;
use std::str::FromStr;

use super::catalogue::{FabricTemplate, find_template};
use super::error::GenerateError;
use super::irregular::parameters::draw_aggregation;
use super::shape::Shape;
use super::spec_values::{FaultAmount, SpecValues, ValuesOrDefaults};
use crate::{Lid, LinkSpeed, LinkWidth, Lmc};

/// A fabric by name with its keys, parsed from text such as `kary,k=4,n=3`. Parsing checks each value;
/// [`generate`](super::generate) checks that the whole fits one subnet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FabricSpec {
    pub(crate) entry: &'static FabricTemplate,
    pub(crate) shape: Shape,
    pub(crate) options: CommonOptions,
}

/// What every fabric can be asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommonOptions {
    pub hosts: HostsOption,
    pub redundancy: Option<u32>,
    pub aggregation: Option<bool>,
    pub faults: FaultAmount,
    pub switch_faults: FaultAmount,
    pub disconnect: bool,
    pub seed: Option<u64>,
    pub speed: Option<LinkSpeed>,
    pub width: Option<LinkWidth>,
    /// LIDs are given anew, with this LMC for ports of hosts.
    pub lmc: Option<Lmc>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostsOption {
    #[default]
    ByFabric,
    PerSwitch(u32),
    InAll(u32),
}

impl FromStr for FabricSpec {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let mut parts = text.trim().split(',').map(str::trim);
        let entry = find_template(parts.next().unwrap_or(""))?;
        let values = SpecValues::read(entry, parts)?;
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
    let width = match values.text("width") {
        None => None,
        Some(text) => Some(LinkWidth::from_word(text).ok_or_else(|| {
            let words: Vec<&str> = LinkWidth::ALL.iter().map(|width| width.word()).collect();
            values.bad_value("width", text, format!("one of {}", words.join(" ")))
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
        width,
        lmc: values.number("lmc", 0, Lmc::MAX.into())?.and_then(Lmc::new),
    })
}

impl FabricSpec {
    /// The catalogue entry of the family.
    pub fn entry(&self) -> &'static FabricTemplate {
        self.entry
    }

    pub(crate) fn seed(&self) -> u64 {
        self.options.seed.unwrap_or(1)
    }

    /// Definition 3.3: unless said otherwise every link stands once.
    pub fn redundancy(&self) -> u32 {
        self.options.redundancy.or_else(|| self.shape.paper_row().map(|row| row.redundancy)).unwrap_or(1)
    }

    pub(crate) fn aggregation(&self) -> bool {
        self.options.aggregation.unwrap_or_else(|| match self.shape {
            Shape::Demo => true,
            Shape::Irregular { family, .. } => draw_aggregation(family, self.seed()),
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
        if let Some(width) = options.width {
            write!(f, ",width={width}")?;
        }
        if let Some(lmc) = options.lmc {
            write!(f, ",lmc={lmc}")?;
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
                "mesh,lmc=2,width=1x,seed=7,speed=hdr,faults=0.500%,dims=3x3,hosts=5,aggregation=true,disconnect=1",
                "mesh,dims=3x3,hosts=5,aggregation=yes,faults=0.5%,disconnect=yes,seed=7,speed=HDR,width=1x,lmc=2",
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
            ("kary,width=3x", "FD-3005", "1x 2x 4x"),
            ("kary,lmc=8", "FD-3005", "0 to 7"),
            ("kary,seed=x", "FD-3005", "18446744073709551615"),
            ("kary,terminals=2,hosts=3", "FD-3006", "exclude each other"),
        ] {
            let error = text.parse::<FabricSpec>().unwrap_err();
            assert_eq!(error.code(), code, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }
}
