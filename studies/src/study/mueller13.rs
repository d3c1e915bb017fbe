//! The study of [Mueller13, sections 5.1 to 5.4]: constraint and energy drift on SE(3), on SO(3) x R3, and with a choice per body, for
//! every tableau. Writes figures and tables to `docs/studies/mueller13/`.

use super::report::{KEEP_TIMES, section};
use crate::root;
use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::constraint::ConstraintSet;
use fourbar::force::eval::{self, Plain};
use fourbar::motion::{Instant, Outcome};
use fourbar::study::Study;
use fourbar_bench::shipped;
use fourbar_io::plot::{Curve, svg};
use std::fmt::Write;

/// Step size of the paper.
const STEP: f64 = 1e-3;
const FORMULATIONS: [&str; 3] = ["se3", "so3xr3", "lie"];
/// Munthe-Kaas on six tableaus, Crouch-Grossman, commutator-free, and an implicit one.
const METHODS: [&str; 11] = ["euler", "heun", "rk4", "rkf45", "dopri5", "dop853", "cg3", "cg4", "cf3", "cf4", "radau"];
/// Number of runs, of which the shortest CPU time counts.
const RUNS: usize = 9;

/// An example of the paper: our model, its section, the figures of its joints, and the figure of its energy.
struct Example {
    section: &'static str,
    name: &'static str,
    title: &'static str,
    /// Number of the figure that shows each joint.
    joints: &'static [u32],
    energy: u32,
    /// Number of the figure that shows the mechanism.
    picture: u32,
}

const EXAMPLES: [Example; 4] = [
    Example { section: "5.1", name: "lie_heavy_top", title: "heavy top", joints: &[2], energy: 3, picture: 1 },
    Example {
        section: "5.2",
        name: "lie_spherical_double_pendulum",
        title: "spherical double pendulum",
        joints: &[5, 6],
        energy: 7,
        picture: 4,
    },
    Example { section: "5.3", name: "lie_two_floating_bodies", title: "two floating bodies", joints: &[9], energy: 10, picture: 8 },
    Example {
        section: "5.4",
        name: "lie_closed_3bar",
        title: "closed chain of three ball joints",
        joints: &[12, 13, 14],
        energy: 15,
        picture: 11,
    },
];

