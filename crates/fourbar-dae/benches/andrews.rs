//! Andrews' squeezing mechanism: work against precision, beside the figures measured for SUNDIALS IDAS.
//!
//! IDAS: index-1 form through CasADi 3.8.2 (expression graph, not compiled C), processor time on two virtual cores of an
//! AMD EPYC at 0.03 s, error as the largest angle difference at the end. Take ratios as valid for the same machine only.

#[path = "../tests/problems/mod.rs"]
mod problems;
mod support;

use fourbar_dae::{Integrator, Options, Problem, State};
use problems::*;
use std::sync::Arc;
use support::best;

/// Processor time in milliseconds and error of IDAS at relative tolerances 1e-6, 1e-8, 1e-10.
const IDAS: [(f64, f64); 3] = [(12.1, 2.9e-5), (21.9, 2.7e-7), (33.6, 6.2e-9)];

type Error = Box<dyn std::error::Error>;

struct Form {
    name: &'static str,
    problem: Arc<Problem>,
    with_outputs: Arc<Problem>,
    start: State,
    options: fn(f64) -> Options,
    /// Largest angle error at 0.03 s.
    error: fn(&Integrator, &[f64]) -> f64,
}

fn angle_error(run: &Integrator, exact: &[f64]) -> f64 {
    (0..7).map(|j| (run.at(0.03, j, 0).unwrap_or(f64::NAN) - exact[j]).abs()).fold(0.0, f64::max)
}

