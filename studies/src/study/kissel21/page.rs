//! The page of the study: tables beside those of the paper, figures, and what the differences come from.

use super::{Results, Three};
use std::fmt::Write;

/// Speed-ups of rA and reps over rp in the paper: codes C1 and C2, rA and rE of each.
type Paper = [f64; 4];

const TABLE8: [(&str, Paper); 3] =
    [("1-pendulum", [2.21, 1.40, 2.63, 1.27]), ("four link", [2.38, 1.23, 2.55, 1.10]), ("slider-crank", [2.70, 1.47, 2.62, 1.23])];
const TABLE10: [(&str, Paper); 4] = [
    ("1-pendulum", [2.43, 1.29, 2.46, 1.69]),
    ("2-pendulum", [2.63, 1.21, 2.39, 1.53]),
    ("four link", [2.62, 1.21, 2.41, 1.44]),
    ("slider-crank", [2.93, 1.31, 2.29, 1.30]),
];
/// Iterations of the paper, the same for both codes: rA, rp, rE.
const TABLE9: [(&str, Three); 3] =
    [("1-pendulum", [3.80, 3.82, 3.80]), ("four link", [4.50, 4.47, 4.77]), ("slider-crank", [4.70, 4.83, 4.79])];

fn speed_ups(out: &mut String, rows: &[super::Row], paper: &[(&str, Paper)]) {
    let _ = writeln!(
        out,
        "| | us per step rA | rp | reps | iterations rA, rp, reps | **rA over rp** | **reps over rp** | rA over reps | paper C1: rA, rE | paper C2: rA, rE |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for (name, t, n) in rows {
        let p = paper.iter().find(|(k, _)| name.starts_with(k)).map_or([f64::NAN; 4], |p| p.1);
        let _ = writeln!(
            out,
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2}, {:.2}, {:.2} | **{:.2}** | **{:.2}** | {:.2} | {:.2}, {:.2} | {:.2}, {:.2} |",
            t[0],
            t[1],
            t[2],
            n[0],
            n[1],
            n[2],
            t[1] / t[0],
            t[1] / t[2],
            t[2] / t[0],
            p[0],
            p[1],
            p[2],
            p[3]
        );
    }
}

fn steps(out: &mut String, head: &str, points: &[(f64, Three)], digits: impl Fn(f64) -> String) {
    let _ = writeln!(out, "| h, s | {head} rA | rp | reps |\n|---|---|---|---|");
    for (h, x) in points {
        let _ = writeln!(out, "| {h:.0e} | {} | {} | {} |", digits(x[0]), digits(x[1]), digits(x[2]));
    }
}

/// Slope of an error between two steps, in powers of the step.
fn slope(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.1 / b.1).ln() / (a.0 / b.0).ln()
}

