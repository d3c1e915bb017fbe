//! Motions against reference data: mechanisms, and public test problems with published end states.

use crate::problems;

use fourbar_dae::{Equations, Integrator, Options, Problem, Scalar, diff};
use problems::*;
use std::sync::Arc;

#[test]
fn andrews_mechanism_in_angles() {
    let (problem, start) = andrews_problem(true);
    let (_, rows) = read_table(include_str!("data/andrews.csv"));
    let mut run = Integrator::new(&problem, &start, andrews_options(1e-15)).unwrap();
    let (mut next, mut worst, mut rates) = (0, 0.0f64, 0.0f64);
    run.run(0.03, |r| {
        while next < rows.len() && rows[next][0] <= r.t() * (1.0 + 1e-15) {
            for j in 0..7 {
                worst = worst.max((r.at(rows[next][0], j, 0).unwrap() - rows[next][1 + j]).abs());
                rates = rates.max((r.at(rows[next][0], j, 1).unwrap() - rows[next][8 + j]).abs());
            }
            next += 1;
        }
    })
    .unwrap();
    assert_eq!(next, 31);
    // The reference reproduces itself to about 1e-12 under step halving; the angles reach 16, the rates 1e3.
    assert!(worst < 1e-11, "{worst:e}");
    assert!(rates < 1e-8, "{rates:e}");
    // Published end state of the public test set; it is itself good to 1.4e-9.
    let published = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303];
    for (j, x) in published.iter().enumerate() {
        assert!((run.value(ANDREWS[j], 0).unwrap() - x).abs() < 5e-9);
    }
}

#[test]
fn andrews_mechanism_in_points_is_the_same_motion() {
    let (problem, start) = andrews_points_problem(false);
    let (_, rows) = read_table(include_str!("data/andrews.csv"));
    let mut run = Integrator::new(&problem, &start, Options::new(1e-14)).unwrap();
    let (mut next, mut worst) = (0, 0.0f64);
    run.run(0.03, |r| {
        while next < rows.len() && rows[next][0] <= r.t() * (1.0 + 1e-15) {
            let exact = andrews_positions(&rows[next][1..8]);
            for j in 0..8 {
                worst = worst.max((r.at(rows[next][0], j, 0).unwrap() - exact[j]).abs());
            }
            next += 1;
        }
    })
    .unwrap();
    // Lengths of centimetres; 3e-15 m measured.
    assert!(worst < 1e-13, "{worst:e}");
}

#[test]
fn andrews_mechanism_over_a_hundred_turns_keeps_its_energy_balance() {
    let (problem, start) = andrews_problem(true);
    let mut run = Integrator::new(&problem, &start, andrews_options(1e-12)).unwrap();
    let (mut first, mut worst, mut largest) = (None, 0.0f64, 0.0f64);
    run.run(0.3, |r| {
        let balance = r.value("balance", 0).unwrap();
        worst = worst.max((balance - *first.get_or_insert(balance)).abs());
        largest = largest.max(r.value("kinetic", 0).unwrap());
    })
    .unwrap();
    // 1,700 steps with local errors of 1e-12, along a motion that amplifies disturbances.
    assert!(worst < 1e-9 * largest, "{worst:e} of {largest}");
    let turns = (run.value("beta", 0).unwrap() - ANDREWS_START[0]) / std::f64::consts::TAU;
    // The motion is sensitive: turns differ by a tenth between tolerances.
    assert!((101.0..101.8).contains(&turns), "{turns}");
}

#[test]
fn free_top_attitude() {
    let problem = Arc::new(Problem::lagrangian(&TOP, |_, q, v, m| free_top([1.0, 2.0, 3.0], q, v, m)).unwrap());
    let mut state = problem.zero_state(0.0);
    for (j, p, x) in [(0, 0, 1.0), (4, 0, 1.0), (1, 1, 0.1), (2, 1, -5.0), (3, 1, -0.1), (5, 1, 0.1)] {
        state.set(j, p, x);
    }
    let (_, rows) = read_table(include_str!("data/free_top.csv"));
    let mut run = Integrator::new(&problem, &state, Options::new(1e-14)).unwrap();
    let (mut next, mut worst) = (1, 0.0f64);
    run.run(10.0, |r| {
        while next < rows.len() && rows[next][0] <= r.t() * (1.0 + 1e-15) {
            let t = rows[next][0];
            let [a, b, c, d] = [rows[next][1], rows[next][2], rows[next][3], rows[next][4]];
            // First two columns of the rotation matrix of the quaternion.
            let u = [1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)];
            let v = [2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d + a * b)];
            for (j, x) in u.iter().chain(&v).enumerate() {
                worst = worst.max((r.at(t, j, 0).unwrap() - x).abs());
            }
            next += 1;
        }
    })
    .unwrap();
    assert_eq!(next, rows.len());
    // The reference's two formulations differ by 8e-12, its closed form by 4e-11.
    assert!(worst < 5e-11, "{worst:e}");
}

