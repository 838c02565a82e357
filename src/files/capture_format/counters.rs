//! One sweep of all counters as a record: whole, or as changes since the sweep before. Writer and reader apply the
//! same record to the same base, so the two cannot diverge.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use fabdeck_fabric::observe::{
    Counter, CounterLookup, CounterSample, CounterValues, Sweep, digits_in_groups,
};
use fabdeck_fabric::{Guid, PortNum};

/// A sweep. Times are whole microseconds, by the clock of the port that the sweep used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counters {
    began: u64,
    took: u64,
    /// Number of ports read, and number of datagrams sent.
    asked: u64,
    sent: u64,
    /// Time of each sample: the first since the sweep began, each other since the one before.
    at: Vec<i64>,
    values: Values,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Values {
    Whole(Vec<SampleRun>),
    /// Further samples of the same sweep, if one record does not hold them all.
    More(Vec<SampleRun>),
    Moved(MovedValues),
}

/// Most values of one record, whole or as changes: whatever their length, the record must fit into a frame.
pub const MAX_RECORD_VALUES: usize = 2_000_000;
/// Most samples of a sweep. A full subnet has 250,000 ports.
pub const MAX_SWEEP_SAMPLES: usize = 4_000_000;
/// Most values per sample, on average, in a sweep of several records. About sixty counters are known; a vendor may
/// have as many again.
pub const MAX_MEAN_VALUES: usize = 128;
/// Most values of a sweep: twice as many as a full subnet has.
pub const MAX_SWEEP_VALUES: usize = 32_000_000;
/// Most bytes of names of vendor counters, which stay in memory as long as the samples.
pub const MAX_VENDOR_NAME_BYTES: usize = 256 << 20;

/// Consecutive samples with the same counters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct SampleRun {
    counters: Vec<String>,
    /// Node, LID, port, and one value for each counter; `null` is a counter without a value.
    ports: Vec<SampleRow>,
}

/// Node, LID, port and values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct SampleRow(Option<Guid>, Option<u16>, Option<u8>, Vec<Option<u64>>);

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct MovedValues {
    /// Samples of the last whole sweep by index (from 0), each index as the difference from the one before. First
    /// those that are missing this time, then those with a changed counter.
    silent: Vec<u32>,
    ports: Vec<u32>,
    /// Differences of each counter that changed at any of these samples, one for each sample.
    by: BTreeMap<String, Vec<i64>>,
}

/// The samples of the last whole sweep with all later changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CounterBase {
    samples: Vec<CounterSample>,
    at: Vec<Duration>,
    /// Whether each sample was in the last sweep.
    present: Vec<bool>,
    /// Number of samples that were not.
    absent: usize,
    /// Values of all samples, and bytes of names of vendor counters.
    held: usize,
    named: usize,
    began: Duration,
    took: Duration,
    asked: u64,
    sent: u64,
}

