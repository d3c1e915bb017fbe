//! Overhead of a sweep over its runs: cases of the four-bar, kinematics and dynamics, compared with a bare loop over the same mechanisms;
//! and the same cases on two threads. Processor time, independent of other load: if two threads together take no more of it than one, two
//! free cores take half the time. Compare figures of one run only.

use fourbar::study::{Observer, Study, run};
use fourbar::trajectory::{Column, WantedColumns, columns};
use fourbar::{Diagnostic, Model, Trajectory};
use fourbar_bench::*;
use fourbar_design::measure::Measure;
use fourbar_design::sweep::{Axis, Parameters, Plan, Scheme, Sweep, Values, execute};
use fourbar_io::Variations;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Keeps one column, with the time.
struct Kept {
    place: usize,
    wanted: WantedColumns,
    rows: Trajectory,
}

impl Observer for Kept {
    fn begin(&mut self, all: &[Column]) {
        self.rows = Trajectory::new(vec![all[0].clone(), all[self.place].clone()]);
    }
    fn wants(&self) -> WantedColumns {
        self.wanted
    }
    fn row(&mut self, row: &[f64]) {
        self.rows.push(&[row[0], row[self.place]]);
    }
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (cases, runs) = if quick { (4, 1) } else { (200, 5) };
    let text = fourbar_io::examples::example("fourbar").map(|e| e.text).unwrap_or_default();
    let loaded = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let file = Variations::new(&loaded, None, &[], false).unwrap_or_else(|e| panic!("{e}"));
    let axis = |name: &str, from: f64, to: f64| Axis {
        name: name.into(),
        values: Values::Range { from, to, count: 0, log: false },
        unit: String::new(),
        factor: 1.0,
    };
    let axes = vec![axis("crank_length", 0.06, 0.08), axis("rocker_length", 0.14, 0.16)];
    let plan = Plan::new(axes, Scheme::Sobol { cases, seed: 1 }).unwrap_or_else(|e| panic!("{e}"));
    let names = ["crank_length", "rocker_length"];
    let given = |values: &[f64]| -> Vec<(&str, f64)> { names.into_iter().zip(values.iter().copied()).collect() };
    let model = file.model(&[]).unwrap_or_else(|e| panic!("{e}"));
    let all = columns(&model);
    let place = all.iter().position(|c| c.name == "motor.effort").unwrap_or_else(|| panic!("no motor"));
    let wanted = WantedColumns::of([&all[0], &all[place]]);
    let two = [all[0].clone(), all[place].clone()];
    let measure = Measure::new("max(abs(motor.effort))", &two).unwrap_or_else(|e| panic!("{e}"));
    for (what, dynamics) in [("kinematics", false), ("dynamics", true)] {
        let settings = |m: &Model| -> Result<Study, Diagnostic> {
            let own = Study::of(m);
            if dynamics {
                Ok(Study { analysis: Some(fourbar::study::Analysis::Dynamics), formulation: Some("grcr".into()), ..own })
            } else {
                Ok(own)
            }
        };
        let bare = shortest_cpu(runs, || {
            let mut sum = 0.0;
            for k in 0..cases {
                let m = file.model(&given(&plan.case(k))).unwrap_or_else(|e| panic!("{e}"));
                let study = settings(&m).unwrap_or_else(|e| panic!("{e}"));
                let mut kept = Kept { place, wanted, rows: Trajectory::default() };
                run(&m, &study, &mut kept).unwrap_or_else(|f| panic!("{}", f.diagnostic));
                sum += measure.of(&kept.rows).unwrap_or_else(|e| panic!("{e}")).value;
            }
            assert!(sum.is_finite());
        });
        let stop = AtomicBool::new(false);
        let build = |values: &[f64]| file.build(&given(values));
        let take =
            |_: &Model, _: &Parameters, rows: &Trajectory| -> Vec<Result<f64, Diagnostic>> { vec![measure.of(rows).map(|m| m.value)] };
        let sweep = Sweep {
            build: &build,
            settings: &settings,
            take: &take,
            measures: 1,
            columns: vec![0, place],
            wanted,
            together: false,
            stop: &stop,
        };
        let numbers: Vec<usize> = (0..cases).collect();
        let swept = shortest_cpu(runs, || {
            let mut done = 0;
            execute(
                &numbers,
                1,
                &stop,
                |k| sweep.run(&plan.case(k)),
                |_, _| {
                    done += 1;
                    true
                },
            );
            assert_eq!(done, cases);
        });
        // Processor time of the threads that run cases, in nanoseconds.
        let (mut shared, mut wall) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..runs {
            let spent = AtomicU64::new(0);
            let begin = Instant::now();
            let one = |k: usize| {
                let start = cpu_clock();
                let found = sweep.run(&plan.case(k));
                spent.fetch_add((1e9 * (cpu_clock() - start)) as u64, Ordering::Relaxed);
                found
            };
            execute(&numbers, 2, &stop, one, |_, _| true);
            wall = wall.min(begin.elapsed().as_secs_f64());
            shared = shared.min(1e-9 * spent.load(Ordering::Relaxed) as f64);
        }
        let each = |t: f64| 1e6 * t / cases as f64;
        println!(
            "four-bar, {what}: {:.1} us a case in a bare loop, {:.1} in a sweep: {:+.1} %; on two threads {:.1} us of processor time, {:.2} times as quick where cores are free ({:.1} us of wall time here)",
            each(bare),
            each(swept),
            100.0 * (swept / bare - 1.0),
            each(shared),
            2.0 * swept / shared,
            each(wall)
        );
    }
}