fn square<S: Scalar>(x: S, y: S) -> S {
    x.sqr() + y.sqr()
}

#[test]
fn mechanism_zero_of_the_paper() {
    // Rod OA with mass, stretchable spring AB with mass, particle at B [Pryce20, Fig. 3].
    let problem = Problem::lagrangian(&["Ax", "Ay", "Bx", "By"], |_, q, v, m| {
        let (mass, spring, particle, g) = (1.0, 0.5, 0.1, 9.81);
        let (a2, b2) = (square(v[0], v[1]), square(v[2], v[3]));
        m.lagrangian(a2 * (mass / 6.0) + (a2 + v[0] * v[2] + v[1] * v[3] + b2) * (spring / 6.0) + b2 * (0.5 * particle));
        m.lagrangian(q[1] * (-g * 0.5 * (mass + spring)) - q[3] * (g * (0.5 * spring + particle)));
        m.lagrangian((square(q[2] - q[0], q[3] - q[1]).sqrt() - 1.0).sqr() * -500.0);
        m.constraint("rod", square(q[0], q[1]) - 4.0);
    })
    .map(Arc::new)
    .unwrap();
    let mut state = problem.zero_state(0.0);
    for (j, p, x) in [(1, 0, -2.0), (3, 0, -3.0), (0, 1, 1.0)] {
        state.set(j, p, x);
    }
    let (_, rows) = read_table(include_str!("data/mechanism0.csv"));
    let mut run = Integrator::new(&problem, &state, Options::new(1e-14)).unwrap();
    let (mut next, mut worst) = (1, 0.0f64);
    run.run(10.0, |r| {
        while next < rows.len() && rows[next][0] <= r.t() * (1.0 + 1e-15) {
            for j in 0..4 {
                worst = worst.max((r.at(rows[next][0], j, 0).unwrap() - rows[next][1 + j]).abs());
            }
            next += 1;
        }
    })
    .unwrap();
    assert_eq!(next, rows.len());
    // Ten times the 2.4e-12 by which the reference's two formulations differ.
    assert!(worst < 2.4e-11, "{worst:e}");
}

/// Car axis of the public test set: two springs, a rod, the right end of the ground point moving up and down.
fn car_axis<S: Scalar>(t: S, x: &[S], e: &mut Equations<S>) {
    let (half_mass, rest) = (1e-4 * 10.0 / 2.0, 0.5);
    let (xl, yl, xr, yr, l1, l2) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    let yb = (t * 10.0).sin() * 0.1;
    let xb = (-yb.sqr() + 1.0).sqrt();
    let left = (xl.sqr() + yl.sqr()).sqrt();
    let right = ((xr - xb).sqr() + (yr - yb).sqr()).sqrt();
    let (pull_l, pull_r) = ((-left + rest) / left, (-right + rest) / right);
    e.equation("left x", diff(xl, 2) * half_mass - pull_l * xl - l1 * xb - l2 * (xl - xr) * 2.0);
    e.equation("left y", diff(yl, 2) * half_mass - pull_l * yl - l1 * yb - l2 * (yl - yr) * 2.0 + half_mass);
    e.equation("right x", diff(xr, 2) * half_mass - pull_r * (xr - xb) + l2 * (xl - xr) * 2.0);
    e.equation("right y", diff(yr, 2) * half_mass - pull_r * (yr - yb) + l2 * (yl - yr) * 2.0 + half_mass);
    e.equation("right angle", xl * xb + yl * yb);
    e.equation("axis", (xl - xr).sqr() + (yl - yr).sqr() - 1.0);
}

#[test]
fn car_axis_of_the_public_test_set() {
    let names = ["xl", "yl", "xr", "yr", "lambda1", "lambda2"];
    let problem = Arc::new(Problem::record(&names, car_axis).unwrap());
    assert_eq!(problem.structure().index(), 3);
    let mut state = problem.zero_state(0.0);
    for (j, p, x) in [(1, 0, 0.5), (2, 0, 1.0), (3, 0, 0.5), (0, 1, -0.5), (2, 1, -0.5)] {
        state.set(j, p, x);
    }
    let mut run = Integrator::new(&problem, &state, Options::new(1e-13)).unwrap();
    run.run_to(3.0).unwrap();
    // End state published with the test set for initial value problems, release 2.4.
    let published =
        [0.04934557842754028, 0.49698946023017115, 1.0417425248854215, 0.37391102726536124, -0.004736886590848933, -0.0011046803312573436];
    for (name, x) in names.iter().zip(published) {
        let got = run.value(name, 0).unwrap();
        assert!((got - x).abs() < 1e-9, "{name}: {got} {x}");
    }
}