/// Results of a run over time.
#[derive(Default)]
struct History {
    t: Vec<f64>,
    /// Distance between the two points of each joint.
    joints: Vec<Vec<f64>>,
    /// Largest constraint residual and norm of the residuals, largest values over time; rotations are scaled to lengths.
    rows: f64,
    norm: f64,
    /// Energy minus the initial energy.
    energy: Vec<f64>,
    /// The same with the velocity of the first body computed from its angular velocity and position, as if it turned about the origin.
    from_place: Vec<f64>,
    /// Initial energy.
    start: f64,
    /// Time of an early end.
    failed: Option<f64>,
    notes: Vec<String>,
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

impl History {
    /// Largest violation over all joints.
    fn drift(&self) -> f64 {
        self.joints.iter().map(|j| largest(j)).fold(0.0, f64::max)
    }
}

fn energy(model: &Model, x: &Instant) -> f64 {
    let bodies = model.bodies.iter().zip(&x.v);
    let kinetic: f64 = bodies.map(|(b, v)| 0.5 * (b.mass * v.v.norm_squared() + v.w.dot(&(b.J_bar * v.w)))).sum();
    kinetic + eval::potential(model, &Plain { t: x.t, q: &x.q, v: &x.v, turns: &x.turns, loads: &[], z: &x.z })
}

/// Kinetic energy of the first body as a top pivoted at the origin: `1/2 w (J - m tilde(r)^2) w` with the position `r` in body axes.
fn energy_from_place(model: &Model, x: &Instant) -> f64 {
    let (b, q, w) = (&model.bodies[1], &x.q[1], &x.v[1].w);
    let r = q.A.tr_mul(&q.r);
    0.5 * (w.dot(&(b.J_bar * w)) + b.mass * w.cross(&r).norm_squared())
}

fn study(formulation: &str, tableau: &str, t_end: f64, outputs: usize, how: &str) -> Study {
    Study {
        analysis: None,
        formulation: Some(formulation.into()),
        integrator: Some(tableau.into()),
        t_end,
        output_step: t_end / outputs as f64,
        step: Some(STEP),
        tol: None,
        options: vec![("constraints".into(), how.into())],
        mode: None,
        inputs: Vec::new(),
    }
}

/// Runs the study and evaluates the state `outputs` times.
fn history(model: &Model, s: &Study, outputs: usize) -> Result<History, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let (formulation, tableau) = s.method(model).map_err(|d| d.to_string())?;
    let mut motion = (formulation.start)(&fourbar::Structure::new(model, &start), s, tableau, &start).map_err(|d| d.to_string())?;
    let mut now = Instant::new(model, &start);
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let mut violation = vec![0.0; set.rows()];
    let mut from = 0.0;
    let mut h = History { joints: vec![Vec::new(); model.joints.len()], ..History::default() };
    for k in 0..=outputs {
        let t = s.t_end * k as f64 / outputs as f64;
        let reached = if k == 0 { Ok(true) } else { motion.advance(t, &mut |_| true) };
        if reached.and_then(|_| motion.instant(t, &mut now)).is_err() {
            h.failed = Some(motion.t());
            break;
        }
        let e = energy(model, &now);
        let f = energy_from_place(model, &now);
        if k == 0 {
            h.start = e;
            from = f;
        }
        h.from_place.push(f - from);
        set.residual(&now.q, &now.turns, t, &mut violation);
        h.rows = h.rows.max(largest(&violation));
        h.norm = h.norm.max(violation.iter().map(|x| x * x).sum::<f64>().sqrt());
        h.t.push(t);
        h.energy.push(e - h.start);
        for (list, j) in h.joints.iter_mut().zip(&model.joints) {
            let [i, m] = j.bodies.map(|b| &now.q[b.index()]);
            list.push((m.point(&j.M.s) - i.point(&j.F.s)).norm());
        }
    }
    let mut outcome = Outcome::default();
    motion.report(&mut outcome);
    h.notes = outcome.notes;
    Ok(h)
}

/// CPU time of this thread if the system provides it, otherwise wall time.
fn cpu() -> f64 {
    // The kernel updates the count when the thread is rescheduled.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split_whitespace().next().and_then(|x| x.parse::<f64>().ok()) {
        Some(nanoseconds) => 1e-9 * nanoseconds,
        None => std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64()),
    }
}

/// Microseconds per step of each formulation, run in turn, shortest of several runs.
fn costs(model: &Model, tableau: &str) -> Result<[f64; 3], String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..RUNS {
        for (best, f) in best.iter_mut().zip(FORMULATIONS) {
            let s = study(f, tableau, 1.0, 1, "none");
            let (formulation, tableau) = s.method(model).map_err(|d| d.to_string())?;
            let mut motion =
                (formulation.start)(&fourbar::Structure::new(model, &start), &s, tableau, &start).map_err(|d| d.to_string())?;
            let clock = cpu();
            motion.advance(1.0, &mut |_| true).map_err(|d| d.to_string())?;
            *best = best.min(1e6 * (cpu() - clock) * STEP);
        }
    }
    Ok(best)
}

/// The study.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let folder = root().join("docs/studies/mueller13");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).map_err(|e| format!("{name}: {e}"));
    let models: Vec<Model> = EXAMPLES.iter().map(|e| shipped(e.name)).collect();
    figures(&models, &write)?;
    let mut page = String::from(INTRODUCTION);
    let top = history(&models[0], &study("se3", "rk4", STEP, 1, "none"), 1)?;
    let _ = writeln!(page, "Kinetic energy of the heavy top at the start: {:.4} kJ (paper: 13.97 kJ).\n", 1e-3 * top.start);
    page.push_str(&winners(&models)?);
    let kept = if arguments.iter().any(|a| a == KEEP_TIMES) { section(&folder.join("README.md"), "The tailored choice") } else { None };
    page.push_str(&match kept {
        Some(text) => format!("{}\n\n", text.trim()),
        None => tailored()?,
    });
    page.push_str(&handling(&models)?);
    for t_end in [1.0, 10.0] {
        page.push_str(&every_tableau(&models, t_end)?);
    }
    page.push_str(&list_of_figures());
    write("README.md", &page)?;
    println!("docs/studies/mueller13/ is written");
    Ok(())
}

