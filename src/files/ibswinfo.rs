//! The output of ibswinfo: power supplies, fans and temperature of one switch, as a table (`part number | MSB7790`) or as
//! a list (`cur.temp (C) : 73`). The list does not state which switch it is, so the name of the file has to.

use std::collections::BTreeMap;

use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{
    DeviceAnswer, DeviceSensors, FirmwareReading, NotePlace, Notes, PowerSupplyReading, SystemReading,
    TemperatureReading,
};

use super::FileError;
use super::content::{WireDevice, WireFile, WireOwner};
use super::ibdiagnet::fault_text;
use super::module_text::plain_text;
use super::nodes_info::version_text;
use super::opensm::{no_content, note_truncated_line};
use super::text::Input;

pub const ID: &str = "ibswinfo";

pub fn looks_like(head: &str) -> bool {
    head.lines().any(|line| {
        let fan = line.starts_with("fan#") && line.contains("(rpm)");
        fan || line.starts_with("firmware version") && line.contains('|') || line.starts_with("cur.temp (C)")
    })
}

#[derive(Default)]
struct SwitchText {
    guid: Option<Guid>,
    system: SystemReading,
    version: Option<String>,
    psid: Option<String>,
    uptime: Option<u32>,
    now: Option<i16>,
    highest: Option<i16>,
    fans: BTreeMap<u8, u16>,
    fan_faults: Vec<String>,
    supplies: BTreeMap<u8, PowerSupplyReading>,
    /// The power supply that indented lines belong to.
    open: Option<u8>,
}

pub fn read(input: Input<'_>) -> Result<WireFile, Box<FileError>> {
    let mut notes = Notes::new();
    let mut text = SwitchText::default();
    for line in input.lines() {
        let line = line?;
        let split = line.text.split_once('|').or_else(|| line.text.split_once(':'));
        let Some((name, value)) = split else { continue };
        if line.unended {
            note_truncated_line(&mut notes, input.line_place(line.number), &line.text);
            continue;
        }
        let indented = name.starts_with([' ', '\t']);
        text.add(name.trim(), value.trim(), indented);
    }
    let place = NotePlace::file(input.name);
    let owner = text.guid.map_or(WireOwner::FileName, WireOwner::Guid);
    let Some(sensors) = text.finish() else {
        return Err(no_content(input.name, "temperature, fan or power supply"));
    };
    Ok(WireFile { devices: vec![WireDevice { owner, sensors, place }], notes, ..WireFile::default() })
}

impl SwitchText {
    fn add(&mut self, name: &str, value: &str, indented: bool) {
        if let Some(supply) = self.open.filter(|_| indented) {
            return self.add_supply(supply, name, value);
        }
        self.open = None;
        if let Some((number, rest)) = numbered(name, "psu") {
            self.open = Some(number);
            match rest {
                ".power (w)" => self.add_supply(number, "power (W)", value),
                _ => self.add_supply(number, "status", value),
            }
        } else if let Some((number, rest)) = numbered(name, "fan#") {
            let place = number.checked_sub(1).filter(|place| *place < 16 && rest.ends_with("(rpm)"));
            if let (Some(place), Ok(speed)) = (place, value.parse()) {
                self.fans.insert(place, speed);
            }
        } else {
            self.add_switch(&name.to_ascii_lowercase(), value);
        }
    }

    fn add_switch(&mut self, name: &str, value: &str) {
        match name {
            "guid" => self.guid = Guid::from_hex(value).ok(),
            "part number" => self.system.part = plain_text(value),
            "serial number" => self.system.serial = plain_text(value),
            "product name" => self.system.product = plain_text(value),
            "psid" => self.psid = plain_text(value),
            "firmware version" => self.version = version_text(value),
            "uptime (sec)" => self.uptime = value.parse().ok(),
            "uptime (d-h:m:s)" => self.uptime = uptime_seconds(value),
            "temperature (c)" | "cur.temp (c)" => self.now = eighths(value),
            "max temp (c)" | "max.temp (c)" => self.highest = eighths(value),
            "fan status" => self.fan_faults.extend(fault_text("fans", value)),
            _ => {}
        }
    }

    fn add_supply(&mut self, number: u8, name: &str, value: &str) {
        let supply = self.supplies.entry(number).or_default();
        match name.to_ascii_lowercase().as_str() {
            "status" if value.eq_ignore_ascii_case("absent") => supply.present = Some(false),
            "status" => supply.faults.extend(fault_text("status", value)),
            "dc power" => supply.faults.extend(fault_text("DC power", value)),
            "fan status" => supply.faults.extend(fault_text("fan", value)),
            "power (w)" => supply.watts = value.parse().ok(),
            "s/n" => supply.serial = plain_text(value),
            _ => {}
        }
    }

