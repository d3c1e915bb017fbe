//! The numerical experiments of [Kissel21, section 4] with the systems of the paper and with our three formulations: Tables 8 to 10 and
//! Figs. 2 to 7, written to `docs/studies/kissel21`.

mod literal;
mod measure;
mod page;
mod state;

use crate::root;
use fourbar::Model;
use fourbar::integrator::Method;
use fourbar_bench::shipped;
use fourbar_io::plot::{Curve, svg};
use literal::{Formulation, Newton};
use measure::{Chart3, Run, dynamics, kinematics};
use std::path::Path;

/// The driven mechanisms of the paper.
const DRIVEN: [(&str, &str); 3] =
    [("1-pendulum", "ra_single_pendulum"), ("four link", "ra_four_link"), ("slider-crank", "ra_slider_crank")];
/// Rounds of timing; the three formulations run in turn, and for each part of a run the shortest time counts.
const ROUNDS: usize = 10;
/// Rounds for the systems of the paper, which used ten runs.
const LITERAL_ROUNDS: usize = 10;
const STEPS: [f64; 7] = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2];

/// Three numbers, for rA, rp and reps.
type Three = [f64; 3];
/// A row of a table: its name, times in microseconds per step, iterations per step.
type Row = (String, Three, Three);

/// The systems as written in the paper, on one mechanism.
struct Literal {
    name: String,
    /// Number of unknowns.
    sizes: [usize; 3],
    /// Microseconds per step.
    times: Three,
    /// Iterations per step.
    iterations: Three,
    /// Arithmetic operations per step.
    operations: Three,
    /// Number of bodies with permuted axes for Euler angles.
    exchanged: usize,
    /// Numbers of constraints: CD, DP1, DP2, D.
    constraints: [usize; 4],
}

/// Iterations of position analysis: with the matrix kept, with full Newton, from the guess of Eq. (11), and with our method.
type Counts = [Three; 4];

/// All measurements.
struct Results {
    table8: Vec<Row>,
    /// With the matrix of the first iteration, and with a new one in every iteration.
    literal8: [Vec<Literal>; 2],
    table9: Vec<(String, Counts)>,
    fig2: Vec<(f64, [Three; 3])>,
    table10: Vec<Row>,
    literal10: [Vec<Literal>; 2],
    fig4_literal: Vec<(f64, [Three; 2])>,
    state_space: Vec<state::Compared>,
    fig3: Vec<(f64, Three)>,
    fig4: Vec<(f64, Three)>,
    /// Errors of velocity and acceleration over the step size, by figure.
    orders: [Vec<(f64, Three, Three)>; 3],
    profile: Vec<measure::Phases>,
}

/// The double pendulum of the paper in bare primitives: two revolute joints of three CD and two DP1 each.
const DOUBLE_PENDULUM: &str = "
fourbar: 1
title: Double pendulum in bare primitives
gravity: [0, 0, -9.81]
bodies:
  rod1: {mass: 78, inertia: [0.0325, 104, 104], at: [0, 2, 0], orientation: {quaternion: [0.5, 0.5, 0.5, 0.5]}}
  rod2: {mass: 39, inertia: [0.01625, 13.01, 13.01], at: [0, 4, -1], orientation: {axis: [0, 1, 0], angle: 90 deg}}
constraints:
  J1_x: {type: cd, axis: [1, 0, 0], from: {body: ground, at: [0, 0, 0]}, to: {body: rod1, world: [0, 0, 0]}, value: 0}
  J1_y: {type: cd, axis: [0, 1, 0], from: {body: ground, at: [0, 0, 0]}, to: {body: rod1, world: [0, 0, 0]}, value: 0}
  J1_z: {type: cd, axis: [0, 0, 1], from: {body: ground, at: [0, 0, 0]}, to: {body: rod1, world: [0, 0, 0]}, value: 0}
  J1_a: {type: dp1, axes: [{body: ground, at: [0, 1, 0]}, {body: rod1, world: [1, 0, 0]}], value: 0}
  J1_b: {type: dp1, axes: [{body: ground, at: [0, 0, 1]}, {body: rod1, world: [1, 0, 0]}], value: 0}
  J2_x: {type: cd, axis: [1, 0, 0], from: {body: rod1, world: [0, 4, 0]}, to: {body: rod2, world: [0, 4, 0]}, value: 0}
  J2_y: {type: cd, axis: [0, 1, 0], from: {body: rod1, world: [0, 4, 0]}, to: {body: rod2, world: [0, 4, 0]}, value: 0}
  J2_z: {type: cd, axis: [0, 0, 1], from: {body: rod1, world: [0, 4, 0]}, to: {body: rod2, world: [0, 4, 0]}, value: 0}
  J2_a: {type: dp1, axes: [{body: rod1, world: [0, 1, 0]}, {body: rod2, world: [1, 0, 0]}], value: 0}
  J2_b: {type: dp1, axes: [{body: rod1, world: [0, 0, 1]}, {body: rod2, world: [1, 0, 0]}], value: 0}
