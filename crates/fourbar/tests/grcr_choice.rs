//! Dependent coordinates by name, the plain method and its failures, fictitious joints on either body, drift.

use fourbar::analysis::assembly::assemble;
use fourbar::constraint::Owner;
use fourbar::formulation::grcr::schedule::Role;
use fourbar::formulation::grcr::{Coupling, Fictitious, Mechanism, Options};
use fourbar::random::Random;
use fourbar::state::Twist;
use fourbar::study::Study;
use fourbar::{Configuration, Model, Trajectory};
use fourbar_testing::common::*;

fn started(m: &Model) -> Configuration {
    assemble(m).unwrap_or_else(|d| panic!("{d}")).configuration
}

fn named(names: &[&str]) -> Options {
    Options { dependents: names.iter().map(|n| n.to_string()).collect(), ..Options::default() }
}

/// Joints whose coordinates are dependent, in the tree and by closing a loop.
fn dependent(m: &Mechanism<'_>) -> (Vec<String>, Vec<String>) {
    let joint = |c: usize| m.tree.nodes[m.tree.node_of[c] as usize].joint.map(|j| m.model.joints[j].name.clone());
    let tree = (0..m.tree.speeds).filter(|c| m.selection.roles[*c] == Role::Dependent).filter_map(joint).collect();
    let closing = m.closings.list.iter().filter_map(|c| match c.owner {
        Owner::Joint(k) => Some(m.model.joints[k].name.clone()),
        _ => None,
    });
    (tree, closing.collect())
}

fn accelerations(m: &mut Mechanism<'_>) -> Vec<Twist> {
    let (q, u) = (m.q.clone(), m.u.clone());
    m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("{d}"));
    m.accelerate(0.0);
    let mut a = vec![Twist::zero(); m.model.bodies.len()];
    m.body_accelerations(&mut a);
    a
}

fn apart(a: &[Twist], b: &[Twist]) -> f64 {
    let size = b.iter().fold(1e-300_f64, |m, x| m.max(x.v.norm()).max(x.w.norm()));
    a.iter().zip(b).map(|(a, b)| (a.v - b.v).norm().max((a.w - b.w).norm())).fold(0.0, f64::max) / size
}

fn moved(m: &Model, options: &[(&str, &str)], t_end: f64) -> (Trajectory, fourbar::study::Report) {
    let study = Study {
        formulation: Some("grcr".into()),
        integrator: Some("dop853".into()),
        tol: Some(1e-11),
        step: None,
        t_end,
        output_step: t_end / 10.0,
        options: options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        ..Study::of(m)
    };
    run(m, &study)
}

fn farthest(a: &Trajectory, b: &Trajectory) -> f64 {
    let columns: Vec<usize> = (0..a.columns.len()).filter(|k| a.columns[*k].name.contains(".r.")).collect();
    (0..a.len()).flat_map(|i| columns.iter().map(move |k| (i, *k))).map(|(i, k)| (a.row(i)[k] - b.row(i)[k]).abs()).fold(0.0, f64::max)
}