impl CounterBase {
    /// The last sweep.
    pub fn last_sweep(&self) -> Sweep {
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

    pub fn start_time(&self) -> Duration {
        self.began
    }

    /// Applies a record. After an error the base is unusable.
    pub fn apply(&mut self, record: &Counters) -> Result<(), String> {
        let mut known = 0;
        match &record.values {
            Values::Whole(runs) => {
                self.samples.clear();
                self.present.clear();
                (self.held, self.named, self.absent) = (0, 0, 0);
                self.append_runs(runs)?;
            }
            Values::More(runs) => {
                known = self.samples.len();
                self.append_runs(runs)?;
            }
            Values::Moved(moved) => self.apply_moved(moved)?,
        }
        (self.began, self.took) = (Duration::from_micros(record.began), Duration::from_micros(record.took));
        (self.asked, self.sent) = (record.asked, record.sent);
        self.set_times(record, known)
    }

    /// Appends samples.
    fn append_runs(&mut self, runs: &[SampleRun]) -> Result<(), String> {
        self.check_room(runs)?;
        self.samples.reserve(runs.iter().map(|run| run.ports.len()).sum());
        for run in runs {
            let counters: Vec<Counter> = run.counters.iter().map(|name| Counter::from_name(name)).collect();
            let vendors = counters.iter().filter(|counter| matches!(counter, Counter::Other(_)));
            self.named += vendors.map(|counter| counter.name().len()).sum::<usize>();
            if self.named > MAX_VENDOR_NAME_BYTES {
                return Err(format!(
                    "names of vendor counters of more than {} MiB",
                    MAX_VENDOR_NAME_BYTES >> 20
                ));
            }
            for row in &run.ports {
                self.samples.push(to_sample(&counters, row)?);
            }
        }
        // The cost of a record must depend on its own samples, not on those before, because there may be many small
        // records.
        if self.absent > 0 {
            self.present.fill(true);
            self.absent = 0;
        }
        self.present.resize(self.samples.len(), true);
        self.at.resize(self.samples.len(), Duration::ZERO);
        Ok(())
    }

    /// Refuses too many samples before any of them is stored.
    fn check_room(&mut self, runs: &[SampleRun]) -> Result<(), String> {
        let samples = self.samples.len() + runs.iter().map(|run| run.ports.len()).sum::<usize>();
        if samples > MAX_SWEEP_SAMPLES {
            return Err(format!("more than {} samples", digits_in_groups(MAX_SWEEP_SAMPLES)));
        }
        self.held += runs.iter().map(|run| run.counters.len().saturating_mul(run.ports.len())).sum::<usize>();
        let most = samples.saturating_mul(MAX_MEAN_VALUES).clamp(MAX_RECORD_VALUES, MAX_SWEEP_VALUES);
        if self.held > most {
            return Err(format!(
                "{} values of {} samples, more than the limit of {}",
                digits_in_groups(self.held),
                digits_in_groups(samples),
                digits_in_groups(most)
            ));
        }
        Ok(())
    }

    fn apply_moved(&mut self, moved: &MovedValues) -> Result<(), String> {
        let ports = decode_places(&moved.ports, self.samples.len())?;
        self.present.fill(true);
        let silent = decode_places(&moved.silent, self.samples.len())?;
        self.absent = silent.len();
        for place in silent {
            self.present[place] = false;
        }
        for (name, by) in &moved.by {
            let column = CounterLookup::from(Counter::from_name(name));
            if by.len() != ports.len() {
                return Err(format!(
                    "numbers of changes of {name} and of ports differ: {} and {}",
                    by.len(),
                    ports.len()
                ));
            }
            for (place, by) in ports.iter().zip(by).filter(|(_, by)| **by != 0) {
                if !self.samples[*place].values.add_to(&column, *by) {
                    return Err(format!("{name} changed at a port that does not have it"));
                }
            }
        }
        Ok(())
    }

    /// Sets the times of the samples that the record added or changed, from index `known` on.
    fn set_times(&mut self, record: &Counters, known: usize) -> Result<(), String> {
        let there = self.present[known..].iter().filter(|there| **there).count();
        if record.at.len() != there {
            return Err(format!("numbers of times and samples differ: {} and {there}", record.at.len()));
        }
        let before = known.checked_sub(1).map(|last| self.at[last].as_micros());
        let mut now = before.and_then(|at| i64::try_from(at).ok()).unwrap_or(record.began.cast_signed());
        let present = self.at[known..].iter_mut().zip(&self.present[known..]).filter(|(_, there)| **there);
        for ((at, _), after) in present.zip(&record.at) {
            now = now.checked_add(*after).filter(|now| *now >= 0).ok_or("an impossible time")?;
            *at = Duration::from_micros(now.cast_unsigned());
        }
        Ok(())
    }
}

fn to_sample(
    counters: &[Counter],
    SampleRow(node, lid, port, values): &SampleRow,
) -> Result<CounterSample, String> {
    if values.len() != counters.len() {
        return Err(format!(
            "numbers of values and counters differ: {} and {}",
            values.len(),
            counters.len()
        ));
    }
    let number = |port: u8| PortNum::new(port.into()).ok_or_else(|| format!("there is no port {port}"));
    let mut held: CounterValues = counters.iter().cloned().zip(values.iter().copied()).collect();
    held.shrink_to_fit();
    Ok(CounterSample { node: *node, lid: *lid, port: port.map(number).transpose()?, values: held })
}

/// Indexes from their differences: ascending, and below a bound.
fn decode_places(steps: &[u32], below: usize) -> Result<Vec<usize>, String> {
    let (mut all, mut at) = (Vec::with_capacity(steps.len().min(below)), 0usize);
    for (nth, step) in steps.iter().enumerate() {
        at += *step as usize;
        if at >= below || (nth > 0 && *step == 0) {
            return Err(format!("index {at} in a list of {below} samples"));
        }
        all.push(at);
    }
    Ok(all)
}

fn encode_places(places: &[usize]) -> Vec<u32> {
    let before = std::iter::once(&0).chain(places);
    places.iter().zip(before).map(|(place, before)| (place - before) as u32).collect()
}

/// Encodes a sweep as records and applies these to the base: as changes if possible, unless `whole` is set.
pub fn encode(base: &mut CounterBase, sweep: &Sweep, whole: bool) -> Vec<Counters> {
    encode_within(base, sweep, whole, MAX_RECORD_VALUES)
}

fn encode_within(base: &mut CounterBase, sweep: &Sweep, whole: bool, most: usize) -> Vec<Counters> {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX >> 1);
    let (began, took) = (micros(sweep.began), micros(sweep.took));
    let mut before = began;
    let step = |at: &Duration| {
        let at = micros(*at);
        at.cast_signed() - std::mem::replace(&mut before, at).cast_signed()
    };
    // A sample without a time counts as read when the sweep began.
    let times = sweep.at.iter().chain(std::iter::repeat(&sweep.began)).take(sweep.samples.len());
    let mut at: Vec<i64> = times.map(step).collect();
    let record = |at, values| Counters { began, took, asked: sweep.ports, sent: sweep.sent, at, values };
    let moved = if whole { None } else { compute_moved(base, sweep) };
    let records = match moved.filter(|moved| moved.ports.len() * moved.by.len() <= most) {
        Some(moved) => vec![record(at, Values::Moved(moved))],
        None => {
            let mut records = Vec::new();
            for (part, samples) in split_samples(&sweep.samples, most).into_iter().enumerate() {
                let rest = at.split_off(samples.len());
                let values = if part == 0 { Values::Whole } else { Values::More };
                records.push(record(std::mem::replace(&mut at, rest), values(to_runs(samples))));
            }
            records
        }
    };
    if records.iter().any(|record| base.apply(record).is_err()) {
        // The new records always fit; if applying fails, the base was unusable.
        *base = CounterBase::default();
    }
    records
}

