//! One sweep of all counters as a record: whole, or as they moved since the sweep before. Writer and reader apply the
//! same record to the same base, so they cannot come to differ.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fabric::{Guid, PortNum};
use crate::observe::{Counter, CounterSample, CounterValues, Sweep};

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
    Moved(Moved),
}

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
        match &record.values {
            Values::Whole(runs) => {
                let runs: Vec<Vec<CounterSample>> = runs.iter().map(samples).collect::<Result<_, _>>()?;
                self.samples = runs.into_iter().flatten().collect();
                self.present = vec![true; self.samples.len()];
                self.at = vec![Duration::ZERO; self.samples.len()];
            }
            Values::Moved(moved) => self.move_on(moved)?,
        }
        (self.began, self.took) = (Duration::from_micros(record.began), Duration::from_micros(record.took));
        (self.asked, self.sent) = (record.asked, record.sent);
        self.set_times(record)
    }

    fn move_on(&mut self, moved: &Moved) -> Result<(), String> {
        let ports = places(&moved.ports, self.samples.len())?;
        self.present.fill(true);
        for place in places(&moved.silent, self.samples.len())? {
            self.present[place] = false;
        }
        for (name, by) in &moved.by {
            let counter = Counter::from_name(name);
            if by.len() != ports.len() {
                return Err(format!("{} moves of {name} at {} ports", by.len(), ports.len()));
            }
            for (place, by) in ports.iter().zip(by).filter(|(_, by)| **by != 0) {
                let values = &mut self.samples[*place].values;
                let value = values
                    .get(&counter)
                    .ok_or_else(|| format!("{name} moved at a port that does not have it"))?;
                values.insert(counter.clone(), Some(value.wrapping_add_signed(*by)));
            }
        }
        Ok(())
    }

    fn set_times(&mut self, record: &Counters) -> Result<(), String> {
        let there = self.present.iter().filter(|there| **there).count();
        if record.at.len() != there {
            return Err(format!("{} times of {there} samples", record.at.len()));
        }
        let mut now = record.began.cast_signed();
        let present = self.at.iter_mut().zip(&self.present).filter(|(_, there)| **there);
        for ((at, _), after) in present.zip(&record.at) {
            now = now.checked_add(*after).filter(|now| *now >= 0).ok_or("a time that cannot be")?;
            *at = Duration::from_micros(now.cast_unsigned());
        }
        Ok(())
    }
}

fn samples(run: &Run) -> Result<Vec<CounterSample>, String> {
    let counters: Vec<Counter> = run.counters.iter().map(|name| Counter::from_name(name)).collect();
    run.ports.iter().map(|row| sample(&counters, row)).collect()
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

/// A sweep as a record: as it moved since the base, unless it has to be whole. The base takes it in.
pub fn encode(base: &mut Base, sweep: &Sweep, whole: bool) -> Counters {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX >> 1);
    let began = micros(sweep.began);
    let mut before = began;
    let step = |at: &Duration| {
        let at = micros(*at);
        at.cast_signed() - std::mem::replace(&mut before, at).cast_signed()
    };
    // A sample whose time is missing came when the sweep began, as far as anybody knows.
    let times = sweep.at.iter().chain(std::iter::repeat(&sweep.began)).take(sweep.samples.len());
    let at = times.map(step).collect();
    let moved = if whole { None } else { moved(base, sweep) };
    let values = moved.map_or_else(|| Values::Whole(runs(sweep)), Values::Moved);
    let record =
        Counters { began, took: micros(sweep.took), asked: sweep.ports, sent: sweep.sent, at, values };
    if base.apply(&record).is_err() {
        // What was just made fits; a base that did not is one that stands for nothing.
        *base = Base::default();
    }
    record
}

impl Counters {
    pub fn is_whole(&self) -> bool {
        matches!(self.values, Values::Whole(_))
    }
}

fn runs(sweep: &Sweep) -> Vec<Run> {
    let mut runs: Vec<(Run, &CounterValues)> = Vec::new();
    for sample in &sweep.samples {
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