/// Angles of all seven bodies from the points; whole turns do not matter here.
fn point_error(run: &Integrator, exact: &[f64]) -> f64 {
    let at = |j: usize| run.at(0.03, j, 0).unwrap_or(f64::NAN);
    let turn = |x: f64, y: f64, angle: f64| (y * angle.cos() - x * angle.sin()).atan2(x * angle.cos() + y * angle.sin()).abs();
    let e = (at(2), at(3));
    [
        turn(at(0), at(1), exact[0]),
        turn(at(0) - e.0, at(1) - e.1, exact[0] + exact[1]),
        // E - B = -i ss e(gamma)
        turn(-(e.1 - 0.03273), e.0 + 0.03635, exact[2]),
        turn(-(e.1 - at(5)), e.0 - at(4), exact[3] + exact[4]),
        turn(at(4) + 0.06934, at(5) + 0.00227, exact[4]),
        turn(e.0 - at(6), e.1 - at(7), exact[5] + exact[6]),
        turn(-(at(7) + 0.00227), at(6) + 0.06934, exact[6]),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}

fn main() -> Result<(), Error> {
    let (_, rows) = read_table(include_str!("../tests/data/andrews.csv"));
    let exact = &rows[rows.len() - 1][1..8];
    let forms = [
        Form {
            name: "angles (13 unknowns)",
            problem: andrews_problem(false).0,
            with_outputs: andrews_problem(true).0,
            start: andrews_problem(false).1,
            options: andrews_options,
            error: angle_error,
        },
        Form {
            name: "natural coordinates (15 unknowns)",
            problem: andrews_points_problem(false).0,
            with_outputs: andrews_points_problem(true).0,
            start: andrews_points_problem(false).1,
            options: Options::new,
            error: point_error,
        },
    ];
    let (record_angles, _) = best(3, || andrews_problem(false));
    let (record_points, _) = best(3, || andrews_points_problem(false));
    println!("recording and analysis: {:.3} ms in angles, {:.3} ms in points", record_angles * 1e3, record_points * 1e3);
    for form in &forms {
        println!("\n{}", form.name);
        let mut curve = Vec::new();
        for exponent in 4..=15 {
            let tol = 10f64.powi(-exponent);
            let (time, run) = best(4, || -> Result<Integrator, Error> {
                let mut run = Integrator::new(&form.problem, &form.start, (form.options)(tol))?;
                run.run_to(0.03)?;
                Ok(run)
            });
            let run = run?;
            let error = (form.error)(&run, exact);
            curve.push((time, error));
            println!(
                "  tolerance {tol:.0e}: order {:2}, {:2} steps, {:.2} ms, largest angle error {error:.1e}",
                run.order(),
                run.work().steps,
                time * 1e3
            );
        }
        let needed = |error: f64| curve.iter().filter(|c| c.1 <= error).map(|c| c.0).fold(f64::INFINITY, f64::min);
        for (ms, error) in IDAS {
            let own = needed(error) * 1e3;
            println!("  error {error:.1e}: {own:.2} ms against {ms} ms of IDAS, ratio {:.3}", own / ms);
        }
        for error in [1e-6, 1e-8, 1e-10, 1e-12] {
            println!("  error {error:.0e}: {:.2} ms", needed(error) * 1e3);
        }
        split(form)?;
        hundred_turns(form)?;
    }
    Ok(())
}

/// Distribution of the time of a step.
fn split(form: &Form) -> Result<(), Error> {
    let mut options = (form.options)(1e-10);
    options.profile = true;
    let mut least = [f64::INFINITY; 3];
    for _ in 0..20 {
        let mut run = Integrator::new(&form.problem, &form.start, options.clone())?;
        run.run_to(0.03)?;
        let n = run.work().expansions as f64;
        let p = run.profile();
        for (a, b) in least.iter_mut().zip([p.coefficients, p.linear_algebra, p.projection]) {
            *a = a.min(b.as_secs_f64() / n * 1e6);
        }
    }
    println!(
        "  a step at 1e-10: coefficients {:.1} us, linear algebra {:.1} us, projection {:.1} us (clock calls included)",
        least[0], least[1], least[2]
    );
    for (name, limit) in [("dense", usize::MAX), ("sparse", 0)] {
        let mut options = (form.options)(1e-10);
        options.dense_limit = limit;
        let (time, run) = best(3, || Integrator::new(&form.problem, &form.start, options.clone())?.run_to(0.03));
        run?;
        println!("  {name} factorisation: {:.2} ms at 1e-10", time * 1e3);
    }
    let (setup, _) = best(3, || Integrator::new(&form.problem, &form.start, (form.options)(1e-10)));
    println!("  setting up an integration: {:.3} ms", setup * 1e3);
    Ok(())
}

/// To 0.3 s, a hundred turns: time, and the balance of energy and work of the motor.
fn hundred_turns(form: &Form) -> Result<(), Error> {
    println!("  to 0.3 s (1e-12 is what Options::strict(1e-9) asks for):");
    for tol in [1e-9, 1e-10, 1e-11, 1e-12] {
        let (time, work) = best(3, || -> Result<_, Error> {
            let mut run = Integrator::new(&form.problem, &form.start, (form.options)(tol))?;
            run.run_to(0.3)?;
            Ok(run.work())
        });
        let mut run = Integrator::new(&form.with_outputs, &form.start, (form.options)(tol))?;
        let (mut first, mut worst, mut largest) = (None, 0.0f64, 0.0f64);
        let (mut angle, mut turned) = (ANDREWS_START[0], 0.0);
        run.run(0.3, |r| {
            let value = |n: &str| r.value(n, 0).unwrap_or(f64::NAN);
            let balance = if r.problem().output("balance").is_ok() {
                turned = value("beta") - ANDREWS_START[0];
                value("balance")
            } else {
                // Steps are far below half a turn.
                let now = value("Fy").atan2(value("Fx"));
                turned += (now - angle).sin().atan2((now - angle).cos());
                angle = now;
                value("energy") - 0.033 * turned
            };
            worst = worst.max((balance - *first.get_or_insert(balance)).abs());
            largest = largest.max(value("kinetic"));
        })?;
        println!(
            "    local tolerance {tol:.0e}: {:.1} ms, {} steps, {:.2} turns, energy balance to {:.1e} of the largest kinetic energy",
            time * 1e3,
            work?.steps,
            turned / std::f64::consts::TAU,
            worst / largest
        );
    }
    Ok(())
}
