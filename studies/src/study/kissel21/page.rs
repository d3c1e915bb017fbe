//! The page of the study: tables compared with those of the paper, figures, and reasons for the differences.

use super::{Literal, Results, Three};
use std::fmt::Write;

/// Speed-ups of rA and reps over rp in the paper: codes C1 and C2, for each rA and rE.
type Paper = [f64; 4];

const TABLE8: [(&str, Paper); 3] =
    [("1-pendulum", [2.21, 1.40, 2.63, 1.27]), ("four link", [2.38, 1.23, 2.55, 1.10]), ("slider-crank", [2.70, 1.47, 2.62, 1.23])];
const TABLE10: [(&str, Paper); 4] = [
    ("1-pendulum", [2.43, 1.29, 2.46, 1.69]),
    ("2-pendulum", [2.63, 1.21, 2.39, 1.53]),
    ("four link", [2.62, 1.21, 2.41, 1.44]),
    ("slider-crank", [2.93, 1.31, 2.29, 1.30]),
];
/// Iterations in the paper, the same for both codes: rA, rp, rE.
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

/// Slope of an error between two step sizes, as a power of the step.
fn slope(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.1 / b.1).ln() / (a.0 / b.0).ln()
}

/// Smallest and largest of some numbers, as `1.2 to 1.5`.
fn range(numbers: impl Iterator<Item = f64>) -> String {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    format!("{low:.2} to {high:.2}")
}

/// The systems of the paper on all mechanisms.
fn literal(out: &mut String, rows: &[Literal], paper: &[(&str, Paper)]) {
    out.push_str(
        "| | CD, DP1, DP2, D | unknowns rA, rp, rE | us per step rA | rp | rE | iterations rA, rp, rE | **rA over rp** | **rE over rp** | operations per step rA | rp | rE | rp / rA | rp / rE | paper C1: rA, rE | paper C2: rA, rE |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for r in rows {
        let p = paper.iter().find(|(k, _)| r.name.starts_with(k)).map_or([f64::NAN; 4], |p| p.1);
        let (n, t, i, o) = (r.sizes, r.times, r.iterations, r.operations);
        let _ = writeln!(
            out,
            "| {} | {} | {}, {}, {} | {:.2} | {:.2} | {:.2} | {:.2}, {:.2}, {:.2} | **{:.2}** | **{:.2}** | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2}, {:.2} | {:.2}, {:.2} |",
            r.name,
            r.constraints.map(|x| x.to_string()).join(", "),
            n[0],
            n[1],
            n[2],
            t[0],
            t[1],
            t[2],
            i[0],
            i[1],
            i[2],
            t[1] / t[0],
            t[1] / t[2],
            o[0],
            o[1],
            o[2],
            o[1] / o[0],
            o[1] / o[2],
            p[0],
            p[1],
            p[2],
            p[3]
        );
    }
}

