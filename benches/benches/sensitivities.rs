//! Cost of derivatives of a run: the motion of a chain of eight rods with derivatives by eight parameters compared with the run alone, both
//! in joint coordinates by the classical method with the same steps, where central differences take sixteen runs; a four-bar, a six-bar and
//! a spatial loop with eight parameters in natural coordinates, for the final values and for measures that read every row; a chain of 143
//! rods and a ring of 20, with seven parameters each, by the adjoint method.
//!
//! With an argument (`plain`, `eight`, `back-plain`, `back`, `ring-plain`, `ring`) one of them runs once, to count instructions: `valgrind
//! --tool=callgrind target/debug/deps/sensitivities-... eight`; with `loop K T N MEASURE` loop K for T seconds, without derivatives if N is
//! 0, otherwise with derivatives of a measure of all rows, or of the end, by N parameters.

use fourbar::spec::{Inertia, ModelSpec};
use fourbar::study::Study;
use fourbar::trajectory::Column;
use fourbar::{Error, Model, Simulation};
use fourbar_bench::*;
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::{Parameters, of_many, of_measures, of_rows};
use fourbar_testing::four_bar::FourBar;
use std::sync::Arc;

/// A chain whose rods have separate mass parameters.
fn build(spec: &ModelSpec, masses: &[f64]) -> Result<Model, Error> {
    let mut spec = spec.clone();
    for ((_, body), m) in spec.bodies.iter_mut().zip(masses) {
        body.mass = *m;
        body.inertia = Inertia::Principal([1e-3 * m, m / 12.0, m / 12.0]);
    }
    spec.build()
}

/// A chain of rods with seven parameters each: mass, three moments of inertia and the position of its centre.
fn numbers(spec: &ModelSpec, p: &[f64]) -> Result<Model, Error> {
    let mut spec = spec.clone();
    for ((_, body), own) in spec.bodies.iter_mut().zip(p.chunks_exact(7)) {
        body.mass = own[0];
        body.inertia = Inertia::Principal([own[1], own[2], own[3]]);
        (0..3).for_each(|i| body.at[i] += own[4 + i]);
    }
    spec.build()
}

/// Number of rods of a ring.
const RING: usize = 20;

/// A long chain with the adjoint method, hanging in joint coordinates or closed to a ring in absolute ones: the run alone, or with its
/// derivatives. Returns the size of the stored states in bytes.
fn back(rods: usize, ring: bool, t_end: f64, alone: bool) -> usize {
    let spec = if ring { ring_spec(rods) } else { chain_spec(rods, false) };
    let make = |p: &[f64]| numbers(&spec, p);
    let values: Vec<f64> = (0..rods).flat_map(|_| [1.0, 0.01, 0.09, 0.09, 0.0, 0.0, 0.0]).collect();
    let names: Vec<String> = (0..values.len()).map(|k| format!("p{k}")).collect();
    let parameters = Parameters::new(names, values, &make);
    let model = Arc::new(parameters.model().unwrap_or_else(|e| panic!("{e}")));
    let mut study = steps(&model, t_end, 2.5e-4);
    if ring {
        study.formulation = Some("so3xr3".into());
    }
    if alone {
        run(&model, &study);
        return 0;
    }
    let which: Vec<usize> = (0..7 * rods).collect();
    let name = if ring { format!("last(link{}.r.y)", rods / 2 + 1) } else { format!("last(link{rods}.r.z)") };
    let of = |columns: &[Column], _: &[f64]| -> Result<Vec<Measure>, Error> { Ok(vec![Measure::new(&name, columns)?]) };
    let many = of_many(&parameters, &study, &which, &of).unwrap_or_else(|e| panic!("{e}"));
    many.map_or(0, |m| m.kept)
}

