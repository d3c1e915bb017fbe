//! The numerical experiments of [Kissel21, section 4] with our three formulations: Tables 8 to 10 and Figs. 2 to 7, written to
//! `docs/studies/kissel21`.

mod measure;
mod page;

use crate::root;
use fourbar::Model;
use fourbar::integrator::Method;
use fourbar_bench::shipped;
use fourbar_io::plot::{Curve, svg};
use measure::{Chart3, Run, dynamics, kinematics};
use std::path::Path;

/// The driven mechanisms of the paper.
const DRIVEN: [(&str, &str); 3] =
    [("1-pendulum", "ra_single_pendulum"), ("four link", "ra_four_link"), ("slider-crank", "ra_slider_crank")];
/// Rounds of timing; the three formulations take turns, and of every fifty steps the shortest time counts.
const ROUNDS: usize = 20;
const STEPS: [f64; 7] = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2];

/// Three numbers, for rA, rp and reps.
type Three = [f64; 3];
/// A row of a table: its name, times in microseconds per step, iterations per step.
type Row = (String, Three, Three);

/// What was measured.
struct Results {
    table8: Vec<Row>,
    table9: Vec<(String, Three, Three)>,
    fig2: Vec<(f64, Three)>,
    table10: Vec<Row>,
    fig3: Vec<(f64, Three)>,
    fig4: Vec<(f64, Three)>,
    /// Errors of velocity and acceleration against the step, by figure.
    orders: [Vec<(f64, Three, Three)>; 3],
    profile: Vec<measure::Phases>,
}

/// Runs all of it and writes the page with its figures.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask study kissel21".into());
    }
    let folder = root().join("docs/studies/kissel21");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let results = Results {
        table8: both_forms(|model| best(|c| kinematics(c, model, &Run { h: 1e-3, steps: 3000, correction: 1e-10, plain: false })))?,
        table9: DRIVEN
            .iter()
            .map(|(name, file)| {
                let model = shipped(&format!("{file}_primitives"));
                let count =
                    |plain| three(|c| Ok(kinematics(c, &model, &Run { h: 1e-3, steps: 3000, correction: 1e-10, plain })?.iterations));
                Ok((name.to_string(), count(true)?, count(false)?))
            })
            .collect::<Result<_, String>>()?,
        fig2: fig2(&folder)?,
        table10: table10()?,
        fig3: fig3(&folder)?,
        fig4: fig4(&folder)?,
        orders: [
            order(&folder, 5, "single pendulum, z of the pendulum", "ra_single_pendulum", ("pendulum", 2))?,
            order(&folder, 6, "slider-crank, x of the slider", "ra_slider_crank", ("slider", 0))?,
            order(&folder, 7, "four link, z of the third link", "ra_four_link", ("link3", 2))?,
        ],
        profile: ["ra_single_pendulum", "ra_double_pendulum", "ra_four_link", "ra_slider_crank"]
            .iter()
            .map(|name| measure::phases(name, &shipped(name)))
            .collect::<Result<_, String>>()?,
    };
    let path = folder.join("README.md");
    std::fs::write(&path, page::text(&results)).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("docs/studies/kissel21 is written");
    Ok(())
}

fn three(mut f: impl FnMut(Chart3) -> Result<f64, String>) -> Result<Three, String> {
    Ok([f(Chart3::Ra)?, f(Chart3::Rp)?, f(Chart3::Reps)?])
}

/// Shortest times and iterations of the three, taken in turn.
fn best(mut f: impl FnMut(Chart3) -> Result<measure::Cost, String>) -> Result<(Three, Three), String> {
    let mut costs = [f(Chart3::Ra)?, f(Chart3::Rp)?, f(Chart3::Reps)?];
    for _ in 1..ROUNDS {
        for (cost, c) in costs.iter_mut().zip([Chart3::Ra, Chart3::Rp, Chart3::Reps]) {
            cost.shorten(&f(c)?);
        }
    }
    Ok((costs.each_ref().map(|c| c.microseconds()), costs.each_ref().map(|c| c.iterations)))
}

/// The driven mechanisms with joints and in bare primitives.
fn both_forms(mut f: impl FnMut(&Model) -> Result<(Three, Three), String>) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (name, file) in DRIVEN {
        for (form, file) in [("bare primitives", format!("{file}_primitives")), ("joints", file.to_string())] {
            let (times, iterations) = f(&shipped(&file))?;
            println!("{name}, {form}: {times:.2?} us, {iterations:.2?} iterations");
            rows.push((format!("{name}, {form}"), times, iterations));
        }
    }
    Ok(rows)
}

fn table10() -> Result<Vec<Row>, String> {
    // Theta bounds corrections of accelerations; those of positions are h^2 times as large.
    let run = Run { h: 1e-3, steps: 3000, correction: 1e-3 * 1e-6, plain: false };
    let mut rows = both_forms(|model| best(|c| dynamics(c, model, Method::BackwardEuler, &run)))?;
    let (times, iterations) = best(|c| dynamics(c, &shipped("ra_double_pendulum"), Method::BackwardEuler, &Run { steps: 5000, ..run }))?;
    rows.insert(2, ("2-pendulum, joints".into(), times, iterations));
    Ok(rows)
}