const INTRODUCTION: &str = "\
# Lie-group integration on SE(3) and on SO(3) x R3

**The paper claims** that on SE(3) a body joined to the ground keeps its joint exactly, that between moving bodies both spaces are even, that SE(3) keeps the energy of the heavy top a hundred times
better, and that it costs more. **We found** the first for every method, of Munthe-Kaas, Crouch-Grossman and commutator-free kind and implicit ones alike; the second up to factors of two, with SO(3) x R3
ahead for a floating pair; the third only where the energy is evaluated from the drifted place of the top (factor 106; 2.7 with the velocities themselves); the fourth hardly, by a few per cent.
**They differ** because the paper does not say how it evaluates energies, gives neither masses nor linear velocities of its examples from 5.2 on, and times another implementation.

`cargo xtask study mueller13` wrote this page and its figures. It repeats sections 5.1 to 5.4 of [Mueller13] (keys in
[references.md](../../references.md)) with our models `lie_*`; masses, linear velocities and the whole of the closed chain, which the paper does not
give, are our choice and stand in the model files. Step 1 ms as in the paper, constraints left to drift (`constraints=none`) unless
said otherwise. The paper names neither tableau nor duration: every method is shown, for 1 s and 10 s. Drift of a joint is the
distance of its two points, largest value at 100 (1 s) or 1000 (10 s) outputs; energy drift likewise. The formulations are described in
[formulations/lie.md](../../formulations/lie.md).

";

/// Figures 1 to 15, drawn from runs of the classical method over 1 s.
fn figures(models: &[Model], write: &dyn Fn(&str, &str) -> Result<(), String>) -> Result<(), String> {
    for (example, model) in EXAMPLES.iter().zip(models) {
        for (letter, f, words) in [("a", "se3", "SE(3)"), ("b", "so3xr3", "SO(3) x R3")] {
            let h = history(model, &study(f, "rk4", 1.0, 200, "none"), 200)?;
            let draw = |figure: u32, what: &str, unit: &str, y: &[f64]| {
                let title = format!("Fig. {figure}{letter}: {}, {words}, rk4, step 1 ms", example.title);
                // Rounding errors are drawn in a suitable power of ten.
                let power = (largest(y).max(1e-300).log10() / 3.0).floor() as i32 * 3;
                let (scale, unit) = if power < -6 { (10f64.powi(-power), format!("1e{power} {unit}")) } else { (1.0, unit.into()) };
                let y: Vec<f64> = y.iter().map(|y| y * scale).collect();
                let picture = svg(&title, ("t", "s"), &[Curve { name: what, unit: &unit, x: &h.t, y: &y }]).ok_or("nothing to draw")?;
                write(&format!("fig{figure:02}{letter}.svg"), &picture)
            };
            for (k, figure) in example.joints.iter().enumerate() {
                draw(*figure, &format!("violation of {}", model.joints[k].name), "m", &h.joints[k])?;
            }
            if example.section == "5.1" {
                let title = format!("Fig. {}{letter}: {}, {words}, rk4, step 1 ms", example.energy, example.title);
                let curves = [
                    Curve { name: "energy drift, velocities", unit: "J", x: &h.t, y: &h.energy },
                    Curve { name: "energy drift, from the place", unit: "J", x: &h.t, y: &h.from_place },
                ];
                write(&format!("fig{:02}{letter}.svg", example.energy), &svg(&title, ("t", "s"), &curves).ok_or("nothing to draw")?)?;
            } else {
                draw(example.energy, "energy drift", "J", &h.energy)?;
            }
        }
        write(&format!("fig{:02}.svg", example.picture), &strobe(example, model, example.picture)?)?;
    }
    Ok(())
}