/// The claims of the paper, the findings, and reasons for the differences.
fn summary(s: &mut String, r: &Results) {
    let over = |rows: &[Literal], k: usize| range(rows.iter().map(|l| l.times[1] / l.times[k]));
    let work = |rows: &[Literal], k: usize| range(rows.iter().map(|l| l.operations[1] / l.operations[k]));
    let both = |rows: &[Vec<Literal>; 2], k: usize| range(rows.iter().flatten().map(|l| l.times[1] / l.times[k]));
    let charts = |rows: &[super::Row], k: usize| range(rows.iter().map(|row| row.1[1] / row.1[k]));
    let kept: Vec<String> = r.table9.iter().map(|(_, c)| format!("{:.2}", c[0][0])).collect();
    let _ = writeln!(
        s,
        "**What the paper claims.** rA is 2.2 to 2.7 times as fast as rp in kinematics (Table 8) and 2.3 to 2.9 times in dynamics (Table 10), r-epsilon 1.1 to 1.5 and 1.2 to 1.7 times; all three need the same number of iterations (Table 9, Figs. 2 and 4) and are of order one (Figs. 3, 5 to 7).\n\n\
         **What we found.** With the paper's own systems, written as they stand in it (kinematics with 6 nb or 7 nb unknowns; dynamics with 6 nb + nc, or 8 nb + nc with the multipliers of the norms), dense and compiled, rA is {} times as fast as rp in kinematics and {} times in dynamics; r-epsilon is {} and {} times as fast as rp. \
         Counted in operations the ratios are {} and {} for rA, {} and {} for r-epsilon, with the Newton of the paper's programs. So the ranking rA before rp is confirmed, its factor of 2.2 to 2.9 is not; r-epsilon before rp holds in dynamics, and in kinematics neither clearly in time nor in work. \
         Iterations are confirmed, with that Newton to a few per cent: rA {} against 3.80, 4.50, 4.70. Order one is confirmed. \
         With our own charts, which share one set of equations, rA is {} (kinematics) and {} (dynamics) times as fast as rp: the coordinates themselves make no difference worth a name.\n",
        both(&r.literal8, 0),
        both(&r.literal10, 0),
        both(&r.literal8, 2),
        both(&r.literal10, 2),
        work(&r.literal8[0], 0),
        work(&r.literal10[0], 0),
        work(&r.literal8[0], 2),
        work(&r.literal10[0], 2),
        kept.join(", "),
        charts(&r.table8, 0),
        charts(&r.table10, 0),
    );
    let _ = writeln!(
        s,
        "**Why they differ.** Newton: Eq. (11) starts from `A_(n-1) exp(h omega)` and Eqs. (14), (38) form the matrix anew in every iteration; the counts of Table 9 are those of a Newton that starts from the last pose and keeps the matrix of the first iteration, and that is what an early public version of the first author's program does (`simEngine3D`, Euler parameters: the Jacobian is inverted once per step, before the loop; \
         in dynamics the matrix has masses and constraints alone, without the variation of reactions of Tables 3 to 6). The programs behind the tables could not be seen. The tables below show this Newton, full Newton and Eq. (11) side by side. \
         Speed: the paper's programs are in Python, where a product of small matrices costs about the same whatever its size, so that times count calls rather than operations; rp has more calls per constraint (`B(p, s)`, and rotation matrices built anew in each of them). \
         In compiled code the ratio is that of operations ({} with the matrix kept, kinematics: {} in time). \
         The systems of the paper are then beaten by any of our charts by {} times in dynamics, because ours factor the constraints alone, sparse, once per step.\n",
        work(&r.literal8[0], 0),
        over(&r.literal8[0], 0),
        {
            let ours =
                |name: &str| r.table10.iter().find(|row| row.0.starts_with(name) && row.0.ends_with("bare primitives")).map(|row| row.1);
            range(r.literal10[0].iter().filter_map(|l| ours(&l.name).map(|t| l.times[0] / t[0])))
        }
    );
}

