//! One sweep of all counters as a record: whole, or as they moved since the sweep before. Writer and reader apply the
//! same record to the same base, so they cannot come to differ.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use fabdeck_fabric::observe::{Column, Counter, CounterSample, CounterValues, Sweep};
use fabdeck_fabric::{Guid, PortNum};

/// A sweep. Times are whole microseconds of the clock of the port that it went through.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counters {
    began: u64,
    took: u64,
    /// Ports that were asked, and datagrams that it took.
    asked: u64,
    sent: u64,
    /// When each sample came: the first since the sweep began, every other since the one before it.
    at: Vec<i64>,
    values: Values,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Values {
    Whole(Vec<Run>),
    /// Samples behind those of the record before, of the same sweep: one record did not hold them all.
    More(Vec<Run>),
    Moved(Moved),
}

/// Values that one record holds at the most, whole or moved: it has to fit into a frame, however long they are.
pub(super) const MOST_VALUES: usize = 2_000_000;
/// Samples that a sweep may have. A full subnet has a quarter of a million ports.
pub(super) const MOST_SAMPLES: usize = 4_000_000;
/// Values that the samples of a sweep may have on the average, where there are more than one record holds. Some sixty
/// counters are known; a vendor may have as many again.
pub(super) const MOST_EACH: usize = 128;
/// Values of a sweep altogether: twice what a full subnet has.
pub(super) const MOST_HELD: usize = 32_000_000;
/// Bytes of the names of counters that only a vendor knows: they stay as long as the samples.
pub(super) const MOST_NAMED: usize = 256 << 20;

/// Samples one after the other that have the same counters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Run {
    counters: Vec<String>,
    /// Node, LID, port, and a value for each of the counters; `null`: the port has it without a value.
    ports: Vec<Row>,
}

/// Node, LID, port and values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Row(Option<Guid>, Option<u16>, Option<u8>, Vec<Option<u64>>);

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Moved {
    /// Samples of the last whole sweep by their place (from 0), each place less the one before it: those that did not
    /// come this time, and those of which a counter moved.
    silent: Vec<u32>,
    ports: Vec<u32>,
    /// By how much each of these moved, for every counter that moved at any of them.
    by: BTreeMap<String, Vec<i64>>,
}

/// The samples of the last whole sweep with what they came to since.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Base {
    samples: Vec<CounterSample>,
    at: Vec<Duration>,
    /// Whether each was there in the last sweep.
    present: Vec<bool>,
    /// How many were not.
    absent: usize,
    /// Values of all samples, and bytes of vendors' names of counters.
    held: usize,
    named: usize,
    began: Duration,
    took: Duration,
    asked: u64,
    sent: u64,
}

impl Base {
    /// The last sweep.
    pub fn sweep(&self) -> Sweep {
        let present = || self.present.iter();
        let samples = self.samples.iter().zip(present()).filter(|(_, there)| **there);
        let at = self.at.iter().zip(present()).filter(|(_, there)| **there);
        Sweep {
            samples: samples.map(|(sample, _)| sample.clone()).collect(),
            at: at.map(|(at, _)| *at).collect(),
            began: self.began,
            took: self.took,
            ports: self.asked,
            sent: self.sent,
            ..Sweep::default()
        }
    }

    pub fn began(&self) -> Duration {
        self.began
    }

    /// Takes a record in; on an error the base is of no use any more.
    pub fn apply(&mut self, record: &Counters) -> Result<(), String> {
        let mut known = 0;
        match &record.values {
            Values::Whole(runs) => {
                self.samples.clear();
                self.present.clear();
                (self.held, self.named, self.absent) = (0, 0, 0);
                self.take_in(runs)?;
            }
            Values::More(runs) => {
                known = self.samples.len();
                self.take_in(runs)?;
            }
            Values::Moved(moved) => self.move_on(moved)?,
        }
        (self.began, self.took) = (Duration::from_micros(record.began), Duration::from_micros(record.took));
        (self.asked, self.sent) = (record.asked, record.sent);
        self.set_times(record, known)
    }

