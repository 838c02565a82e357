//! The output of `mlxlink --json` (mstlink): FEC, bit error rates and module of one port. It does not state which port it
//! is, so the name of the file has to.

use fabdeck_fabric::observe::{
    BitErrorCounts, BitErrorRate, DeviceAnswer, FecMode, NotePlace, Notes, PortWire,
};
use serde_json::{Map, Value};

use super::FileError;
use super::content::{WireFile, WireOwner, WirePort};
use super::counters_text::is_absent;
use super::module_text::{ModuleText, leading_number};
use super::opensm::printable_excerpt;
use super::text::Input;

pub const ID: &str = "mlxlink";

const MODULE: &str = "Module Info";
const OPERATION: &str = "Operational Info";
const COUNTERS: &str = "Physical Counters and BER Info";

pub fn looks_like(head: &str) -> bool {
    let named = [MODULE, OPERATION, COUNTERS].iter().any(|name| head.contains(&format!("\"{name}\"")));
    head.trim_start().starts_with('{') && head.contains("\"result\"") && named
}

pub fn read(input: Input<'_>) -> Result<WireFile, Box<FileError>> {
    let bytes = input.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(input.bytes);
    let answer: Value = serde_json::from_slice(bytes).map_err(|error| {
        let place = input.line_place(error.line() as u64);
        let hint = "check that the file is whole: mlxlink --json prints one object";
        FileError::new("FD-2413", place, "damaged JSON", hint)
    })?;
    if let Some(code) = answer["status"]["code"].as_i64().filter(|code| *code != 0) {
        let message = printable_excerpt(answer["status"]["message"].as_str().unwrap_or_default());
        let what = format!("mlxlink reports error {code}: '{message}'");
        let hint = "run mlxlink again where the device can be reached";
        return Err(FileError::new("FD-2414", input.line_place(1), what, hint));
    }
    let part = |name: &str| answer["result"]["output"][name].as_object();
    let mut notes = Notes::new();
    let place = NotePlace::file(input.name);
    let mut wire = PortWire::default();
    if let Some(held) = part(OPERATION) {
        wire.fec = read_fec(held, &place, &mut notes).map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known);
    }
    if let Some(held) = part(COUNTERS) {
        wire.bit_errors = read_bit_errors(held).map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known);
    }
    if let Some(held) = part(MODULE) {
        let mut module = ModuleText::default();
        held.iter().for_each(|(name, value)| add_module_value(&mut module, name, value));
        wire.module = module.finish().map_or(DeviceAnswer::NotAsked, DeviceAnswer::Known);
    }
    let ports = vec![WirePort { owner: WireOwner::FileName, port: None, wire, place }];
    Ok(WireFile { ports, notes, ..WireFile::default() })
}

