//! Velocity constraints: bodies that roll without slipping, and blades.

use fourbar::study::Study;
use fourbar_testing::common::*;

#[test]
fn a_ball_rolls_down_a_slope_with_five_sevenths_of_gravity() {
    let model = parse(
        "
fourbar: 1
parameters: {slope: 25 deg, R: 0.2}
gravity: [9.81*sin(slope), 0, -9.81*cos(slope)]
bodies: {ball: {mass: 3, inertia: [0.4*3*R^2, 0.4*3*R^2, 0.4*3*R^2], at: [0, 0, R]}}
constraints: {roll: {type: rolling-sphere, on: {body: ball}, radius: R}}
study: {analysis: dynamics, t_end: 1, output_step: 0.1, step: 1 ms}
",
    );
    let (t, _) = run(&model, &Study::of(&model));
    let x = t.column("ball.r.x").expect("x");
    let exact = 0.5 * 5.0 / 7.0 * 9.81 * 25f64.to_radians().sin();
    assert!((x[t.len() - 1] - exact).abs() < 1e-9, "{} against {exact}", x[t.len() - 1]);
    // Its rotation is the distance over the radius.
    let w = t.column("ball.omega.y").expect("omega");
    let v = t.column("ball.v.x").expect("v");
    for k in 0..t.len() {
        assert!((w[k] * 0.2 - v[k]).abs() < 1e-10);
    }
}

#[test]
fn a_sleigh_on_a_slope_does_not_slide_down_but_swings_sideways() {
    // Knife edge through the centre of mass on a slope, spinning: the blade rotates at constant speed, and the closed form is a cycloid
    // across the slope: along the slope it returns, x = g sin a sin^2(w t)/(2 w^2), y = g sin a (w t - sin w t cos w t)/(2 w^2).
    let model = parse(
        "
fourbar: 1
parameters: {slope: 30 deg, w: 3}
gravity: [9.81*sin(slope), 0, -9.81*cos(slope)]
bodies: {sleigh: {mass: 2, inertia: [0.1, 0.1, 0.2], at: [0, 0, 0], omega: [0, 0, w]}}
joints: {table: {type: planar, bodies: [ground, sleigh], at: [0, 0, 0], axis: [0, 0, 1]}}
constraints: {blade: {type: knife-edge, on: {body: sleigh}, across: {at: [0, 1, 0]}}}
study: {analysis: dynamics, t_end: 2, output_step: 0.1, step: 0.5 ms}
",
    );
    let (t, _) = run(&model, &Study::of(&model));
    let (time, x, y) = (t.column("t").expect("t"), t.column("sleigh.r.x").expect("x"), t.column("sleigh.r.y").expect("y"));
    let (g, w) = (9.81 * 0.5, 3.0);
    for k in 0..t.len() {
        let a = w * time[k];
        let (ex, ey) = (g * a.sin().powi(2) / (2.0 * w * w), g * (a - a.sin() * a.cos()) / (2.0 * w * w));
        // Second order in the step of 0.5 ms.
        assert!((x[k] - ex).abs() < 1e-5 && (y[k] - ey).abs() < 1e-5, "t = {}: {} {ex}, {} {ey}", time[k], x[k], y[k]);
    }
}

#[test]
fn a_leaning_coin_runs_in_a_circle_and_keeps_its_energy() {
    // A thin disk released tilted and rolling; without friction work energy is constant, and the contact neither slips nor lifts.
    let model = parse(
        "
fourbar: 1
parameters: {R: 0.1, lean: 20 deg, spin: 25}
gravity: [0, 0, -9.81]
bodies:
  coin: {mass: 0.5, inertia: [0.25*0.5*R^2, 0.5*0.5*R^2, 0.25*0.5*R^2], at: [0, 0, R*cos(lean)], orientation: {axis: [1, 0, 0], angle: lean}, omega: [0, spin*cos(lean), spin*sin(lean)], velocity: [spin*R, 0, 0]}
constraints: {roll: {type: rolling-disk, on: {body: coin}, axis: {at: [0, 1, 0]}, radius: R}}
study: {analysis: dynamics, t_end: 2, output_step: 0.05, step: 0.5 ms}
",
    );
    let (t, _) = run(&model, &Study::of(&model));
    let e = t.column("energy.total").expect("energy");
    let drift = e.iter().map(|x| (x - e[0]).abs()).fold(0.0, f64::max);
    assert!(drift < 1e-4 * e[0].abs(), "{drift:.2e} of {:.2e} J", e[0]);
    for column in ["error.position", "error.velocity"] {
        let worst = t.column(column).expect("errors").iter().copied().fold(0.0, f64::max);
        assert!(worst < 1e-10, "{column}: {worst:.2e}");
    }
    // It has deviated from its straight path.
    let y = t.column("coin.r.y").expect("y");
    assert!(y.iter().fold(0.0_f64, |s, y| s.max(y.abs())) > 0.1);
}

#[test]
fn a_wheel_on_an_axle_travels_by_its_turn() {
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  cart: {mass: 5, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0.3], velocity: [2, 0, 0]}
  tyre: {mass: 1, inertia: [0.02, 0.03, 0.02], at: [0, 0.2, 0.3], velocity: [2, 0, 0], omega: [0, 2/0.3, 0]}
joints:
  rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0.3], axis: [1, 0, 0]}
  axle: {type: revolute, bodies: [cart, tyre], at: [0, 0.2, 0.3], axis: [0, 1, 0]}
constraints: {roll: {type: wheel, on: {body: tyre}, axis: {at: [0, 1, 0]}, radius: 0.3}}
study: {analysis: dynamics, t_end: 1, output_step: 0.1, step: 1 ms}
",
    );
    let (t, _) = run(&model, &Study::of(&model));
    let (x, a) = (t.column("rail.distance").expect("x"), t.column("axle.angle").expect("angle"));
    for k in 0..t.len() {
        assert!((x[k] - 0.3 * a[k]).abs() < 1e-9, "{} {}", x[k], a[k]);
    }
    assert!((x[t.len() - 1] - 2.0).abs() < 1e-9);
}