/// The choice of the paper, which is singular as drawn and regular later; other choices, and an impossible one.
#[test]
fn the_five_bar_takes_dependents_by_name_where_they_follow() {
    let m = model("grcr_five_bar");
    let start = started(&m);
    // As drawn, the second rod is perpendicular to the line of the slides: turning it moves only the slides.
    let d = Mechanism::asked(&m, &start, &named(&["J2", "J3", "J5"])).err().expect("singular as drawn");
    assert!(d.code.0 == "U304" && d.message.contains("`J2` (angle) is not determined"), "{}", d.message);
    let mut later = fourbar::Simulation::new(&std::sync::Arc::new(m.clone()), &Study::of(&m)).unwrap_or_else(|d| panic!("{d:?}"));
    later.advance(0.5).unwrap_or_else(|d| panic!("{d:?}"));
    let at = later.state();
    let mut asked = Mechanism::asked(&m, &at, &named(&["J2", "J3", "J5"])).unwrap_or_else(|d| panic!("{d}"));
    let (tree, closing) = dependent(&asked);
    assert_eq!((tree, closing), (vec!["J2".to_string(), "J3".into()], vec!["J5".to_string()]));
    let mut usual = Mechanism::new(&m, &at);
    let d = apart(&accelerations(&mut asked), &accelerations(&mut usual));
    assert!(d < 1e-9, "{d}");
    let (ours, _) = moved(&m, &[], 1.0);
    for set in ["J1, J3, J5", "J1,J3,J4"] {
        let d = farthest(&ours, &moved(&m, &[("dependents", set)], 1.0).0);
        assert!(d < 1e-9, "{set}: {d}");
    }
    // Both slides lie on one line.
    let refusal = |names: &[&str]| Mechanism::asked(&m, &start, &named(names)).err().map(|d| (d.code.0, d.message)).unwrap_or_default();
    let (code, message) = refusal(&["J3", "J4", "J5"]);
    assert!(code == "U304" && message.contains("`J4`") && message.contains("not determined"), "{code} {message}");
    let (code, message) = refusal(&["J3", "J5"]);
    assert!(code == "U304" && message.contains("have 1 coordinate in the tree") && message.contains("determine 2"), "{code} {message}");
    let (code, message) = refusal(&["J2", "J3", "J7"]);
    assert!(code == "U304" && message.contains("`J7`, which is not a joint"), "{code} {message}");
}

/// Random sets are rejected with a message or give the accelerations of the default set.
#[test]
fn any_set_of_dependents_gives_the_same_accelerations_or_is_refused() {
    let seed = 0x5eed_2026;
    println!("seed {seed:#x}");
    let mut r = Random(seed);
    let (mut taken, mut refused) = (0, 0);
    for name in ["grcr_five_bar", "dca_five_bar", "dca_double_loop", "andrews", "a02_n_fourbar_N2", "a04_bricard", "nc_rscr"] {
        let mut m = model(name);
        m.drives.clear();
        let start = started(&m);
        let mut usual = Mechanism::new(&m, &start);
        let expected = accelerations(&mut usual);
        // The default choice can be requested by name.
        let (tree, closing) = dependent(&usual);
        let mut sets = vec![tree.iter().chain(&closing).cloned().collect::<Vec<_>>()];
        let many = sets[0].len();
        for _ in 0..12 {
            let mut all: Vec<String> = m.joints.iter().map(|j| j.name.clone()).collect();
            let set = (0..many.min(all.len())).map(|_| all.remove(((r.number() + 1.0) * 0.5 * all.len() as f64) as usize)).collect();
            sets.push(set);
        }
        for (k, set) in sets.iter().enumerate() {
            let names: Vec<&str> = set.iter().map(String::as_str).collect();
            match Mechanism::asked(&m, &start, &named(&names)) {
                Ok(mut asked) => {
                    taken += 1;
                    let sine = asked.selection.smallest;
                    let d = apart(&accelerations(&mut asked), &expected);
                    assert!(d < 1e-9 / sine.clamp(1e-4, 1.0).powi(3), "{name} {names:?}: {d:.1e}, sine {sine:.1e}");
                }
                Err(d) => {
                    refused += 1;
                    let single = usual.tree.nodes.iter().skip(1).all(|n| n.kind.speeds() < 2);
                    assert!(k > 0 || !single, "{name}: {names:?} was chosen and is refused: {}", d.message);
                    assert!(d.code.0 == "U304" && d.message.contains('`'), "{name}: {}", d.message);
                }
            }
        }
    }
    println!("{taken} sets taken, {refused} refused");
    assert!(taken > 20 && refused > 10, "{taken} {refused}");
}

