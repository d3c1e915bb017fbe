//! The explanations of `check`, compared with closed forms and with trials.

use fourbar::analysis::assembly::assemble;
use fourbar::analysis::rank::mobility;
use fourbar::study::Study;
use fourbar::topology::Topology;
use fourbar::{Configuration, Model};
use fourbar_check::explain::stress::{Agreement, When};
use fourbar_check::explain::sweep::Kind;
use fourbar_check::explain::{Explanation, explain};
use fourbar_io::{ReadOptions, read_model};
use fourbar_testing::common::*;

fn explained(model: &Model) -> Explanation {
    let assembled = assemble(model);
    let drawn = Configuration::start(model);
    let start = assembled.as_ref().map_or(&drawn, |a| &a.configuration);
    let free = mobility(model, start, false);
    let driven = (!model.drives.is_empty()).then(|| mobility(model, start, true));
    explain(model, &Topology::new(model), &assembled, &free, driven.as_ref())
}

fn text(name: &str) -> String {
    let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("shipped")
}

fn with(name: &str, set: &[(&str, &str)]) -> Model {
    let set: Vec<(String, String)> = set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let loaded = read_model(&text(name), &ReadOptions { set: &set, ..Default::default() }).expect("reads");
    loaded.spec.build().expect("builds")
}

const SLIDER_CRANK: &str = "
fourbar: 1
gravity: [0, 0, 0]
bodies:
  crank: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0]}
  rod: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.08660254037844387, 0.05, 0]}
  slider: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.17320508075688773, 0, 0]}
joints:
  pin: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  big: {type: revolute, bodies: [crank, rod], at: [0, 0.1, 0], axis: [0, 0, 1]}
  small: {type: revolute, bodies: [rod, slider], at: [0.17320508075688773, 0, 0], axis: [0, 0, 1]}
  guide: {type: prismatic, bodies: [ground, slider], at: [0.17320508075688773, 0, 0], axis: [1, 0, 0]}
";

#[test]
fn dead_points_of_a_slider_are_the_stretched_and_the_folded_pose() {
    // Crank 0.1 m, rod 0.2 m, slider drawn at sqrt(0.03) m: stretched at 0.3 m, folded at 0.1 m.
    let model = parse(&format!("{SLIDER_CRANK}drives: {{pull: {{joint: guide, distance: 0.1*t}}}}\n"));
    let e = explained(&model);
    let [s] = e.sweeps.as_slice() else { panic!("one sweep") };
    assert!(s.closed && s.coordinate.drive.as_deref() == Some("pull"));
    let mut found: Vec<f64> = s.events.iter().map(|e| e.value + 0.03_f64.sqrt()).collect();
    found.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 2, "{found:?}");
    // The pose is the root of a rate; the value is stationary there, so that its error is rounding of the constraints.
    assert!((found[0] - 0.1).abs() < 1e-10 && (found[1] - 0.3).abs() < 1e-10, "{found:?}");
    assert!(s.events.iter().all(|e| e.kind == Kind::DeadPoint && e.names == ["pull", "guide"] && e.mobility == 1));
    // The crank is drawn upright: it lies to the right and to the left at these poses, reached forwards and backwards.
    for e in &s.events {
        let side = if e.value > 0.0 { 0.05 } else { -0.05 };
        assert!((e.q[1].r.x - side).abs() < 1e-9 && e.q[1].r.y.abs() < 1e-9, "{}", e.q[1].r);
    }
    assert!(s.events[0].path * s.events[1].path < 0.0);
    // The same mechanism driven by its crank has none.
    let model = parse(&format!("{SLIDER_CRANK}drives: {{motor: {{joint: pin, angle: t}}}}\n"));
    let e = explained(&model);
    assert!(e.sweeps[0].events.is_empty() && e.sweeps[0].ranges.iter().any(|r| r.joint == "pin" && r.full_turn));
}

#[test]
fn joints_go_as_far_as_the_triangles_say() {
    // Rocker of the four-bar at its ends: crank and coupler in line, so a triangle of ground 0.2, rocker 0.16 and 0.2 +- 0.08.
    let angle = |side: f64| ((0.04 + 0.0256 - side * side) / (2.0 * 0.2 * 0.16)).acos();
    let e = explained(&model("fourbar"));
    let range = |joint: &str| e.sweeps[0].ranges.iter().find(|r| r.joint == joint).expect("a range");
    assert!(range("O").full_turn && !range("C").full_turn);
    let swing = range("C").to - range("C").from;
    // Cubics over steps of a tenth of the characteristic length.
    assert!((swing - (angle(0.28) - angle(0.12))).abs() < 2e-5, "{swing}");
}