#[test]
fn two_pendula_of_index_five_keep_all_hidden_constraints() {
    let names = ["x", "y", "lambda", "u", "v", "mu"];
    let problem = Arc::new(Problem::record(&names, two_pendula).unwrap());
    let start =
        problem.start(0.0).hold("x", 0, 1.0).guess("y", 1, 0.0).hold("u", 0, 0.8).guess("v", 0, 0.5).hold("u", 1, 0.0).solve().unwrap();
    let coarse = Options::new(1e-9);
    let fine = Options::new(1e-13);
    let end = |options: Options| {
        let mut run = Integrator::new(&problem, &start, options).unwrap();
        let mut worst = 0.0f64;
        run.run(5.0, |r| {
            let v = |n: &str, p| r.value(n, p).unwrap();
            let first = v("x", 0) * v("x", 1) + v("y", 0) * v("y", 1);
            let energy = 0.5 * (v("x", 1).powi(2) + v("y", 1).powi(2)) - 9.81 * v("y", 0);
            let length = v("u", 0).powi(2) + v("v", 0).powi(2) - (1.0 + 0.1 * v("lambda", 0)).powi(2);
            worst = worst.max(first.abs()).max(energy.abs()).max(length.abs());
        })
        .unwrap();
        (worst, run.value("u", 0).unwrap(), run.value("x", 0).unwrap())
    };
    let (a, b) = (end(coarse), end(fine));
    assert!(a.0 < 1e-6 && b.0 < 1e-10, "{a:?} {b:?}");
    assert!((a.1 - b.1).abs() < 1e-4 && (a.2 - b.2).abs() < 1e-7, "{a:?} {b:?}");
}

/// Chemical reaction of the public test set (Akzo Nobel): five rates and one equilibrium, index 1.
fn akzo<S: Scalar>(x: &[S], e: &mut Equations<S>) {
    let (k1, k2, k3, k4, ratio, transfer, equilibrium) = (18.7, 0.58, 0.09, 0.42, 34.4, 3.3, 115.83);
    let root = x[1].sqrt();
    let r1 = x[0].powi(4) * root * k1;
    let r2 = x[2] * x[3] * k2;
    let r3 = x[0] * x[4] * (k2 / ratio);
    let r4 = x[0] * x[3].sqr() * k3;
    let r5 = x[5].sqr() * root * k4;
    let inflow = (-x[1] + 0.9 / 737.0) * transfer;
    e.equation("FLB", diff(x[0], 1) + r1 * 2.0 - r2 + r3 + r4);
    e.equation("CO2", diff(x[1], 1) + r1 * 0.5 + r4 + r5 * 0.5 - inflow);
    e.equation("FLBT", diff(x[2], 1) - r1 + r2 - r3);
    e.equation("ZHU", diff(x[3], 1) + r2 - r3 + r4 * 2.0);
    e.equation("ZLA", diff(x[4], 1) - r2 + r3 - r5);
    e.equation("equilibrium", x[0] * x[3] * equilibrium - x[5]);
}

#[test]
fn chemical_reaction_of_the_public_test_set() {
    let names = ["y1", "y2", "y3", "y4", "y5", "y6"];
    let problem = Arc::new(Problem::record(&names, |_, x, e| akzo(x, e)).unwrap());
    assert_eq!((problem.structure().index(), problem.structure().degrees_of_freedom()), (1, 5));
    let mut start = problem.start(0.0);
    for (name, x) in names.iter().zip([0.444, 0.00123, 0.0, 0.007, 0.0]) {
        start = start.hold(name, 0, x);
    }
    let mut run = Integrator::new(&problem, &start.solve().unwrap(), Options::new(1e-11)).unwrap();
    run.run_to(180.0).unwrap();
    println!("{:?}", run.work());
    // End state published with the test set, release 2.4.
    let published =
        [0.1150794920661702, 0.1203831471567715e-2, 0.1611562887407974, 0.3656156421249283e-3, 0.1708010885264404e-1, 0.487353131030745e-2];
    for (name, x) in names.iter().zip(published) {
        let got = run.value(name, 0).unwrap();
        assert!((got - x).abs() < 1e-9, "{name}: {got} {x}");
    }
}
