//! Trees of revolute, prismatic and fixed joints in numbers with derivatives: functions, accelerations, and whole runs.

use fourbar::mechanism::{Body, GROUND, Mechanism};
use fourbar::study::Study;
use fourbar::trajectory::Column;
use fourbar::{Error, Evaluation, Model};
use fourbar_design::measure::Measure;
use fourbar_design::sensitivities::{Method, Parameters, compared, of_many, of_measure, of_run};
use fourbar_design::tree::{Jet, Tree};
use fourbar_math::{Dual, Scalar};

/// Every function has the derivatives of the dual numbers, in both directions at once.
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
    // Forces are tested in whole runs.
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
    for (d, a) in found.iter().zip(compared(&p, &study, &which, &|_, _| Ok(measures.to_vec()), &found).unwrap_or_else(|e| panic!("{e}"))) {
        assert!(a.worst < 2e-6, "{}: {:?} instead of {:?}", d.of, d.slopes, a.by_runs);
    }
    // A mechanism with a drive or a loop is not a tree.
    let other = fourbar_testing::common::model("fourbar");
    assert!(Tree::new(&other, &fourbar::state::Configuration::start(&other)).is_none());
}

/// A random number between half and one and a half times a given one.
fn near_by(random: &mut fourbar::random::Random, x: f64) -> f64 {
    x * (1.0 + 0.5 * random.number())
}

/// A random tree: rods attached to earlier ones by hinges and slides at oblique angles, with springs and dampers. Parameters are four
/// numbers of each rod (mass, length, tilt of its axis, damping), the stiffness of a spring and gravity.
fn drawn(count: usize, on: &[usize], p: &[f64]) -> Result<Model, Error> {
    let mut text = format!("fourbar: 1\ngravity: [0.2, 0.1, {:e}]\nbodies:\n", -p[1]);
    let (mut joints, mut forces) = (String::from("joints:\n"), String::from("forces:\n"));
    let mut ends = vec![[0.0; 3]];
    for k in 0..count {
        let own = &p[2 + 4 * k..6 + 4 * k];
        let (mass, length, tilt, damping) = (own[0], own[1], own[2], own[3]);
        let at = ends[on[k]];
        let way = if k % 3 == 1 { [0.6, 0.8 * tilt.cos(), 0.8 * tilt.sin()] } else { [tilt.sin(), 0.3, -tilt.cos()] };
        let centre: [f64; 3] = std::array::from_fn(|i| at[i] + 0.5 * length * way[i]);
        ends.push(std::array::from_fn(|i| at[i] + length * way[i]));
        let names = [if on[k] == 0 { "ground".to_string() } else { format!("rod{}", on[k]) }, format!("rod{}", k + 1)];
        text += &format!(
            "  {}: {{mass: {mass:e}, inertia: [{:e}, {:e}, {:e}], at: [{:e}, {:e}, {:e}]}}\n",
            names[1],
            0.02 * mass,
            mass * length * length / 12.0,
            0.1 * mass * length * length,
            centre[0],
            centre[1],
            centre[2]
        );
        let kind = if k % 4 == 2 { "prismatic" } else { "revolute" };
        let bodies =
            if k % 2 == 0 || kind == "prismatic" { format!("{}, {}", names[0], names[1]) } else { format!("{}, {}", names[1], names[0]) };
        joints += &format!(
            "  J{}: {{type: {kind}, bodies: [{bodies}], at: [{:e}, {:e}, {:e}], axis: [{:e}, 1, 0.2]}}\n",
            k + 1,
            at[0],
            at[1],
            at[2],
            tilt
        );
        if kind == "revolute" {
            forces += &format!("  D{}: {{type: torsion, joint: J{}, stiffness: 0.5, damping: {damping:e}}}\n", k + 1, k + 1);
        } else {
            forces += &format!(
                "  D{}: {{type: spring, between: [{{body: {}, at: [0.1, 0, 0]}}, {{body: {}, at: [0, 0.3, 0.2]}}], stiffness: 20, length: 0.2, damping: {damping:e}}}\n",
                k + 1,
                names[0],
                names[1]
            );
        }
    }
    forces += &format!(
        "  coil: {{type: spring, between: [{{body: ground, at: [1, 0.5, 0]}}, {{body: rod{count}, at: [0.1, 0, 0]}}], stiffness: {:e}, length: 0.4, damping: 0.1}}\n",
        p[0]
    );
    text += &joints;
    text += &forces;
    text += &format!("points:\n  tip: {{body: rod{count}, at: [0.1, 0.2, {:e}]}}\n", 0.3 * p[3]);
    text += "study: {t_end: 0.6, output_step: 0.05}\n";
    fourbar_io::read_model(&text, &fourbar_io::ReadOptions { set: &[], ..fourbar_io::ReadOptions::default() })?.spec.build()
}