    fn finish(self) -> Option<DeviceSensors> {
        let mut sensors = DeviceSensors::default();
        if let Some(now) = self.now {
            let reading = TemperatureReading { now, highest: self.highest, limit: None };
            sensors.temperature = DeviceAnswer::Known(reading);
        }
        if !self.fans.is_empty() {
            let list = self.fans.keys().fold(0u16, |list, number| list | 1 << number);
            sensors.fan_list = DeviceAnswer::Known(list);
            sensors.fans =
                self.fans.into_iter().map(|(at, speed)| (at, DeviceAnswer::Known(speed))).collect();
        }
        sensors.fan_faults = self.fan_faults;
        if !self.supplies.is_empty() {
            sensors.power_supplies = DeviceAnswer::Known(self.supplies);
        }
        if let Some(version) = self.version {
            let uptime_s = self.uptime.unwrap_or(0);
            sensors.firmware = DeviceAnswer::Known(FirmwareReading { version, psid: self.psid, uptime_s });
        }
        if self.system != SystemReading::default() {
            sensors.system = DeviceAnswer::Known(self.system);
        }
        (sensors != DeviceSensors::default()).then_some(sensors)
    }
}

/// The number after a word, and what follows it in lower case: `PSU0 status`, `fan#1.speed (rpm)`.
fn numbered(name: &str, word: &str) -> Option<(u8, &'static str)> {
    const RESTS: [&str; 4] = [".power (w)", " status", ".speed (rpm)", " (rpm)"];
    let begins = name.get(..word.len())?.eq_ignore_ascii_case(word);
    let rest = name.get(word.len()..).filter(|_| begins)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let tail = rest[end..].to_ascii_lowercase();
    Some((rest[..end].parse().ok()?, RESTS.into_iter().find(|known| tail == *known)?))
}

/// A temperature in 1/8 °C.
fn eighths(value: &str) -> Option<i16> {
    value.parse::<i16>().ok().filter(|celsius| (-60..=200).contains(celsius)).map(|celsius| celsius * 8)
}

/// Reads `160d-10:38:53`.
fn uptime_seconds(value: &str) -> Option<u32> {
    let (days, clock) = value.split_once("d-")?;
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    let days: u64 = days.trim().parse().ok().filter(|days| *days < 100_000)?;
    let within = *hours < 24 && *minutes < 60 && *seconds < 60;
    within
        .then(|| ((days * 24 + hours) * 60 + minutes) * 60 + seconds)
        .and_then(|all| u32::try_from(all).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "=====\nSwitchIB Mellanox Technologies\n=====\npart number        | MSB7790-ES2F\nserial number      | MT1\n\
        product name       | Scorpion\nPSID               | MT_1880110032\nGUID               | 0x1c34da0300010540\n\
        firmware version   | 11.2008.2102\nuptime (d-h:m:s)   | 1d-10:38:53\nPSU0 status        | OK\n     S/N           | X1\n\
        \u{20}    DC power      | OK\n     fan status    | OK\n     power (W)     | 72\nPSU1 status        | ERROR\n\
        \u{20}    DC power      | ERROR\n-----\ntemperature (C)    | 45\nmax temp (C)       | 57\nfan status         | ERROR\n\
        fan#1 (rpm)        | 8493\nfan#2 (rpm)        | 7349\n";

    fn device(text: &str) -> WireDevice {
        assert!(looks_like(text));
        read(Input::new("f", text.as_bytes())).unwrap().devices.remove(0)
    }

    #[test]
    fn the_table_names_its_switch() {
        let WireDevice { owner, sensors, .. } = device(TABLE);
        assert_eq!(owner, WireOwner::Guid(Guid(0x1c34_da03_0001_0540)));
        assert_eq!(
            sensors.temperature,
            DeviceAnswer::Known(TemperatureReading { now: 360, highest: Some(456), limit: None })
        );
        assert_eq!((sensors.fan_list, sensors.fans.len()), (DeviceAnswer::Known(3), 2));
        assert_eq!(sensors.fan_faults, ["fans ERROR"]);
        let firmware = sensors.firmware.known().unwrap();
        assert_eq!((firmware.version.as_str(), firmware.uptime_s), ("11.2008.2102", 124_733));
        let supplies = sensors.power_supplies.known().unwrap();
        assert_eq!((supplies[&0].watts, supplies[&0].faults.len()), (Some(72), 0));
        assert_eq!(supplies[&1].faults, ["status ERROR", "DC power ERROR"]);
    }

    #[test]
    fn the_list_is_named_by_its_file() {
        let text = "uptime (sec)       : 16982312\npsu0.power (W)     : 92\ncur.temp (C)       : 73\n\
            max.temp (C)       : 80\nfan#1.speed (rpm)  : 6355\n";
        let WireDevice { owner, sensors, .. } = device(text);
        assert_eq!((owner, sensors.fan_list), (WireOwner::FileName, DeviceAnswer::Known(1)));
        assert_eq!(sensors.temperature.known().unwrap().celsius(), 73.0);
        assert_eq!(sensors.power_supplies.known().unwrap()[&0].watts, Some(92));
    }
}