/// The mechanism at several instants within 0.1 s, seen from above: each body as a line from joint to joint, or to its far end.
fn strobe(example: &Example, model: &Model, figure: u32) -> Result<String, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let s = study("lie", "rk4", 0.1, 8, "project");
    let (formulation, tableau) = s.method(model).map_err(|d| d.to_string())?;
    let mut motion = (formulation.start)(&fourbar::Structure::new(model, &start), &s, tableau, &start).map_err(|d| d.to_string())?;
    let mut now = Instant::new(model, &start);
    // Joint points of each body; a body with a single joint ends at the opposite point.
    let mut ends: Vec<Vec<_>> = vec![Vec::new(); model.bodies.len()];
    for j in &model.joints {
        ends[j.bodies[0].index()].push(j.F.s);
        ends[j.bodies[1].index()].push(j.M.s);
    }
    for list in ends.iter_mut().skip(1).filter(|l| l.len() == 1) {
        list.push(-list[0]);
    }
    let mut lines: Vec<(String, Vec<f64>, Vec<f64>)> =
        model.bodies.iter().skip(1).map(|b| (b.name.clone(), Vec::new(), Vec::new())).collect();
    for k in 0..=8 {
        let t = s.t_end * k as f64 / 8.0;
        if k > 0 {
            motion.advance(t, &mut |_| true).map_err(|d| d.to_string())?;
        }
        motion.instant(t, &mut now).map_err(|d| d.to_string())?;
        for (b, (_, x, y)) in lines.iter_mut().enumerate() {
            for p in ends[b + 1].iter().map(|s| now.q[b + 1].point(s)) {
                x.push(p.x);
                y.push(p.y);
            }
            // A gap separates instants.
            x.push(f64::NAN);
            y.push(f64::NAN);
        }
    }
    let curves: Vec<Curve<'_>> = lines.iter().map(|(n, x, y)| Curve { name: n, unit: "m", x, y }).collect();
    let title = format!("Fig. {figure}: {}, every 12.5 ms for 0.1 s, seen from above", example.title);
    svg(&title, ("x", "m"), &curves).ok_or_else(|| "nothing to draw".into())
}

/// One number for a table; for runs that ended early, the time.
fn cell(h: &History, x: f64) -> String {
    match h.failed {
        Some(t) => format!("ends at {t:.2} s"),
        None => format!("{x:.1e}"),
    }
}

/// Which formulation preserves which quantity better, with the classical method over 1 s.
fn winners(models: &[Model]) -> Result<String, String> {
    let mut page = String::from(
        "## Who wins where\n\nClassical method (rk4), 1 s. A factor below 2 either way counts as even; below 1e-12 m all is rounding.\n\n| example | quantity | SE(3) | SO(3) x R3 | better | in the paper |\n|---|---|---|---|---|---|\n",
    );
    let paper = |example: &Example, k: usize| match (example.section, k) {
        ("5.1", _) => "SE(3) exact",
        ("5.2", _) => "SE(3) better",
        ("5.3", _) => "even",
        ("5.4", 1) => "even",
        _ => "SE(3) exact",
    };
    for (example, model) in EXAMPLES.iter().zip(models) {
        let [se3, so3] = ["se3", "so3xr3"].map(|f| history(model, &study(f, "rk4", 1.0, 100, "none"), 100));
        let (se3, so3) = (se3?, so3?);
        let mut row = |what: String, a: f64, b: f64, floor: f64, paper: &str| {
            let better = match (a, b) {
                (a, b) if a < floor && b < floor => "both rounding".into(),
                (a, b) if 2.0 * a <= b => format!("SE(3), {} times", times(b / a.max(floor))),
                (a, b) if 2.0 * b <= a => format!("SO(3) x R3, {} times", times(a / b.max(floor))),
                _ => "even".into(),
            };
            let _ = writeln!(page, "| {} {} | {what} | {a:.1e} | {b:.1e} | {better} | {paper} |", example.section, example.title);
        };
        for (k, j) in model.joints.iter().enumerate() {
            row(format!("drift of {}, m", j.name), largest(&se3.joints[k]), largest(&so3.joints[k]), 1e-12, paper(example, k));
        }
        let energy = if example.section == "5.1" { "SE(3) 100 times better" } else { "even" };
        if example.section == "5.1" {
            let [a, b] = [&se3, &so3].map(|h| largest(&h.from_place));
            row("energy drift, J, from the place".into(), a, b, 1e-12, energy);
        }
        row("energy drift, J".into(), largest(&se3.energy), largest(&so3.energy), 1e-12, energy);
    }
    page.push('\n');
    page.push_str(CONCLUSIONS);
    Ok(page)
}