/// A mechanism with loops from a text in natural coordinates: the run alone, or with derivatives by the first of its parameters, of a final
/// value or of a measure that reads every row.
fn closed(text: &str, t_end: f64, count: usize, [end, every]: [&str; 2]) {
    let loaded = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let file = fourbar_io::Variations::new(&loaded, None, &[], false).unwrap_or_else(|e| panic!("{e}"));
    let (names, values): (Vec<String>, Vec<f64>) = loaded.parameters.iter().cloned().unzip();
    let make = |p: &[f64]| file.model(&names.iter().map(String::as_str).zip(p.iter().copied()).collect::<Vec<_>>());
    let parameters = Parameters::new(names.clone(), values, &make);
    let model = Arc::new(parameters.model().unwrap_or_else(|e| panic!("{e}")));
    let study = Study {
        analysis: None,
        formulation: Some("natural".into()),
        tol: Some(1e-9),
        t_end,
        output_step: if every.is_empty() { t_end } else { 0.01 },
        ..Study::of(&model)
    };
    if count == 0 {
        return run(&model, &study);
    }
    let which: Vec<usize> = (0..count).collect();
    let of = |columns: &[Column], _: &[f64]| -> Result<Vec<Measure>, Error> {
        Ok(vec![Measure::new(if every.is_empty() { end } else { every }, columns)?])
    };
    let found = of_measures(&parameters, &study, &which, &of).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.run.method, fourbar_design::sensitivities::Method::Series);
}

