//! Tolerances and synthesis compared with values found by other means.
#![allow(non_snake_case)]

use fourbar::analysis::assembly::assemble;
use fourbar_design::synthesis::{Complex, FourBar};
use fourbar_design::tolerance::{Clearance, Distribution, Linear, Plan, Toleranced, linear, off_centre};
use fourbar_io::{ReadOptions, read_model};

/// The linear stack-up of the coupler point of a four-bar with its crank held, along x and z, for all lengths and with clearances.
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
    [0, 1].map(|i| linear(&plan, &|k| Some(places[k][i]), None).expect("all cases"))
}

/// Normally distributed lengths with a standard deviation of a third of 0.5 mm: from exact derivatives; a Monte Carlo run of 200,000 cases
/// agreed within its noise.
#[test]
fn a_coupler_point_has_its_covariance() {
    let [x, z] = stack_up(Vec::new());
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * b.abs(), "{a} instead of {b}");
    near(x.sigma, 0.00021850080016546652);
    near(z.sigma, 0.00011845551934580848);
    near(x.worst, 0.0011331971061872173);
    near(z.worst, 0.0005368698295771367);
    let sigma = 0.5e-3_f64 / 3.0;
    let covariance = |a: &Linear, b: &Linear| -> f64 { a.slopes.iter().zip(&b.slopes).map(|(a, b)| a * b * sigma * sigma).sum() };
    near(covariance(&x, &z), 1.3900877971124325e-08);
    near(covariance(&x, &x), 4.774259967294912e-08);
    near(covariance(&z, &z), 1.4031710063485207e-08);
}

/// A clearance of 0.02 mm in each hinge: from the support function of the reachable positions.
#[test]
fn a_coupler_point_has_its_play() {
    let clearances = ["O", "A", "B", "C"].map(|j| Clearance { joint: j.into(), radius: 2e-5 }).to_vec();
    let [x, z] = stack_up(clearances);
    assert!((x.clearance - 6.830938235336861e-05).abs() < 1e-9, "{}", x.clearance);
    assert!((z.clearance - 4.005374054907952e-05).abs() < 1e-9, "{}", z.clearance);
}

/// The nine points of a known problem of the literature, and linkages that trace them (source in the file).
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
            // The pin of the crank lies on two circles; each position gives an angle, and the linkage has two modes.
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
    assert_eq!(count, 78);
}

/// Optima found by other methods: eighteen points at equal crank steps in both modes, and five points at given angles. The sums of squares
/// are those of the linkages, and the linkages of the two modes trace the same curve.
#[test]
fn known_optima_have_their_sums_of_squares() {
    let eighteen: [[f64; 2]; 18] = [
        [0.5, 1.1],
        [0.4, 1.1],
        [0.3, 1.1],
        [0.2, 1.0],
        [0.1, 0.9],
        [0.05, 0.75],
        [0.02, 0.6],
        [0.0, 0.5],
        [0.0, 0.4],
        [0.03, 0.3],
        [0.1, 0.25],
        [0.15, 0.2],
        [0.2, 0.3],
        [0.3, 0.4],
        [0.4, 0.5],
        [0.5, 0.7],
        [0.6, 0.9],
        [0.6, 1.0],
    ];
    // Ground, crank, coupler, rocker; coupler point along and across; tilt, position; angle of the crank from the ground at the first
    // point.
    let known = [
        (
            1.0,
            0.009028884630975594,
            [
                1.0539434397169785,
                0.42387499340158996,
                0.9142498319632745,
                0.5989168855493502,
                0.3705973561060964,
                0.3993466603280678,
                0.28482455252817673,
                0.2676555034959285,
                0.15464955921242943,
                7.174741156431398,
            ],
        ),
        (
            -1.0,
            0.009028884630975644,
            [
                0.777633898652684,
                0.3127488166979848,
                0.44190044268741663,
                0.6745633920585449,
                -0.040786064286902075,
                -0.3545633531767978,
                5.93446225351704,
                0.5483086145884145,
                0.716512101315315,
                0.8915558486086195,
            ],
        ),
    ];
    let mut curves: Vec<Vec<Complex>> = Vec::new();
    for (mode, sse, x) in known {
        let o = Complex::new(x[7], x[8]);
        let linkage = FourBar {
            ground: [o, o + Complex::at(x[6]).scaled(x[0])],
            crank: x[1],
            coupler: x[2],
            rocker: x[3],
            point: Complex::new(x[4], x[5]),
            mode,
        };
        let at = |k: usize| linkage.position(x[6] + x[9] + k as f64 * std::f64::consts::PI / 9.0).expect("the crank turns").P;
        let curve: Vec<Complex> = (0..18).map(at).collect();
        let sum: f64 = curve.iter().zip(eighteen).map(|(p, [x, y])| (*p - Complex::new(x, y)).square()).sum();
        assert!((sum - sse).abs() < 1e-12, "{sum} instead of {sse} in mode {mode}");
        curves.push(curve);
    }
    assert!(curves[0].iter().zip(&curves[1]).all(|(a, b)| (*a - *b).abs() < 1e-6));
    let five: [[f64; 2]; 5] = [[3.0, 3.0], [2.759, 3.363], [2.372, 3.663], [1.89, 3.862], [1.355, 3.943]];
    let known = [
        (
            1.0,
            7.415751306783911e-07,
            [3.669728342208593, 1.9978121398870774, 3.9963157183819007, 2.7048859095907916, 1.6720462438601111, 1.6801322249368442],
        ),
        (
            -1.0,
            9.868195957979842e-05,
            [10.110645475906363, 1.996888872104587, 49.189665998021795, 49.99999999999999, -2.148082137239388, 1.004168548813035],
        ),
    ];
    for (mode, sse, x) in known {
        let linkage = FourBar {
            ground: [Complex::default(), Complex::new(x[0], 0.0)],
            crank: x[1],
            coupler: x[2],
            rocker: x[3],
            point: Complex::new(x[4], x[5]),
            mode,
        };
        let at = |k: usize| linkage.position((30.0 + 15.0 * k as f64).to_radians()).expect("the crank turns").P;
        let sum: f64 = (0..5).map(|k| (at(k) - Complex::new(five[k][0], five[k][1])).square()).sum();
        assert!((sum - sse).abs() < 1e-9 * sse + 1e-15, "{sum} instead of {sse} in mode {mode}");
    }
}
