//! The module of a port, as ibdiagnet and mlxlink describe it by names and values.

use fabdeck_fabric::observe::{AlarmLimits, CableKind, ModuleReading};

/// Most characters of a text that a module states about itself. Its memory has 16 for each.
const MAX_TEXT: usize = 40;

/// Most lanes of a module.
const MAX_LANES: usize = 8;

/// Lanes of the narrowest module with monitors of light. Fewer known lanes than these leave the light unknown.
const FULL_LANES: usize = 4;

/// Temperatures that a module can have, in °C.
const CELSIUS: std::ops::RangeInclusive<f64> = -60.0..=120.0;

/// Collects the values of a module by name; names of unknown values are left out.
#[derive(Default)]
pub(super) struct ModuleText {
    read: ModuleReading,
    /// Light and current by lane; `None` where a lane has no value.
    rx: Vec<Option<f64>>,
    tx: Vec<Option<f64>>,
    bias: Vec<Option<f64>>,
    temperature_limits: Limits,
    voltage_limits: Limits,
    rx_limits: Limits,
    tx_limits: Limits,
}

/// The high and low limit of a quantity.
type Limits = [Option<f64>; 2];

impl ModuleText {
    /// Adds a value of ibdiagnet: a line of `.cables`, or a column of CABLE_INFO. Blanks and case of the name do not
    /// count. Whether the name is known.
    pub(super) fn add(&mut self, name: &str, value: &str) -> bool {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = name.to_ascii_lowercase();
        if let Some(lane) = lane_of(&name, "rx", "power") {
            set_lane(&mut self.rx, lane, milliwatt(value));
        } else if let Some(lane) = lane_of(&name, "tx", "power") {
            set_lane(&mut self.tx, lane, milliwatt(value));
        } else if let Some(lane) = lane_of(&name, "tx", "bias") {
            set_lane(&mut self.bias, lane, leading_number(value).filter(|ma| *ma >= 0.0));
        } else {
            return self.add_plain(&name, value);
        }
        true
    }

    fn add_plain(&mut self, name: &str, value: &str) -> bool {
        let text = || plain_text(value);
        let number = leading_number(value);
        match name {
            "vendor" => set(&mut self.read.vendor, text()),
            "pn" => set(&mut self.read.part, text()),
            "sn" => set(&mut self.read.serial, text()),
            "rev" => set(&mut self.read.revision, text()),
            "type" | "typedesc" => self.set_type(value),
            "length" | "lengthdesc" | "lengthcopperoractive" => self.set_length(value),
            "temperature" => self.set_celsius(number),
            "supplyvoltagereporting" => self.set_volts(number.map(|microvolt| microvolt / 1e6)),
            "alarmtemperaturehighthresh" => self.temperature_limits[0] = number,
            "alarmtemperaturelowthresh" => self.temperature_limits[1] = number,
            "alarmvoltagehighthresh" => self.voltage_limits[0] = number.map(|microvolt| microvolt / 1e6),
            "alarmvoltagelowthresh" => self.voltage_limits[1] = number.map(|microvolt| microvolt / 1e6),
            "rxpowerhighthresh" => self.rx_limits[0] = number.and_then(signed_dbm),
            "rxpowerlowthresh" => self.rx_limits[1] = number.and_then(signed_dbm),
            "txpowerhighthresh" => self.tx_limits[0] = number.and_then(signed_dbm),
            "txpowerlowthresh" => self.tx_limits[1] = number.and_then(signed_dbm),
            _ => return false,
        }
        true
    }

    pub(super) fn set_vendor(&mut self, value: &str) {
        set(&mut self.read.vendor, plain_text(value));
    }

    pub(super) fn set_part(&mut self, value: &str) {
        set(&mut self.read.part, plain_text(value));
    }

    pub(super) fn set_serial(&mut self, value: &str) {
        set(&mut self.read.serial, plain_text(value));
    }

    pub(super) fn set_revision(&mut self, value: &str) {
        set(&mut self.read.revision, plain_text(value));
    }