#[test]
fn a_planar_loop_carries_three_loads_too_often_and_the_proposed_joints_cure_it() {
    let e = explained(&model("fourbar"));
    let [s] = e.sets.as_slice() else { panic!("one set") };
    assert_eq!((s.times, s.times_always, s.when, &s.agreement), (3, 3, When::Always, &Agreement::Consistent));
    assert_eq!(s.directions, ["force along z", "torques about x and y"]);
    let [cure] = e.cures.as_slice() else { panic!("one cure") };
    assert_eq!((cure.removes, e.uncured), (3, 0));
    // Exchange the joints in the file itself: nothing is redundant, and the motion is the same.
    let mut changed = text("fourbar");
    for x in &cure.exchange {
        let line = changed.lines().find(|l| l.trim_start().starts_with(&format!("{}: {{type:", x.joint))).expect("its line").to_string();
        let axis = if x.to == "spherical" { line.replace(", axis: [0, 0, 1]", "") } else { line.clone() };
        changed = changed.replace(&line, &axis.replace("type: revolute", &format!("type: {}", x.to)));
    }
    let (before, after) = (model("fourbar"), parse(&changed));
    let e = explained(&after);
    assert_eq!((e.redundancy.total, e.not_unique.len()), (0, 0));
    let (a, b) = (run(&before, &Study::of(&before)).0, run(&after, &Study::of(&after)).0);
    for column in ["coupler.r.x", "coupler.r.y", "rocker.p.0", "motor.effort"] {
        let (x, y) = (a.column(column).expect("there"), b.column(column).expect("there"));
        let worst = x.iter().zip(y).fold(0.0_f64, |w, (x, y)| w.max((x - y).abs()));
        // Both are kinematics: equal to the tolerance of the Newton iteration.
        assert!(worst < 1e-9, "{column}: {worst:.1e}");
    }
}

#[test]
fn spatial_loops_are_explained_as_well() {
    // Bricard: the self-stress is a force along the threefold axis of the start pose.
    let e = explained(&model("a04_bricard"));
    assert_eq!(e.sets[0].directions, ["force along (0.5774, 0.5774, 0.5774)"]);
    assert_eq!((e.cures.len(), e.uncured), (1, 0));
    // Sarrus: both hinged pairs prevent rotation of the lid about the vertical.
    let e = explained(&model("sarrus"));
    assert_eq!(e.sets[0].directions, ["torque about z"]);
    assert_eq!((e.cures.len(), e.uncured), (1, 0), "{:?}", e.cures);
}

#[test]
fn every_redundancy_of_the_shipped_planar_linkages_has_a_cure() {
    for name in ["a02_n_fourbar_N2", "peaucellier", "quick_return", "andrews", "klann", "hoeken", "slider_crank_engine", "watt_six_bar"] {
        let e = explained(&model(name));
        let rows: usize = e.sets.iter().map(|s| s.times).sum();
        assert_eq!(rows, e.redundancy.total, "{name}");
        assert_eq!(e.uncured, 0, "{name}: {:?}", e.cures);
    }
}

#[test]
fn branches_of_the_ladder_cross_where_it_lies_flat() {
    let e = explained(&model("a02_n_fourbar_N2"));
    let s = &e.sweeps[0];
    let angles: Vec<f64> = s.events.iter().map(|e| e.value.to_degrees()).collect();
    assert_eq!(angles.len(), 2, "{angles:?}");
    for angle in &angles {
        // A quarter turn either way. The least singular value is found by golden section, to some 1e-9 of a link.
        assert!((angle.abs() - 90.0).abs() < 1e-5, "{angle}");
    }
    assert!(angles[0] * angles[1] < 0.0);
    assert!(s.events.iter().all(|e| e.kind == Kind::Bifurcation && e.mobility == 3 && e.names.len() == 7));
}