/// A factor with its significant digits.
fn times(x: f64) -> String {
    if x < 100.0 { format!("{x:.1}") } else { format!("{x:.0e}") }
}

const CONCLUSIONS: &str = "\
Do the conclusions of the paper hold?

- *A body joined to the ground keeps its joint exactly on SE(3).* Yes, for every tableau: what is left is rounding, which grows with the square root of the number of
  steps in the velocities. On SO(3) x R3 the same joint drifts with the order of the tableau; at order 8 and 1 ms that is rounding too.
- *Between moving bodies both groups are even.* By and large. In the double pendulum they are. For the floating pair SO(3) x R3 is better, by 2 (rk4) up to 20 times (dopri5,
  10 s): a free centre of mass moves along a straight line there and keeps doing so exactly. In the closed chain the middle joint is twice as far open on SE(3),
  because the two joints on the ground take no part of the error; the norm over all joints differs by a third.
- *SE(3) keeps the energy of the top a hundred times better.* It depends on what is called its energy. With the velocities as they are integrated, 6 times with heun and 3 with rk4 over 1 s, hardly at
  all from order 5 on or over 10 s. With `T = 1/2 w (J - m tilde(r)^2) w`, the energy of a body that turns about the origin, evaluated at the place `r` to which it has drifted, a hundred
  times: on SO(3) x R3 the drift of the place is then counted as energy. The paper does not say how it evaluates `T`; the second is the likely way, since its reference solves Euler's equations about the fixed point, in which `T` has that form.
- *SE(3) costs more.* Little: see the next table. One factor of the constraint matrix outweighs the difference of the two exponentials.

";

/// Models for measuring the choice per body.
const TAILORED: [&str; 10] = [
    "lie_heavy_top",
    "lie_spherical_double_pendulum",
    "lie_two_floating_bodies",
    "lie_closed_3bar",
    "nc_rscr",
    "ra_double_pendulum",
    "a04_bricard",
    "grcr_five_bar",
    "dca_double_loop",
    "nc_closed_chain_robot",
];

