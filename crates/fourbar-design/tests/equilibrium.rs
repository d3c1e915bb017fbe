//! Equilibria with known values, found by other means: roots with 30 digits, closed forms, balances of forces.

use crate::common;

use common::{coordinate, model, model_with, near, of_text};
use fourbar_design::equilibrium::{Kind, Options, Stability, search, settle};
use fourbar_design::linear::{Request, linearize};

fn any() -> Options {
    Options { kind: Kind::Any, ..Options::default() }
}

#[test]
fn a_rod_on_a_torsion_spring() {
    let model = model("pendulum_torsion");
    let e = settle(&model, &Options::default()).expect("a rest");
    near(coordinate(&model, &e.state, "pin", "angle"), 1.1039037221445147, 1e-12);
    near(e.verdict.omega2[0], 19.14007235902746, 1e-11);
    assert_eq!((e.stability(), e.verdict.softest.as_str()), (Stability::Stable, "`pin.angle`"));
    assert!(e.iterations <= 8, "{}", e.iterations);
}

#[test]
fn all_rests_of_a_four_bar_with_three_redundant_rows() {
    // Crank angle, energy, square of the frequency; both assembly modes.
    let truth = [
        (
            "fourbar_spring_up",
            [(4.920192750732088, 2.7424940959238513, 235.23096210251995), (1.5599739992367092, 9.676445126179598, -187.12648789294224)],
        ),
        (
            "fourbar_spring_down",
            [(4.856724934901428, -2.551060454378992, 96.64513793041733), (2.188280969289708, 1.1989495983678142, -308.23808440505707)],
        ),
    ];
    for (name, known) in truth {
        let model = model(name);
        let found = search(&model, &Options::default()).expect("rests");
        assert!(found.complete, "{name}");
        for (crank, energy, omega2) in known {
            let e = found.list.iter().find(|e| (e.energy - energy).abs() < 1e-8).unwrap_or_else(|| panic!("{name}: {energy} is missing"));
            let angle = coordinate(&model, &e.state, "O", "angle").rem_euclid(std::f64::consts::TAU);
            near(angle, crank, 1e-9);
            near(e.energy, energy, 1e-10);
            near(e.verdict.omega2[0], omega2, 1e-9);
            assert_eq!(e.stability() == Stability::Stable, omega2 > 0.0);
            assert_eq!((e.rank, e.redundant), (17, 3));
        }
    }
}

/// The random starts for one file also reach the other assembly mode, whose whole motion is then followed.
#[test]
fn other_assembly_modes_are_followed_to_their_ends() {
    for name in ["fourbar_spring_up", "fourbar_spring_down"] {
        let found = search(&model(name), &Options::default()).expect("rests");
        let mut energies: Vec<f64> = found.list.iter().map(|e| e.energy).collect();
        energies.sort_by(f64::total_cmp);
        assert_eq!(energies.len(), 4, "{name}: {energies:?}");
        for (x, y) in energies.iter().zip([-2.551060454378992, 1.1989495983678142, 2.7424940959238513, 9.676445126179598]) {
            near(*x, y, 1e-9);
        }
    }
}

/// An arm in equilibrium at every angle counts as one equilibrium, and so does an upright rod at its critical stiffness, which has few
/// correct digits.
#[test]
fn neutral_equilibria_are_counted_once() {
    let found = search(&model("balanced_arm"), &Options::default()).expect("rests");
    let [e] = &found.list[..] else { panic!("{} equilibria", found.list.len()) };
    assert!(e.stability() == Stability::Neutral && e.everywhere && e.alike > 10, "{} {}", e.everywhere, e.alike);
    let critical = model_with("inverted_pendulum", &[("k", "4.905")]);
    let found = search(&critical, &Options::default()).expect("rests");
    let [e] = &found.list[..] else { panic!("{} equilibria", found.list.len()) };
    assert!(e.stability() == Stability::Neutral && !e.everywhere);
    near(coordinate(&critical, &e.state, "pin", "angle"), 0.0, 1e-9);
    // Away from it there are three or one.
    for (k, count) in [("3", 3), ("6", 1)] {
        let found = search(&model_with("inverted_pendulum", &[("k", k)]), &Options::default()).expect("rests");
        assert_eq!(found.list.len(), count, "k = {k}");
        assert!(found.list.iter().all(|e| e.stability() != Stability::Neutral && e.alike == 0));
    }
}