#[test]
fn a_set_that_is_redundant_only_at_the_start_is_told_apart() {
    // A parallelogram drawn flat: three surplus rows always, one more at this pose.
    let flat = parse(
        "
fourbar: 1
bodies:
  left: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}
  right: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [2.5, 0, 0]}
  bar: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [2, 0, 0]}
joints:
  A: {type: revolute, bodies: [ground, left], at: [0, 0, 0], axis: [0, 0, 1]}
  B: {type: revolute, bodies: [ground, right], at: [2, 0, 0], axis: [0, 0, 1]}
  C: {type: revolute, bodies: [left, bar], at: [1, 0, 0], axis: [0, 0, 1]}
  D: {type: revolute, bodies: [right, bar], at: [3, 0, 0], axis: [0, 0, 1]}
",
    );
    let e = explained(&flat);
    assert_eq!((e.sets.len(), e.sets[0].times, e.sets[0].times_always, e.sets[0].when), (1, 4, 3, When::MoreHere));
    let nearest = &e.sweeps[0].events[0];
    assert_eq!((nearest.kind, nearest.path, nearest.mobility), (Kind::Bifurcation, 0.0, 2));
}

#[test]
fn contradictions_are_named_with_their_gap() {
    // Two welds of one body, a centimetre apart.
    let welded = parse(
        "
fourbar: 1
bodies: {block: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}, other: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}}
joints:
  hinge: {type: revolute, bodies: [ground, other], at: [1, 0.5, 0], axis: [0, 0, 1]}
  one: {type: fixed, bodies: [ground, block], frames: {ground: {at: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}, block: {at: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}}}
  two: {type: fixed, bodies: [ground, block], frames: {ground: {at: [0.01, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}, block: {at: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}}}
",
    );
    let e = explained(&welded);
    let Agreement::Conflicting { gap } = e.sets[0].agreement else { panic!("{:?}", e.sets) };
    // The work of the self-stress of two equal and opposite forces is the gap, up to normalisation.
    assert!(gap > 0.004 && gap < 0.02, "{gap}");
    assert_eq!(e.sets[0].names, ["one", "two"]);
    // Crank upright: the slider moves by -0.1 m/s, not by 0.2.
    let driven = parse(&format!("{SLIDER_CRANK}drives: {{turn: {{joint: pin, angle: t}}, pull: {{joint: guide, distance: 0.2*t}}}}\n"));
    let e = explained(&driven);
    let clash = e.sets.iter().find(|s| matches!(s.agreement, Agreement::ConflictingSpeeds { .. })).expect("a clash");
    assert_eq!(clash.names, ["pin", "big", "small", "guide", "turn", "pull"]);
    let agreeing = parse(&format!("{SLIDER_CRANK}drives: {{turn: {{joint: pin, angle: t}}, pull: {{joint: guide, distance: -0.1*t}}}}\n"));
    assert!(explained(&agreeing).sets.iter().all(|s| s.agreement == Agreement::Consistent));
}

#[test]
fn the_other_mode_of_a_four_bar_is_its_mirror_image_and_reached_only_without_a_full_crank() {
    let grashof = explained(&model("fourbar"));
    assert_eq!(grashof.modes.len(), 2);
    assert_eq!(grashof.modes[1].reachable, Some(false));
    // B mirrored at the line from A to C: the same distances to both.
    let q = &grashof.modes[1].configuration.q;
    let m = model("fourbar");
    let place = |joint: usize, q: &[fourbar::Pose]| q[m.joints[joint].bodies[1].index()].point(&m.joints[joint].M.s);
    let (a, c) = (place(1, q), place(3, q));
    let (b, drawn) = (place(2, q), place(2, &grashof.modes[0].configuration.q));
    let along = (c - a).normalize();
    let mirrored = a + 2.0 * along * along.dot(&(drawn - a)) - (drawn - a);
    // Assembly closes to 1e-13 of the extent; "nearest" may stop a little before.
    assert!((b - mirrored).norm() < 1e-8, "{b} {mirrored}");
    // With a longer crank no body makes a full turn, and the motion leads from one mode into the other.
    let rocking = explained(&with("fourbar", &[("crank_length", "150 mm"), ("coupler_length", "120 mm")]));
    assert!(rocking.sweeps[0].ranges.iter().all(|r| !r.full_turn));
    assert_eq!(rocking.modes.iter().map(|m| m.reachable).collect::<Vec<_>>(), [Some(true), Some(true)]);
    assert!(rocking.sweeps[0].events.iter().filter(|e| e.kind == Kind::DeadPoint).count() == 2);
}