study: {analysis: dynamics, t_end: 5, output_step: 0.01}
";

/// The four mechanisms of the paper in bare primitives.
fn cases() -> Result<Vec<literal::Case>, String> {
    let mut list = Vec::new();
    for (name, file) in DRIVEN {
        list.push(literal::Case::new(name, &shipped(&format!("{file}_primitives")))?);
    }
    list.insert(1, literal::Case::new("2-pendulum", &fourbar_bench::written(DOUBLE_PENDULUM))?);
    Ok(list)
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
        literal8: [literal_rows(false, Newton::Kept)?, literal_rows(false, Newton::Full)?],
        table9: table9()?,
        fig2: fig2(&folder)?,
        table10: table10()?,
        literal10: [literal_rows(true, Newton::Kept)?, literal_rows(true, Newton::Full)?],
        fig4_literal: fig4_literal(&folder)?,
        state_space: state::compared()?,
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

/// Shortest times and iterations of the three formulations, run in turn.
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
    // Theta bounds corrections of accelerations; those of positions are smaller by the factor h^2.
    let run = Run { h: 1e-3, steps: 3000, correction: 1e-3 * 1e-6, plain: false };
    let mut rows = both_forms(|model| best(|c| dynamics(c, model, Method::BackwardEuler, &run)))?;
    let (times, iterations) = best(|c| dynamics(c, &shipped("ra_double_pendulum"), Method::BackwardEuler, &Run { steps: 5000, ..run }))?;
    rows.insert(2, ("2-pendulum, joints".into(), times, iterations));
    Ok(rows)
}

/// The literal systems on all mechanisms, in rounds with the three formulations in turn.
fn literal_rows(dynamic: bool, newton: Newton) -> Result<Vec<Literal>, String> {
    let mut rows = Vec::new();
    for case in cases()? {
        // The double pendulum runs two seconds longer, as in the paper; it has no kinematics.
        if !dynamic && case.name == "2-pendulum" {
            continue;
        }
        let steps = if case.name == "2-pendulum" { 5000 } else { 3000 };
        let run = literal::Run { h: 1e-3, steps, bound: if dynamic { 1e-3 } else { 1e-10 }, newton };
        let go = |f: Formulation| if dynamic { literal::dynamics(f, &case, &run) } else { literal::kinematics(f, &case, &run) };
        let mut costs = [go(Formulation::Ra)?, go(Formulation::Rp)?, go(Formulation::Re)?];
        for _ in 1..LITERAL_ROUNDS {
            for (cost, f) in costs.iter_mut().zip(literal::ALL) {
                cost.shorten(&go(f)?);
            }
        }
        let few = literal::Run { steps: 300, ..run };
        let mut operations = [0.0; 3];
        for (o, f) in operations.iter_mut().zip(literal::ALL) {
            *o = literal::operations(f, &case, &few, dynamic)?;
        }
        let row = Literal {
            name: case.name.to_string(),
            sizes: literal::ALL.map(|f| literal::sizes(f, &case)[usize::from(dynamic)]),
            times: costs.each_ref().map(|c| c.microseconds()),
            iterations: costs.each_ref().map(|c| c.iterations),
            operations,
            exchanged: case.exchanged,
            constraints: case.counts(),
        };
        println!(
            "literal {}, {newton:?}, dynamic {dynamic}: {:.2?} us, {:.2?} iterations, {:.0?} operations",
            row.name, row.times, row.iterations, row.operations
        );
        rows.push(row);
    }
    Ok(rows)
}

