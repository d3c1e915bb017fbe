//! Spatial four-bars with hinges, overconstrained, whose lengths, masses and forces are parameters of a file.

use fourbar::random::Random;

/// A four-bar that falls from rest.
#[derive(Clone, Debug)]
pub struct FourBar {
    /// Lengths of crank, coupler, rocker and ground, m.
    pub lengths: [f64; 4],
    /// Masses of crank, coupler and rocker, kg.
    pub masses: [f64; 3],
    /// Moment of inertia of a bar about its axis, kg m^2.
    pub about_itself: f64,
    /// Angle of the crank at the start, rad.
    pub angle: f64,
    /// Stiffness, damping and position on the coupler of a spring, with a coupler point beside it.
    pub spring: Option<[f64; 3]>,
}

impl FourBar {
    /// A four-bar with round numbers, without a spring.
    pub fn round() -> Self {
        Self { lengths: [0.15, 0.35, 0.3, 0.4], masses: [0.3, 0.7, 0.6], about_itself: 1e-6, angle: 1.1, spring: None }
    }

    /// A random four-bar with a spring, a damper and a coupler point.
    pub fn drawn(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut between = |a: f64, b: f64| a + (b - a) * (0.5 + 0.5 * random.number());
        Self {
            lengths: [between(0.1, 0.16), between(0.32, 0.4), between(0.26, 0.32), between(0.36, 0.42)],
            masses: [between(0.2, 0.5), between(0.4, 0.9), between(0.3, 0.8)],
            about_itself: 1e-5,
            spring: Some([between(5.0, 40.0), between(0.01, 0.1), between(0.02, 0.1)]),
            angle: between(0.6, 1.4),
        }
    }

    /// The text of its file: parameters `a`, `b`, `c`, `d` (lengths), `m1`, `m2`, `m3`, `w` (gravity) and, with a spring, `k`, `n` and `e`.
    /// The pose is written to a tenth of a millimetre; assembly closes it.
    pub fn text(&self) -> String {
        let Self { lengths: [a, b, c, d], masses: [m1, m2, m3], about_itself: thin, angle, spring } = self;
        let (ax, az) = (a * angle.cos(), a * angle.sin());
        let (dx, dz) = (d - ax, -az);
        let r = dx.hypot(dz);
        let along = (b * b - c * c + r * r) / (2.0 * r);
        let across = (b * b - along * along).max(0.0).sqrt();
        let (bx, bz) = (ax + (along * dx - across * dz) / r, az + (along * dz + across * dx) / r);
        let (p2, p3) = ((bz - az).atan2(bx - ax), bz.atan2(bx - d));
        let bar = |name: &str, m: &str, l: &str, x: f64, z: f64, angle: f64| {
            format!(
                "  {name}: {{mass: {m}, inertia: [{thin:e}, '{m}*{l}^2/12', '{m}*{l}^2/12'], at: [{x:.4}, 0, {z:.4}], \
                 orientation: {{axis: [0, -1, 0], angle: {angle}}}}}\n"
            )
        };
        let hinge = |name: &str, [i, at_i]: [&str; 2], [j, at_j]: [&str; 2]| {
            let frame = |at: &str| format!("{{at: [{at}, 0, 0], axis: [0, -1, 0], x: [1, 0, 0]}}");
            format!("  {name}: {{type: revolute, bodies: [{i}, {j}], frames: {{{i}: {}, {j}: {}}}}}\n", frame(at_i), frame(at_j))
        };
        let mut text = format!("\nfourbar: 1\nparameters: {{a: {a}, b: {b}, c: {c}, d: {d}, m1: {m1}, m2: {m2}, m3: {m3}, w: 9.81");
        if let Some([k, n, e]) = spring {
            text += &format!(", k: {k}, n: {n}, e: {e}");
        }
        text += "}\ngravity: [0, 0, -w]\nbodies:\n";
        text += &bar("crank", "m1", "a", 0.5 * ax, 0.5 * az, *angle);
        text += &bar("coupler", "m2", "b", 0.5 * (ax + bx), 0.5 * (az + bz), p2);
        text += &bar("rocker", "m3", "c", 0.5 * (d + bx), 0.5 * bz, p3);
        text += "joints:\n";
        text += &hinge("O", ["ground", "0"], ["crank", "-a/2"]);
        text += &hinge("A", ["crank", "a/2"], ["coupler", "-b/2"]);
        text += &hinge("B", ["coupler", "b/2"], ["rocker", "c/2"]);
        text += &hinge("C", ["ground", "d"], ["rocker", "-c/2"]);
        if spring.is_some() {
            text += "forces:\n  coil: {type: spring, between: [{body: ground, at: [0, 0, 0.5]}, {body: coupler, at: [0, 0, e]}], \
                     stiffness: k, length: 0.2, damping: n}\n";
            text += "points: {P: {body: coupler, at: [0.1, 0, e]}}\n";
        }
        text + &format!("start: {{O.angle: {angle}}}\nstudy: {{t_end: 0.1, output_step: 0.01}}\n")
    }
}
