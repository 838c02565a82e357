//! Every engine of the registry and the certificate on trees and tori that grow: `cargo bench --bench routing`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::{Fabric, Faults};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::difference::compare_routes;
use fabdeck_routing::{ENGINES, NoProgress, Problem, Request};

/// From one to the next about four times the switches.
const FABRICS: &[&str] = &[
    "kary,k=4,n=3",
    "kary,k=8,n=3",
    "kary,k=16,n=3",
    "torus,dims=4x4x3",
    "torus,dims=6x6x5",
    "torus,dims=9x9x9",
];

fn fabrics() -> Vec<(&'static str, Fabric)> {
    let made = |name: &&'static str| Some((*name, generate(&name.parse::<FabricSpec>().ok()?).ok()?.fabric));
    FABRICS.iter().filter_map(made).collect()
}

/// An engine that refuses a fabric has no line there.
fn engines(criterion: &mut Criterion) {
    let none = Faults::default();
    for engine in ENGINES {
        let mut group = criterion.benchmark_group(engine.id);
        for (name, fabric) in &fabrics() {
            let (problem, request) = (Problem::new(fabric, &none), Request::default());
            if (engine.route)(&problem, &request, &NoProgress).is_err() {
                continue;
            }
            let entries = problem.graph.switch_count() * problem.destinations().len();
            group.throughput(Throughput::Elements(entries as u64));
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter(|| (engine.route)(black_box(&problem), &request, &NoProgress));
            });
        }
        group.finish();
    }
}

/// What is asked of routes: the certificate of those of `minhop`, with switches and without, and what it takes to come
/// from them to those of `sssp`.
fn judges(criterion: &mut Criterion) {
    let none = Faults::default();
    let of = |id: &str| ENGINES.iter().find(|engine| engine.id == id);
    let (Some(minhop), Some(sssp)) = (of("minhop"), of("sssp")) else { return };
    let mut group = criterion.benchmark_group("judge");
    for (name, fabric) in &fabrics() {
        let (problem, request) = (Problem::new(fabric, &none), Request::default());
        let route = |engine: &fabdeck_routing::Engine| (engine.route)(&problem, &request, &NoProgress);
        let (Ok(old), Ok(new)) = (route(minhop), route(sssp)) else { continue };
        let entries = problem.graph.switch_count() * problem.destinations().len();
        group.throughput(Throughput::Elements(entries as u64));
        for (what, switches) in [("certificate, terminals", false), ("certificate, switches too", true)] {
            let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
            group.bench_function(BenchmarkId::new(what, name), |bencher| {
                bencher.iter(|| certify(black_box(&problem), &old.routes, &scope, &NoProgress));
            });
        }
        let scope = RouteScope { switches: false, lanes: LaneKnowledge::Unknown };
        group.bench_function(BenchmarkId::new("difference and transition", name), |bencher| {
            bencher.iter(|| compare_routes(black_box(&problem), &old.routes, &new.routes, &scope));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = engines, judges
}
criterion_main!(benches);