    /// The kind of the cable, and the wavelength: `850 nm VCSEL`, `Copper cable- unequalized`.
    pub(super) fn set_type(&mut self, value: &str) {
        let plain = value.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| plain.contains(word));
        let kind = match () {
            () if has(&["unplugged", "no module"]) => Some(CableKind::Unplugged),
            () if has(&["optic", "vcsel", "laser", " nm", "dfb", "eml"]) => Some(CableKind::Optical),
            () if has(&["active", "retimed"]) => Some(CableKind::Active),
            () if has(&["copper", "passive"]) => Some(CableKind::Copper),
            () => None,
        };
        set(&mut self.read.kind, kind);
        if plain.contains("nm") {
            self.set_wavelength(leading_number(value));
        }
    }

    pub(super) fn set_wavelength(&mut self, nm: Option<f64>) {
        let whole = nm.filter(|nm| (1.0..=f64::from(u16::MAX)).contains(nm)).map(|nm| nm as u16);
        set(&mut self.read.wavelength_nm, whole);
    }

    /// A length in metres: `3 m`, `3m`, `0.5`.
    pub(super) fn set_length(&mut self, value: &str) {
        let unit = value.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
        let metres = leading_number(value).filter(|metres| *metres > 0.0 && *metres < 100_000.0);
        let metres = metres.filter(|_| unit.is_empty() || unit.eq_ignore_ascii_case("m"));
        set(&mut self.read.length_dm, metres.map(|metres| (metres * 10.0).round() as u32));
    }

    pub(super) fn set_celsius(&mut self, celsius: Option<f64>) {
        let celsius = celsius.filter(|celsius| CELSIUS.contains(celsius));
        set(&mut self.read.temperature, celsius.map(|celsius| (celsius * 256.0) as i16));
    }

    pub(super) fn set_volts(&mut self, volts: Option<f64>) {
        set(&mut self.read.voltage, volts.and_then(tenth_millivolt).filter(|voltage| *voltage > 0));
    }

    pub(super) fn set_temperature_limits(&mut self, limits: Option<(f64, f64)>) {
        set_limits(&mut self.temperature_limits, limits);
    }

    /// Limits in V.
    pub(super) fn set_voltage_limits(&mut self, limits: Option<(f64, f64)>) {
        set_limits(&mut self.voltage_limits, limits);
    }

    /// Received power in dBm by lane, with its limits.
    pub(super) fn set_rx_dbm(&mut self, lanes: &[Option<f64>], limits: Option<(f64, f64)>) {
        self.rx = lanes.iter().map(|lane| lane.map(dbm_to_milliwatt)).take(MAX_LANES).collect();
        set_limits(
            &mut self.rx_limits,
            limits.map(|(low, high)| (dbm_to_milliwatt(low), dbm_to_milliwatt(high))),
        );
    }

    /// Sent power in dBm by lane, with its limits.
    pub(super) fn set_tx_dbm(&mut self, lanes: &[Option<f64>], limits: Option<(f64, f64)>) {
        self.tx = lanes.iter().map(|lane| lane.map(dbm_to_milliwatt)).take(MAX_LANES).collect();
        set_limits(
            &mut self.tx_limits,
            limits.map(|(low, high)| (dbm_to_milliwatt(low), dbm_to_milliwatt(high))),
        );
    }

    /// Laser current in mA by lane.
    pub(super) fn set_bias(&mut self, lanes: &[Option<f64>]) {
        self.bias = lanes.iter().copied().take(MAX_LANES).collect();
    }

    pub(super) fn set_faulty(&mut self) {
        self.read.faulty = true;
    }

    /// The module; `None` where nothing is known of it.
    pub(super) fn finish(mut self) -> Option<ModuleReading> {
        // A cable without monitors states 0 for all that it does not measure.
        if self.read.temperature == Some(0) && self.read.voltage.is_none() {
            self.read.temperature = None;
            self.bias.clear();
        }
        let microwatt = |milliwatt: f64| (milliwatt * 1000.0).round().clamp(0.0, f64::from(u16::MAX)) as u16;
        let celsius = |celsius: f64| (celsius.clamp(-128.0, 127.0) * 256.0) as i16;
        let light = |lanes| whole_lanes(lanes).into_iter().map(microwatt).collect();
        let read = ModuleReading {
            rx_power: light(self.rx),
            tx_power: light(self.tx),
            bias: whole_lanes(self.bias).into_iter().map(|ma| (ma * 500.0).round() as u32).collect(),
            temperature_limits: limits(self.temperature_limits, |value| Some(celsius(value))),
            voltage_limits: limits(self.voltage_limits, tenth_millivolt),
            rx_limits: limits(self.rx_limits, |value| Some(microwatt(value))),
            tx_limits: limits(self.tx_limits, |value| Some(microwatt(value))),
            ..self.read
        };
        (read != ModuleReading::default()).then_some(read)
    }
}

