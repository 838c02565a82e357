//! Tables of devices: firmware, temperatures, fans, power supplies.

use std::collections::BTreeMap;

use super::section::{CsvTables, Row, Section, SectionColumns, read_number};
use crate::FileError;
use crate::counters_text::is_absent;
use crate::module_text::plain_text;
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{
    AlarmLimits, BoardSensor, DeviceAnswer, DeviceSensors, FirmwareReading, Notes, PowerSupplyReading,
    SystemReading, TemperatureReading,
};

/// The tables that this module reads.
pub(super) const TABLES: &[&str] = &[
    "NODES_INFO",
    "GENERAL_INFO_SMP",
    "SYSTEM_GENERAL_INFORMATION",
    "TEMP_SENSING",
    "TEMPERATURE_SENSORS",
    "FANS_SPEED",
    "FANS_THRESHOLDS",
    "POWER_SUPPLIES",
];

/// Temperatures that a sensor can state, in °C.
const CELSIUS: std::ops::RangeInclusive<i64> = -60..=200;

type Devices = BTreeMap<Guid, DeviceSensors>;

/// Reads all tables of devices.
pub(super) fn read(tables: &CsvTables<'_>, notes: &mut Notes) -> Result<Devices, Box<FileError>> {
    let mut devices = Devices::new();
    let mut of = |name: &str, reader: Reader| match tables.get_table(name) {
        Some(section) => reader(section, &mut devices, notes),
        None => Ok(()),
    };
    of("NODES_INFO", read_nodes_info)?;
    of("GENERAL_INFO_SMP", read_general_info)?;
    of("SYSTEM_GENERAL_INFORMATION", read_system)?;
    of("TEMP_SENSING", read_chip_temperature)?;
    of("TEMPERATURE_SENSORS", read_board_sensors)?;
    of("FANS_SPEED", read_fans)?;
    of("FANS_THRESHOLDS", read_fan_limits)?;
    of("POWER_SUPPLIES", read_power_supplies)?;
    Ok(devices)
}