#[test]
fn the_plain_method_moves_what_it_can_and_says_where_it_breaks() {
    let five = model("grcr_five_bar");
    let d = Mechanism::asked(&five, &started(&five), &Options { coupling: Coupling::Rcr, ..Options::default() }).err().expect("a refusal");
    assert_eq!(d.code.0, "S271");
    assert!(d.message.contains("`J4`") && d.message.contains("would have to be dependent instead"), "{}", d.message);
    // Loops of hinges are regular at the start; those with equal sides fold during the motion.
    let m = model("dca_five_bar");
    let (plain, _) = moved(&m, &[("coupling", "rcr")], 0.5);
    let (usual, _) = moved(&m, &[], 0.5);
    let d = farthest(&plain, &usual);
    assert!(d < 1e-8, "{d}");
    let named = Options::of(&[("coupling".into(), "rcr".into()), ("dependents".into(), "J1".into())]);
    assert_eq!(named.err().map(|d| d.code.0), Some("U304"));
}

/// A parallelogram ladder passes positions where its last coordinates are singular: the plain method ends there, the others continue.
#[test]
fn the_plain_method_ends_where_its_coordinates_die() {
    let m = model("a02_n_fourbar_N2");
    let study = Study {
        formulation: Some("grcr".into()),
        integrator: Some("dop853".into()),
        t_end: 3.0,
        output_step: 0.1,
        options: vec![("coupling".into(), "rcr".into())],
        ..Study::of(&m)
    };
    let failed = fourbar::study::run(&m, &study, &mut Trajectory::default()).expect_err("it breaks");
    assert_eq!(failed.diagnostic.code.0, "S271", "{}", failed.diagnostic.message);
    let t = failed.diagnostic.time.unwrap_or(0.0);
    assert!(t > 0.05 && t < 3.0, "{t}");
}

#[test]
fn fictitious_joints_may_hang_on_either_body() {
    for name in ["grcr_five_bar", "dca_double_loop"] {
        let m = model(name);
        let start = started(&m);
        let with = |fictitious| Options { coupling: Coupling::Gcl, fictitious, ..Options::default() };
        let [on_ground, on_parent] =
            [Fictitious::Ground, Fictitious::Parent].map(|f| Mechanism::asked(&m, &start, &with(f)).unwrap_or_else(|d| panic!("{d}")));
        let bases =
            |m: &Mechanism<'_>| -> Vec<usize> { m.tree.nodes.iter().skip(1).filter(|n| n.joint.is_none()).map(|n| n.parent).collect() };
        assert!(!bases(&on_ground).is_empty() && bases(&on_ground).iter().all(|p| *p == 0), "{name}");
        assert!(bases(&on_parent).iter().any(|p| *p != 0), "{name}");
        let (a, _) = moved(&m, &[("coupling", "gcl")], 0.5);
        let (b, _) = moved(&m, &[("coupling", "gcl"), ("fictitious", "parent")], 0.5);
        let d = farthest(&a, &b);
        assert!(d < 1e-8, "{name}: {d}");
    }
}

/// The more levels are closed in every evaluation, the smaller the drift.
#[test]
fn what_is_not_closed_drifts() {
    let m = model("dca_five_bar");
    let drift = |closed: &str| {
        let study = Study {
            formulation: Some("grcr".into()),
            integrator: Some("rk4".into()),
            step: Some(5e-3),
            t_end: 1.0,
            output_step: 0.1,
            options: vec![("closed".into(), closed.into())],
            ..Study::of(&m)
        };
        let (t, report) = run(&m, &study);
        assert_eq!(closed != "positions", report.notes.iter().any(|n| n.contains("drift")), "{:?}", report.notes);
        t.column("error.position").expect("the column").iter().fold(0.0_f64, |m, x| m.max(*x))
    };
    let [nothing, velocities, positions] = ["nothing", "velocities", "positions"].map(drift);
    println!("{nothing:.1e} {velocities:.1e} {positions:.1e}");
    assert!(positions < 1e-12 && velocities > 1e2 * positions && nothing > velocities, "{nothing} {velocities} {positions}");
}