/// The first value counts.
fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

fn set_limits(place: &mut Limits, stated: Option<(f64, f64)>) {
    if let Some((low, high)) = stated {
        *place = [Some(high), Some(low)];
    }
}

/// Limits, where both are stated and make sense: a module without limits states 0 for both.
fn limits<T: PartialOrd>(held: Limits, convert: impl Fn(f64) -> Option<T>) -> Option<AlarmLimits<T>> {
    let (high, low) = (convert(held[0]?)?, convert(held[1]?)?);
    (high > low).then_some(AlarmLimits { high, low })
}

/// Volts in 100 uV.
fn tenth_millivolt(volts: f64) -> Option<u16> {
    let value = (volts * 10_000.0).round();
    (0.0..=f64::from(u16::MAX)).contains(&value).then_some(value as u16)
}

pub(super) fn dbm_to_milliwatt(dbm: f64) -> f64 {
    10f64.powf(dbm / 10.0)
}

/// A limit in dBm that stands as an unsigned number of 16 bits: 65530 is -6 dBm.
fn signed_dbm(number: f64) -> Option<f64> {
    let whole = (0.0..=f64::from(u16::MAX)).contains(&number).then_some(number as u16)?;
    Some(f64::from(whole as i16)).filter(|dbm| dbm.abs() < 100.0).map(dbm_to_milliwatt)
}

/// Light in mW: `1.234 mW, 0.913 dBm`. No light is measured where the file has -999.999 mW. `inf mW, 65496.000 dBm` is
/// -40 dBm, read by the tool as an unsigned number: no light.
fn milliwatt(value: &str) -> Option<f64> {
    if let Some(rest) = value.trim().strip_prefix("inf mW,") {
        return leading_number(rest).filter(|dbm| *dbm > f64::from(i16::MAX)).and_then(signed_dbm);
    }
    leading_number(value).filter(|mw| *mw >= 0.0)
}

/// The number of a lane in a name such as `rx3power`, from 0.
fn lane_of(name: &str, begin: &str, end: &str) -> Option<usize> {
    let lane: usize = name.strip_prefix(begin)?.strip_suffix(end)?.parse().ok()?;
    (1..=MAX_LANES).contains(&lane).then(|| lane - 1)
}

fn set_lane(lanes: &mut Vec<Option<f64>>, lane: usize, value: Option<f64>) {
    if lanes.len() <= lane {
        lanes.resize(lane + 1, None);
    }
    lanes[lane] = value;
}

/// The values of all lanes. A missing one is not the same as no light, so a gap leaves all of them unknown, and so do
/// missing ones among the first lanes.
fn whole_lanes(mut lanes: Vec<Option<f64>>) -> Vec<f64> {
    let listed = lanes.len();
    lanes.truncate(lanes.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    let whole = lanes.len() >= FULL_LANES.min(listed);
    let known: Option<Vec<f64>> = lanes.into_iter().collect();
    known.filter(|_| whole).unwrap_or_default()
}

/// The number that a text begins with: `58C`, `3303400uV`, `-5C`.
pub(super) fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || *c == '-' && *at == 0))
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().ok().filter(|number: &f64| number.is_finite())
}

