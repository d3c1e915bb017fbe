//! Problems with known answers, shared by tests, benches and examples.
#![allow(dead_code)]

use fourbar_dae::{Equations, Error, Mechanics, Options, Problem, Scalar, State, diff};
use std::sync::Arc;

/// Simple pendulum as printed in [Pryce20, Eqs. (17)-(19)], second coordinate downwards.
pub fn pendulum<S: Scalar>(_t: S, x: &[S], eq: &mut Equations<S>) {
    let (u, v, lambda) = (x[0], x[1], x[2]);
    eq.equation("horizontal", diff(u, 2) + lambda * u);
    eq.equation("vertical", diff(v, 2) + lambda * v - 9.81);
    eq.equation("length", u.sqr() + v.sqr() - 100.0);
}

/// Two pendula coupled through the length of the second: index 5 (Pryce 1998; Nedialkov and Pryce 2005).
/// Length of the second pendulum is `l + c lambda` with the multiplier of the first.
pub fn two_pendula<S: Scalar>(_t: S, x: &[S], eq: &mut Equations<S>) {
    let (g, l, c) = (9.81, 1.0, 0.1);
    let (u, v, lambda, p, q, mu) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    eq.equation("horizontal 1", diff(u, 2) + u * lambda);
    eq.equation("vertical 1", diff(v, 2) + v * lambda - g);
    eq.equation("length 1", u.sqr() + v.sqr() - l * l);
    eq.equation("horizontal 2", diff(p, 2) + p * mu);
    eq.equation("vertical 2", diff(q, 2) + q * mu - g);
    eq.equation("length 2", p.sqr() + q.sqr() - (lambda * c + l).sqr());
}

/// A chain of `n` point masses on rods of unit length; coordinates x1, y1, x2, ... with y downwards.
pub fn chain(n: usize) -> Result<Problem, Error> {
    let names: Vec<String> = (1..=n).flat_map(|i| [format!("x{i}"), format!("y{i}")]).collect();
    Problem::lagrangian(&names, |_, q, v, m| {
        for i in 0..n {
            let (x, y) = (q[2 * i], q[2 * i + 1]);
            m.lagrangian((v[2 * i].sqr() + v[2 * i + 1].sqr()) * 0.5 + y * 9.81);
            let (dx, dy) = if i == 0 { (x, y) } else { (x - q[2 * i - 2], y - q[2 * i - 1]) };
            m.constraint(format!("rod{}", i + 1), dx.sqr() + dy.sqr() - 1.0);
        }
    })
}

/// The chain at rest, rods slightly inclined to alternating sides.
pub fn chain_start(problem: &Problem, n: usize) -> State {
    let mut state = problem.zero_state(0.0);
    let (mut x, mut y) = (0.0, 0.0);
    for i in 0..n {
        let angle = 0.3 * (1.0 + i as f64).sin();
        x += angle.sin();
        y += angle.cos();
        state.set(2 * i, 0, x);
        state.set(2 * i + 1, 0, y);
    }
    state
}

/// Free top in six direction components [Pryce20, Example 3].
pub fn free_top<S: Scalar>(inertia: [f64; 3], q: &[S], v: &[S], m: &mut Mechanics<S>) {
    let dot = |a: &[S], b: &[S]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross = |a: &[S], b: &[S]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let (a, b, ad, bd) = (&q[..3], &q[3..6], &v[..3], &v[3..6]);
    let c = cross(a, b);
    let (c1, c2) = (cross(ad, b), cross(a, bd));
    let cd = [c1[0] + c2[0], c1[1] + c2[1], c1[2] + c2[2]];
    let omega = [dot(&c, bd), dot(a, &cd), dot(b, ad)];
    m.constraint("unit first", dot(a, a) - 1.0);
    m.constraint("unit second", dot(b, b) - 1.0);
    m.constraint("right angle", dot(a, b));
    for k in 0..3 {
        m.lagrangian(omega[k].sqr() * (0.5 * inertia[k]));
        m.output(format!("omega{}", k + 1), omega[k]);
    }
}

/// Names of the six components.
pub const TOP: [&str; 6] = ["u1", "u2", "u3", "v1", "v2", "v3"];

/// Planar Kepler problem with unit constants, as a second-order ordinary differential equation.
pub fn kepler<S: Scalar>(_t: S, x: &[S], eq: &mut Equations<S>) {
    let r2 = x[0].sqr() + x[1].sqr();
    let cube = r2.powf(-1.5);
    eq.equation("x", diff(x[0], 2) + x[0] * cube);
    eq.equation("y", diff(x[1], 2) + x[1] * cube);
    eq.output("energy", (diff(x[0], 1).sqr() + diff(x[1], 1).sqr()) * 0.5 - r2.powf(-0.5));
}

/// Starts at pericentre with eccentricity `e` and unit semi-axis.
pub fn kepler_start(problem: &Problem, e: f64) -> State {
    let mut state = problem.zero_state(0.0);
    state.set(0, 0, 1.0 - e);
    state.set(1, 1, ((1.0 + e) / (1.0 - e)).sqrt());
    state
}

