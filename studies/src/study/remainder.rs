//! Truncation errors of Taylor steps, bounded by intervals and compared with the tolerance: a pendulum, a four-bar and Andrews' mechanism.

use crate::enclosure::{Planar, Point, Spring, left_out};
use fourbar_dae::{Integrator, Options, Problem, Scalar};
use std::sync::Arc;

/// A mechanism with its start: prescribed and guessed coordinates, and rates.
struct Case {
    name: &'static str,
    system: Planar,
    start: Vec<f64>,
    held: Vec<usize>,
    rates: Vec<(usize, f64)>,
    t_end: f64,
}

/// A point mass of 1 kg on a rod of 1 m.
fn pendulum() -> Case {
    let mut s = Planar::new(vec!["x", "y"]);
    let (o, a) = (Point::fixed(2, 0.0, 0.0), Point::moving(2, 0));
    s.part((&o, &a, 1.0), (1.0, 0.0), 1.0, 0.0, 9.81);
    Case { name: "pendulum", system: s, start: vec![1.0, 0.0], held: vec![0], rates: vec![(1, 0.0)], t_end: 5.0 }
}

/// A crank, a coupler and a rocker as uniform rods of 1 kg/m, swinging from 60 degrees.
fn four_bar() -> Case {
    let mut s = Planar::new(vec!["Bx", "By", "Cx", "Cy"]);
    let [a, d] = [Point::fixed(4, 0.0, 0.0), Point::fixed(4, 3.0, 0.0)];
    let [b, c] = [Point::moving(4, 0), Point::moving(4, 2)];
    for (from, to, length) in [(&a, &b, 1.0_f64), (&b, &c, 3.0), (&d, &c, 2.5)] {
        s.part((from, to, length), (0.5 * length, 0.0), length, length.powi(3) / 12.0, 9.81);
    }
    let (sine, cosine) = (std::f64::consts::FRAC_PI_3.sin(), std::f64::consts::FRAC_PI_3.cos());
    Case { name: "four-bar", system: s, start: vec![cosine, sine, 2.9, 2.5], held: vec![0], rates: vec![(0, 0.0)], t_end: 5.0 }
}

/// Andrews' mechanism: data of Hairer and Wanner, section VI.9.
fn andrews() -> Case {
    let n = 8;
    let mut s = Planar::new(vec!["Fx", "Fy", "Ex", "Ey", "Gx", "Gy", "Hx", "Hy"]);
    let fixed = |x: f64, y: f64| Point::fixed(n, x, y);
    let (o, a, b, c) = (fixed(0.0, 0.0), fixed(-0.06934, -0.00227), fixed(-0.03635, 0.03273), fixed(0.014, 0.072));
    let [f, e, g, h] = [0, 2, 4, 6].map(|k| Point::moving(n, k));
    s.part((&o, &f, 0.007), (0.00092, 0.0), 0.04325, 2.194e-6, 0.0);
    s.part((&f, &e, 0.028), (0.0115, 0.0), 0.00365, 4.41e-7, 0.0);
    s.part((&b, &e, 0.035), (0.01874, 0.01043), 0.02373, 5.255e-6, 0.0);
    s.part((&g, &e, 0.02), (0.02 - 0.01421, 0.0), 0.00706, 5.667e-7, 0.0);
    s.part((&a, &g, 0.04), (0.02308, 0.00916), 0.0705, 1.169e-5, 0.0);
    s.part((&h, &e, 0.02), (0.02 - 0.01421, 0.0), 0.00706, 5.667e-7, 0.0);
    s.part((&a, &h, 0.04), (0.01228, -0.00449), 0.05498, 1.912e-5, 0.0);
    let d = b.beside(&e, 0.035, 0.018, 0.02);
    s.springs.push(Spring { vector: c.to(&d), stiffness: 4530.0, rest: 0.07785 });
    // A torque on the crank: a force across it at its end.
    let per_square = 0.033 / (0.007 * 0.007);
    s.linear[0].0[1] = -per_square;
    s.linear[1].0[0] = per_square;
    let beta = -0.0617138900142764_f64;
    let start = vec![0.007 * beta.cos(), 0.007 * beta.sin(), -0.02096, 0.0013, -0.034, 0.01646, -0.03163, -0.01562];
    Case { name: "Andrews", system: s, start, held: vec![1], rates: vec![(1, 0.0)], t_end: 0.03 }
}

