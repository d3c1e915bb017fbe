//! Batches compared with single runs of the same mechanisms, on one core. Every figure is the shortest of several runs; compare figures of
//! one run only.
//!
//! `--only TEXT` selects cases whose names contain a text; with `--together N` only their batches run, N times, for profiling. `cargo bench
//! -p fourbar-bench --bench batch -- --reference` also gives the final error of the chain of 8 relative to a motion at a tolerance of
//! 1e-14, for comparison with other programs (`studies/batch_mujoco.py`).

use fourbar::spec::Inertia;
use fourbar::study::{self, Analysis, Observer, Study};
use fourbar::trajectory::{Column, WantedColumns, columns};
use fourbar::{Model, Trajectory};
use fourbar_batch::Ended;
use fourbar_bench::*;
use fourbar_io::Variations;

/// Number of cases of a batch.
const CASES: usize = 64;

/// Keeps one column.
struct One {
    name: String,
    place: usize,
    wanted: WantedColumns,
    values: Vec<f64>,
}

impl One {
    fn new(model: &Model, name: &str) -> Self {
        let all = columns(model);
        let place = all.iter().position(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}"));
        Self { name: name.into(), place, wanted: WantedColumns::of([&all[place]]), values: Vec::new() }
    }
}

impl Observer for One {
    fn begin(&mut self, _: &[Column]) {
        self.values.clear();
    }
    fn wants(&self) -> WantedColumns {
        self.wanted
    }
    fn row(&mut self, row: &[f64]) {
        self.values.push(row[self.place]);
    }
}

/// Hanging chains of eight rods with different masses.
fn chains(n: usize) -> Vec<Model> {
    let make = |k: usize| {
        let mut spec = chain_spec(8, false);
        for (i, (_, body)) in spec.bodies.iter_mut().enumerate() {
            let m = 1.0 + 0.1 * (1.0 + k as f64 + 7.0 * i as f64).sin();
            (body.mass, body.inertia) = (m, Inertia::Principal([0.01 * m, 0.09 * m, 0.09 * m]));
        }
        spec.build().unwrap_or_else(|e| panic!("{e}"))
    };
    (0..n).map(make).collect()
}

/// Four-bars of different lengths.
fn fourbars(n: usize) -> Vec<Model> {
    let text = fourbar_io::examples::example("fourbar").map(|e| e.text).unwrap_or_default();
    let loaded = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let file = Variations::new(&loaded, None, &[], false).unwrap_or_else(|e| panic!("{e}"));
    let make = |k: usize| file.model(&[("crank_length", 0.06 + 2e-4 * k as f64), ("rocker_length", 0.15 + 1e-4 * k as f64)]);
    (0..n).map(|k| make(k).unwrap_or_else(|e| panic!("{e}"))).collect()
}

