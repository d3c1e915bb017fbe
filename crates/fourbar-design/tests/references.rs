//! Tolerances and synthesis against values that were found in other ways.
#![allow(non_snake_case)]

use fourbar::analysis::assembly::assemble;
use fourbar_design::synthesis::{Complex, FourBar};
use fourbar_design::tolerance::{Clearance, Distribution, Linear, Plan, Toleranced, linear, off_centre};
use fourbar_io::{ReadOptions, read_model};

/// The linear stack-up of the coupler point of a four-bar with its crank held, along x and along z, with all lengths and with clearances.
fn stack_up(clearances: Vec<Clearance>) -> [Linear; 2] {
    let text = include_str!("models/fourbar_held.yaml");
    let names = ["a", "b", "c", "g"];
    let sigma = 0.5e-3 / 3.0;
    let nominal = [0.15, 0.35, 0.3, 0.4];
    let parameters: Vec<Toleranced> = names
        .iter()
        .zip(nominal)
        .map(|(n, x)| Toleranced { name: n.to_string(), nominal: x, distribution: Distribution::Normal(sigma) })
        .collect();
    let build = |values: &[f64]| {
        let set: Vec<(String, String)> = names.iter().zip(values).map(|(n, x)| (n.to_string(), format!("{x:e}"))).collect();
        read_model(text, &ReadOptions { set: &set, ..ReadOptions::default() })
            .and_then(|m| m.spec.build())
            .unwrap_or_else(|e| panic!("{e}"))
    };
    let plan = Plan::new(parameters, clearances, 0, 1, &build(&nominal)).unwrap_or_else(|e| panic!("{e}"));
    let places: Vec<[f64; 2]> = (0..plan.first_sample())
        .map(|k| {
            let case = plan.case(k);
            let mut model = build(&case.values);
            case.offset.iter().for_each(|(joint, axis, d)| off_centre(&mut model, joint, *axis, *d));
            let state = assemble(&model).unwrap_or_else(|e| panic!("{e}")).configuration;
            let (_, p) = model.points.iter().find(|(n, _)| n == "P").expect("the point");
            let r = state.q[p.body.index()].point(&p.s);
            [r.x, r.z]
        })
        .collect();
    [0, 1].map(|i| linear(&plan, &|k| Some(places[k][i])).expect("all cases"))
}

/// Lengths that are normal with a third of 0.5 mm: from exact derivatives; a Monte Carlo of 200,000 cases agreed within its noise.
#[test]
fn a_coupler_point_has_its_covariance() {
    let [x, z] = stack_up(Vec::new());
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * b.abs(), "{a} instead of {b}");
    near(x.sigma, 0.00021850080016546652);
    near(z.sigma, 0.00011845551934580848);
    near(x.worst, 0.0011331971061872173);
    near(z.worst, 0.0005368698295771367);
    let sigma = 0.5e-3_f64 / 3.0;
    let both: f64 = x.slopes.iter().zip(&z.slopes).map(|(a, b)| a * b * sigma * sigma).sum();
    near(both, 1.3900877971124325e-08);
}

/// A clearance of 0.02 mm in each hinge: from the support function of the reachable places.
#[test]
fn a_coupler_point_has_its_play() {
    let clearances = ["O", "A", "B", "C"].map(|j| Clearance { joint: j.into(), radius: 2e-5 }).to_vec();
    let [x, z] = stack_up(clearances);
    assert!((x.clearance - 6.830938235336861e-05).abs() < 1e-9, "{}", x.clearance);
    assert!((z.clearance - 4.005374054907952e-05).abs() < 1e-9, "{}", z.clearance);
}

/// The nine points of a known problem of the literature, and linkages that draw them (source in the file).
#[test]
fn linkages_pass_their_nine_points() {
    let nine: [[f64; 2]; 9] =
        [[0.25, 0.0], [0.52, 0.1], [0.8, 0.7], [1.2, 1.0], [1.4, 1.3], [1.1, 1.48], [0.7, 1.4], [0.2, 1.0], [0.02, 0.4]];
    let nine = nine.map(|[x, y]| Complex::new(x, y));
    let text = include_str!("data/nine_points.csv");
    let mut count = 0;
    for line in text.lines().filter(|l| !l.starts_with(['#', 'A'])) {
        let v: Vec<f64> = line.split(',').map(|x| x.parse().expect("a number")).collect();
        let at = |k: usize| Complex::new(v[k], v[k + 1]);
        let (A0, B0, A, B) = (at(0), at(2), nine[0] + at(4), nine[0] + at(6));
        let arm = nine[0] - A;
        let coupler = (B - A).abs();
        let linkage = FourBar {
            ground: [A0, B0],
            crank: (A - A0).abs(),
            coupler,
            rocker: (B - B0).abs(),
            point: arm.over(B - A).scaled(coupler),
            mode: 1.0,
        };
        for (k, P) in nine.iter().enumerate() {
            // The pin of the crank lies on two circles; each place has an angle, and the linkage two modes.
            let d = *P - A0;
            let (l, r) = (d.abs(), arm.abs());
            let x = (linkage.crank * linkage.crank - r * r + l * l) / (2.0 * l);
            let y = (linkage.crank * linkage.crank - x * x).max(0.0).sqrt();
            let mut best = f64::INFINITY;
            for sign in [1.0, -1.0] {
                let angle = (Complex::new(x, sign * y) * d).arg();
                for mode in [1.0, -1.0] {
                    let found = FourBar { mode, ..linkage.clone() }.position(angle);
                    best = found.map_or(best, |f| best.min((f.P - *P).abs()));
                }
            }
            assert!(best < 1e-7, "linkage {count} is {best} off point {k}");
        }
        count += 1;
    }
    assert_eq!(count, 12);
}