/// Iterations of the position analysis with every variant of Newton's method; bare primitives.
fn table9() -> Result<Vec<(String, Counts)>, String> {
    let mut rows = Vec::new();
    for case in cases()?.iter().filter(|c| c.name != "2-pendulum") {
        let file = DRIVEN.iter().find(|d| d.0 == case.name).map_or("", |d| d.1);
        let model = shipped(&format!("{file}_primitives"));
        let mut counts = [[0.0; 3]; 4];
        for (k, newton) in [Newton::Kept, Newton::Full, Newton::Predicted].into_iter().enumerate() {
            let run = literal::Run { h: 1e-3, steps: 3000, bound: 1e-10, newton };
            for (n, f) in counts[k].iter_mut().zip(literal::ALL) {
                *n = literal::kinematics(f, case, &run)?.iterations;
            }
        }
        counts[3] = three(|c| Ok(kinematics(c, &model, &Run { h: 1e-3, steps: 3000, correction: 1e-10, plain: false })?.iterations))?;
        rows.push((case.name.to_string(), counts));
    }
    Ok(rows)
}

/// Iterations of kinematics of the four link over the step size, with every variant of Newton's method.
fn fig2(folder: &Path) -> Result<Vec<(f64, [Three; 3])>, String> {
    let list = cases()?;
    let case = &list[2];
    let mut points = Vec::new();
    for h in STEPS {
        let mut counts = [[0.0; 3]; 3];
        for (k, newton) in [Newton::Kept, Newton::Full, Newton::Predicted].into_iter().enumerate() {
            let run = literal::Run { h, steps: (3.0 / h).round() as usize, bound: 1e-11, newton };
            for (n, f) in counts[k].iter_mut().zip(literal::ALL) {
                *n = literal::kinematics(f, case, &run)?.iterations;
            }
        }
        points.push((h, counts));
    }
    let title = "Fig. 2: four link, kinematics, corrections per step until below 1e-11";
    draw_newtons(folder, "fig2", title, &["matrix kept", "full Newton", "guess of Eq. (11)"], &points)?;
    Ok(points)
}

/// The same for dynamics.
fn fig4_literal(folder: &Path) -> Result<Vec<(f64, [Three; 2])>, String> {
    let list = cases()?;
    let case = &list[2];
    let mut points = Vec::new();
    for h in STEPS {
        let mut counts = [[0.0; 3]; 2];
        for (k, newton) in [Newton::Kept, Newton::Full].into_iter().enumerate() {
            let run = literal::Run { h, steps: (3.0 / h).round() as usize, bound: 1e-11 / (h * h), newton };
            for (n, f) in counts[k].iter_mut().zip(literal::ALL) {
                *n = literal::dynamics(f, case, &run)?.iterations;
            }
        }
        points.push((h, counts));
    }
    let title = "Fig. 4: four link, dynamics, iterations per step, Theta h^2 = 1e-11, the paper's systems";
    draw_newtons(folder, "fig4", title, &["matrix kept", "full Newton"], &points)?;
    Ok(points)
}

fn draw_newtons<const N: usize>(
    folder: &Path,
    name: &str,
    title: &str,
    newtons: &[&str; N],
    points: &[(f64, [Three; N])],
) -> Result<(), String> {
    let x: Vec<f64> = points.iter().map(|p| p.0.log10()).collect();
    let mut lines: Vec<(String, Vec<f64>)> = Vec::new();
    for (k, newton) in newtons.iter().enumerate() {
        for (c, f) in ["rA", "rp", "rE"].iter().enumerate() {
            lines.push((format!("{newton}, {f}"), points.iter().map(|p| p.1[k][c]).collect()));
        }
    }
    let curves: Vec<Curve<'_>> = lines.iter().map(|(name, y)| Curve { name, unit: "", x: &x, y }).collect();
    write(folder, name, svg(title, ("log10 h", ""), &curves))
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
    draw(
        folder,
        "fig4_charts",
        "Four link, dynamics, our charts: Newton iterations per step, corrections below 1e-11 m",
        "iterations",
        &points,
    )?;
    Ok(points)
}

/// Largest error in z of the second rod relative to the reference, and its history at h = 1e-3.
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
            // The initial error of zero has no logarithm.
            let (t, e): (Vec<f64>, Vec<f64>) = errors.iter().skip(1).map(|(t, e)| (*t, e.max(1e-16).log10())).unzip();
            curves.push((format!("{}, h = {h:.0e}", c.name()), t, e));
        }
        points.push((h, worst));
    }
    let curves: Vec<Curve<'_>> = curves.iter().map(|(name, t, e)| Curve { name, unit: "", x: t, y: e }).collect();
    write(folder, "fig3", svg("Fig. 3: double pendulum, log10 of the distance from the reference, z of rod 2 [m]", ("t", "s"), &curves))?;
    Ok(points)
}

/// Errors of velocity and acceleration of the integration method after 3 s, relative to kinematics.
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
    // The paper shows only rA for the single pendulum.
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