/// The whole page.
pub fn text(r: &Results) -> String {
    let mut s = String::new();
    s.push_str(
        "# The experiments of [Kissel21] with rA, rp and reps\n\n\
         `cargo xtask study kissel21` wrote this page and its figures. [Kissel21] (key in [references.md](../../references.md)) compares rotation matrices (rA), \
         Euler parameters (rp) and ZXZ Euler angles (reps, its rE) on four mechanisms, with two Python programs C1 and C2. Here are the same experiments with this \
         engine: [rA](../../formulations/ra.md), [rp](../../formulations/rp.md), [reps](../../formulations/reps.md). Settings are those of the paper: \
         Tables 8 and 9 h = 1e-3 s and corrections below 1e-10, Fig. 2 1e-11, Table 10 Theta = 1e-3 at h = 1e-3 s, Figs. 4 to 7 Theta h^2 = 1e-11; 3 s of motion, the double pendulum 5 s; \
         dynamics by backward Euler. Norms of corrections are ours: the largest translation, or rotation times the characteristic length; Theta h^2 bounds them in dynamics. \
         Models: `models/ra_*.yaml`, and the three driven ones also in bare primitives with the counts of Table 7 \
         (`ra_*_primitives.yaml`: 3 CD and 3 DP1; 12 CD and 6 DP1; 6 CD, 7 DP1, 4 DP2 and 1 D), whose DP1 drive changes its reference direction where it would lose rank.\n\n\
         Times are taken in twenty rounds in which the three take turns, on a shared machine, without output: of every fifty steps the shortest time counts. Compare figures of one table only.\n\n",
    );
    s.push_str("## Table 8: kinematics, speed-up over rp\n\n");
    speed_ups(&mut s, &r.table8, &TABLE8);
    s.push_str("\n## Table 9: corrections per step of the position analysis\n\n\
                The paper does not say where its Newton starts. The first three columns start from the last position, with a new matrix for every correction; \
                the next three are our own way, with a prediction from velocity and acceleration and one matrix per step. Bare primitives. Our counts are lower than the paper's also in the first form; \
                its norm is not ours (above), and a correction just above the limit costs a whole round. That the three formulations need the same number holds in both.\n\n\
                | | like the paper: rA | rp | reps | ours: rA | rp | reps | paper: rA | rp | rE |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (name, plain, own) in &r.table9 {
        let p = TABLE9.iter().find(|(k, _)| k == name).map_or([f64::NAN; 3], |p| p.1);
        let _ = writeln!(
            s,
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            plain[0], plain[1], plain[2], own[0], own[1], own[2], p[0], p[1], p[2]
        );
    }
    s.push_str("\n## Fig. 2: corrections per step against the step, four link, kinematics\n\n![Fig. 2](fig2.svg)\n\nNewton as in the paper, corrections below 1e-11.\n\n");
    steps(&mut s, "corrections per step", &r.fig2, |x| format!("{x:.2}"));
    s.push_str("\n## Fig. 3: double pendulum against the reference\n\n![Fig. 3](fig3.svg)\n\nLargest distance in z of the second rod over 5 s, metres. The reference is independent of this engine \
                (minimal coordinates, order 8, good to 1e-13 m).\n\n");
    steps(&mut s, "distance", &r.fig3, |x| format!("{x:.3e}"));
    s.push_str("\n## Table 10: dynamics, speed-up over rp\n\n");
    speed_ups(&mut s, &r.table10, &TABLE10);
    s.push_str("\n## Fig. 4: Newton iterations against the step, four link, dynamics\n\n![Fig. 4](fig4.svg)\n\n");
    steps(&mut s, "iterations per step", &r.fig4, |x| format!("{x:.2}"));
    s.push_str("\n## Figs. 5 to 7: order of velocity and acceleration\n\n\
                Errors at t = 3 s of the method's own velocity and acceleration against kinematics; positions are prescribed in these mechanisms. \
                (The rows that the program writes are better than this: they are projected.)\n\n");
    for (k, (points, what)) in r
        .orders
        .iter()
        .zip(["single pendulum, z of the pendulum", "slider-crank, x of the slider", "four link, z of the third link"])
        .enumerate()
    {
        let _ = writeln!(s, "### Fig. {}: {what}\n\n![Fig. {}](fig{}.svg)\n", k + 5, k + 5, k + 5);
        let _ =
            writeln!(s, "| h, s | velocity, m/s: rA | rp | reps | acceleration, m/s^2: rA | rp | reps |\n|---|---|---|---|---|---|---|");
        for (h, v, a) in points {
            let _ = writeln!(s, "| {h:.0e} | {:.2e} | {:.2e} | {:.2e} | {:.2e} | {:.2e} | {:.2e} |", v[0], v[1], v[2], a[0], a[1], a[2]);
        }
        // The order between 2e-4 and 2e-3: below that the tolerance of Newton shows, which is divided by h^2 in accelerations.
        let (fine, coarse) = (&points[1], &points[4]);
        let order = |pick: &dyn Fn(&(f64, Three, Three)) -> f64| slope((coarse.0, pick(coarse)), (fine.0, pick(fine)));
        let o: Vec<String> =
            (0..3).map(|c| format!("{:.2}", order(&|p| p.1[c]))).chain((0..3).map(|c| format!("{:.2}", order(&|p| p.2[c])))).collect();
        let _ = writeln!(s, "| order, 2e-3 to 2e-4 | {} |\n", o.join(" | "));
    }
    profile(&mut s, r);
    s
}

fn profile(s: &mut String, r: &Results) {
    s.push_str(
        "## Where the time goes, and why our speed-ups are smaller than the paper's\n\n\
         Microseconds of dynamics at the settings of Table 10. `rows and motion` are the constraints, their Jacobian and the equations of motion, once per iteration; `factor` is once per \
         step, `solve` once per iteration: the same code in all three formulations. `maps` is what the chart does in an iteration: increments of its coordinates, the rotation matrix, the twist and \
         its derivative. The rest of a step is prediction, update, error estimate and the checks of acceptance.\n\n\
         | | rows and motion | factor | solve | maps rA | rp | reps | step rA | rp | reps | maps in a step rA | rp | reps |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for p in &r.profile {
        let share = [0, 1, 2].map(|k| 100.0 * p.iterations[k] * p.maps[k] / p.step[k]);
        let _ = writeln!(
            s,
            "| {} | {:.2} | {:.2} | {:.2} | {:.3} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} | {:.0} % | {:.0} % | {:.0} % |",
            p.name,
            p.equations,
            p.factor,
            p.solve,
            p.maps[0],
            p.maps[1],
            p.maps[2],
            p.step[0],
            p.step[1],
            p.step[2],
            share[0],
            share[1],
            share[2]
        );
    }
    s.push_str(
        "\nThe paper traces the speed of rA to simpler equations and terser Jacobians: its programs differentiate every constraint, and every reaction, by `p` or by the angles, \
         and solve a dense system of 8 unknowns per body (rp) or 6 (rA, rE) plus the multipliers. Nothing of this has to be so. Here equations and constraints are written once, in terms of the \
         twist, for all three; Newton's unknowns are body increments in all three; the norm row of rp is solved apart for its one unknown; and the matrix that is factored has the size of \
         the constraints alone. What a chart adds is its velocity map: a handful of products for Euler parameters, sines and cosines of three angles for Euler angles, \
         against the exponential and the tangent operator of rA. As the table shows, that is a small part of a step, and the larger systems and Jacobians that made rp and rE slow are not there. \
         So rA is not one and a half times as fast as the others here, and cannot be while they share its equations. \
         The paper's finding on iterations holds: the three need the same number. Its ranking of speeds is one of ways to write the equations rather than of coordinates.\n",
    );
}