    /// Samples behind those that are there.
    fn take_in(&mut self, runs: &[Run]) -> Result<(), String> {
        self.make_room(runs)?;
        for run in runs {
            let counters: Vec<Counter> = run.counters.iter().map(|name| Counter::from_name(name)).collect();
            let vendors = counters.iter().filter(|counter| matches!(counter, Counter::Other(_)));
            self.named += vendors.map(|counter| counter.name().len()).sum::<usize>();
            if self.named > MOST_NAMED {
                return Err(format!("names of counters of more than {MOST_NAMED} bytes"));
            }
            for row in &run.ports {
                self.samples.push(sample(&counters, row)?);
            }
        }
        // Of many small records each costs what it adds, not what is there.
        if self.absent > 0 {
            self.present.fill(true);
            self.absent = 0;
        }
        self.present.resize(self.samples.len(), true);
        self.at.resize(self.samples.len(), Duration::ZERO);
        Ok(())
    }

    /// Refuses samples that would be too many, before any of them is kept.
    fn make_room(&mut self, runs: &[Run]) -> Result<(), String> {
        let samples = self.samples.len() + runs.iter().map(|run| run.ports.len()).sum::<usize>();
        if samples > MOST_SAMPLES {
            return Err(format!("more than {MOST_SAMPLES} samples"));
        }
        self.held += runs.iter().map(|run| run.counters.len().saturating_mul(run.ports.len())).sum::<usize>();
        let most = samples.saturating_mul(MOST_EACH).clamp(MOST_VALUES, MOST_HELD);
        if self.held > most {
            return Err(format!("{} values of {samples} samples, and at most {most} can be", self.held));
        }
        Ok(())
    }

    fn move_on(&mut self, moved: &Moved) -> Result<(), String> {
        let ports = places(&moved.ports, self.samples.len())?;
        self.present.fill(true);
        let silent = places(&moved.silent, self.samples.len())?;
        self.absent = silent.len();
        for place in silent {
            self.present[place] = false;
        }
        for (name, by) in &moved.by {
            let column = Column::from(Counter::from_name(name));
            if by.len() != ports.len() {
                return Err(format!("{} moves of {name} at {} ports", by.len(), ports.len()));
            }
            for (place, by) in ports.iter().zip(by).filter(|(_, by)| **by != 0) {
                if !self.samples[*place].values.grow(&column, *by) {
                    return Err(format!("{name} moved at a port that does not have it"));
                }
            }
        }
        Ok(())
    }

    /// Of the samples behind those that were known before the record.
    fn set_times(&mut self, record: &Counters, known: usize) -> Result<(), String> {
        let there = self.present[known..].iter().filter(|there| **there).count();
        if record.at.len() != there {
            return Err(format!("{} times of {there} samples", record.at.len()));
        }
        let before = known.checked_sub(1).map(|last| self.at[last].as_micros());
        let mut now = before.and_then(|at| i64::try_from(at).ok()).unwrap_or(record.began.cast_signed());
        let present = self.at[known..].iter_mut().zip(&self.present[known..]).filter(|(_, there)| **there);
        for ((at, _), after) in present.zip(&record.at) {
            now = now.checked_add(*after).filter(|now| *now >= 0).ok_or("a time that cannot be")?;
            *at = Duration::from_micros(now.cast_unsigned());
        }
        Ok(())
    }
}

fn sample(counters: &[Counter], Row(node, lid, port, values): &Row) -> Result<CounterSample, String> {
    if values.len() != counters.len() {
        return Err(format!("{} values of {} counters", values.len(), counters.len()));
    }
    let number = |port: u8| PortNum::new(port.into()).ok_or_else(|| format!("there is no port {port}"));
    let mut held: CounterValues = counters.iter().cloned().zip(values.iter().copied()).collect();
    held.shrink();
    Ok(CounterSample { node: *node, lid: *lid, port: port.map(number).transpose()?, values: held })
}

/// Places from their differences: ascending, and below a number.
fn places(steps: &[u32], below: usize) -> Result<Vec<usize>, String> {
    let (mut all, mut at) = (Vec::with_capacity(steps.len().min(below)), 0usize);
    for (nth, step) in steps.iter().enumerate() {
        at += *step as usize;
        if at >= below || (nth > 0 && *step == 0) {
            return Err(format!("place {at} among {below} samples"));
        }
        all.push(at);
    }
    Ok(all)
}

