//! Local and global errors against tolerances, as tables and as a plot: `cargo bench --bench accuracy -- --svg FILE`.

#[path = "../tests/problems/local.rs"]
mod local;
#[path = "../tests/problems/mod.rs"]
mod problems;

use fourbar_dae::{Integrator, Options, Problem, State};
use local::{local_errors, median};
use problems::*;
use std::sync::Arc;

struct Case {
    name: &'static str,
    problem: Arc<Problem>,
    start: State,
    end: f64,
    options: fn(f64) -> Options,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pendulum_problem = Arc::new(Problem::record(&["u", "v", "lambda"], pendulum)?);
    let kepler_problem = Arc::new(Problem::record(&["x", "y"], kepler)?);
    let pendula = Arc::new(Problem::record(&["x", "y", "lambda", "u", "v", "mu"], two_pendula)?);
    let (andrews, andrews_start) = andrews_problem(false);
    let cases = [
        Case {
            name: "pendulum, index 3",
            start: pendulum_problem.start(0.0).hold("u", 0, 6.0).guess("v", 0, 8.0).solve()?,
            problem: pendulum_problem,
            end: 20.0,
            options: Options::new,
        },
        Case {
            name: "Kepler, eccentricity 0.5",
            start: kepler_start(&kepler_problem, 0.5),
            problem: kepler_problem,
            end: 12.0,
            options: Options::new,
        },
        Case {
            name: "two pendula, index 5",
            start: pendula.start(0.0).hold("x", 0, 1.0).hold("u", 0, 0.8).guess("v", 0, 0.5).hold("u", 1, 0.0).solve()?,
            problem: pendula,
            end: 5.0,
            options: Options::new,
        },
        Case { name: "Andrews' mechanism", problem: andrews, start: andrews_start, end: 0.03, options: andrews_options },
    ];
    let mut curves = Vec::new();
    for case in cases {
        let mut points = Vec::new();
        println!("{} to t = {}", case.name, case.end);
        println!("  tolerance  steps  local error/tolerance: median, largest   global error/tolerance");
        let finish = |tol: f64| -> Result<State, fourbar_dae::Error> {
            let mut run = Integrator::new(&case.problem, &case.start, (case.options)(tol))?;
            run.run_to(case.end)?;
            Ok(run.state())
        };
        let exact = finish(1e-16)?;
        for exponent in 4..=14 {
            let tol = 10f64.powi(-exponent);
            let ratios = local_errors(&case.problem, &case.start, &(case.options)(tol), case.end);
            let end = finish(tol)?;
            let differs = |j: usize| (end.get(j, 0).unwrap_or(0.0) - exact.get(j, 0).unwrap_or(0.0)).abs();
            let carried = (0..case.problem.variables().len()).filter(|&j| case.problem.structure().d()[j] > 0);
            let global = carried.map(differs).fold(0.0, f64::max);
            let largest = ratios.iter().fold(0.0f64, |m, x| m.max(*x));
            points.push((tol, median(&ratios) * tol, largest * tol, global));
            println!("  {tol:.0e}      {:5}  {:6.3} {largest:6.3}  {:10.2}", ratios.len() + 3, median(&ratios), global / tol);
        }
        curves.push((case.name, points));
    }
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--svg") {
        std::fs::write(arguments.get(at + 1).map_or("errors.svg", |s| s.as_str()), plot(&curves))?;
    }
    Ok(())
}

/// Tolerance, median and largest local error, global error.
type Point = (f64, f64, f64, f64);

type Value = fn(&Point) -> f64;

/// Errors over tolerances, both logarithmic; one panel per problem. Dashed: error equal to tolerance.
fn plot(curves: &[(&str, Vec<Point>)]) -> String {
    let (size, gap) = (230.0, 60.0);
    let across = |tol: f64| (-tol.log10() - 3.0) / 12.0 * size;
    let down = |error: f64| (-error.max(1e-16).log10() / 16.0 * size).clamp(0.0, size);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        curves.len() as f64 * (size + gap) + gap,
        size + 2.0 * gap
    );
    for (n, (name, points)) in curves.iter().enumerate() {
        let left = gap + n as f64 * (size + gap);
        svg += &format!("<g transform=\"translate({left},{gap})\">\n<text x=\"0\" y=\"-10\">{}</text>\n", name.replace('\'', "&#39;"));
        svg += &format!("<rect width=\"{size}\" height=\"{size}\" fill=\"none\" stroke=\"black\"/>\n");
        for exponent in [4, 8, 12] {
            let (x, y) = (across(10f64.powi(-exponent)), down(10f64.powi(-exponent)));
            svg += &format!("<text x=\"{:.1}\" y=\"{:.1}\">1e-{exponent}</text>\n", x - 12.0, size + 15.0);
            svg += &format!("<text x=\"-36\" y=\"{:.1}\">1e-{exponent}</text>\n", y + 4.0);
        }
        let line = |value: Value| -> String { points.iter().map(|p| format!("{:.1},{:.1} ", across(p.0), down(value(p)))).collect() };
        let lines: [(Value, &str); 4] =
            [(|p| p.0, "gray\" stroke-dasharray=\"4"), (|p| p.1, "#1f77b4"), (|p| p.2, "#2ca02c"), (|p| p.3, "#d62728")];
        for (value, colour) in lines {
            svg += &format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>\n", line(value));
        }
        svg += "</g>\n";
    }
    let words = "blue: median local error, green: largest local error, red: global error, dashed: tolerance (horizontal axis)";
    svg + &format!("<text x=\"{gap}\" y=\"{}\">{words}</text>\n</svg>\n", size + 1.8 * gap)
}