/// The choice per body: drift compared with the better pure choice, cost with the cheaper one.
fn tailored() -> Result<String, String> {
    let mut page = String::from(
        "## The tailored choice\n\nrk4, 1 s, not projected, drives removed. Drift: largest row of the constraints, m, rotations times the characteristic length. Ratios: `lie` over the better pure choice, by the \
         largest row and by the norm of all rows (below 1e-11 m all is rounding and counts as that). Cost: CPU time per step, the three interleaved, shortest of nine runs; \
         SE(3) and `lie` in per cent above SO(3) x R3; differences of a few per cent are the noise of the measurement.\n\n\
         | model | bodies on SE(3) | drift SE(3) | SO(3) x R3 | `lie` | ratio, row | ratio, norm | SO(3) x R3, us per step | SE(3) | `lie` |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut notes = String::new();
    for name in TAILORED {
        let mut model = shipped(name);
        model.drives.clear();
        let [se3, so3, lie] = FORMULATIONS.map(|f| history(&model, &study(f, "rk4", 1.0, 100, "none"), 100));
        let (se3, so3, lie) = (se3?, so3?, lie?);
        let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
        let (space, _) = fourbar::formulation::lie::tailored(&model, &start.q);
        let screws = space.screw.iter().filter(|s| **s).count();
        let ratio = |x: &dyn Fn(&History) -> f64| {
            let [a, b, c] = [&se3, &so3, &lie].map(|h| x(h).max(1e-11));
            c / a.min(b)
        };
        let [x, y, z] = costs(&model, "rk4")?;
        let _ = writeln!(
            page,
            "| {name} | {screws} of {} | {:.1e} | {:.1e} | {:.1e} | {:.2} | {:.2} | {y:.2} | {:+.0} % | {:+.0} % |",
            model.moving(),
            se3.rows,
            so3.rows,
            lie.rows,
            ratio(&|h| h.rows),
            ratio(&|h| h.norm),
            100.0 * (x / y - 1.0),
            100.0 * (z / y - 1.0)
        );
        if let Some(note) = lie.notes.first() {
            let _ = writeln!(notes, "- `{name}`: {}", note.trim_start_matches("state space: "));
        }
    }
    let _ = writeln!(page, "\nWhat `lie` says:\n\n{notes}");
    Ok(page)
}

/// The options for constraints compared.
fn handling(models: &[Model]) -> Result<String, String> {
    let mut page = String::from(
        "## Constraint handling\n\nrk4, 1 s: largest drift of a joint, m, and of the energy, J. Baumgarte's rate is the default, 0.02 / step. It takes the deviation of a stage in the middle of a step for drift, \
         and pays in energy where bodies turn fast.\n\n| example | group | none | baumgarte | project |\n|---|---|---|---|---|\n",
    );
    for (example, model) in EXAMPLES.iter().zip(models) {
        for f in FORMULATIONS {
            let mut line = format!("| {} | `{f}` |", example.title);
            for how in ["none", "baumgarte", "project"] {
                let h = history(model, &study(f, "rk4", 1.0, 100, how), 100)?;
                let _ = write!(line, " {:.1e}, {:.1e} |", h.drift(), largest(&h.energy));
            }
            let _ = writeln!(page, "{line}");
        }
    }
    page.push('\n');
    Ok(page)
}

/// Every tableau on every example.
fn every_tableau(models: &[Model], t_end: f64) -> Result<String, String> {
    let mut page = format!(
        "## Every method, {t_end:.0} s\n\nDrift of each joint, m, and of the energy, J. From euler to dop853 of Munthe-Kaas kind, cg Crouch-Grossman, cf commutator-free, radau implicit (Munthe-Kaas, order 5).\n"
    );
    let outputs = (100.0 * t_end) as usize;
    for (example, model) in EXAMPLES.iter().zip(models) {
        let names: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
        let _ = writeln!(page, "\n### {} {}\n", example.section, example.title);
        if t_end > 5.0 && example.section == "5.2" {
            let _ = writeln!(page, "The motion is chaotic: after the first second the runs are different motions of the same pendulum.\n");
        }
        let mut head = String::from("| method |");
        for f in FORMULATIONS {
            for n in &names {
                let _ = write!(head, " {n} `{f}` |");
            }
            let _ = write!(head, " energy `{f}` |");
        }
        let _ = writeln!(page, "{head}\n|---|{}", "---|".repeat(3 * (names.len() + 1)));
        for tableau in METHODS {
            let mut line = format!("| {tableau} |");
            for f in FORMULATIONS {
                let h = history(model, &study(f, tableau, t_end, outputs, "none"), outputs)?;
                for j in &h.joints {
                    let _ = write!(line, " {} |", cell(&h, largest(j)));
                }
                let _ = write!(line, " {} |", cell(&h, largest(&h.energy)));
            }
            println!("{} {tableau} {t_end} s", example.title);
            let _ = writeln!(page, "{line}");
        }
    }
    page.push('\n');
    Ok(page)
}

fn list_of_figures() -> String {
    let mut page = String::from(
        "## Figures\n\nNumbers as in the paper; a is SE(3), b is SO(3) x R3. The paper's Figs. 1, 4, 8 and 11 are drawings of the mechanisms; ours show them at a few instants.\n\n| figure | shows |\n|---|---|\n",
    );
    for e in &EXAMPLES {
        let p = e.picture;
        let _ = writeln!(page, "| [{p}](fig{p:02}.svg) | {}, at a few instants |", e.title);
        for (k, f) in e.joints.iter().enumerate() {
            let _ = writeln!(page, "| [{f}a](fig{f:02}a.svg), [{f}b](fig{f:02}b.svg) | {}, drift of joint {} |", e.title, k + 1);
        }
        let f = e.energy;
        let _ = writeln!(page, "| [{f}a](fig{f:02}a.svg), [{f}b](fig{f:02}b.svg) | {}, drift of the energy |", e.title);
    }
    page
}