/// Splits samples into parts of at most this many values; without samples, one empty part.
fn split_samples(samples: &[CounterSample], most: usize) -> Vec<&[CounterSample]> {
    let (mut parts, mut from, mut values) = (Vec::new(), 0, 0);
    for (at, sample) in samples.iter().enumerate() {
        // Node, LID and port take as much room as a few values.
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

    /// All counters that a whole record has; none for a record of changes.
    pub fn stated_counters(&self) -> impl Iterator<Item = Counter> {
        let runs = match &self.values {
            Values::Whole(runs) | Values::More(runs) => runs.as_slice(),
            Values::Moved(_) => &[],
        };
        runs.iter().flat_map(|run| run.counters.iter().map(|name| Counter::from_name(name)))
    }

    /// All GUIDs of the record.
    pub fn guids(&self) -> impl Iterator<Item = Guid> {
        let runs = match &self.values {
            Values::Whole(runs) | Values::More(runs) => runs.as_slice(),
            Values::Moved(_) => &[],
        };
        runs.iter().flat_map(|run| run.ports.iter().filter_map(|row| row.0))
    }

    /// Names of vendor counters.
    pub fn vendor_names(&self) -> Vec<String> {
        let names: Vec<&String> = match &self.values {
            Values::Whole(runs) | Values::More(runs) => runs.iter().flat_map(|run| &run.counters).collect(),
            Values::Moved(moved) => moved.by.keys().collect(),
        };
        let known = names.into_iter().map(|name| Counter::from_name(name));
        known.filter(|counter| counter.bits().is_none()).map(|counter| counter.name().to_owned()).collect()
    }

    /// Replaces GUIDs and names of vendor counters.
    pub fn anonymize(&mut self, guid: impl Fn(Guid) -> Guid, vendor: impl Fn(&str) -> String) {
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

fn to_runs(samples: &[CounterSample]) -> Vec<SampleRun> {
    let mut runs: Vec<(SampleRun, &CounterValues)> = Vec::new();
    for sample in samples {
        let same = runs.last().is_some_and(|(_, values)| values.has_same_counters(&sample.values));
        if !same {
            let counters = sample.values.iter().map(|(counter, _)| counter.name().to_owned()).collect();
            runs.push((SampleRun { counters, ports: Vec::new() }, &sample.values));
        }
        let mut values = Vec::with_capacity(sample.values.len());
        values.extend(sample.values.iter().map(|(_, value)| value));
        if let Some((run, _)) = runs.last_mut() {
            run.ports.push(SampleRow(sample.node, sample.lid, sample.port.map(PortNum::value), values));
        }
    }
    runs.into_iter().map(|(run, _)| run).collect()
}

/// `None` if the sweep has a sample that the base lacks, or one with other counters.
fn compute_moved(base: &CounterBase, sweep: &Sweep) -> Option<MovedValues> {
    let (mut silent, mut ports, mut place) = (Vec::new(), Vec::new(), 0);
    let mut by: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for sample in &sweep.samples {
        let address = |sample: &CounterSample| (sample.node, sample.lid, sample.port);
        let ahead = base.samples[place..].iter().position(|known| address(known) == address(sample))?;
        silent.extend(place..place + ahead);
        place += ahead;
        let known = &base.samples[place].values;
        if !known.has_same_counters(&sample.values) {
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
    Some(MovedValues { silent: encode_places(&silent), ports: encode_places(&ports), by })
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
            let (mut writer, mut reader) = (CounterBase::default(), CounterBase::default());
            for (turn, whole) in [(0, true), (1, false), (2, true)] {
                sweep.samples[3].values.insert(Counter::PortXmitData, Some(turn * 9));
                let records = encode_within(&mut writer, &sweep, whole, most);
                assert!(records.len() == if whole { count } else { 1 }, "{most}: {}", records.len());
                records.iter().for_each(|record| reader.apply(record).unwrap());
                assert_eq!((&reader, reader.last_sweep()), (&writer, sweep.clone()), "{most} {turn}");
            }
            // More changes than a record holds are encoded as whole counters.
            for sample in &mut sweep.samples {
                sample.values.insert(Counter::PortXmitData, Some(77 + most as u64));
            }
            let records = encode_within(&mut writer, &sweep, false, most);
            assert_eq!(records[0].is_whole(), most < 20, "{most}");
            records.iter().for_each(|record| reader.apply(record).unwrap());
            assert_eq!(reader.last_sweep(), sweep);
        }
    }
}