/// A level rod with a torsion spring between two stops, all random: it comes to rest where its moment vanishes, or on the stop that it
/// reaches first, with the remaining moment as contact effort.
#[test]
fn rests_lean_on_rigid_limits() {
    let seed = 31337;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    let (mut leant, mut free) = (0, 0);
    for case in 0..40 {
        let (low, high) = (-0.7 + 0.6 * random.number(), 0.7 + 0.6 * random.number());
        let (k, rest) = (8.0 + 8.0 * random.number(), 2.0 * random.number());
        let text = format!(
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{a: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}}}}
joints: {{p: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], limits: {{min: {low}, max: {high}, restitution: 0}}}}}}
forces: {{s: {{type: torsion, joint: p, stiffness: {k}, angle: {rest}}}}}
"
        );
        let model = of_text(&text);
        let moment = |a: f64| 9.81 * 0.5 * a.cos() - k * (a - rest);
        let sense = moment(0.0).signum();
        let mut angle: f64 = 0.0;
        while moment(angle) * sense > 0.0 && angle > low && angle < high {
            angle += sense * 1e-4;
        }
        let stop = if angle <= low {
            Some(("p.min", low))
        } else if angle >= high {
            Some(("p.max", high))
        } else {
            None
        };
        let e = settle(&model, &Options::default()).unwrap_or_else(|e| panic!("case {case}: {e:?}"));
        let found = coordinate(&model, &e.state, "p", "angle");
        match stop {
            Some((name, at)) => {
                leant += 1;
                assert_eq!(e.leans.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), [name], "case {case}");
                near(found, at, 1e-12);
                near(e.leans[0].effort, moment(at).abs(), 1e-9);
                assert_eq!((e.stability(), e.leans[0].unit), (Stability::Held, "N m"));
                // With the stop closed nothing moves; this applies to vibrations too.
                let m = linearize(&model, &e.state, &Request::default()).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(m.A.nrows(), 0);
            }
            None => {
                free += 1;
                assert!(
                    e.leans.is_empty() && (found - angle).abs() < 2e-4 && moment(found).abs() < 1e-9,
                    "case {case}: {found} for {angle}"
                );
                assert_eq!(e.stability(), Stability::Stable);
            }
        }
        for e in search(&model, &Options::default()).expect("rests").list {
            let a = coordinate(&model, &e.state, "p", "angle");
            assert!(a >= low - 1e-9 && a <= high + 1e-9, "case {case}: {a} in {low}..{high}");
        }
    }
    assert!(leant > 5 && free > 5, "{leant} {free}");
}

/// A slider in free fall comes to rest on its stop; one on an inclined rail presses with its share of the weight. A slack rope carries
/// nothing, a taut one does. A wheel with a ratchet is held against a load that would turn it back, and moves on under one that turns it
/// forward.
#[test]
fn stops_ropes_and_ratchets_carry() {
    let slider = of_text(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {b: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}}
joints: {g: {type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [0.6, 0, 0.8], limits: {min: -1.5, restitution: 0.3}}}
",
    );
    let e = settle(&slider, &Options::default()).expect("a rest");
    near(coordinate(&slider, &e.state, "g", "distance"), -1.5, 1e-12);
    near(e.leans[0].effort, 2.0 * 9.81 * 0.8, 1e-9);
    let wheel = |side: f64, start: f64| {
        of_text(&format!(
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{w: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [{}, 0, {}]}}}}
joints: {{p: {{type: revolute, bodies: [ground, w], at: [0, 0, 0], axis: [0, -1, 0], limits: {{speed_min: 0}}}}}}
",
            side * 0.3 * start.cos(),
            0.3 * start.sin()
        ))
    };
    // Its weight would turn it back: the ratchet holds it.
    let held = wheel(1.0, 0.2);
    let e = settle(&held, &Options::default()).expect("a rest");
    near(coordinate(&held, &e.state, "p", "angle"), 0.0, 1e-12);
    near(e.leans[0].effort, 9.81 * 0.3 * 0.2_f64.cos(), 1e-9);
    // Its weight turns it forward, to the hanging position.
    let free = wheel(-1.0, 0.2);
    let e = settle(&free, &Options::default()).expect("a rest");
    assert!(e.leans.is_empty(), "{:?}", e.leans);
    near(coordinate(&free, &e.state, "p", "angle"), std::f64::consts::FRAC_PI_2 + 0.2, 1e-9);
}