fn fig2(folder: &Path) -> Result<Vec<(f64, Three)>, String> {
    let model = shipped("ra_four_link_primitives");
    let points: Vec<(f64, Three)> = STEPS
        .iter()
        .map(|&h| {
            let run = Run { h, steps: (3.0 / h).round() as usize, correction: 1e-11, plain: true };
            Ok((h, three(|c| Ok(kinematics(c, &model, &run)?.iterations))?))
        })
        .collect::<Result<_, String>>()?;
    let title = "Fig. 2: four link, kinematics, corrections per step until below 1e-11 m";
    draw(folder, "fig2", title, "corrections", &points)?;
    Ok(points)
}

fn fig4(folder: &Path) -> Result<Vec<(f64, Three)>, String> {
    let model = shipped("ra_four_link");
    let points: Vec<(f64, Three)> = STEPS
        .iter()
        .map(|&h| {
            let run = Run { h, steps: (3.0 / h).round() as usize, correction: 1e-11, plain: false };
            Ok((h, three(|c| Ok(dynamics(c, &model, Method::BackwardEuler, &run)?.iterations))?))
        })
        .collect::<Result<_, String>>()?;
    draw(folder, "fig4", "Fig. 4: four link, dynamics, Newton iterations per step, Theta h^2 = 1e-11", "iterations", &points)?;
    Ok(points)
}

/// Largest distance from the reference in z of the second rod, and its course in time at h = 1e-3.
fn fig3(folder: &Path) -> Result<Vec<(f64, Three)>, String> {
    let reference = measure::reference("ra_double_pendulum", "rod2.z")?;
    let model = shipped("ra_double_pendulum");
    let mut points = Vec::new();
    let mut curves: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
    for h in [1e-2, 1e-3, 1e-4] {
        let mut worst = [0.0; 3];
        for (k, c) in [Chart3::Ra, Chart3::Rp, Chart3::Reps].into_iter().enumerate() {
            let errors = measure::distance(c, &model, h, &reference, 2, 2)?;
            worst[k] = errors.iter().fold(0.0_f64, |s, (_, e)| s.max(*e));
            // Zero at the start has no logarithm.
            let (t, e): (Vec<f64>, Vec<f64>) = errors.iter().skip(1).map(|(t, e)| (*t, e.max(1e-16).log10())).unzip();
            curves.push((format!("{}, h = {h:.0e}", c.name()), t, e));
        }
        points.push((h, worst));
    }
    let curves: Vec<Curve<'_>> = curves.iter().map(|(name, t, e)| Curve { name, unit: "", x: t, y: e }).collect();
    write(folder, "fig3", svg("Fig. 3: double pendulum, log10 of the distance from the reference, z of rod 2 [m]", ("t", "s"), &curves))?;
    Ok(points)
}

/// Errors of velocity and acceleration of the method itself after 3 s, against kinematics.
fn order(folder: &Path, number: usize, what: &str, file: &str, (body, axis): (&str, usize)) -> Result<Vec<(f64, Three, Three)>, String> {
    let model = shipped(file);
    let b = model.bodies.iter().position(|x| x.name == body).ok_or(format!("{file} has no body {body}"))?;
    let (v, a) = measure::truth(&model, 3.0, b, axis)?;
    let mut points = Vec::new();
    for h in STEPS {
        let (mut e_v, mut e_a) = ([0.0; 3], [0.0; 3]);
        for (k, c) in [Chart3::Ra, Chart3::Rp, Chart3::Reps].into_iter().enumerate() {
            let (own_v, own_a) = measure::end(c, &model, h, 3.0, b, axis)?;
            (e_v[k], e_a[k]) = ((own_v - v).abs(), (own_a - a).abs());
        }
        points.push((h, e_v, e_a));
    }
    let x: Vec<f64> = points.iter().map(|p| p.0.log10()).collect();
    let mut curves: Vec<(String, Vec<f64>)> = Vec::new();
    // The paper shows rA alone for the single pendulum.
    for (k, name) in ["rA", "rp", "reps"].iter().enumerate().take(if number == 5 { 1 } else { 3 }) {
        curves.push((format!("velocity, {name}"), points.iter().map(|p| p.1[k].log10()).collect()));
        curves.push((format!("acceleration, {name}"), points.iter().map(|p| p.2[k].log10()).collect()));
    }
    curves.push(("order 1".into(), points.iter().map(|p| (p.0 * points[3].2[0] / points[3].0).log10()).collect()));
    let curves: Vec<Curve<'_>> = curves.iter().map(|(name, y)| Curve { name, unit: "", x: &x, y }).collect();
    let title = format!("Fig. {number}: {what}, log10 of the error at 3 s; backward Euler");
    write(folder, &format!("fig{number}"), svg(&title, ("log10 h", ""), &curves))?;
    Ok(points)
}

fn draw(folder: &Path, name: &str, title: &str, what: &str, points: &[(f64, Three)]) -> Result<(), String> {
    let x: Vec<f64> = points.iter().map(|p| p.0.log10()).collect();
    let lines: Vec<(String, Vec<f64>)> =
        ["rA", "rp", "reps"].iter().enumerate().map(|(k, n)| (format!("{what}, {n}"), points.iter().map(|p| p.1[k]).collect())).collect();
    let curves: Vec<Curve<'_>> = lines.iter().map(|(name, y)| Curve { name, unit: "", x: &x, y }).collect();
    write(folder, name, svg(title, ("log10 h", ""), &curves))
}

fn write(folder: &Path, name: &str, picture: Option<String>) -> Result<(), String> {
    let path = folder.join(format!("{name}.svg"));
    let picture = picture.ok_or(format!("{name}: nothing to draw"))?;
    std::fs::write(&path, picture).map_err(|e| format!("{}: {e}", path.display()))
}