#[test]
fn doubtful_numbers_are_found_and_shipped_models_have_none() {
    for name in shipped() {
        let found = fourbar_check::explain::sanity::sanity(&model(&name));
        assert!(found.is_empty(), "{name}: {:?}", found.iter().map(|d| d.to_string()).collect::<Vec<_>>());
    }
    let codes = |body: &str, gravity: f64| -> Vec<&'static str> {
        let model = parse(&format!(
            "fourbar: 1\ngravity: [0, 0, -{gravity}]\nbodies: {{pin: {body}}}\njoints:\n  a: {{type: revolute, bodies: [ground, pin], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
        ));
        fourbar_check::explain::sanity::sanity(&model).iter().map(|d| d.code.0).collect()
    };
    // A pin of 2 kg within 5 mm; 8 g are steel.
    assert_eq!(codes("{mass: 2, inertia: [2e-5, 2e-5, 2e-5], at: [5 mm, 0, 0]}", 9.81), ["W251"]);
    assert_eq!(codes("{mass: 0.004, inertia: [4e-8, 4e-8, 4e-8], at: [5 mm, 0, 0]}", 9.81), [""; 0]);
    // A rod of 0.2 m: m l^2 / 12 = 3.3e-3 kg m^2, and a thousand times more and less.
    for (factor, expected) in [(1.0, &[][..]), (1e3, &["W252"]), (1e-3, &["W252"])] {
        let inertia = 3.3e-3 * factor;
        assert_eq!(
            codes(&format!("{{mass: 1, inertia: [{inertia:e}, {inertia:e}, {inertia:e}], at: [0.1, 0, 0]}}"), 9.81),
            expected,
            "{factor}"
        );
    }
    // Millimetres for metres, in the lengths and in gravity.
    assert_eq!(codes("{mass: 0.1, inertia: [300, 300, 300], at: [100, 0, 0]}", 9810.0), ["W251", "W253"]);
}

#[test]
fn elimination_gives_the_rank_and_the_motions_that_singular_values_give() {
    use fourbar::analysis::eliminate::eliminate;
    use fourbar::analysis::rank::rank;
    use fourbar::constraint::ConstraintSet;
    use fourbar_testing::mechanism::{Recipe, mechanism};
    let shipped =
        ["a02_n_fourbar_N2", "andrews", "planetary_gear", "watt_governor", "jansen_leg", "a05_flyball_governor", "dca_double_loop"];
    let mut models: Vec<(String, Model)> = shipped.map(|name| (name.to_string(), model(name))).into();
    models.extend((0..60).map(|seed| (format!("seed {seed}"), mechanism(&Recipe::of(seed), seed).build().expect("builds"))));
    let mut judged = 0;
    for (name, model) in models {
        let Ok(assembled) = assemble(&model) else { continue };
        let q = assembled.configuration.q;
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        let whole = rank(&model, &set, &q);
        // Near a singular pose the two may decide the rank differently.
        if whole.smallest.is_none_or(|s| s < 1e-5) {
            continue;
        }
        judged += 1;
        let found = eliminate(&model, &set, &q, usize::MAX);
        assert_eq!(found.rank, whole.rank, "{name}");
        let motions = found.motions.expect("all are listed");
        assert_eq!(motions.len(), whole.mobility(), "{name}");
        let mut jacobian = vec![0.0; set.values];
        set.jacobian(&q, &mut jacobian);
        let mut rate = vec![0.0; set.rows()];
        for (k, m) in motions.iter().enumerate() {
            set.multiply(&jacobian, m, &mut rate);
            let worst = rate.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            assert!(worst < 1e-10, "{name}: motion {k} breaks rows by {worst:e}");
        }
    }
    assert!(judged > 40, "{judged}");
}

/// A mechanism file of `n` bodies: a chain, or a ring of hinges whose ends are both on the ground.
fn long(n: usize, closed: bool) -> Model {
    let mut text = String::from("fourbar: 1\nbodies:\n");
    for i in 0..n {
        text += &format!("  b{i}: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [{i}.5, 0, 0]}}\n");
    }
    text += "joints:\n";
    for i in 0..n + usize::from(closed) {
        let name = |i: usize| if i == 0 || i > n { "ground".into() } else { format!("b{}", i - 1) };
        text += &format!("  j{i}: {{type: revolute, bodies: [{}, {}], at: [{i}, 0, 0], axis: [0, 0, 1]}}\n", name(i), name(i + 1));
    }
    parse(&text)
}