/// A text of a module, without the marks for none.
pub(super) fn plain_text(value: &str) -> Option<String> {
    let plain: String = value.trim().chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
    let plain = plain.trim();
    (!super::counters_text::is_absent(plain)).then(|| plain.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(lines: &[(&str, &str)]) -> Option<ModuleReading> {
        let mut text = ModuleText::default();
        for (name, value) in lines {
            text.add(name, value);
        }
        text.finish()
    }

    #[test]
    fn lines_of_ibdiagnet_are_the_units_of_the_device() {
        let read = module(&[
            ("Vendor", "FS"),
            ("PN", "OSFP-SR8-800G"),
            ("SN", "G243 "),
            ("Rev", "N/A"),
            ("Length", "3 m"),
            ("Type", "850 nm VCSEL"),
            ("Temperature", "58C"),
            ("Supply Voltage Reporting", "3303400uV"),
            ("RX1 Power", "1.234 mW, 0.913 dBm"),
            ("RX2 Power", "0.500 mW, -3.010 dBm"),
            ("RX3 Power", "1.000 mW, 0.000 dBm"),
            ("RX4 Power", "0.000 mW, -40.000 dBm"),
            ("TX1 Bias", "7.242 mA"),
            ("TX2 Bias", "7.304 mA"),
            ("TX3 Bias", "7.326 mA"),
            ("TX4 Bias", "7.304 mA"),
            ("AlarmTemperatureHighThresh", "80C"),
            ("AlarmTemperatureLowThresh", "-5C"),
            ("AlarmVoltageHighThresh", "3630000uV"),
            ("AlarmVoltageLowThresh", "2970000uV"),
            ("RXPowerHighThresh", "4"),
            ("RXPowerLowThresh", "65530"),
        ])
        .unwrap();
        assert_eq!((read.celsius(), read.voltage, read.length_dm), (Some(58.0), Some(33_034), Some(30)));
        assert_eq!((read.kind, read.wavelength_nm), (Some(CableKind::Optical), Some(850)));
        assert_eq!((read.serial.as_deref(), read.revision), (Some("G243"), None));
        assert_eq!(read.rx_power, [1234, 500, 1000, 0]);
        assert_eq!(read.bias, [3621, 3652, 3663, 3652]);
        assert_eq!(read.rx_limits, Some(AlarmLimits { high: 2512, low: 251 }));
        assert_eq!(read.temperature_limits, Some(AlarmLimits { high: 80 * 256, low: -5 * 256 }));
        assert_eq!(read.voltage_limits, Some(AlarmLimits { high: 36_300, low: 29_700 }));
    }

    #[test]
    fn a_lane_without_a_value_is_no_dark_lane() {
        let power = |values: [&str; 4]| {
            let names = ["RX1Power", "RX2Power", "RX3Power", "RX4Power"];
            let lines: Vec<(&str, &str)> = names.into_iter().zip(values).chain([("PN", "x")]).collect();
            module(&lines).unwrap().rx_power
        };
        let none = "-999.999 mW, 0.000 dBm";
        assert_eq!(power([none; 4]), [0; 0]);
        assert_eq!(power(["1.0 mW", none, "1.0 mW", "1.0 mW"]), [0; 0]);
        assert_eq!(power(["1.0 mW", "1.0 mW", none, "N/A"]), [0; 0]);
        assert_eq!(power(["1.0 mW", "1.0 mW", "1.0 mW", "0.0 mW"]), [1000, 1000, 1000, 0]);
        let dark = "inf mW, 65496.000 dBm";
        assert_eq!(power([dark, "1.585 mW, 2.000 dBm", "1.0 mW", dark]), [0, 1585, 1000, 0]);
    }

    #[test]
    fn a_cable_without_monitors_measures_nothing() {
        let values = |temperature, voltage| {
            [
                ("Type", "Copper cable- unequalized"),
                ("Temperature", temperature),
                ("Supply Voltage Reporting", voltage),
            ]
        };
        let read = |temperature, voltage| module(&values(temperature, voltage)).unwrap().celsius();
        assert_eq!((read("0C", "0uV"), read("0C", "3300000uV")), (None, Some(0.0)));
        assert_eq!(read("31C", "0uV"), Some(31.0));
    }

    #[test]
    fn nothing_stated_is_no_module() {
        assert_eq!(module(&[("Vendor", "NA"), ("Temperature", "N/A"), ("RX1 Power", "N/A")]), None);
        for (text, kind) in [
            ("Copper cable- unequalized", Some(CableKind::Copper)),
            ("Copper cable, near and far end limiting active equalizers", Some(CableKind::Active)),
            ("1310 nm DFB", Some(CableKind::Optical)),
            ("N/A", None),
        ] {
            assert_eq!(module(&[("PN", "x"), ("Type", text)]).unwrap().kind, kind, "{text}");
        }
    }
}