type Reader = fn(&Section<'_>, &mut Devices, &mut Notes) -> Result<(), Box<FileError>>;

/// The columns of a version: `31.2012.1024` in three numbers.
fn find_version(columns: &SectionColumns) -> [Option<usize>; 3] {
    ["FWInfo_Extended_Major", "FWInfo_Extended_Minor", "FWInfo_Extended_SubMinor"]
        .map(|name| columns.find(&[name]))
}

fn read_version(row: &Row<'_>, columns: [Option<usize>; 3], notes: &mut Notes) -> Option<String> {
    let [major, minor, sub] = columns.map(|column| read_number(row, column, "firmware version", notes));
    let (major, minor, sub) = (major?, minor?, sub?);
    let plausible =
        [major, minor, sub].iter().all(|part| *part <= 0xFFFF) && (major, minor, sub) != (0, 0, 0);
    plausible.then(|| format!("{major}.{minor}.{sub:04}"))
}

fn read_nodes_info(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| {
        let of = |name: &str| columns.find(&[name]);
        (find_version(columns), of("FWInfo_PSID"), of("HWInfo_UpTime"))
    };
    section.read_nodes(notes, pick, |node, (version, psid, uptime), row, notes| {
        let Some(version) = read_version(row, *version, notes) else { return };
        let uptime =
            read_number(row, *uptime, "uptime", notes).and_then(|seconds| u32::try_from(seconds).ok());
        let reading =
            FirmwareReading { version, psid: plain_text(row.cell(*psid)), uptime_s: uptime.unwrap_or(0) };
        devices.entry(node).or_default().firmware = DeviceAnswer::Known(reading);
    })
}

/// GENERAL_INFO_SMP has the firmware of nodes that NODES_INFO does not have.
fn read_general_info(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    section.read_nodes(notes, find_version, |node, version, row, notes| {
        let Some(version) = read_version(row, *version, notes) else { return };
        let firmware = &mut devices.entry(node).or_default().firmware;
        if firmware.is_not_asked() {
            *firmware = DeviceAnswer::Known(FirmwareReading { version, psid: None, uptime_s: 0 });
        }
    })
}

fn read_system(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| {
        ["SerialNumber", "PartNumber", "ProductName"].map(|name| columns.find(&[name]))
    };
    section.read_nodes(notes, pick, |node, columns, row, _| {
        let [serial, part, product] = columns.map(|column| plain_text(row.cell(column)));
        let reading = SystemReading { serial, part, product };
        if reading != SystemReading::default() {
            devices.entry(node).or_default().system = DeviceAnswer::Known(reading);
        }
    })
}

/// A temperature in 1/8 °C.
fn read_celsius(row: &Row<'_>, column: Option<usize>, what: &str, notes: &mut Notes) -> Option<i16> {
    // Numbers below zero are read as their two's complement.
    let celsius = read_number(row, column, what, notes)? as i64;
    CELSIUS.contains(&celsius).then_some(celsius as i16 * 8)
}

fn read_chip_temperature(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| columns.find(&["CurrentTemperature", "Temperature"]);
    section.read_nodes(notes, pick, |node, column, row, notes| {
        if let Some(now) = read_celsius(row, *column, "temperature", notes) {
            let reading = TemperatureReading { now, ..TemperatureReading::default() };
            devices.entry(node).or_default().temperature = DeviceAnswer::Known(reading);
        }
    })
}

/// The sensor that is named after the ASIC has the limit of the chip.
fn read_board_sensors(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| {
        ["SensorIndex", "SensorName", "Temperature", "MaxTemperature", "HighThreshold"]
            .map(|name| columns.find(&[name]))
    };
    section.read_nodes(notes, pick, |node, [index, name, now, highest, limit], row, notes| {
        let number = read_number(row, *index, "number of the sensor", notes);
        let Some(number) = number.and_then(|number| u16::try_from(number).ok()) else { return };
        let Some(now) = read_celsius(row, *now, "temperature", notes) else { return };
        let reading = TemperatureReading {
            now,
            highest: read_celsius(row, *highest, "highest temperature", notes),
            limit: read_celsius(row, *limit, "temperature limit", notes).filter(|limit| *limit > 0),
        };
        let name = plain_text(row.cell(*name));
        let device = devices.entry(node).or_default();
        if name.as_ref().is_some_and(|name| name.to_ascii_lowercase().contains("asic")) {
            match &mut device.temperature {
                DeviceAnswer::Known(chip) if chip.limit.is_none() => {
                    (chip.highest, chip.limit) = (reading.highest, reading.limit);
                }
                DeviceAnswer::Known(_) => {}
                other => *other = DeviceAnswer::Known(reading),
            }
        }
        device.board.insert(number, BoardSensor { name, reading });
    })
}

/// The number of a fan. Devices have one bit for each of 16 fans.
fn read_fan_number(row: &Row<'_>, column: Option<usize>, notes: &mut Notes) -> Option<u8> {
    let number = read_number(row, column, "number of the fan", notes)?;
    u8::try_from(number).ok().filter(|number| *number < 16)
}

fn read_speed(row: &Row<'_>, column: Option<usize>, notes: &mut Notes) -> Option<u16> {
    read_number(row, column, "speed of the fan", notes).and_then(|rpm| u16::try_from(rpm).ok())
}

fn read_fans(section: &Section<'_>, devices: &mut Devices, notes: &mut Notes) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| ["SensorIndex", "FanSpeed"].map(|name| columns.find(&[name]));
    section.read_nodes(notes, pick, |node, [index, speed], row, notes| {
        let Some(number) = read_fan_number(row, *index, notes) else { return };
        let Some(speed) = read_speed(row, *speed, notes) else { return };
        let device = devices.entry(node).or_default();
        device.fans.insert(number, DeviceAnswer::Known(speed));
        let known = device.fan_list.known().copied().unwrap_or(0);
        device.fan_list = DeviceAnswer::Known(known | 1 << number);
    })
}

fn read_fan_limits(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    let pick =
        |columns: &SectionColumns| ["SensorIndex", "MinSpeed", "MaxSpeed"].map(|name| columns.find(&[name]));
    section.read_nodes(notes, pick, |node, [index, low, high], row, notes| {
        let Some(number) = read_fan_number(row, *index, notes) else { return };
        let Some(low) = read_speed(row, *low, notes) else { return };
        let high = read_speed(row, *high, notes).unwrap_or(0);
        devices.entry(node).or_default().fan_limits.insert(number, AlarmLimits { high, low });
    })
}

fn read_power_supplies(
    section: &Section<'_>,
    devices: &mut Devices,
    notes: &mut Notes,
) -> Result<(), Box<FileError>> {
    const STATES: [(&str, &str); 5] = [
        ("ACInput", "AC input"),
        ("DCState", "DC power"),
        ("AlertState", "alert"),
        ("FanState", "fan"),
        ("TemperatureState", "temperature"),
    ];
    let pick = |columns: &SectionColumns| {
        let places = ["PSUIndex", "IsPresent", "PowerConsumption", "SerialNumber"];
        let places = places.map(|name| columns.find(&[name]));
        (places, STATES.map(|(name, _)| columns.find(&[name])))
    };
    section.read_nodes(notes, pick, |node, ([index, present, watts, serial], states), row, notes| {
        let number = read_number(row, *index, "number of the power supply", notes);
        let Some(number) = number.and_then(|number| u8::try_from(number).ok()) else { return };
        let present = match row.cell(*present) {
            word if word.eq_ignore_ascii_case("yes") || word == "1" => Some(true),
            word if word.eq_ignore_ascii_case("no") || word == "0" => Some(false),
            _ => None,
        };
        let stated = states.iter().zip(STATES).map(|(column, (_, name))| (name, row.cell(*column)));
        let faults = match present {
            Some(false) => Vec::new(),
            _ => stated.filter_map(|(name, word)| fault_text(name, word)).collect(),
        };
        let reading = PowerSupplyReading {
            present,
            faults,
            watts: read_number(row, *watts, "power", notes).and_then(|watts| u32::try_from(watts).ok()),
            serial: plain_text(row.cell(*serial)),
        };
        let held = &mut devices.entry(node).or_default().power_supplies;
        let mut all = held.known().cloned().unwrap_or_default();
        all.insert(number, reading);
        *held = DeviceAnswer::Known(all);
    })
}

/// A state that is not OK, with its name. A word that is no plain state is not shown.
pub(crate) fn fault_text(name: &str, word: &str) -> Option<String> {
    let word = word.trim();
    if is_absent(word) || word.eq_ignore_ascii_case("ok") {
        return None;
    }
    let plain = word.len() <= 24 && word.chars().all(|c| c.is_ascii_alphabetic() || c == ' ' || c == '_');
    Some(format!("{name} {}", if plain { word } else { "not OK" }))
}
