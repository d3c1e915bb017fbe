//! Speed of natural coordinates: Andrews' mechanism from its file compared with a hand-written Lagrangian, the four-bar ladder with its
//! dead points, and chains, trees and ladders of up to a thousand bodies. Every time is the shortest processor time of several runs;
//! compare figures of one run only.

#[path = "../../crates/fourbar-dae/tests/problems/mod.rs"]
mod problems;

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::natural::{Choice, System};
use fourbar::motion::Instant;
use fourbar::study::Study;
use fourbar_bench::{branches, chain, ladder, ring, shipped, shortest_cpu};
use fourbar_dae::{Integrator, Options};
use std::sync::Arc;

type Failure = Box<dyn std::error::Error>;

fn study(model: &Model, t_end: f64, tol: f64) -> Study {
    Study {
        formulation: Some("natural".into()),
        integrator: None,
        step: None,
        t_end,
        tol: Some(tol),
        options: Vec::new(),
        ..Study::of(model)
    }
}

/// Shortest time of a run without outputs, including set-up, and its steps.
fn seconds(model: &Model, study: &Study, runs: usize) -> Result<(f64, f64), Failure> {
    let start = assemble(model)?.configuration;
    let (formulation, integrator) = study.method(model)?;
    let mut steps = 0.0;
    let mut failure = None;
    let time = shortest_cpu(runs, || {
        let done = (formulation.start)(&fourbar::Structure::new(model, &start), study, integrator, &start).and_then(|mut m| {
            m.advance(study.t_end, &mut |_| true)?;
            let mut outcome = fourbar::motion::Outcome::default();
            m.report(&mut outcome);
            steps = outcome.work.iter().find(|w| w.0 == "steps").map_or(0.0, |w| w.1);
            Ok(())
        });
        failure = done.err();
    });
    match failure {
        Some(d) => Err(d.into()),
        None => Ok((time, steps)),
    }
}

/// The same tolerance and solver, recorded from the file and written by hand.
fn andrews() -> Result<(), Failure> {
    let model = shipped("andrews");
    let start = assemble(&model)?.configuration;
    let system = System::new(&model, &start, Choice::default())?;
    let recorded = Arc::new(system.record()?);
    let state = system.start_state(&recorded, 0.0);
    let (by_hand, hand_state) = problems::andrews_points_problem(false);
    println!(
        "Andrews to 0.03 s     steps  file ms  by hand ms  ratio   (rows, products, linear terms: {:?}, by hand {:?})",
        recorded.size(),
        by_hand.size()
    );
    for rel in [1e-8, 1e-10, 1e-12] {
        let options = Options::new(rel).abs(1e-3 * rel);
        let mut steps = 0;
        let mut time = |problem: &Arc<fourbar_dae::Problem>, state: &fourbar_dae::State| {
            shortest_cpu(200, || {
                if let Ok(mut run) = Integrator::new(problem, state, options.clone()) {
                    let _ = run.run_to(0.03);
                    steps = run.work().steps;
                }
            })
        };
        let (file, hand) = (time(&recorded, &state), time(&by_hand, &hand_state));
        println!("  local {rel:.0e}         {steps:>5}  {:>7.3}  {:>10.3}  {:.2}", 1e3 * file, 1e3 * hand, file / hand);
    }
    let (t, _) = seconds(&model, &study(&model, 0.03, 1e-9), 50)?;
    println!("  whole run, tol 1e-9: {:.2} ms with assembly's start to poses", 1e3 * t);
    Ok(())
}

/// Ten seconds of the ladder, which passes a singular position every half turn.
fn dead_points() -> Result<(), Failure> {
    let model = shipped("a02_n_fourbar_N40");
    let text = include_str!("../../crates/fourbar/tests/data/a02_n_fourbar_N40.csv");
    let (names, rows) = problems::read_table(text);
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap_or(0);
    let row = rows.iter().find(|r| (r[0] - 10.0).abs() < 1e-9).ok_or("no row at 10 s")?;
    let (x, y) = (row[column("B0.x")], row[column("B0.y")]);
    println!("ladder N = 40, 10 s   steps      ms  tip error");
    for tol in [1e-8, 1e-9, 1e-10] {
        let study = study(&model, 10.0, tol);
        let (t, steps) = seconds(&model, &study, 3)?;
        let start = assemble(&model)?.configuration;
        let (formulation, integrator) = study.method(&model)?;
        let mut m = (formulation.start)(&fourbar::Structure::new(&model, &start), &study, integrator, &start)?;
        m.advance(10.0, &mut |_| true)?;
        let mut last = Instant::new(&model, &start);
        m.instant(10.0, &mut last)?;
        let tip = &model.points.iter().find(|(n, _)| n == "B0").ok_or("no point B0")?.1;
        let p = last.q[tip.body.index()].point(&tip.s);
        println!("  tol {tol:.0e}           {steps:>5}  {:>6.1}  {:.1e}", 1e3 * t, ((p.x - x).powi(2) + (p.y - y).powi(2)).sqrt());
    }
    Ok(())
}

/// A family of mechanisms: name, function, and the numbers of bodies.
type Shape = (&'static str, fn(usize) -> Model, &'static [usize]);

/// Growth with the number of bodies: set-up alone, and whole runs.
fn growth() -> Result<(), Failure> {
    const SIZES: &[usize] = &[10, 30, 100, 300, 1000];
    let shapes: [Shape; 4] = [
        ("hanging chain in space", |n| chain(n, false), SIZES),
        ("chain in a plane between two supports", ring, SIZES),
        ("branches of ten links on a trunk", |n| branches(n / 10, 10), &[30, 100, 300, 1000]),
        ("four-bar ladder", ladder, &[5, 15, 50, 150, 300]),
    ];
    for (name, make, sizes) in shapes {
        println!("{name}, 0.2 s");
        println!("                      bodies  steps      ms  us per body and step  us of set-up per body");
        for &n in sizes {
            let model = make(n);
            let bodies = (model.bodies.len() - 1) as f64;
            let study = study(&model, 0.2, 1e-8);
            let runs = if n > 100 { 2 } else { 5 };
            let start = assemble(&model)?.configuration;
            let (formulation, integrator) = study.method(&model)?;
            let set_up = shortest_cpu(runs, || {
                let _ = (formulation.start)(&fourbar::Structure::new(&model, &start), &study, integrator, &start);
            });
            let (t, steps) = seconds(&model, &study, runs)?;
            let per_step = 1e6 * (t - set_up) / (bodies * steps);
            println!("                      {bodies:>6}  {steps:>5}  {:>6.1}  {per_step:>20.2}  {:>21.1}", 1e3 * t, 1e6 * set_up / bodies);
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    andrews()?;
    dead_points()?;
    growth()
}