fn steps(places: &[usize]) -> Vec<u32> {
    let before = std::iter::once(&0).chain(places);
    places.iter().zip(before).map(|(place, before)| (place - before) as u32).collect()
}

/// A sweep as records: as it moved since the base, unless it has to be whole. The base takes them in.
pub fn encode(base: &mut Base, sweep: &Sweep, whole: bool) -> Vec<Counters> {
    encode_within(base, sweep, whole, MOST_VALUES)
}

fn encode_within(base: &mut Base, sweep: &Sweep, whole: bool, most: usize) -> Vec<Counters> {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX >> 1);
    let (began, took) = (micros(sweep.began), micros(sweep.took));
    let mut before = began;
    let step = |at: &Duration| {
        let at = micros(*at);
        at.cast_signed() - std::mem::replace(&mut before, at).cast_signed()
    };
    // A sample whose time is missing came when the sweep began, as far as anybody knows.
    let times = sweep.at.iter().chain(std::iter::repeat(&sweep.began)).take(sweep.samples.len());
    let mut at: Vec<i64> = times.map(step).collect();
    let record = |at, values| Counters { began, took, asked: sweep.ports, sent: sweep.sent, at, values };
    let moved = if whole { None } else { moved(base, sweep) };
    let records = match moved.filter(|moved| moved.ports.len() * moved.by.len() <= most) {
        Some(moved) => vec![record(at, Values::Moved(moved))],
        None => {
            let mut records = Vec::new();
            for (part, samples) in parts(&sweep.samples, most).into_iter().enumerate() {
                let rest = at.split_off(samples.len());
                let values = if part == 0 { Values::Whole } else { Values::More };
                records.push(record(std::mem::replace(&mut at, rest), values(runs(samples))));
            }
            records
        }
    };
    if records.iter().any(|record| base.apply(record).is_err()) {
        // What was just made fits; a base that did not is one that stands for nothing.
        *base = Base::default();
    }
    records
}

/// Samples in parts of so many values; one part where there are none.
fn parts(samples: &[CounterSample], most: usize) -> Vec<&[CounterSample]> {
    let (mut parts, mut from, mut values) = (Vec::new(), 0, 0);
    for (at, sample) in samples.iter().enumerate() {
        // Who it is takes as much as a few values.
        let more = sample.values.len() + 4;
        if at > from && values + more > most {
            parts.push(&samples[from..at]);
            (from, values) = (at, 0);
        }
        values += more;
    }
    parts.push(&samples[from..]);
    parts
}

impl Counters {
    pub fn is_whole(&self) -> bool {
        matches!(self.values, Values::Whole(_))
    }

    /// Every counter that a port of it has; nothing of a sweep that says only what moved.
    pub fn stated(&self) -> impl Iterator<Item = Counter> {
        let runs = match &self.values {
            Values::Whole(runs) | Values::More(runs) => runs.as_slice(),
            Values::Moved(_) => &[],
        };
        runs.iter().flat_map(|run| run.counters.iter().map(|name| Counter::from_name(name)))
    }

    /// Every GUID in it.
    pub fn guids(&self) -> impl Iterator<Item = Guid> {
        let runs = match &self.values {
            Values::Whole(runs) | Values::More(runs) => runs.as_slice(),
            Values::Moved(_) => &[],
        };
        runs.iter().flat_map(|run| run.ports.iter().filter_map(|row| row.0))
    }

    /// The names of counters that only a vendor knows.
    pub fn vendors(&self) -> Vec<String> {
        let names: Vec<&String> = match &self.values {
            Values::Whole(runs) | Values::More(runs) => runs.iter().flat_map(|run| &run.counters).collect(),
            Values::Moved(moved) => moved.by.keys().collect(),
        };
        let known = names.into_iter().map(|name| Counter::from_name(name));
        known.filter(|counter| counter.bits().is_none()).map(|counter| counter.name().to_owned()).collect()
    }