/// Names of the angles of Andrews' squeezing mechanism, as in the public test set.
pub const ANDREWS: [&str; 7] = ["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"];

/// Their start values; all rates are zero.
pub const ANDREWS_START: [f64; 7] =
    [-0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588, 1.2305474445498212];

/// Tolerance with all angles of size one.
pub fn andrews_options(rel: f64) -> Options {
    ANDREWS.iter().fold(Options::new(rel), |o, name| o.size(*name, 1.0))
}

/// Andrews' squeezing mechanism in seven angles: kinetic energy of the bodies, spring, motor torque, three loops.
/// Facts from the public DAE test set; points as complex numbers, e(a) = exp(i a).
pub fn andrews<S: Scalar>(q: &[S], v: &[S], outputs: bool, m: &mut Mechanics<S>) {
    let (d, da, e, ea, zf, fa) = (0.028, 0.0115, 0.02, 0.01421, 0.02, 0.01421);
    let (rr, ra, ss, sa, sb, sc, sd) = (0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02);
    let (zt, ta, tb, u, ua, ub) = (0.04, 0.02308, 0.00916, 0.04, 0.01228, 0.00449);
    let (c0, l0, torque) = (4530.0, 0.07785, 0.033);
    let (a_point, b_point, c_point) = ([-0.06934, -0.00227], [-0.03635, 0.03273], [0.014, 0.072]);
    let mass = [0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498];
    let inertia = [2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5];
    // Absolute angles of the bodies and their rates.
    let angle = [q[0], q[0] + q[1], q[2], q[3] + q[4], q[4], q[5] + q[6], q[6]];
    let rate = [v[0], v[0] + v[1], v[2], v[3] + v[4], v[4], v[5] + v[6], v[6]];
    let unit = angle.map(|a| [a.cos(), a.sin()]);
    // (x + i y) e(a)
    let turned = |b: usize, x: f64, y: f64| [unit[b][0] * x - unit[b][1] * y, unit[b][1] * x + unit[b][0] * y];
    let add = |p: [S; 2], r: [S; 2]| [p[0] + r[0], p[1] + r[1]];
    let fixed = |p: [f64; 2]| p.map(S::of);
    let f = turned(0, rr, 0.0);
    let e_point = add(f, turned(1, -d, 0.0));
    let g = add(fixed(a_point), turned(4, zt, 0.0));
    let h = add(fixed(a_point), turned(6, 0.0, -u));
    let centre = [
        turned(0, ra, 0.0),
        add(f, turned(1, -da, 0.0)),
        add(fixed(b_point), turned(2, sb, -sa)),
        add(g, turned(3, 0.0, -(e - ea))),
        add(fixed(a_point), turned(4, ta, tb)),
        add(h, turned(5, zf - fa, 0.0)),
        add(fixed(a_point), turned(6, -ub, -ua)),
    ];
    let mut kinetic = S::of(0.0);
    for b in 0..7 {
        let [vx, vy] = centre[b].map(|p| p.rate());
        kinetic = kinetic + (vx.sqr() + vy.sqr()) * (0.5 * mass[b]) + rate[b].sqr() * (0.5 * inertia[b]);
    }
    let d_point = add(fixed(b_point), turned(2, sd, -sc));
    let length = ((d_point[0] - c_point[0]).sqr() + (d_point[1] - c_point[1]).sqr()).sqrt();
    let potential = (length - l0).sqr() * (0.5 * c0);
    m.lagrangian(kinetic - potential);
    m.load(v[0], S::of(torque));
    let loops = [
        ("loop K3", add(fixed(b_point), turned(2, 0.0, -ss))),
        ("loop K4", add(g, turned(3, 0.0, -e))),
        ("loop K6", add(h, turned(5, zf, 0.0))),
    ];
    for (name, point) in loops {
        m.constraint(format!("{name} x"), e_point[0] - point[0]);
        m.constraint(format!("{name} y"), e_point[1] - point[1]);
    }
    if outputs {
        m.output("balance", kinetic + potential - (q[0] - ANDREWS_START[0]) * torque);
        m.output("kinetic", kinetic);
    }
}

/// The mechanism, ready to run, with or without energies as outputs.
pub fn andrews_problem(outputs: bool) -> (Arc<Problem>, State) {
    let problem = Problem::lagrangian(&ANDREWS, |_, q, v, m| andrews(q, v, outputs, m)).expect("sound equations");
    let mut state = problem.zero_state(0.0);
    for (j, x) in ANDREWS_START.iter().enumerate() {
        state.set(j, 0, *x);
    }
    (Arc::new(problem), state)
}

