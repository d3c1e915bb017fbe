//! The exact iteration matrix of every chart against differences of the exact residual, at arbitrary states.
#![allow(non_snake_case)]

use fourbar::absolute::chart::{Chart, Ra, Rate, Weights};
use fourbar::absolute::equations::Equations;
use fourbar::absolute::reps::Reps;
use fourbar::absolute::rp::Rp;
use fourbar::analysis::assembly::assemble;
use fourbar::integrator::Method;
use fourbar::integrator::index3::exact::Exact;
use fourbar::integrator::index3::{Memory, Stepper};
use fourbar::random::Random;
use fourbar::{Model, Twist};
use fourbar_testing::common::*;

const H: f64 = 0.02;
const B_A: f64 = 1.9;
const B_V: f64 = 1.4;

fn spatial_with_every_force() -> Model {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/ra_slider_crank.yaml")).expect("shipped");
    let head = text.split("\ndrives:").next().expect("text");
    let study = "study: {analysis: dynamics, t_end: 1}";
    parse(&format!(
        "{head}
{study}
points: {{tip: {{body: rod, at: [0.02, 0.1, 0]}}}}
forces:
  spring: {{type: spring, between: [{{body: slider}}, {{body: ground, at: [0.5, 0.1, 0]}}], stiffness: 200, length: 0.3, damping: 2}}
  cubic: {{type: spring, between: [{{body: rod, at: [0, 0.1, 0]}}, {{body: crank}}], tension: 30*length^3 + rate*length}}
  coil: {{type: torsion, joint: J1, stiffness: 3, angle: 0.2, damping: 0.1}}
  push: {{type: force, on: {{body: rod, at: [0.1, 0, 0]}}, force: [sin(t), 3*tip.vx, J1.angle], frame: body}}
  twist: {{type: torque, body: slider, torque: [0.1, tip.x^2, J4.distance], frame: world}}
  pump: {{type: actuator, joint: J4, effort: 5*J4.distance - J4.speed*J1.speed}}
  mount: {{type: bushing, between: [{{body: crank, at: [0, 0.02, 0]}}, {{body: slider, at: [0.01, 0, 0.02]}}], stiffness: [100, 200, 300, 4, 5, 6], damping: [1, 2, 3, 0.4, 0.5, 0.6]}}
  rub: {{type: friction, joint: J1, coulomb: 0.2, viscous: 0.3, radius: 0.1, speed: 3}}
  drag: {{type: friction, joint: J4, coulomb: 0.3, viscous: 0.1, radius: 0, speed: 2}}
"
    ))
}

/// The trial state after the body increment `d` of one component of one body.
fn moved<C: Chart>(start: &Memory<C>, x: &Memory<C>, body: usize, direction: usize, d: f64) -> Memory<C> {
    let mut y = x.clone();
    let mut dq = Twist::zero();
    if direction < 3 {
        dq.v[direction] = d
    } else {
        dq.w[direction - 3] = d
    }
    let dx = C::increment(&x.x[body], &x.psi[body], &dq);
    step(start, &mut y, body, &dx);
    y
}

/// Moves the coordinates of a body by `dx` and its rates as the method does, back to the constraint of the chart.
fn step<C: Chart>(start: &Memory<C>, y: &mut Memory<C>, b: usize, dx: &C::Rate) {
    let add = |y: &mut Memory<C>, dx: &C::Rate| {
        y.psi[b] = y.psi[b].plus(dx);
        y.v[b] = y.v[b].plus(&dx.scaled(B_V / H));
        y.v_dot[b] = y.v_dot[b].plus(&dx.scaled(B_A / (H * H)));
    };
    add(y, dx);
    y.q[b].r = start.q[b].r + y.psi[b].linear();
    y.q[b].A = C::place(&start.x[b], &start.q[b].A, &y.psi[b], &mut y.x[b]);
    let own = C::own(&mut y.x[b]);
    add(y, &own);
    y.map_all();
}