/// The whole page.
pub fn text(r: &Results) -> String {
    let mut s = String::new();
    s.push_str("# The experiments of [Kissel21] with rA, rp and reps\n\n");
    summary(&mut s, r);
    s.push_str(
        "`cargo xtask study kissel21` wrote this page and its figures. [Kissel21] (key in [references.md](../../references.md)) compares rotation matrices (rA), \
         Euler parameters (rp) and ZXZ Euler angles (reps, its rE) on four mechanisms, with two Python programs C1 and C2. Here are the same experiments with its own systems of equations (`studies/src/study/kissel21/literal`, every formula tested against automatic differentiation) and with this \
         engine: [rA](../../formulations/ra.md), [rp](../../formulations/rp.md), [reps](../../formulations/reps.md). Settings are those of the paper: \
         Tables 8 and 9 h = 1e-3 s and corrections below 1e-10, Fig. 2 1e-11, Table 10 Theta = 1e-3 at h = 1e-3 s, Figs. 4 to 7 Theta h^2 = 1e-11; 3 s of motion, the double pendulum 5 s; \
         dynamics by backward Euler. The paper's systems stop by the 2-norm of all corrections, as Eq. (46) says; our charts by the largest translation, or rotation times the characteristic length, unless `norm=acceleration` asks for Eq. (46). \
         Models: `models/ra_*.yaml`, and the three driven ones also in bare primitives with the counts of Table 7 \
         (`ra_*_primitives.yaml`: 3 CD and 3 DP1; 12 CD and 6 DP1; 6 CD, 7 DP1, 4 DP2 and 1 D), whose DP1 drive changes its reference direction where it would lose rank.\n\n\
         Times are times on the processor, taken in ten rounds in which the three take turns, without output: of every 250 steps the shortest time counts. The machine was shared with other work all the while (a load of ten on two cores), so compare figures of one table only, and its ratios rather than its times. Operations are additions, multiplications, divisions and functions of numbers, counted by a scalar that counts.\n\n",
    );
    s.push_str("## Table 8: kinematics, speed-up over rp\n\nThe paper's systems, Newton of its programs (from the last pose, the matrix of the first iteration kept):\n\n");
    literal(&mut s, &r.literal8[0], &TABLE8);
    s.push_str("\nFull Newton, as Eq. (14) is written:\n\n");
    literal(&mut s, &r.literal8[1], &TABLE8);
    let exchanged: Vec<String> =
        r.literal10[0].iter().filter(|l| l.exchanged > 0).map(|l| format!("{} ({})", l.name, l.exchanged)).collect();
    let _ = writeln!(
        s,
        "\nEuler angles are singular where the z axis of a body stands upright. Bodies that come near it have other axes for rE alone: {}.\n\nOur charts on one set of equations:\n",
        exchanged.join(", ")
    );
    speed_ups(&mut s, &r.table8, &TABLE8);
    s.push_str(
        "\n## Table 9: corrections per step of the position analysis\n\n\
         The paper's systems with three kinds of Newton: `kept` starts from the last pose and keeps the matrix of the first iteration, `full` starts there too and forms a new matrix for every correction, `Eq. (11)` starts from the pose that the last velocity leads to. \
         `ours` predicts by velocity and acceleration and forms one matrix per step. Bare primitives. The paper's counts are those of `kept`, not of its Eqs. (11) and (14). That the three formulations need the same number holds for each of them.\n\n\
         | | kept: rA | rp | rE | full: rA | rp | rE | Eq. (11): rA | rp | rE | ours: rA | rp | reps | paper: rA | rp | rE |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, counts) in &r.table9 {
        let p = TABLE9.iter().find(|(k, _)| k == name).map_or([f64::NAN; 3], |p| p.1);
        let numbers: Vec<String> = counts.iter().chain([&p]).flatten().map(|x| format!("{x:.2}")).collect();
        let _ = writeln!(s, "| {name} | {} |", numbers.join(" | "));
    }
    s.push_str("\n## Fig. 2: corrections per step against the step, four link, kinematics\n\n![Fig. 2](fig2.svg)\n\nThe paper's systems, 2-norm of the correction below 1e-11.\n\n| h, s | kept: rA | rp | rE | full: rA | rp | rE | Eq. (11): rA | rp | rE |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (h, counts) in &r.fig2 {
        let numbers: Vec<String> = counts.iter().flatten().map(|x| format!("{x:.2}")).collect();
        let _ = writeln!(s, "| {h:.0e} | {} |", numbers.join(" | "));
    }
    s.push_str("\n## Fig. 3: double pendulum against the reference\n\n![Fig. 3](fig3.svg)\n\nLargest distance in z of the second rod over 5 s, metres. The reference is independent of this engine \
                (minimal coordinates, order 8, good to 1e-13 m).\n\n");
    steps(&mut s, "distance", &r.fig3, |x| format!("{x:.3e}"));
    s.push_str("\n## Table 10: dynamics, speed-up over rp\n\nThe paper's systems, Newton of its programs (matrix of masses and constraints at the last state):\n\n");
    literal(&mut s, &r.literal10[0], &TABLE10);
    s.push_str("\nFull Newton with the matrices of Eqs. (38), (42), (45) in every iteration:\n\n");
    literal(&mut s, &r.literal10[1], &TABLE10);
    s.push_str("\nOur charts on one set of equations:\n\n");
    speed_ups(&mut s, &r.table10, &TABLE10);
    s.push_str("\n## Fig. 4: Newton iterations against the step, four link, dynamics\n\n![Fig. 4](fig4.svg)\n\nThe paper's systems:\n\n| h, s | kept: rA | rp | rE | full: rA | rp | rE |\n|---|---|---|---|---|---|---|\n");
    for (h, counts) in &r.fig4_literal {
        let numbers: Vec<String> = counts.iter().flatten().map(|x| format!("{x:.2}")).collect();
        let _ = writeln!(s, "| {h:.0e} | {} |", numbers.join(" | "));
    }
    s.push_str("\nWith full Newton rA needs more iterations than the others at large steps: Eq. (37) leaves the tangent operator of the exponential out of its matrix, so that Newton converges linearly there, with a rate in proportion to the turn in a step.\n");
    s.push_str("\nOur charts ([figure](fig4_charts.svg)):\n\n");
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
        // The order between 2e-4 and 2e-3: below, the tolerance of Newton's method dominates, which accelerations divide by h^2.
        let (fine, coarse) = (&points[1], &points[4]);
        let order = |pick: &dyn Fn(&(f64, Three, Three)) -> f64| slope((coarse.0, pick(coarse)), (fine.0, pick(fine)));
        let o: Vec<String> =
            (0..3).map(|c| format!("{:.2}", order(&|p| p.1[c]))).chain((0..3).map(|c| format!("{:.2}", order(&|p| p.2[c])))).collect();
        let _ = writeln!(s, "| order, 2e-3 to 2e-4 | {} |\n", o.join(" | "));
    }
    state_space(&mut s, r);
    profile(&mut s, r);
    s
}