/// The adjoint of a motion gives the same derivatives as the forward method, and as differences of runs.
#[test]
fn the_way_back_has_the_derivatives_of_the_way_there() {
    let seed = 41;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    for (integrator, step) in [(Some("rk4"), Some(0.005)), (Some("dopri5"), Some(0.01)), (None, None)] {
        let count = 5;
        let on: Vec<usize> =
            (0..count).map(|k| if k == 0 { 0 } else { ((0.5 * random.number() + 0.5) * (k + 1) as f64) as usize % (k + 1) }).collect();
        let mut values = vec![near_by(&mut random, 30.0), 9.81];
        for _ in 0..count {
            values.extend([1.0, 0.6, 0.5, 0.05].map(|x| near_by(&mut random, x)));
        }
        let build = |p: &[f64]| drawn(count, &on, p);
        let names = (0..values.len()).map(|k| format!("p{k}")).collect();
        let p = Parameters::new(names, values.clone(), &build);
        let model = p.model().unwrap_or_else(|e| panic!("{e}"));
        let formulation = integrator.map(|_| "grcr".to_string());
        let study = Study { formulation, integrator: integrator.map(String::from), step, ..Study::of(&model) };
        let which: Vec<usize> = (0..values.len()).collect();
        let texts = [
            "last(tip.x)",
            "max(abs(tip.z))",
            "mean(J1.angle^2)",
            "last(energy.total)",
            "rms(rod3.v.y)",
            "at(coil.power, 0.31)",
            "length(tip)",
        ];
        let of = |columns: &[Column], _: &[f64]| -> Result<Vec<Measure>, Error> {
            Ok(texts.iter().map(|m| Measure::new(m, columns)).collect::<Result<_, _>>()?)
        };
        let many = of_many(&p, &study, &which, &of).unwrap_or_else(|e| panic!("{e}")).expect("a tree");
        let run = of_run(&p, &study, &which).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run.method, Method::Jets);
        let measures = of(&run.run.columns, &[]).unwrap_or_else(|e| panic!("{e}"));
        let found: Vec<_> = measures.iter().map(|m| of_measure(m, &run).unwrap_or_else(|e| panic!("{e}"))).collect();
        let against = compared(&p, &study, &which, &of, &found).unwrap_or_else(|e| panic!("{e}"));
        for ((back, there), runs) in many.derivatives.iter().zip(&found).zip(against) {
            assert!(
                (back.value - there.value).abs() < 1e-9 * (1.0 + there.value.abs()),
                "{integrator:?} {}: {} {}",
                back.of,
                back.value,
                there.value
            );
            let largest = there.slopes.iter().zip(&values).fold(0.0_f64, |m, (s, p)| m.max((s * p).abs()));
            for (k, (a, b)) in back.slopes.iter().zip(&there.slopes).enumerate() {
                let gap = (a - b).abs() * values[k].abs();
                assert!(gap < 1e-8 * largest, "{integrator:?} {} by {k}: {a} back, {b} there, {} by differences", back.of, runs.by_runs[k]);
            }
            assert!(runs.worst < 1e-5, "{integrator:?} {}: {:?} instead of {:?}", there.of, there.slopes, runs.by_runs);
        }
    }
}

/// A rod upright on its hinge: an initial disturbance grows by the closed form `exp(sqrt(1.5 g/l) t)`, and the adjoint reports where
/// derivatives become useless.
#[test]
fn the_way_back_says_where_derivatives_are_of_no_use() {
    let rod = |p: &[f64]| {
        let (m, l) = (p[0], 0.1);
        Mechanism::new()
            .gravity([0.0, 0.0, -9.81])
            .body("rod", Body::new().mass(m).inertia([m * l * l / 12.0, m * l * l / 12.0, 1e-6]).at([0.0, 0.0, 0.5 * l]))
            .revolute("foot", GROUND, "rod")
            .at([0.0; 3])
            .axis([0.0, 1.0, 0.0])
            .build()
    };
    let p = Parameters::new(vec!["m".into()], vec![1.0], &rod);
    let model = p.model().unwrap_or_else(|e| panic!("{e}"));
    let of = |columns: &[Column], _: &[f64]| -> Result<Vec<Measure>, Error> { Ok(vec![Measure::new("last(rod.r.x)", columns)?]) };
    let rate = (1.5_f64 * 9.81 / 0.1).sqrt();
    for (growth, told) in [(1e4_f64, false), (1e11, true)] {
        let t_end = growth.ln() / rate;
        let study = Study {
            formulation: Some("grcr".into()),
            integrator: Some("rk4".into()),
            step: Some(1e-3),
            t_end,
            output_step: t_end,
            ..Study::of(&model)
        };
        let many = of_many(&p, &study, &[0], &of).unwrap_or_else(|e| panic!("{e}")).expect("a tree");
        let found = many.warnings.iter().find(|w| w.code.0 == "W425");
        assert_eq!(found.is_some(), told, "{:?}", many.warnings);
        // A factor of 1e8 before the end, apart from the ratio of angles to speeds.
        let expected = t_end - 1e8_f64.ln() / rate;
        assert!(found.and_then(|w| w.time).is_none_or(|t| (t - expected).abs() < 0.3), "{:?} instead of {expected}", many.warnings);
    }
}