fn residual<C: Chart>(e: &mut Equations<'_>, x: &Memory<C>) -> Vec<f64> {
    e.jacobian(&x.q);
    e.constraints(&x.q, &x.turns, x.t);
    e.set.slip(&x.q, x.velocities(), H / B_V, &mut e.Phi);
    e.motion(&x.q, x.velocities(), x.accelerations(), &x.lambda, &x.turns, x.t);
    let mut out: Vec<f64> = e.r[1..].iter().flat_map(|r| r.F.iter().chain(r.T.iter()).map(|f| f * H * H).collect::<Vec<_>>()).collect();
    out.extend((0..e.Phi.len()).map(|k| e.Phi[k] - e.eps[k] * H * H * x.lambda[k]));
    out
}

fn check(name: &str, model: &Model) {
    check_in::<Ra>(name, model);
    check_in::<Rp>(name, model);
    check_in::<Reps>(name, model);
}

fn check_in<C: Chart>(name: &str, model: &Model) {
    let name = &format!("{name}, {}", C::NAME);
    let start = assemble(model).expect("assembles").configuration;
    let mut random = Random(99);
    let mut stepper = Stepper::<C>::in_chart(model, &start, Method::GenAlpha { rho: 0.8 });
    let start = stepper.memory.clone();
    let mut x = stepper.memory.clone();
    x.t = 0.3;
    for b in 1..x.q.len() {
        let mut rates = |linear: f64, angular: f64| {
            let numbers: Vec<f64> = (0..C::Rate::SIZE).map(|k| random.number() * if k < 3 { linear } else { angular }).collect();
            C::Rate::read(&numbers)
        };
        let psi = rates(0.02, 0.2);
        (x.v[b], x.v_dot[b]) = (rates(1.0, 2.0), rates(5.0, 5.0));
        step(&start, &mut x, b, &psi);
    }
    x.lambda.iter_mut().for_each(|l| *l = random.number() * 3.0);
    let e = &mut stepper.equations;
    residual(e, &x);
    let mut exact = Exact::new(e);
    let A = exact.dense(e, &x, Weights { h: H, b_a: B_A, b_v: B_V });
    let n = 6 * model.moving();
    let scale = A.iter().flatten().fold(0.0_f64, |s, a| s.max(a.abs()));
    for column in 0..A.len() {
        // Central differences with 1e-6: truncation and rounding leave about 1e-9 of the largest entry.
        let d = 1e-6;
        let at = |d: f64| {
            if column < n {
                moved(&start, &x, column / 6 + 1, column % 6, d)
            } else {
                let mut y = x.clone();
                y.lambda[column - n] += d / (H * H);
                y
            }
        };
        let (p, m) = (residual(e, &at(d)), residual(e, &at(-d)));
        for row in 0..A.len() {
            let difference = (p[row] - m[row]) / (2.0 * d);
            assert!(
                (A[row][column] - difference).abs() < 1e-7 * scale,
                "{name}: entry {row}, {column}: {} against {difference}",
                A[row][column]
            );
        }
    }
}

#[test]
fn the_matrix_is_the_derivative_of_the_residual() {
    check("slider-crank with every force", &spatial_with_every_force());
    let coin = "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {coin: {mass: 0.5, inertia: [0.01, 0.02, 0.01], at: [0, 0, 0.1]}, ball: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0.3]}}
constraints:
  roll: {type: rolling-disk, on: {body: coin}, axis: {at: [0, 1, 0]}, radius: 0.1}
  ball_roll: {type: rolling-sphere, on: {body: ball}, radius: 0.3}
  blade: {type: knife-edge, on: {body: ball, at: [0.1, 0, 0]}, across: {at: [0, 1, 0.2]}}
";
    check("rolling", &parse(coin));
    for name in [
        "ra_four_link",
        "nc_rscr",
        "planetary_gear",
        "rack_and_pinion",
        "screw_jack",
        "universal_joint_shaft",
        "a04_bricard",
        "stewart_platform",
    ] {
        check(name, &model(name));
    }
}