/// The same mechanism in natural coordinates: the points F, E, G and H, seven lengths; mass matrix constant.
pub fn andrews_points<S: Scalar>(q: &[S], v: &[S], outputs: bool, m: &mut Mechanics<S>) {
    let (a, b, c) = ([-0.06934, -0.00227], [-0.03635, 0.03273], [0.014, 0.072]);
    let pair = |x: &[S], k: usize| [x[2 * k], x[2 * k + 1]];
    let (f, e, g, h) = (pair(q, 0), pair(q, 1), pair(q, 2), pair(q, 3));
    let (fv, ev, gv, hv) = (pair(v, 0), pair(v, 1), pair(v, 2), pair(v, 3));
    let square = |p: [S; 2]| p[0].sqr() + p[1].sqr();
    let less = |p: [S; 2], r: [S; 2]| [p[0] - r[0], p[1] - r[1]];
    let from = |p: [S; 2], r: [f64; 2]| [p[0] - r[0], p[1] - r[1]];
    let between = |p: [S; 2], r: [S; 2], s: f64| [p[0] * (1.0 - s) + r[0] * s, p[1] * (1.0 - s) + r[1] * s];
    let about = |mass: f64, arm2: f64, inertia: f64, length: f64| 0.5 * (mass * arm2 + inertia) / (length * length);
    let mut kinetic = square(fv) * about(0.04325, 0.00092f64.powi(2), 2.194e-6, 0.007);
    kinetic += square(ev) * about(0.02373, 0.01874f64.powi(2) + 0.01043f64.powi(2), 5.255e-6, 0.035);
    kinetic += square(gv) * about(0.0705, 0.02308f64.powi(2) + 0.00916f64.powi(2), 1.169e-5, 0.04);
    kinetic += square(hv) * about(0.05498, 0.01228f64.powi(2) + 0.00449f64.powi(2), 1.912e-5, 0.04);
    // Bars between two moving points: mass, inertia, length, position of the centre from the first point.
    let bars = [
        (fv, ev, 0.00365, 4.41e-7, 0.028, 0.0115 / 0.028),
        (gv, ev, 0.00706, 5.667e-7, 0.02, 0.00579 / 0.02),
        (hv, ev, 0.00706, 5.667e-7, 0.02, 0.00579 / 0.02),
    ];
    for (p, r, mass, inertia, length, place) in bars {
        kinetic += square(between(p, r, place)) * (0.5 * mass);
        kinetic += square(less(p, r)) * (0.5 * inertia / (length * length));
    }
    // D = B + (sd - i sc) i (E - B)/ss = B + (sc + i sd)(E - B)/ss
    let arm = from(e, b);
    let (x, y) = (0.018 / 0.035, 0.02 / 0.035);
    let spring = [arm[0] * x - arm[1] * y + (b[0] - c[0]), arm[0] * y + arm[1] * x + (b[1] - c[1])];
    let potential = (square(spring).sqrt() - 0.07785).sqr() * 2265.0;
    m.lagrangian(kinetic - potential);
    if outputs {
        m.output("energy", kinetic + potential);
        m.output("kinetic", kinetic);
    }
    m.load((f[0] * fv[1] - f[1] * fv[0]) / (0.007 * 0.007), S::of(0.033));
    m.constraint("crank", square(f) - 0.007 * 0.007);
    m.constraint("rod K2", square(less(f, e)) - 0.028 * 0.028);
    m.constraint("rod K3", square(arm) - 0.035 * 0.035);
    m.constraint("rod K4", square(less(e, g)) - 0.02 * 0.02);
    m.constraint("rod K5", square(from(g, a)) - 0.04 * 0.04);
    m.constraint("rod K7", square(from(h, a)) - 0.04 * 0.04);
    m.constraint("rod K6", square(less(e, h)) - 0.02 * 0.02);
}

/// Points F, E, G, H at given angles.
pub fn andrews_positions(angles: &[f64]) -> [f64; 8] {
    let (beta, both, delta, epsilon) = (angles[0], angles[0] + angles[1], angles[4], angles[6]);
    let f = [0.007 * beta.cos(), 0.007 * beta.sin()];
    let e = [f[0] - 0.028 * both.cos(), f[1] - 0.028 * both.sin()];
    let g = [-0.06934 + 0.04 * delta.cos(), -0.00227 + 0.04 * delta.sin()];
    let h = [-0.06934 + 0.04 * epsilon.sin(), -0.00227 - 0.04 * epsilon.cos()];
    [f[0], f[1], e[0], e[1], g[0], g[1], h[0], h[1]]
}

/// The mechanism in points, ready to run; the absolute tolerance should fit lengths of centimetres.
pub fn andrews_points_problem(outputs: bool) -> (Arc<Problem>, State) {
    let names = ["Fx", "Fy", "Ex", "Ey", "Gx", "Gy", "Hx", "Hy"];
    let problem = Problem::lagrangian(&names, |_, q, v, m| andrews_points(q, v, outputs, m)).expect("sound equations");
    let mut state = problem.zero_state(0.0);
    for (j, x) in andrews_positions(&ANDREWS_START).iter().enumerate() {
        state.set(j, 0, *x);
    }
    (Arc::new(problem), state)
}

/// Values of a data file: header names and rows. Lines with `#` are comments.
pub fn read_table(text: &str) -> (Vec<&str>, Vec<Vec<f64>>) {
    let mut lines = text.lines().filter(|l| !l.starts_with('#'));
    let names = lines.next().unwrap_or("").split(',').collect();
    let rows = lines.map(|l| l.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    (names, rows)
}