/// An axis along gravity is neutral for any load, up to rounding and the residual of the equilibrium.
#[test]
fn a_vertical_axis_is_neutral() {
    let robot = fourbar_io::load("robot_arm").expect("a mechanism");
    let e = settle(&robot, &Options::default()).expect("a rest");
    assert_eq!(e.stability(), Stability::Neutral, "{:?}", e.verdict.omega2);
}

#[test]
fn ten_rods_between_two_supports() {
    let model = model("chain10");
    let e = settle(&model, &Options::default()).expect("a rest");
    let com = [
        [0.06138243829935643, -0.07894426051604829],
        [0.19590197514092494, -0.22608650353031098],
        [0.3555860908225954, -0.34438053202281815],
        [0.5396900469853078, -0.4164457302177103],
        [0.7364321593234285, -0.42567512596459967],
        [0.9256963645626266, -0.3695099390861339],
        [1.0925074302376376, -0.26195811006856334],
        [1.233594168531252, -0.12129105559149585],
        [1.3523350382288006, 0.03916708976768708],
        [1.4533606016917076, 0.2115422896213086],
    ];
    for (k, [x, z]) in com.iter().enumerate() {
        let r = e.state.q[k + 1].r;
        assert!((r.x - x).abs() < 1e-10 && (r.z - z).abs() < 1e-10, "{k}: {r}");
    }
    let omega2 = [
        46.80689677843928,
        145.7825280575454,
        301.26457957854325,
        519.868634983123,
        816.5233028496369,
        1201.9155036976904,
        1538.4675421681052,
        2061.626275748442,
    ];
    for (x, y) in e.verdict.omega2.iter().zip(omega2) {
        near(*x, y, 1e-9);
    }
    assert_eq!((e.verdict.omega2.len(), e.redundant), (8, 3));
    // The first support carries both components.
    let now = e.evaluate(&model).expect("an evaluation");
    let force = now.reaction("h0").expect("a reaction").force;
    near(force.x.abs(), 13.870143643949435, 1e-10);
    near(force.z.abs(), 20.29096102500682, 1e-10);
}

#[test]
fn a_standing_rod_falls_to_where_its_spring_holds_it() {
    let soft = model("inverted_pendulum");
    let e = settle(&soft, &Options::default()).expect("a rest");
    near(coordinate(&soft, &e.state, "pin", "angle").abs(), 1.6319442625492877, 1e-10);
    near(e.verdict.omega2[0], 9.899231248639293, 1e-10);
    // The upright position can be requested explicitly.
    let e = settle(&soft, &any()).expect("a rest");
    near(e.verdict.omega2[0], -5.715, 1e-9);
    assert_eq!(e.stability(), Stability::Unstable);
    let all = search(&soft, &Options::default()).expect("rests");
    assert!(all.list.len() >= 3, "{}", all.list.len());
    assert_eq!(all.list.iter().filter(|e| e.stability() == Stability::Unstable).count(), all.list.len() - 2);
    // A stiff spring holds it upright; at the stability limit it is neutral.
    let stiff = settle(&model_with("inverted_pendulum", &[("k", "6")]), &Options::default()).expect("a rest");
    near(stiff.verdict.omega2[0], 3.285, 1e-9);
    let border = settle(&model_with("inverted_pendulum", &[("k", "4.905")]), &any()).expect("a rest");
    assert_eq!(border.stability(), Stability::Neutral);
    assert!(border.warnings.iter().any(|d| d.code.0 == "W401" && d.message.contains("border")), "{:?}", border.warnings);
}

#[test]
fn a_balanced_arm_is_neutral_everywhere() {
    let e = settle(&model("balanced_arm"), &Options::default()).expect("a rest");
    assert!(e.verdict.omega2[0].abs() < 1e-9, "{}", e.verdict.omega2[0]);
    assert_eq!(e.stability(), Stability::Neutral);
    assert!(e.warnings.iter().any(|d| d.code.0 == "W401" && d.message.contains("every position")), "{:?}", e.warnings);
}

#[test]
fn a_door_on_two_hinges_has_five_rows_too_many() {
    let e = settle(&model("two_hinge_door"), &Options::default()).expect("a rest");
    near(e.verdict.omega2[0].sqrt(), 5.058784868703757, 1e-10);
    assert_eq!(e.redundant, 5);
}

