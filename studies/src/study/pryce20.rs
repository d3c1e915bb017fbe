//! Figures and tables of \[Pryce20\] from our program: Mechanism0 compared with an independent solution, sizes of Table 4, times of the
//! RSCR linkage, the robot and Andrews' mechanism.

use super::report::{KEEP_TIMES, Report, Series, digits};
use crate::double_double::{Dd, Number};
use crate::gauss::Gauss;
use crate::root;
use fourbar::analysis::assembly::assemble;
use fourbar::expr::Expr;
use fourbar::force::{Force, StateLaw, Torque};
use fourbar::formulation::natural::{Choice, System};
use fourbar::spec::ForceFrame;
use fourbar::study::{Analysis, Study, run as run_study};
use fourbar::{BodyId, Model, Trajectory};
use fourbar_bench::{shipped, shortest_cpu};
use fourbar_io::plot::Scale;
use fourbar_io::{ReadOptions, read_model};

const TOLERANCES: [f64; 5] = [1e-6, 1e-8, 1e-10, 1e-12, 1e-13];

const CLAIMS: &str = "\
**The paper claims** that three points or vectors per body give shorter equations than the classical natural coordinates (its Table 4), that a Taylor-series solver integrates them as DAEs of index 3 to \
any tolerance (Fig. 4), and Andrews' mechanism to 0.3 s in 2.5 s. **We found** its sizes but one, errors that follow the tolerance down to 4e-13, where the rounding of doubles ends them, against a reference of 106 bits that is right to 1e-26, and 0.08 s. \
**They differ** in Table 4 (a), 22, 16, 38 in the paper and 21, 15, 36 here: its 16 rows are two for each of eight parts, one of which follows from the others, because all hinges of the loop share one \
vector; 22 is 16 + 6 freedoms, and no multiple of three, as coordinates of points and vectors must be. We keep the 15 independent rows of the same 16.";

/// Runs the study.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut page = Report::new("pryce20", "Natural coordinates: figures and tables of [Pryce20]")?;
    page.text(CLAIMS);
    sizes(&mut page)?;
    mechanism0(&mut page)?;
    remainders(&mut page)?;
    if !(arguments.iter().any(|a| a == KEEP_TIMES) && page.keep("Times")) {
        times(&mut page)?;
    }
    page.heading("Animations");
    page.text("`fourbar view nc_rscr -o rscr.html` writes the page of a run; so do `nc_closed_chain_robot`, `andrews` and `models/mechspec/mechanism0.yaml`.");
    page.write()
}

/// Table 4, and the tables of sections 4.2 and 4.3.
fn sizes(page: &mut Report) -> Result<(), String> {
    page.heading("Sizes (Table 4)");
    let choices = [
        ("assigned", Choice::default()),
        ("assigned, parallelograms too", Choice { parallelograms: true, ..Choice::default() }),
        ("every joint item a coordinate", Choice { assign: false, ..Choice::default() }),
        ("twelve coordinates per body", Choice { twelve: true, ..Choice::default() }),
    ];
    let mut rows = Vec::new();
    for name in ["nc_rscr", "nc_closed_chain_robot", "andrews"] {
        let model = shipped(name);
        let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
        for (what, choice) in choices {
            let system = System::new(&model, &start, choice).map_err(|d| d.to_string())?;
            let (q, c) = system.size();
            let left_out = system.dropped().count();
            rows.push(
                [name, what].map(String::from).into_iter().chain([q, c, q + c, 2 * q + c, left_out].map(|n| n.to_string())).collect(),
            );
        }
    }
    page.table(&["model", "coordinates", "q", "constraints", "size", "in first order", "dependent rows left out"], &rows);
    page.text("The paper has 7, 6, 13 and 25 (38) for RSCR, and 22, 16, 38; 18, 12, 30; 54 (84) for the robot. Without the parallelogram 15 rows and the one left out are its 16.");
    page.text("The points and vectors of a MechSpec file itself serve with `--option coordinates=file`:");
    for name in ["mechanism0", "rscr", "robot"] {
        let path = root().join(format!("models/mechspec/{name}.yaml"));
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let model = read_model(&text, &ReadOptions::default()).map_err(|e| e.to_string())?.spec.build().map_err(|e| e[0].to_string())?;
        let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
        let choice = Choice { file: true, ..Choice::default() };
        let lines = System::new(&model, &start, choice).map_err(|d| d.to_string())?.describe();
        page.text(&format!("`models/mechspec/{name}.yaml`:\n\n```\n{}\n```", lines.join("\n")));
    }
    for name in ["nc_rscr", "nc_closed_chain_robot"] {
        let model = shipped(name);
        let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
        let choice = Choice { parallelograms: true, ..Choice::default() };
        let lines = System::new(&model, &start, choice).map_err(|d| d.to_string())?.describe();
        page.text(&format!("`{name}`:\n\n```\n{}\n```", lines.join("\n")));
    }
    Ok(())
}