/// A value as text: strings and numbers as they are, lists (`{"values": [...]}`) with commas.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(","),
        Value::Object(held) => held.get("values").map(text_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

fn read_fec(held: &Map<String, Value>, place: &NotePlace, notes: &mut Notes) -> Option<FecMode> {
    let word = text_of(held.get("FEC")?).to_ascii_lowercase();
    if is_absent(&word) {
        return None;
    }
    let has = |part: &str| word.contains(part);
    let mode = match () {
        () if has("no fec") => Some(FecMode::Off),
        () if has("firecode") => Some(FecMode::Firecode),
        () if has("plr") && has("271") => Some(FecMode::LowLatency271Plr),
        () if has("plr") && has("544") => Some(FecMode::Rs544Plr),
        () if has("544") => Some(FecMode::Rs544),
        () if has("528") => Some(FecMode::Rs),
        () if has("271") || has("272") => Some(FecMode::LowLatencyRs),
        () => None,
    };
    if mode.is_none() {
        notes.add("FN-433", place.clone(), || {
            "the FEC mode of this port is no known word: read as unknown".to_owned()
        });
    }
    mode
}

fn read_bit_errors(held: &Map<String, Value>) -> Option<BitErrorCounts> {
    let text = |name: &str| held.get(name).map(text_of).unwrap_or_default();
    let rate = |name: &str| text(name).parse().ok().and_then(BitErrorRate::from_number);
    let count = |name: &str| text(name).parse::<u64>().unwrap_or(0);
    let minutes = leading_number(&text("Time Since Last Clear [Min]")).filter(|minutes| *minutes > 0.0);
    let lanes = text("Raw Physical Errors Per Lane");
    let lanes = lanes.split(',').map(|lane| lane.trim().parse().ok()).collect::<Option<Vec<u64>>>();
    let counts = BitErrorCounts {
        since_ms: minutes.map_or(0, |minutes| (minutes * 60_000.0) as u64),
        lane_errors: lanes.filter(|lanes| lanes.len() <= 16).unwrap_or_default(),
        effective_errors: count("Effective Physical Errors"),
        symbol_errors: count("Symbol Errors"),
        raw: rate("Raw Physical BER"),
        effective: rate("Effective Physical BER"),
        symbol: rate("Symbol BER"),
        ..BitErrorCounts::default()
    };
    [counts.raw, counts.effective, counts.symbol].iter().any(Option::is_some).then_some(counts)
}

/// Adds a value such as `"Rx Power Current [dBm]": "0,2,-9,0 [-8..6]"`: a value by lane, and the module's own limits.
fn add_module_value(module: &mut ModuleText, name: &str, value: &Value) {
    let text = text_of(value);
    if is_absent(&text) {
        return;
    }
    let (values, limits) = split_limits(&text);
    let lanes: Vec<Option<f64>> = values.split(',').map(leading_number).collect();
    match name {
        "Vendor Name" => module.set_vendor(&text),
        "Vendor Part Number" => module.set_part(&text),
        "Vendor Serial Number" => module.set_serial(&text),
        "Rev" | "Revision" => module.set_revision(&text),
        "Cable Type" | "Cable Technology" => module.set_type(&text),
        "Length [m]" | "Cable Length [m]" | "Cable Length" | "SMF Length" => module.set_length(&text),
        "Wavelength [nm]" => module.set_wavelength(leading_number(&text)),
        "Temperature [C]" => {
            module.set_celsius(leading_number(values));
            module.set_temperature_limits(limits);
        }
        "Voltage [mV]" => {
            module.set_volts(leading_number(values).map(|mv| mv / 1000.0));
            module.set_voltage_limits(limits.map(|(low, high)| (low / 1000.0, high / 1000.0)));
        }
        "Bias Current [mA]" => module.set_bias(&lanes),
        "Rx Power Current [dBm]" => module.set_rx_dbm(&lanes, limits),
        "Tx Power Current [dBm]" => module.set_tx_dbm(&lanes, limits),
        "Module FW Fault" | "DataPath FW Fault" if leading_number(&text).is_some_and(|fault| fault > 0.0) => {
            module.set_faulty();
        }
        _ => {}
    }
}

/// Splits `48 [-5..75]` into the value and its limits.
fn split_limits(text: &str) -> (&str, Option<(f64, f64)>) {
    let Some((values, limits)) = text.split_once('[') else { return (text, None) };
    let limits = limits.trim_end_matches(']').split_once("..");
    let limits = limits.and_then(|(low, high)| Some((leading_number(low)?, leading_number(high)?)));
    (values.trim(), limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::observe::AlarmLimits;

    const ANSWER: &str = r#"{"result": {"output": {
        "Operational Info": {"State": "Active", "Speed": "IB-NDR", "Width": "4x", "FEC": "Interleaved_RS-FEC_PLR - (544,514)"},
        "Module Info": {"Vendor Name": "ACME", "Vendor Part Number": "P-1   ", "Vendor Serial Number": "S1",
            "Cable Type": "Optical Module (separated)", "Temperature [C]": "48 [-5..75]", "Voltage [mV]": "3273.6 [2970..3630]",
            "Rx Power Current [dBm]": "0,3,-9,0 [-8..6]", "Bias Current [mA]": "7.2,7.3,7.2,7.2 [1.5..11]",
            "Wavelength [nm]": "1311", "SMF Length": "500m"},
        "Physical Counters and BER Info": {"Time Since Last Clear [Min]": "2.5", "Symbol Errors": "3",
            "Effective Physical Errors": "4", "Raw Physical Errors Per Lane": {"values": ["1", "2", "3", "4"]},
            "Effective Physical BER": "15E-255", "Raw Physical BER": "2E-9", "Symbol BER": "1E-16"}
    }}, "status": {"code": 0, "message": "success"}}"#;

    #[test]
    fn one_port_with_its_module_and_rates() {
        assert!(looks_like(ANSWER));
        let file = read(Input::new("f", ANSWER.as_bytes())).unwrap();
        let wire = &file.ports[0].wire;
        assert_eq!(wire.fec, DeviceAnswer::Known(FecMode::Rs544Plr));
        let bits = wire.bit_errors.known().unwrap();
        assert_eq!(
            (bits.since_ms, bits.lane_errors.as_slice(), bits.symbol_errors),
            (150_000, [1, 2, 3, 4].as_slice(), 3)
        );
        let texts = [bits.raw, bits.effective, bits.symbol].map(|rate| rate.unwrap().to_string());
        assert_eq!(texts, ["2e-9", "none seen", "1e-16"]);
        let module = wire.module.known().unwrap();
        assert_eq!((module.celsius(), module.volts()), (Some(48.0), Some(3.2736)));
        assert_eq!(module.rx_power, [1000, 1995, 126, 1000]);
        assert_eq!(module.rx_limits, Some(AlarmLimits { high: 3981, low: 158 }));
        assert_eq!((module.length_dm, module.wavelength_nm, module.bias[0]), (Some(5000), Some(1311), 3600));
        assert_eq!(module.part.as_deref(), Some("P-1"));
    }

    #[test]
    fn an_error_of_the_tool_is_an_error() {
        let failed = ANSWER.replace("\"code\": 0", "\"code\": 1");
        assert_eq!(read(Input::new("f", failed.as_bytes())).unwrap_err().code, "FD-2414");
        assert_eq!(read(Input::new("f", &ANSWER.as_bytes()[..300])).unwrap_err().code, "FD-2413");
        let bare =
            r#"{"result": {"output": {"Module Info": {"Vendor Name": "N/A"}}}, "status": {"code": 0}}"#;
        assert_eq!(read(Input::new("f", bare.as_bytes())).unwrap().ports[0].wire, PortWire::default());
    }
}