#[test]
fn a_suspension_settles_under_forces_without_potential() {
    let model = fourbar_testing::common::model("double_wishbone");
    let e = settle(&model, &Options::default()).expect("a rest");
    assert_eq!(e.stability(), Stability::Stable);
    assert!(e.residual < 1e-12, "{:e}", e.residual);
    // The engine finds zero accelerations there.
    let now = e.evaluate(&model).expect("an evaluation");
    assert!(now.accelerations().iter().all(|a| a.v.norm() + a.w.norm() < 1e-8), "{:?}", now.accelerations());
}

#[test]
fn what_nothing_holds_is_named() {
    let model = fourbar_testing::common::parse(
        "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n  plate: {mass: 2, inertia: [0.1, 0.1, 0.1]}\nstudy: {t_end: 1}\n",
    );
    let d = settle(&model, &Options::default()).expect_err("nothing holds it");
    assert_eq!(d.code.0, "S401");
    assert!(d.message.contains("gravity") && d.message.contains("plate.r.z"), "{}", d.message);
}

#[test]
fn a_taut_chain_cannot_carry_a_load_across() {
    let model = fourbar_testing::common::parse(
        "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n  left: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}\n  right: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1.5, 0, 0]}\njoints:\n  a: {type: revolute, bodies: [ground, left], at: [0, 0, 0], axis: [0, 1, 0]}\n  b: {type: revolute, bodies: [left, right], at: [1, 0, 0], axis: [0, 1, 0]}\n  c: {type: revolute, bodies: [right, ground], at: [2, 0, 0], axis: [0, 1, 0]}\nstudy: {t_end: 1}\n",
    );
    let d = settle(&model, &Options::default()).expect_err("infinite reactions");
    assert_eq!(d.code.0, "S402", "{d}");
}

#[test]
fn rolling_bodies_and_controllers_are_judged_by_the_eigenvalues_of_their_motion() {
    // A bicycle at rest falls over; the position of its wheels is arbitrary.
    let e = settle(&model("bicycle"), &Options::default()).expect("a rest");
    assert_eq!((e.stability(), e.freedom), (Stability::Unstable, 3));
    assert!(e.verdict.roots.iter().any(|s| (s[0] - 5.530943717653935).abs() < 1e-10), "{:?}", e.verdict.roots);
    // An integral part leaves no error: the pendulum is at the set point of the controller.
    let pid = fourbar_testing::common::model("pid_pendulum");
    let e = settle(&pid, &Options::default()).expect("a rest");
    assert_eq!((e.stability(), e.freedom), (Stability::Stable, 1));
    near(coordinate(&pid, &e.state, "O", "angle"), 1.0, 1e-12);
}

/// Links connected by stiff bushings only, drawn at an angle: they come to hang straight, and every bushing is stretched by the weight
/// below it.
#[test]
fn a_rope_of_many_freedoms_hangs_straight() {
    let (n, d, mass, ka, kb, g) = (25, 0.05, 0.007, 2e7, 10.0, 9.81);
    let mut text = format!("fourbar: 1\ngravity: [0, 0, -{g}]\nbodies:\n");
    let (sin, cos) = (1.05_f64.sin(), 1.05_f64.cos());
    for k in 1..=n {
        let s = (k as f64 - 0.5) * d;
        text += &format!("  link{k}: {{mass: {mass}, inertia: [1.5e-6, 1.5e-6, 3e-8], at: [{}, 0, {}], ", s * sin, -s * cos);
        text += "orientation: {axis: [0, 1, 0], angle: -1.05}}\n";
    }
    text += "forces:\n";
    for k in 1..=n {
        let before = if k == 1 { "{body: ground}".into() } else { format!("{{body: link{}, at: [0, 0, {}]}}", k - 1, -0.5 * d) };
        let bend = if k == 1 { 0.0 } else { kb };
        text += &format!("  part{k}: {{type: bushing, between: [{before}, {{body: link{k}, at: [0, 0, {}]}}], ", 0.5 * d);
        text += &format!("stiffness: [{ka}, {ka}, {ka}, {bend}, {bend}, {kb}]}}\n");
    }
    let model = fourbar_testing::common::parse(&text);
    let e = settle(&model, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(e.stability(), Stability::Stable);
    let count = n as f64;
    for (k, q) in e.state.q.iter().enumerate().skip(1) {
        let below = |j: usize| (n - j + 1) as f64 * mass * g / ka;
        let z = -((k as f64 - 0.5) * d + (1..=k).map(below).sum::<f64>());
        assert!((q.r.z - z).abs() < 1e-12 * count && q.r.xy().norm() < 1e-9, "link {k}: {} instead of {z}", q.r);
    }
}
