//! Singular positions during the run: a driven plate on three parallel cranks of thin rods. Whenever the cranks lie along the line of their
//! pivots, all loops lose rank simultaneously, and a branch starts on which cranks rotate in opposite directions. The small axial inertia
//! of a thin rod weakens unrelated rows.

use fourbar::study::{Analysis, Report, Study};
use fourbar::trajectory::Trajectory;
use fourbar_math::so3;
use fourbar_testing::common::*;
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Numbers between zero and one, the same in every run.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.number()
    }
}

/// A plate on cranks that swing through `turns` half turns and a little more.
struct Plate {
    radius: f64,
    /// Positions of the three pivots along their line, m.
    pivots: [f64; 3],
    /// Angle of the cranks against that line at the start.
    start: f64,
    /// Speed, rad/s, in either direction.
    speed: f64,
    /// Radius of the rods, m; and their mass, that of the plate, its radius of gyration.
    thin: f64,
    mass: f64,
    heavy: f64,
    gyration: f64,
    /// Rotation of the whole mechanism in space.
    turned: Vector3<f64>,
}

/// The plate of the original failure.
const PLAIN: Plate = Plate {
    radius: 0.2,
    pivots: [0.0, 0.3, 0.7],
    start: PI / 3.0,
    speed: 10.0,
    thin: 1e-3,
    mass: 0.3,
    heavy: 2.0,
    gyration: 0.2,
    turned: Vector3::new(0.0, 0.0, 0.0),
};

impl Plate {
    fn drawn(draw: &mut Draw) -> Self {
        let first = draw.between(0.1, 1.0);
        let speed = draw.between(2.0, 20.0);
        Self {
            radius: draw.between(0.1, 0.4),
            pivots: [0.0, first, first + draw.between(0.1, 1.0)],
            start: draw.between(0.3, PI - 0.3),
            speed: if draw.number() < 0.5 { speed } else { -speed },
            thin: 10.0_f64.powf(draw.between(-4.0, -2.0)),
            mass: draw.between(0.1, 3.0),
            heavy: draw.between(0.1, 10.0),
            gyration: draw.between(0.05, 0.5),
            turned: Vector3::new(draw.number(), draw.number(), draw.number()) * 3.0,
        }
    }

    /// Position in space from coordinates in the plane of the mechanism.
    fn place(&self, x: f64, y: f64) -> Vector3<f64> {
        so3::exp(&self.turned) * Vector3::new(x, y, 0.0)
    }

    fn middle(&self) -> f64 {
        self.pivots.iter().sum::<f64>() / 3.0
    }

    fn angle(&self, t: f64) -> f64 {
        self.start + self.speed * t
    }

    /// The three times at which the cranks lie along the line of their pivots.
    fn singular(&self) -> [f64; 3] {
        let first = if self.speed > 0.0 { PI - self.start } else { self.start };
        [0.0, 1.0, 2.0].map(|k| (first + k * PI) / self.speed.abs())
    }

    fn t_end(&self) -> f64 {
        self.singular()[2] + 0.5 / self.speed.abs()
    }

    fn text(&self) -> String {
        let list = |v: Vector3<f64>| format!("[{}, {}, {}]", v.x, v.y, v.z);
        let (r, (sin, cos)) = (self.radius, self.start.sin_cos());
        let along = |x: f64, y: f64| format!("{{x: {}, y: {}}}", list(self.place(x, y)), list(self.place(-y, x)));
        let axis = list(so3::exp(&self.turned) * Vector3::z());
        let (across, axial) = (self.mass * r * r / 12.0, 0.5 * self.mass * self.thin * self.thin);
        let round = self.heavy * self.gyration * self.gyration;
        let mut text = String::from("fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n");
        for (k, x) in self.pivots.iter().enumerate() {
            let at = list(self.place(x + 0.5 * r * cos, 0.5 * r * sin));
            let orientation = along(cos, sin);
            text += &format!(
                "  crank{k}: {{mass: {}, inertia: [{axial}, {across}, {across}], at: {at}, orientation: {orientation}}}\n",
                self.mass
            );
        }
        let at = list(self.place(self.middle() + r * cos, r * sin));
        text += &format!(
            "  plate: {{mass: {}, inertia: [{}, {round}, {round}], at: {at}, orientation: {}}}\njoints:\n",
            self.heavy,
            0.1 * round,
            along(1.0, 0.0)
        );
        for (k, x) in self.pivots.iter().enumerate() {
            let (foot, head) = (list(self.place(*x, 0.0)), list(self.place(x + r * cos, r * sin)));
            text += &format!("  O{k}: {{type: revolute, bodies: [ground, crank{k}], at: {foot}, axis: {axis}}}\n");
            text += &format!("  A{k}: {{type: revolute, bodies: [crank{k}, plate], at: {head}, axis: {axis}}}\n");
        }
        text += &format!("drives:\n  motor: {{joint: O0, angle: {}*t}}\n", self.speed);
        text + &format!("study: {{t_end: {}, output_step: 0.01}}\n", self.t_end())
    }