/// Times of all cases one by one and in a batch, in seconds; the results must agree.
fn compare(what: &str, models: &[Model], column: &str, runs: usize, study: impl Fn(&Model) -> Study) {
    let asked = |flag: &str| std::env::args().skip_while(|a| a != flag).nth(1);
    if asked("--only").is_some_and(|text| !what.contains(&text)) {
        return;
    }
    let studies: Vec<Study> = models.iter().map(study).collect();
    let cases: Vec<(&Model, &Study)> = models.iter().zip(&studies).collect();
    let observers = || models.iter().map(|m| One::new(m, column)).collect::<Vec<_>>();
    let (mut single, mut shared) = (observers(), observers());
    if let Some(times) = asked("--together").and_then(|n| n.parse().ok()) {
        (0..times).for_each(|_| drop(fourbar_batch::run(&cases, &mut shared)));
        return;
    }
    let one = shortest_cpu(runs, || {
        for ((m, s), o) in cases.iter().zip(&mut single) {
            study::run(m, s, o).unwrap_or_else(|f| panic!("{}", f.diagnostic));
        }
    });
    let mut steps = 0;
    let all = shortest_cpu(runs, || {
        steps = 0;
        for e in fourbar_batch::run(&cases, &mut shared) {
            match e {
                Ended::Well { evaluations, .. } => steps += evaluations,
                other => panic!("{other:?}"),
            }
        }
    });
    let apart =
        single.iter().zip(&shared).flat_map(|(a, b)| a.values.iter().zip(&b.values)).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    let n = models.len() as f64;
    println!(
        "  {what:<44} {:>8.3} ms a run alone, {:>8.3} together: {:>5.2} times; {:.2} us an evaluation; {} apart by {apart:.1e}",
        1e3 * one / n,
        1e3 * all / n,
        one / all,
        1e6 * all / steps as f64,
        single[0].name
    );
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (cases, runs) = if quick { (fourbar_batch::LANES, 1) } else { (CASES, 7) };
    let chains = chains(cases);
    let fourbars = fourbars(cases);
    let t_end = if quick { 0.1 } else { 2.0 };
    let moved = |m: &Model, integrator: &str, step: Option<f64>, tol: Option<f64>, rows: f64| Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("grcr".into()),
        integrator: Some(integrator.into()),
        step,
        tol,
        t_end,
        output_step: t_end / rows,
        ..Study::of(m)
    };
    println!("one by one and together, on one core");
    compare("chain of 8, rk4, h = 1 ms, 20 rows", &chains, "link8.r.z", runs, |m| moved(m, "rk4", Some(1e-3), None, 20.0));
    compare("chain of 8, rk4, h = 1 ms, 200 rows", &chains, "link8.r.z", runs, |m| moved(m, "rk4", Some(1e-3), None, 200.0));
    compare("chain of 8, dopri5, 1e-8, 200 rows", &chains, "link8.r.z", runs, |m| moved(m, "dopri5", None, Some(1e-8), 200.0));
    compare("chain of 8, dop853, 1e-10, 20 rows", &chains, "link8.r.z", runs, |m| moved(m, "dop853", None, Some(1e-10), 20.0));
    compare("four-bar, kinematics, 200 rows", &fourbars, "P.x", runs, Study::of);
    compare("four-bar, kinematics, effort, 200 rows", &fourbars, "motor.effort", runs, Study::of);
    compare("four-bar, driven dynamics, rk4, h = 1 ms", &fourbars, "P.x", runs, |m| moved(m, "rk4", Some(1e-3), None, 20.0));
    if std::env::args().any(|a| a == "--reference") {
        reference(&chains[..8], runs);
    }
}

/// Errors at the end of two seconds, and runs per second, for several settings.
fn reference(chains: &[Model], runs: usize) {
    let at = |integrator: &str, step: Option<f64>, tol: Option<f64>| {
        let study = |m: &Model| Study {
            formulation: Some("grcr".into()),
            integrator: Some(integrator.into()),
            step,
            tol,
            t_end: 2.0,
            output_step: 2.0,
            ..Study::of(m)
        };
        let studies: Vec<Study> = chains.iter().map(study).collect();
        let cases: Vec<(&Model, &Study)> = chains.iter().zip(&studies).collect();
        let mut ends = vec![Trajectory::default(); chains.len()];
        let t = shortest_cpu(runs, || drop(fourbar_batch::run(&cases, &mut ends)));
        let angles: Vec<Vec<f64>> =
            ends.iter().map(|e| (1..=8).map(|k| e.column(&format!("J{k}.angle")).map_or(f64::NAN, |a| a[a.len() - 1])).collect()).collect();
        (angles, chains.len() as f64 / t)
    };
    let (exact, _) = at("dop853", None, Some(1e-14));
    let (finer, _) = at("dop853", None, Some(1e-13));
    let error = |x: &[Vec<f64>]| x.iter().flatten().zip(exact.iter().flatten()).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    println!(
        "\nchain of 8 over 2 s: largest error of a joint angle against dop853 at 1e-14 (1e-13 differs by {:.1e}); runs per second",
        error(&finer)
    );
    for (integrator, step, tol) in [
        ("rk4", Some(4e-3), None),
        ("rk4", Some(2e-3), None),
        ("rk4", Some(1e-3), None),
        ("dopri5", None, Some(1e-6)),
        ("dopri5", None, Some(1e-8)),
        ("dop853", None, Some(1e-6)),
        ("dop853", None, Some(1e-8)),
        ("dop853", None, Some(1e-10)),
    ] {
        let (angles, rate) = at(integrator, step, tol);
        println!("  {integrator:<7} {step:?} {tol:?}: {:.2e} rad, {rate:.0} runs/s", error(&angles));
    }
}