    /// Puts other GUIDs in place of those that stand there, and other names in place of those of vendors' counters.
    pub fn disguise(&mut self, guid: impl Fn(Guid) -> Guid, vendor: impl Fn(&str) -> String) {
        let name = |name: &str| match Counter::from_name(name) {
            Counter::Other(name) => vendor(&name),
            known => known.name().to_owned(),
        };
        match &mut self.values {
            Values::Whole(runs) | Values::More(runs) => {
                for run in runs {
                    run.counters.iter_mut().for_each(|counter| *counter = name(counter));
                    run.ports.iter_mut().for_each(|row| row.0 = row.0.map(&guid));
                }
            }
            Values::Moved(moved) => {
                let by = std::mem::take(&mut moved.by);
                moved.by = by.into_iter().map(|(counter, by)| (name(&counter), by)).collect();
            }
        }
    }
}

fn runs(samples: &[CounterSample]) -> Vec<Run> {
    let mut runs: Vec<(Run, &CounterValues)> = Vec::new();
    for sample in samples {
        let same = runs.last().is_some_and(|(_, values)| values.alike(&sample.values));
        if !same {
            let counters = sample.values.iter().map(|(counter, _)| counter.name().to_owned()).collect();
            runs.push((Run { counters, ports: Vec::new() }, &sample.values));
        }
        let values = sample.values.iter().map(|(_, value)| value).collect();
        if let Some((run, _)) = runs.last_mut() {
            run.ports.push(Row(sample.node, sample.lid, sample.port.map(PortNum::value), values));
        }
    }
    runs.into_iter().map(|(run, _)| run).collect()
}

/// `None` where the sweep has a sample that the base does not have, or one with other counters.
fn moved(base: &Base, sweep: &Sweep) -> Option<Moved> {
    let (mut silent, mut ports, mut place) = (Vec::new(), Vec::new(), 0);
    let mut by: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for sample in &sweep.samples {
        let who = |sample: &CounterSample| (sample.node, sample.lid, sample.port);
        let ahead = base.samples[place..].iter().position(|known| who(known) == who(sample))?;
        silent.extend(place..place + ahead);
        place += ahead;
        let known = &base.samples[place].values;
        if !known.alike(&sample.values) {
            return None;
        }
        if *known != sample.values {
            let earlier = ports.len();
            ports.push(place);
            for ((counter, before), (_, after)) in
                known.iter().zip(sample.values.iter()).filter(|(a, b)| a.1 != b.1)
            {
                let step = after?.wrapping_sub(before?).cast_signed();
                let column = by.entry(counter.name().to_owned()).or_default();
                column.resize(earlier, 0);
                column.push(step);
            }
        }
        place += 1;
    }
    silent.extend(place..base.samples.len());
    by.values_mut().for_each(|column| column.resize(ports.len(), 0));
    Some(Moved { silent: steps(&silent), ports: steps(&ports), by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_in_parts_is_the_same_sweep() {
        let sample = |port: u8| CounterSample {
            node: Some(Guid(u64::from(port))),
            lid: None,
            port: Some(PortNum(port)),
            values: [(Counter::PortXmitData, Some(u64::from(port))), (Counter::PortXmitWait, None)]
                .into_iter()
                .collect(),
        };
        let began = Duration::from_micros(500);
        let at = (0..20u64).map(|port| began + Duration::from_micros(port * 7919 % 100)).collect();
        let samples = (0..20).map(sample).collect();
        let mut sweep = Sweep { samples, at, began, ports: 20, ..Sweep::default() };
        for (most, count) in [(1, 20), (13, 10), (1000, 1)] {
            let (mut writer, mut reader) = (Base::default(), Base::default());
            for (turn, whole) in [(0, true), (1, false), (2, true)] {
                sweep.samples[3].values.insert(Counter::PortXmitData, Some(turn * 9));
                let records = encode_within(&mut writer, &sweep, whole, most);
                assert!(records.len() == if whole { count } else { 1 }, "{most}: {}", records.len());
                records.iter().for_each(|record| reader.apply(record).unwrap());
                assert_eq!((&reader, reader.sweep()), (&writer, sweep.clone()), "{most} {turn}");
            }
            // So much moves that it is told whole.
            for sample in &mut sweep.samples {
                sample.values.insert(Counter::PortXmitData, Some(77 + most as u64));
            }
            let records = encode_within(&mut writer, &sweep, false, most);
            assert_eq!(records[0].is_whole(), most < 20, "{most}");
            records.iter().for_each(|record| reader.apply(record).unwrap());
            assert_eq!(reader.sweep(), sweep);
        }
    }
}