fn state_space(s: &mut String, r: &Results) {
    s.push_str(
        "## rA in state space, the paper's future work\n\n\
         `--formulation so3xr3 --option constraints=independent` integrates independent velocities, one for each freedom, by a basis of the null space of the constraint Jacobian ([ra.md](../../formulations/ra.md#state-space)). \
         Beside it the index-3 form of `ra` with two integrators, and the index-1 form with projections after every step. Errors are largest distances of bodies from independent references, where these have places of bodies; evaluations are accelerations, or Newton iterations.\n\n\
         | mechanism | freedoms | method | tolerance | error, m | largest residual, m | m/s | steps | evaluations | factorisations | time, ms |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for c in &r.state_space {
        let _ = writeln!(
            s,
            "| {} | {} | {} | {:.0e} | {} | {:.0e} | {:.0e} | {:.0} | {:.0} | {:.0} | {:.1} |",
            c.model,
            c.freedoms,
            c.method,
            c.tol,
            if c.error.is_nan() { "-".into() } else { format!("{:.1e}", c.error) },
            c.residuals[0],
            c.residuals[1],
            c.steps,
            c.evaluations,
            c.factorisations,
            c.time
        );
    }
    let ratio = |what: fn(&super::state::Compared) -> f64| {
        let of = |method: &'static str| r.state_space.iter().filter(move |c| c.method.starts_with(method)).map(what);
        range(of("state space").zip(of("index 1")).map(|(a, b)| a / b))
    };
    let _ = writeln!(
        s,
        "\nThe state-space form keeps the constraints in every stage, to 1e-11 m or better, not only at the ends of steps, and that is what it is good for: it takes {} times the time and {} times the factorisations of the index-1 form with projections, at errors {} times as large.\n",
        ratio(|c| c.time),
        ratio(|c| c.factorisations),
        ratio(|c| c.error)
    );
}

fn profile(s: &mut String, r: &Results) {
    s.push_str(
        "## Where the time of our charts goes\n\n\
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
        "\nThe paper traces the speed of rA to simpler equations and terser Jacobians: its programs differentiate every constraint by `p` or by the angles, \
         and solve a dense system of 8 unknowns per body (rp) or 6 (rA, rE) plus the multipliers. Here equations and constraints are written once, in terms of the \
         twist, for all three; Newton's unknowns are body increments in all three; the norm row of rp is solved apart for its one unknown; and the matrix that is factored has the size of \
         the constraints alone. What a chart adds is its velocity map: a handful of products for Euler parameters, sines and cosines of three angles for Euler angles, \
         against the exponential and the tangent operator of rA. As the table shows, that is a small part of a step. \
         Together with the measured systems of the paper above this says: the ranking of speeds is one of ways to write the equations rather than of coordinates.\n",
    );
}