/// Operations are counted, not timed: eight times the bodies may cost nine times as much.
#[test]
fn the_rank_of_chains_and_rings_of_thousands_costs_as_much_per_body_as_that_of_short_ones() {
    use fourbar::analysis::eliminate::eliminate;
    use fourbar::constraint::ConstraintSet;
    for closed in [false, true] {
        let mut work = Vec::new();
        for n in [500, 4000] {
            let model = long(n, closed);
            let set = ConstraintSet::new(model.all_constraints(), |_| false);
            let found = eliminate(&model, &set, &Configuration::start(&model).q, 40);
            work.push(found.work as f64);
            // The stretched ring: both ends in line, so that it has one more free motion than a bent one.
            let free = if closed { n - 1 } else { n };
            assert_eq!((6 * n - found.rank, found.motions.is_none()), (free, true), "closed: {closed}, {n} bodies");
        }
        assert!(work[1] < 9.0 * work[0], "{work:?}");
    }
    let m = mobility(&long(3000, false), &Configuration::start(&long(3000, false)), false);
    assert_eq!((m.generic.mobility(), m.generic.redundant()), (3000, 0));
}

/// A lattice of hinged links in the plane, `side` cells along each edge: loops share links in both directions.
fn lattice(side: usize) -> Model {
    let (mut bodies, mut joints) = (String::new(), String::new());
    let corner = |i: usize, j: usize| (j as f64 + 0.3 * i as f64, 0.9 * i as f64);
    for i in 0..=side {
        for j in 0..=side {
            let (x, y) = corner(i, j);
            let mut here = Vec::new();
            if i == 0 {
                here.push("ground".to_string());
            } else {
                here.extend((j > 0).then(|| format!("h{i}_{}", j - 1)));
                here.extend((j < side).then(|| format!("h{i}_{j}")));
                here.push(format!("u{}_{j}", i - 1));
            }
            if i > 0 && j < side {
                bodies += &format!("  h{i}_{j}: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [{}, {y}, 0]}}\n", x + 0.5);
            }
            if i < side {
                here.push(format!("u{i}_{j}"));
                bodies += &format!("  u{i}_{j}: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [{}, {}, 0]}}\n", x + 0.15, y + 0.45);
            }
            for (k, pair) in here.windows(2).enumerate() {
                joints += &format!(
                    "  c{i}_{j}_{k}: {{type: revolute, bodies: [{}, {}], at: [{x}, {y}, 0], axis: [0, 0, 1]}}\n",
                    pair[0], pair[1]
                );
            }
        }
    }
    parse(&format!("fourbar: 1\nbodies:\n{bodies}joints:\n{joints}"))
}

/// Operations are counted: sixteen times the bodies of a mesh may cost a hundred times as much, far below the third power. Rows out of the
/// plane, three of five, are redundant in every cell and must not take part.
#[test]
fn the_rank_of_meshes_grows_no_faster_than_the_cuts_through_them() {
    use fourbar::analysis::eliminate::eliminate;
    use fourbar::constraint::ConstraintSet;
    let mut work = Vec::new();
    for side in [8, 32] {
        let model = lattice(side);
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        let found = eliminate(&model, &set, &Configuration::start(&model).q, 0);
        // Every row of cells can shear independently.
        assert_eq!(6 * model.moving() - found.rank, side, "{side} cells along an edge");
        work.push(found.work as f64 / model.moving() as f64);
    }
    assert!(work[0] < 3e3 && work[1] < 6.5 * work[0], "{work:?}");
}

#[test]
fn large_models_are_explained_in_part_and_say_so() {
    let e = explained(&model("a02_n_fourbar_N40"));
    assert_eq!(e.sets.len(), 40);
    assert!(e.sets.iter().all(|s| s.times == 3 && s.when == When::Always));
    let left_out: Vec<&str> = e.skipped.iter().map(|s| s.what).collect();
    assert_eq!(left_out, ["sweeps for singular poses", "replacements of joints", "other assembly modes"]);
}