fn natural(model: &Model, t_end: f64, output_step: f64, tol: f64) -> Result<Trajectory, String> {
    let study = Study {
        formulation: Some("natural".into()),
        integrator: None,
        analysis: Some(Analysis::Dynamics),
        step: None,
        t_end,
        output_step,
        tol: Some(tol),
        options: Vec::new(),
        mode: None,
        inputs: Vec::new(),
    };
    let mut out = Trajectory::default();
    run_study(model, &study, &mut out).map_err(|f| f.diagnostic.to_string())?;
    Ok(out)
}

/// Fig. 4: the difference from an independent solution at the same tolerance, and from a reference.
fn mechanism0(page: &mut Report) -> Result<(), String> {
    let path = root().join("models/mechspec/mechanism0.yaml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let loaded = read_model(&text, &ReadOptions::default()).map_err(|e| e.to_string())?;
    let plain = loaded.spec.build().map_err(|e| e[0].to_string())?;
    for torque in [0.0, 2.0] {
        let mut model = plain.clone();
        if torque != 0.0 {
            let body = model.bodies.iter().position(|b| b.name == "OA").ok_or("no rod OA")?;
            let law = |x: f64| StateLaw { expr: Expr::constant(x), variables: Vec::new() };
            let torque = [law(0.0), law(0.0), law(torque)];
            model.forces.push(("motor".into(), Force::Torque(Torque { body: BodyId(body as u32), torque, frame: ForceFrame::World })));
        }
        let word = if torque == 0.0 { "without torque".to_string() } else { format!("with the torque of Eq. (33), {torque} N m") };
        page.heading(&format!("Mechanism0 {word}"));
        let times: Vec<f64> = (0..=100).map(|k| 0.1 * f64::from(k)).collect();
        let exact = reference(&times, torque, PARTS);
        // The error of the reference, estimated with steps twice as long.
        let coarse = reference(&times, torque, PARTS / 2);
        let norm = |a: &[f64; 8], b: &[f64; 8]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let apart = |(a, b): (&[Dd; 8], &[Dd; 8])| (0..8).map(|i| (a[i] - b[i]).value().powi(2)).sum::<f64>().sqrt();
        let sure = exact.iter().zip(&coarse).map(apart).fold(0.0, f64::max);
        let reference: Vec<[f64; 8]> = exact.iter().map(|row| row.map(Number::value)).collect();
        let (mut same, mut global, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for tol in TOLERANCES {
            let ours = natural(&model, 10.0, 0.1, tol)?;
            let other = independent(&times, torque, tol);
            let v = |k: usize| state(&ours, k);
            let apart = |k: usize, x: &[[f64; 8]]| norm(&v(k), &x[k]);
            let curve = |x: &[[f64; 8]]| -> Vec<(f64, f64)> { (1..times.len()).map(|k| (times[k], apart(k, x).max(1e-16))).collect() };
            let (a, b) = (curve(&other), curve(&reference));
            let most = |c: &[(f64, f64)]| c.iter().map(|p| p.1).fold(0.0, f64::max);
            let own = other.iter().zip(&reference).map(|(a, b)| norm(a, b)).fold(0.0, f64::max);
            rows.push(vec![format!("{tol:.0e}"), digits(most(&a)), digits(most(&b)), digits(own)]);
            same.push(Series { name: format!("tol {tol:.0e}"), points: a });
            global.push(Series { name: format!("tol {tol:.0e}"), points: b });
        }
        page.table(
            &[
                "tolerance",
                "largest difference at equal tolerance",
                "largest global error",
                "of the independent solution in double precision",
            ],
            &rows,
        );
        page.text(&format!(
            "The reference, in numbers of 106 bits, differs from the same with steps twice as long by {} at most, which is {:.0} bits.",
            digits(sure),
            -sure.log2()
        ));
        let scale = Scale { log_y: true, ..Scale::default() };
        let tag = if torque == 0.0 { "free" } else { "torque" };
        let axes = [("t", "s"), ("|v - v_ode|", "")];
        page.figure(&format!("mechanism0-{tag}-a.svg"), "Difference from an independent solution at equal tolerance", axes, scale, &same)?;
        let axes = [("t", "s"), ("|v - v_ref|", "")];
        page.figure(&format!("mechanism0-{tag}-b.svg"), "Global error", axes, scale, &global)?;
    }
    page.text("v = (A, B, A', B'). The independent solution integrates the angle of the rod and the polar coordinates of the spring by extrapolation of the midpoint rule; it shares no equation with natural coordinates. Global errors are against the same equations in numbers of 106 bits (`studies/src/double_double.rs`), solved with fixed steps by the method of Gauss of order 20 (`studies/src/gauss.rs`). In double precision the independent solution itself stops at some 1e-11, because the rounding of its many small steps adds up: that, and not the Taylor series, is the floor of the first column.");
    Ok(())
}

/// A, B and their velocities from a row of a trajectory; the ends of the spring are separate bodies.
fn state(t: &Trajectory, k: usize) -> [f64; 8] {
    let names = ["A.x", "A.y", "B.x", "B.y", "AB-end1.v.x", "AB-end1.v.y", "AB-end2.v.x", "AB-end2.v.y"];
    names.map(|name| t.find(name).map_or(f64::NAN, |c| t.row(k)[c]))
}

/// Accelerations of (theta, r, phi): angle of the rod and polar coordinates of the spring, both from the downward vertical.
fn accelerations<N: Number>(q: &[N; 6], torque: f64) -> [N; 3] {
    let of = N::from;
    // Data are the doubles read from a file; their quotients are accurate to the precision of `N`.
    let ratio = |a: f64, b: f64| of(a) / of(b);
    let (l, rod, k, rest, mu, m, g) = (of(2.0), of(1.0), of(1000.0), of(1.0), of(0.5), of(0.1), of(9.81));
    let zero = of(0.0);
    let [theta, r, phi, theta_dot, r_dot, phi_dot] = *q;
    let ((s1, c1), (s2, c2)) = (theta.sin_cos(), phi.sin_cos());
    let (e1, t1) = ([s1, -c1], [c1, s1]);
    let (e2, t2) = ([s2, -c2], [c2, s2]);
    // 2 T = a |A'|^2 + 2 b A'.B' + c |B'|^2
    let third = ratio(1.0, 3.0);
    let (a, b, c) = (rod * third + mu * third, mu * third * of(0.5), mu * third + m);
    // Columns of A' and B' by the three rates, and the remaining terms of their accelerations.
    let ja = [[l * t1[0], l * t1[1]], [zero; 2], [zero; 2]];
    let jb = [ja[0], e2, [r * t2[0], r * t2[1]]];
    let a0 = [0, 1].map(|i| -l * theta_dot * theta_dot * e1[i]);
    let b0 = [0, 1].map(|i| a0[i] + of(2.0) * r_dot * phi_dot * t2[i] - r * phi_dot * phi_dot * e2[i]);
    let dot = |x: [N; 2], y: [N; 2]| x[0] * y[0] + x[1] * y[1];
    let (pa, pb) = ([0, 1].map(|i| a * a0[i] + b * b0[i]), [0, 1].map(|i| b * a0[i] + c * b0[i]));
    let half = of(0.5);
    let (wa, wb) = ([zero, -g * (half * rod + half * mu)], [zero, -g * (half * mu + m)]);
    let mut s = [[zero; 4]; 3];
    for i in 0..3 {
        for j in 0..3 {
            s[i][j] = a * dot(ja[i], ja[j]) + b * (dot(ja[i], jb[j]) + dot(jb[i], ja[j])) + c * dot(jb[i], jb[j]);
        }
        s[i][3] = dot(ja[i], wa) + dot(jb[i], wb) - dot(ja[i], pa) - dot(jb[i], pb);
    }
    s[0][3] = s[0][3] + of(torque);
    s[1][3] = s[1][3] - k * (r - rest);
    // Elimination; the matrix is positive definite.
    for i in 0..3 {
        for j in i + 1..3 {
            let f = s[j][i] / s[i][i];
            for c in i..4 {
                s[j][c] = s[j][c] - f * s[i][c];
            }
        }
    }
    let mut x = [zero; 3];
    for i in (0..3).rev() {
        let known = (i + 1..3).map(|j| s[i][j] * x[j]).fold(zero, |sum, y| sum + y);
        x[i] = (s[i][3] - known) / s[i][i];
    }
    x
}

/// Rates of (theta, r, phi) and second derivatives.
fn rates<N: Number>(y: &[N; 6], torque: f64) -> [N; 6] {
    let a = accelerations(y, torque);
    [y[3], y[4], y[5], a[0], a[1], a[2]]
}

/// The start: A = (0, -2), B = (0, -3), A' = (1, 0), B' = 0.
const START: [f64; 6] = [0.0, 1.0, 0.0, 0.5, 0.0, -1.0];

/// A, B and their velocities.
fn points<N: Number>(y: &[N; 6]) -> [N; 8] {
    let (l, [theta, r, phi, w, v, u]) = (N::from(2.0), *y);
    let ((s1, c1), (s2, c2)) = (theta.sin_cos(), phi.sin_cos());
    let a = [l * s1, -l * c1];
    let a_dot = [l * w * c1, l * w * s1];
    let (e, t) = ([s2, -c2], [c2, s2]);
    let b: [N; 2] = std::array::from_fn(|i| a[i] + r * e[i]);
    let b_dot: [N; 2] = std::array::from_fn(|i| a_dot[i] + v * e[i] + r * u * t[i]);
    [a[0], a[1], b[0], b[1], a_dot[0], a_dot[1], b_dot[0], b_dot[1]]
}

/// Number of stages of the reference; its order is twice as large.
const STAGES: usize = 10;
/// Number of steps of the reference between two outputs.
const PARTS: usize = 20;

/// Solution at the given times in numbers of 106 bits, by a Gauss method with `parts` equal steps between them.
fn reference(times: &[f64], torque: f64, parts: usize) -> Vec<[Dd; 8]> {
    let method = Gauss::<Dd, STAGES>::new();
    let rate = |y: &[Dd; 6]| rates(y, torque);
    let mut y = START.map(Dd::from);
    let mut slopes = [rate(&y); STAGES];
    let mut out = vec![points(&y)];
    for w in times.windows(2) {
        let h = (Dd::from(w[1]) - Dd::from(w[0])) / Dd::from(parts as f64);
        for _ in 0..parts {
            y = method.step(&y, h, &mut slopes, rate);
        }
        out.push(points(&y));
    }
    out
}

/// Solution at the given times by extrapolation of Gragg's midpoint rule, with step control by the tolerance.
fn independent(times: &[f64], torque: f64, tol: f64) -> Vec<[f64; 8]> {
    /// Smallest error of a step, limited by rounding.
    const FLOOR: f64 = 4e-15;
    const COLUMNS: usize = 12;
    let rate = |y: &[f64; 6]| rates(y, torque);
    let add = |y: &[f64; 6], h: f64, f: &[f64; 6]| -> [f64; 6] { std::array::from_fn(|i| y[i] + h * f[i]) };
    let mut y = START;
    let (mut t, mut h) = (0.0_f64, 1e-2_f64);
    let mut out = vec![points(&y)];
    for &end in &times[1..] {
        while t < end {
            let next = if h >= end - t { end } else { t + h };
            // The difference of the rounded times is the actual step size.
            let step = next - t;
            let mut table: Vec<[f64; 6]> = Vec::new();
            let mut done = false;
            for k in 0..COLUMNS {
                let n = 2 * (k + 1);
                let part = step / n as f64;
                let (mut a, mut b) = (y, add(&y, part, &rate(&y)));
                for _ in 1..n {
                    (a, b) = (b, add(&a, 2.0 * part, &rate(&b)));
                }
                // The midpoint rule with Gragg's smoothing step.
                let half = add(&a, part, &rate(&b));
                let smooth: [f64; 6] = std::array::from_fn(|i| 0.5 * (b[i] + half[i]));
                let mut row = vec![smooth];
                for j in 0..k {
                    let quotient = n as f64 / (2 * (k - j)) as f64;
                    let less = quotient * quotient - 1.0;
                    let (x, z) = (row[j], table[j]);
                    row.push(std::array::from_fn(|i| x[i] + (x[i] - z[i]) / less));
                }
                if k > 1 {
                    let error = (0..6).map(|i| (row[k][i] - row[k - 1][i]).abs()).fold(0.0, f64::max);
                    done = error <= (0.02 * tol).max(FLOOR);
                }
                table = row;
                if done {
                    break;
                }
            }
            if done || step < 1e-4 {
                if let Some(best) = table.last() {
                    y = *best;
                }
                t = next;
                // A step shortened by an output has no effect on the size of the next.
                h = (1.3 * step).max(h).min(0.05);
            } else {
                h = 0.5 * step;
            }
        }
        out.push(points(&y));
    }
    out
}

/// Bounds of the truncation errors of the steps.
fn remainders(page: &mut Report) -> Result<(), String> {
    page.heading("What the steps leave out, bounded");
    let rows = super::remainder::rows()?;
    page.text("Taylor steps are chosen by an estimate. Here every step is bounded from above by interval arithmetic with outward rounding (`studies/src/enclosure.rs`): the motion of the step is enclosed on 64 parts, whose intervals are shown to hold it by Picard's iteration and whose own series leave out next to nothing; the distance of the step's series from the enclosure at its end is a bound of its truncation error. The last columns are these bounds over the error that the tolerance allows, the median and the largest of all steps; below one the step is proven to keep it. Local errors are aimed at a hundredth of the tolerance, and that is what the medians show. The bounds hold the rounding of the intervals too; at 1e-12 the largest are beyond one, and how much of them is rounding was not separated. They hold for one step from the numbers it starts with: what earlier errors grow to is not part of them.");
    page.table(
        &["mechanism", "tolerance", "order", "steps", "bounded", "most parts of a step", "bound over allowed, median", "largest"],
        &rows,
    );
    Ok(())
}

/// Times of whole runs without output.
fn times(page: &mut Report) -> Result<(), String> {
    page.heading("Times");
    let mut rows = Vec::new();
    for (name, t_end) in [("nc_rscr", 3.0), ("nc_closed_chain_robot", 0.6), ("andrews", 0.03), ("andrews", 0.3)] {
        let model = shipped(name);
        for tol in [1e-9, 1e-10, 1e-11] {
            let mut failure = None;
            let seconds = shortest_cpu(3, || failure = natural(&model, t_end, t_end, tol).err());
            if let Some(why) = failure {
                return Err(format!("{name}: {why}"));
            }
            let t = natural(&model, t_end, t_end / 100.0, tol)?;
            let column = |c: &str| t.find(c).unwrap_or(0);
            let balance = |k: usize| {
                let row = t.row(k);
                row[column("energy.kinetic")] + row[column("energy.potential")] - row[column("energy.work")]
            };
            let size = (0..t.len()).map(|k| t.row(k)[column("energy.kinetic")]).fold(1e-300, f64::max);
            let drift = (0..t.len()).map(|k| (balance(k) - balance(0)).abs()).fold(0.0, f64::max) / size;
            rows.push(vec![name.to_string(), digits(t_end), format!("{tol:.0e}"), digits(1e3 * seconds), digits(drift)]);
        }
    }
    page.table(&["model", "until s", "tolerance", "ms", "energy balance, relative"], &rows);
    page.text("Shortest processor time of three runs with one output; assembly and the making of the equations are included. Times hold for the machine they were taken on.");
    Ok(())
}
