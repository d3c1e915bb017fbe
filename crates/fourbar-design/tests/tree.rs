//! Trees of hinges, slides and welds in numbers that carry derivatives: their functions, their accelerations, and whole runs.

use fourbar::study::Study;
use fourbar::{Error, Evaluation, Model};
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::{Method, Parameters, compared, of_measure, of_run};
use fourbar_design::tree::{Jet, Tree};
use fourbar_math::{Dual, Scalar};

/// Every function has the slopes of the dual numbers, in both directions at once.
#[test]
fn slopes_are_those_of_dual_numbers() {
    fn all<S: Scalar>(x: S, y: S) -> [S; 15] {
        [
            x.sqrt(),
            x.exp(),
            x.ln(),
            x.sin(),
            x.cos(),
            x.asin(),
            x.acos(),
            x.atan(),
            x.atan2(y),
            x.pow(y),
            x.powi(-3),
            x / y - y * 3.0 / x + 1.0,
            (x * y).tanh(),
            (x - y).abs() - 2.0,
            -x.max(y) / 4.0,
        ]
    }
    for (x, y) in [(0.3, 0.7), (0.8, 0.2)] {
        let jets = all(Jet { x, d: [1.0, 0.0] }, Jet { x: y, d: [0.0, 1.0] });
        let by_x = all(Dual::with_slope(x, 1.0), Dual::with_slope(y, 0.0));
        let by_y = all(Dual::with_slope(x, 0.0), Dual::with_slope(y, 1.0));
        for (k, j) in jets.iter().enumerate() {
            let known = [by_x[k].c[0], by_x[k].c[1], by_y[k].c[1]];
            for (a, b) in [j.x, j.d[0], j.d[1]].iter().zip(known) {
                assert!((a - b).abs() < 1e-13 * (1.0 + b.abs()), "{k}: {j:?} {known:?}");
            }
        }
    }
}

/// A cart on a rail with two rods, one of them with a weight welded on, springs and dampers.
fn cart(p: &[f64]) -> Result<Model, Error> {
    let [mass, length, stiffness, rest, damping, tilt] = p else { panic!("six parameters") };
    let text = format!(
        "fourbar: 1
gravity: [0.3, 0, -9.81]
bodies:
  cart: {{mass: {mass:e}, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}}
  rod: {{mass: 0.5, inertia: [0.02, 0.03, 0.01], at: [{x1:e}, 0, {z1:e}], orientation: {{axis: [0, 1, 0], angle: {tilt:e}}}, omega: [0, 1.5, 0]}}
  weight: {{mass: 0.3, inertia: [1e-3, 2e-3, 3e-3], at: [{x2:e}, 0.1, {z2:e}]}}
  arm: {{mass: 0.4, inertia: [0.01, 0.02, 0.02], at: [0.3, 0, 0.1], velocity: [0, 0, 0.2]}}
joints:
  rail: {{type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0.2]}}
  pin: {{type: revolute, bodies: [rod, cart], at: [0, 0, 0], axis: [0, 1, 0.3]}}
  weld: {{type: fixed, bodies: [rod, weight], at: [{x2:e}, 0.1, {z2:e}]}}
  elbow: {{type: revolute, bodies: [cart, arm], at: [0.1, 0, 0], axis: [0, 0.5, 1]}}
forces:
  coil: {{type: spring, between: [{{body: ground, at: [1, 0.5, 0]}}, {{body: arm, at: [0.2, 0, 0]}}], stiffness: {stiffness:e}, length: {rest:e}, damping: 0.4}}
  twist: {{type: torsion, joint: pin, stiffness: 2, damping: {damping:e}}}
study: {{t_end: 0.8, output_step: 0.05}}
",
        x1 = -0.5 * length * tilt.sin(),
        z1 = -0.5 * length * tilt.cos(),
        x2 = -length * tilt.sin(),
        z2 = -length * tilt.cos(),
    );
    fourbar_io::read_model(&text, &fourbar_io::ReadOptions { set: &[], ..fourbar_io::ReadOptions::default() })?.spec.build()
}

#[test]
fn rates_are_those_of_the_engine() {
    let model = cart(&[2.0, 0.7, 30.0, 0.5, 0.05, 0.4]).unwrap_or_else(|e| panic!("{e}"));
    // Forces are looked at in whole runs.
    let model = Model { forces: Vec::new(), ..model };
    let start = fourbar::analysis::assembly::assemble(&model).expect("it closes").configuration;
    let tree = Tree::new(&model, &start).expect("a tree");
    let mut kernel = tree.kernel(&tree.numbers);
    let (q, u) = tree.start.split_at(tree.size);
    kernel.sweep(q, u);
    let mut rates = vec![0.0; tree.size];
    kernel.solve(&mut rates);
    let now = Evaluation::new(&model, &start).expect("an evaluation");
    for key in ["rail.distance", "pin.angle", "elbow.angle"] {
        let known = now.joint_acceleration(key).unwrap_or_else(|e| panic!("{e}"));
        assert!(rates.iter().any(|r| (r - known).abs() < 1e-9 * known.abs().max(1.0)), "{key}: {known} is not among {rates:?}");
    }
}

#[test]
fn a_run_of_a_tree_has_the_derivatives_of_differences() {
    let values = vec![2.0, 0.7, 30.0, 0.5, 0.05, 0.4];
    let names = ["mass", "length", "stiffness", "rest", "damping", "tilt"].map(String::from).to_vec();
    let p = Parameters::new(names, values, &cart);
    let model = p.model().unwrap_or_else(|e| panic!("{e}"));
    let study = Study { tol: Some(1e-11), ..Study::of(&model) };
    let which: Vec<usize> = (0..6).collect();
    let run = of_run(&p, &study, &which).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.method, Method::Jets);
    let texts = ["last(rail.distance)", "last(pin.angle)", "mean(arm.v.z)", "max(abs(elbow.force.x))", "last(energy.kinetic)"];
    let measures = texts.map(|m| Measure::new(m, &run.run.columns).unwrap_or_else(|e| panic!("{e}")));
    let found: Vec<_> = measures.iter().map(|m| of_measure(m, &run).unwrap_or_else(|e| panic!("{e}"))).collect();
    for (d, a) in found.iter().zip(compared(&p, &study, &which, &measures, &found).unwrap_or_else(|e| panic!("{e}"))) {
        assert!(a.worst < 2e-6, "{}: {:?} instead of {:?}", d.of, d.slopes, a.by_runs);
    }
    // A mechanism with a drive or a loop is none.
    let other = fourbar_testing::common::model("fourbar");
    assert!(Tree::new(&other, &fourbar::state::Configuration::start(&other)).is_none());
}