/// Mechanisms with loops and at least eight parameters, with their measures: at the end, and of every row.
fn loops() -> [(&'static str, String, &'static str, [&'static str; 5]); 3] {
    let example = |name: &str| fourbar_io::examples::example(name).map(|e| e.text.to_string()).unwrap_or_default();
    let six = example("watt_six_bar").replace("drives:\n  motor: {joint: O, angle: turn*t}\n", "").replace("analysis: kinematics, ", "");
    let mut spatial = example("nc_rscr")
        .replace(
            "gravity: [0, 0, 0]",
            "parameters: {m1: 1, m2: 2, m3: 1.5, j1: 0.0075, j2: 0.135, j3: 0.08, w: 9.81, x: -1}\ngravity: [0, 0, -w]",
        )
        .replace("at: [-1, 0, 0]", "at: [x, 0, 0]");
    for (k, (m, j)) in [("1", "0.0075"), ("2", "0.135"), ("1.5", "0.08")].iter().enumerate() {
        spatial = spatial.replace(&format!("mass: {m}\n"), &format!("mass: m{}\n", k + 1));
        spatial = spatial.replace(&format!("{j}, {j}]"), &format!("j{n}, j{n}]", n = k + 1));
    }
    let hinges = ["mean(crank.r.x)", "rms(O.speed)", "mean(energy.kinetic)", "rms(O.acceleration)", "mean(abs(O.force.x))"];
    let spatial_ones = ["mean(part1.r.x)", "rms(J1.speed)", "mean(energy.kinetic)", "rms(J1.acceleration)", "mean(abs(J1.force.x))"];
    [
        ("four-bar of hinges in space", FourBar::round().text(), "last(crank.r.x)", hinges),
        ("six-bar of hinges in space", six, "last(crank.r.x)", hinges),
        ("loop of a hinge, a ball, a cylinder and a hinge", spatial, "last(part1.r.x)", spatial_ones),
    ]
}

/// Settings with fixed steps of the classical method.
fn steps(model: &Model, t_end: f64, step: f64) -> Study {
    Study {
        formulation: Some("grcr".into()),
        integrator: Some("rk4".into()),
        step: Some(step),
        t_end,
        output_step: t_end,
        ..Study::of(model)
    }
}

fn run(model: &Arc<Model>, study: &Study) {
    let mut s = Simulation::new(model, study).unwrap_or_else(|d| panic!("{d}"));
    s.run_ahead(study.t_end);
    for t in study.output_times() {
        s.advance(t).unwrap_or_else(|d| panic!("{d}"));
    }
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (t_end, runs) = if quick { (0.01, 1) } else { (5.0, 5) };
    let n = 8;
    let spec = chain_spec(n, false);
    let make = |masses: &[f64]| build(&spec, masses);
    let names: Vec<String> = (1..=n).map(|k| format!("m{k}")).collect();
    let parameters = Parameters::new(names, vec![1.0; n], &make);
    let model = Arc::new(parameters.model().unwrap_or_else(|e| panic!("{e}")));
    let last = |run: &fourbar::Trajectory| Ok((0..run.len()).map(|k| k + 1 == run.len()).collect());
    match std::env::args().nth(1).as_deref() {
        Some("plain") => return run(&model, &steps(&model, 5.0, 1e-3)),
        Some("eight") => {
            let all: Vec<usize> = (0..n).collect();
            let found = of_rows(&parameters, &steps(&model, 5.0, 1e-3), &all, &last).unwrap_or_else(|e| panic!("{e}"));
            return println!("{:?}", found.method);
        }
        Some("loop") => {
            let word = |k: usize| std::env::args().nth(k).unwrap_or_default();
            let number = |k: usize| word(k).parse::<usize>().unwrap_or(0);
            let (_, text, end, _) = &loops()[number(2).min(2)];
            return closed(text, number(3).max(1) as f64, number(4), [end, &word(5)]);
        }
        Some("back-plain") => return println!("{}", back(143, false, 5.0, true)),
        Some("back") => return println!("{} bytes kept", back(143, false, 5.0, false)),
        Some("ring-plain") => return println!("{}", back(RING, true, 0.1, true)),
        Some("ring") => return println!("{} bytes kept", back(RING, true, 0.1, false)),
        _ => {}
    }
    let study = steps(&model, t_end, 1e-3);
    let plain = shortest_cpu(runs, || run(&model, &study));
    println!("chain of {n} rods, {} steps of rk4 in joint coordinates: {:.1} ms", t_end / 1e-3, 1e3 * plain);
    for count in [1, 2, 4, 8] {
        let which: Vec<usize> = (0..count).collect();
        let whole = shortest_cpu(runs, || {
            let run = of_rows(&parameters, &study, &which, &last).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(run.slopes.len(), count);
        });
        println!(
            "  derivatives by {count} of its parameters: {:.1} ms, {:.2} runs (differences: {})",
            1e3 * whole,
            whole / plain,
            2 * count
        );
    }
    for (name, text, end, measures) in &loops() {
        let plain = shortest_cpu(runs, || closed(text, t_end, 0, [end, ""]));
        println!("{name}, {t_end} s in natural coordinates: {:.1} ms", 1e3 * plain);
        for count in [1, 2, 4, 8] {
            let whole = shortest_cpu(runs, || closed(text, t_end, count, [end, ""]));
            println!(
                "  derivatives by {count} of its parameters: {:.1} ms, {:.2} runs (differences: {})",
                1e3 * whole,
                whole / plain,
                2 * count
            );
        }
        // Building the neighbouring mechanisms takes the same time however long the motion is.
        let longer = 4.0 * t_end;
        let [plain, whole] = [0, 8].map(|count| shortest_cpu(runs, || closed(text, longer, count, [end, ""])));
        println!("  {longer} s instead, by 8 of its parameters: {:.1} ms, {:.2} runs", 1e3 * whole, whole / plain);
        let plain = shortest_cpu(runs, || closed(text, t_end, 0, [end, "rows"]));
        println!("the same with a row every 10 ms: {:.1} ms", 1e3 * plain);
        for measure in measures {
            let whole = shortest_cpu(runs, || closed(text, t_end, 8, [end, measure]));
            println!("  derivatives of `{measure}` by 8 parameters: {:.1} ms, {:.2} runs (differences: 16)", 1e3 * whole, whole / plain);
        }
    }
    let (rods, t_end) = if quick { (3, 0.01) } else { (143, 5.0) };
    for (ring, rods, t_end) in [(false, rods, t_end), (true, rods.min(RING), 0.1 * t_end)] {
        let plain = shortest_cpu(runs.min(2), || {
            back(rods, ring, t_end, true);
        });
        let mut kept = 0;
        let whole = shortest_cpu(1, || kept = back(rods, ring, t_end, false));
        println!(
            "{} of {rods} rods, {} steps, by {} parameters: {whole:.2} s, {:.2} runs, {}",
            if ring { "ring" } else { "chain" },
            t_end / 2.5e-4,
            7 * rods,
            whole / plain,
            if kept > 0 { "gone back" } else { "not gone back" }
        );
    }
}