    /// Runs it and checks all known properties.
    fn check(&self, formulation: Option<&str>, output_step: f64) {
        let model = parse(&self.text());
        let analysis = if formulation.is_some() { Analysis::Dynamics } else { Analysis::Kinematics };
        // Near a singular position the multipliers of second-order steps oscillate, and with them briefly the work of the motor, by an
        // amount that depends on the step ends: at a tight tolerance the energy balance counts this as an error.
        let tol = matches!(formulation, Some("ra" | "rp" | "reps")).then_some(1e-5);
        let study = Study { analysis: Some(analysis), formulation: formulation.map(String::from), output_step, tol, ..Study::of(&model) };
        let (trajectory, report): (Trajectory, Report) = run(&model, &study);
        let what = format!("{} every {output_step} s of\n{}", formulation.unwrap_or("kinematics"), self.text());
        // Velocities of second-order steps are less accurate.
        let within = if matches!(formulation, Some("ra" | "rp" | "reps")) { 1e-4 } else { 1e-5 };
        let times: Vec<f64> = report.singular.iter().map(|s| s.time).collect();
        assert_eq!(times.len(), 3, "{times:?} with {what}");
        for (found, exact) in report.singular.iter().zip(self.singular()) {
            assert!((found.time - exact).abs() * self.speed.abs() < within, "{times:?}, {:?} with {what}", self.singular());
            assert!(found.joints.len() >= 4, "{:?} with {what}", found.joints);
        }
        // If cranks rotated in opposite directions, the plate would be a radius away.
        let [x, y, z, t] = ["plate.r.x", "plate.r.y", "plate.r.z", "t"].map(|c| trajectory.column(c).expect("a column"));
        for k in 0..t.len() {
            let (sin, cos) = self.angle(t[k]).sin_cos();
            let exact = self.place(self.middle() + self.radius * cos, self.radius * sin);
            let off = (Vector3::new(x[k], y[k], z[k]) - exact).norm();
            assert!(off < 1e-5 * self.radius, "off by {off:.1e} at t = {} with {what}", t[k]);
        }
    }
}

const FORMULATIONS: [&str; 9] = ["ra", "rp", "reps", "lie", "se3", "so3xr3", "dca", "grcr", "natural"];

#[test]
fn every_formulation_finds_the_singular_positions_of_the_plate() {
    for formulation in FORMULATIONS {
        PLAIN.check(Some(formulation), 2e-3);
    }
}

#[test]
fn kinematics_finds_them_at_any_output_step() {
    let mut draw = Draw(11);
    for output_step in [5e-4, 1e-3, 2e-3, 1e-2, 5e-2] {
        PLAIN.check(None, output_step);
    }
    for _ in 0..30 {
        let decades = draw.between(5e-4_f64.ln(), 5e-2_f64.ln());
        Plate::drawn(&mut draw).check(None, decades.exp());
    }
}

/// Other lengths, inertias, directions, output steps.
#[test]
fn no_inertia_direction_or_output_step_hides_them() {
    let mut draw = Draw(5);
    for round in 0..4 {
        for formulation in FORMULATIONS {
            let decades = draw.between(5e-4_f64.ln(), 5e-2_f64.ln());
            let plate = Plate::drawn(&mut draw);
            println!("{round} {formulation} every {} s of\n{}", decades.exp(), plate.text());
            plate.check(Some(formulation), decades.exp());
        }
    }
}

/// Positions that were found before an interruption are not lost, and those after it do not change.
#[test]
fn they_survive_an_interruption() {
    let model = parse(&PLAIN.text());
    for formulation in ["ra", "lie", "dca", "grcr", "natural"] {
        let study = Study { analysis: Some(Analysis::Dynamics), formulation: Some(formulation.into()), ..Study::of(&model) };
        assert_resumes(&model, &study, 35, formulation);
    }
    assert_resumes(&model, &Study { analysis: Some(Analysis::Kinematics), ..Study::of(&model) }, 35, "kinematics");
}