fn problem(s: &Planar) -> Result<Problem, String> {
    let form = |f: &crate::enclosure::Form, q: &[fourbar_dae::Node]| {
        f.0.iter().zip(q).filter(|(k, _)| **k != 0.0).fold(fourbar_dae::Node::of(f.1), |sum, (k, q)| sum + *q * *k)
    };
    Problem::lagrangian(&s.names, |_, q, v, m| {
        let n = q.len();
        let mut energy = fourbar_dae::Node::of(0.0);
        for i in 0..n {
            for j in 0..n {
                if s.mass[(i, j)] != 0.0 {
                    energy += v[i] * v[j] * (0.5 * s.mass[(i, j)]);
                }
            }
            energy += q[i] * s.weight[i];
        }
        for spring in &s.springs {
            let [x, y] = [0, 1].map(|k| form(&spring.vector.xy[k], q));
            let stretch = (x.sqr() + y.sqr()).sqrt() - spring.rest;
            energy -= stretch.sqr() * (0.5 * spring.stiffness);
        }
        m.lagrangian(energy);
        for (k, f) in s.linear.iter().enumerate() {
            if f.1 != 0.0 || f.0.iter().any(|x| *x != 0.0) {
                m.force(k, form(f, q));
            }
        }
        for (k, (u, square)) in s.rods.iter().enumerate() {
            let [x, y] = [0, 1].map(|i| form(&u.xy[i], q));
            m.constraint(format!("rod{k}"), x.sqr() + y.sqr() - *square);
        }
    })
    .map_err(|e| e.to_string())
}

/// Results of one run: steps, order, largest number of parts, and largest bound relative to the permitted error.
struct Bounded {
    steps: usize,
    shown: usize,
    order: usize,
    parts: usize,
    largest: f64,
    typical: f64,
}

fn bounded(case: &Case, tol: f64) -> Result<Bounded, String> {
    let problem = Arc::new(problem(&case.system)?);
    let words = |e: fourbar_dae::Error| e.to_string();
    let mut start = problem.start(0.0);
    for (k, name) in case.system.names.iter().enumerate() {
        start = if case.held.contains(&k) { start.hold(name, 0, case.start[k]) } else { start.guess(name, 0, case.start[k]) };
    }
    for (k, rate) in &case.rates {
        start = start.hold(case.system.names[*k], 1, *rate);
    }
    let state = start.solve().map_err(words)?;
    let mut run = Integrator::new(&problem, &state, Options::new(tol)).map_err(words)?;
    let n = case.system.names.len();
    let mut found = Bounded { steps: 0, shown: 0, order: run.order(), parts: 0, largest: 0.0, typical: 0.0 };
    let mut bounds = Vec::new();
    // Reference sizes of the errors: the largest values so far.
    let mut sizes = vec![0.0_f64; n];
    while run.t() < case.t_end {
        let before = run.state();
        let values = |p: usize| -> Vec<f64> { (0..n).map(|j| before.get(j, p).unwrap_or(f64::NAN)).collect() };
        let (q, v) = (values(0), values(1));
        sizes.iter_mut().zip(&q).for_each(|(s, q)| *s = s.max(q.abs()));
        run.step(case.t_end).map_err(words)?;
        found.steps += 1;
        // The order of the coordinate series exceeds that of the method by two.
        if let Some((bound, parts)) = left_out(&case.system, &q, &v, run.last_step(), run.order() + 2, 4000) {
            let allowed = tol * sizes.iter().copied().fold(0.0, f64::max);
            found.shown += 1;
            found.parts = found.parts.max(parts);
            bounds.push(bound / allowed);
        }
    }
    bounds.sort_by(f64::total_cmp);
    found.largest = bounds.last().copied().unwrap_or(f64::NAN);
    found.typical = bounds.get(bounds.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(found)
}

/// Rows of the table: mechanism, tolerance, order, steps, steps with a bound, largest number of parts, bounds over permitted error.
pub fn rows() -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    for case in [pendulum(), four_bar(), andrews()] {
        for tol in [1e-6, 1e-9, 1e-12] {
            let b = bounded(&case, tol)?;
            rows.push(vec![
                case.name.to_string(),
                format!("{tol:.0e}"),
                (b.order + 2).to_string(),
                b.steps.to_string(),
                b.shown.to_string(),
                b.parts.to_string(),
                format!("{:.1e}", b.typical),
                format!("{:.1e}", b.largest),
            ]);
        }
    }
    Ok(rows)
}
