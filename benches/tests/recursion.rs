//! Recursive reduction on mechanisms of realistic size: a tree like a human body, and a thousand four-bars in a row.
#![allow(non_snake_case)]

use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::grcr::Mechanism;
use fourbar::motion::Instant;
use fourbar::random::Random;
use fourbar::spec::*;
use fourbar::study::{FORMULATIONS, Study};
use fourbar::{Configuration, Model, Twist};
use fourbar_bench::ladder;
use nalgebra::Vector3;

/// A floating body of 32 parts on 31 joints: pelvis, spine, head, legs with feet and toes, arms with hands and two fingers each.
fn human() -> Model {
    let mut spec = ModelSpec { title: "human".into(), gravity: Some([0.0, 0.0, -9.81]), ..ModelSpec::default() };
    let mut part = |name: &str, on: Option<(&str, PairKind, V3)>, mass: f64, from: V3, to: V3| {
        let [a, b] = [from, to].map(Vector3::from);
        let (centre, length) = (0.5 * (a + b), (b - a).norm());
        // A rod of some thickness: its axes are arbitrary, the inertia is a full tensor.
        let along = (b - a) / length;
        let I = nalgebra::Matrix3::identity() * (mass * (length * length / 12.0 + 1e-3))
            - along * along.transpose() * (mass * length * length / 12.0);
        let inertia = Inertia::Tensor([I[(0, 0)], I[(1, 1)], I[(2, 2)], I[(0, 1)], I[(0, 2)], I[(1, 2)]]);
        spec.bodies.push((name.into(), BodySpec { mass, inertia, at: centre.into(), omega: [0.3, -0.2, 0.4], ..BodySpec::default() }));
        if let Some((base, kind, axis)) = on {
            let axis_moving = (kind == PairKind::Universal).then(|| along.into());
            let placement = Placement::World { at: from, axis, axis_moving };
            spec.joints.push((format!("{name}_joint"), JointSpec::Pair { kind, bodies: [base.into(), name.into()], placement }));
        }
    };
    use PairKind::{Revolute, Spherical, Universal};
    let (x, y) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    part("pelvis", None, 11.0, [0.0, -0.1, 1.0], [0.0, 0.1, 1.0]);
    let spine = ["lumbar", "loin", "chest", "neck", "head"];
    let heights = [1.0, 1.1, 1.2, 1.5, 1.6, 1.8];
    for (k, name) in spine.iter().enumerate() {
        let base = if k == 0 { "pelvis" } else { spine[k - 1] };
        let kind = if k % 2 == 0 { Spherical } else { Universal };
        part(name, Some((base, kind, y)), [4.0, 4.0, 20.0, 1.0, 5.0][k], [0.0, 0.0, heights[k]], [0.0, 0.0, heights[k + 1]]);
    }
    for (side, s) in [("left", 1.0), ("right", -1.0)] {
        let n = |what: &str| format!("{side}_{what}");
        part(&n("thigh"), Some(("pelvis", Spherical, y)), 8.0, [0.0, 0.1 * s, 0.95], [0.02, 0.1 * s, 0.5]);
        part(&n("shin"), Some((&n("thigh"), Revolute, y)), 4.0, [0.02, 0.1 * s, 0.5], [0.0, 0.1 * s, 0.08]);
        part(&n("foot"), Some((&n("shin"), Universal, y)), 1.0, [0.0, 0.1 * s, 0.08], [0.15, 0.1 * s, 0.08]);
        part(&n("toes"), Some((&n("foot"), Revolute, y)), 0.2, [0.15, 0.1 * s, 0.05], [0.2, 0.1 * s, 0.03]);
        part(&n("collar"), Some(("chest", Revolute, x)), 0.5, [0.0, 0.03 * s, 1.45], [0.0, 0.18 * s, 1.45]);
        part(&n("arm"), Some((&n("collar"), Spherical, y)), 2.0, [0.0, 0.18 * s, 1.45], [0.02, 0.2 * s, 1.15]);
        part(&n("elbow"), Some((&n("arm"), Revolute, y)), 0.8, [0.02, 0.2 * s, 1.15], [0.1, 0.2 * s, 1.05]);
        part(&n("forearm"), Some((&n("elbow"), Revolute, [0.6, 0.0, -0.8])), 0.7, [0.1, 0.2 * s, 1.05], [0.22, 0.2 * s, 0.9]);
        part(&n("hand"), Some((&n("forearm"), Universal, y)), 0.4, [0.22, 0.2 * s, 0.9], [0.28, 0.2 * s, 0.85]);
        for (finger, d) in [("index", 0.02), ("thumb", -0.02)] {
            let (near, far) = (format!("{}_near", n(finger)), format!("{}_far", n(finger)));
            part(&near, Some((&n("hand"), Revolute, y)), 0.05, [0.28, 0.2 * s + d, 0.85], [0.31, 0.2 * s + d, 0.83]);
            part(&far, Some((&near, Revolute, y)), 0.03, [0.31, 0.2 * s + d, 0.83], [0.33, 0.2 * s + d, 0.8]);
        }
    }
    spec.build().unwrap_or_else(|e| panic!("{}", e[0]))
}

fn size(model: &Model, v: &Twist) -> f64 {
    v.v.norm().max(model.length * v.w.norm())
}

/// Accelerations by recursion and by the solution in absolute coordinates: largest difference, relative to the largest one.
fn difference(m: &mut Mechanism<'_>, e: &mut Equations<'_>) -> f64 {
    m.accelerate(0.0);
    m.globals();
    let n = m.poses.len();
    let (mut a, mut b, mut lambda) = (vec![Twist::zero(); n], vec![Twist::zero(); n], vec![0.0; e.set.rows()]);
    m.body_accelerations(&mut a);
    e.jacobian(&m.poses);
    e.factor(1.0);
    e.index1(&m.poses, &m.velocities, &m.turns, 0.0, &mut b, &mut lambda);
    let top = b.iter().map(|b| size(m.model, b)).fold(0.0, f64::max);
    a.iter().zip(&b).map(|(a, b)| size(m.model, &a.plus(&b.scaled(-1.0)))).fold(0.0, f64::max) / top
}

/// The final state of a motion.
fn moved(model: &Model, start: &Configuration, formulation: &str, t_end: f64) -> Instant {
    let study = Study { t_end, output_step: t_end, tol: Some(1e-10), ..Study::of(model) };
    let info = FORMULATIONS.iter().find(|f| f.name == formulation).expect("a formulation");
    let mut motion = (info.start)(&fourbar::Structure::new(model, start), &study, "dop853", start).unwrap_or_else(|d| panic!("{d}"));
    let mut end = Instant::new(model, start);
    motion.advance(t_end, &mut |_| true).unwrap_or_else(|d| panic!("{d}"));
    motion.instant(t_end, &mut end).unwrap_or_else(|d| panic!("{d}"));
    end
}

fn momentum(model: &Model, s: &Instant) -> Vector3<f64> {
    model.bodies.iter().zip(&s.v).skip(1).map(|(b, v)| v.v * b.mass).sum()
}

#[test]
fn a_tree_like_a_human_body_falls_as_on_lie_groups() {
    let model = human();
    let start = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut e = Equations::new(&model, &start);
    let mut m = Mechanism::new(&model, &start);
    assert_eq!((model.moving(), m.tree.speeds, m.selection.rank), (32, 57, 0));
    let mut random = Random(0x5eed_1234_9876_abcd);
    for _ in 0..5 {
        for n in 1..m.tree.nodes.len() {
            let node = &m.tree.nodes[n];
            let (kind, at, u) = (&node.kind, node.q, node.u);
            let from = m.q[at..at + kind.stored()].to_vec();
            let d: Vec<f64> = (0..kind.speeds()).map(|_| 0.5 * random.number()).collect();
            kind.retract(&from, &d, &mut m.q[at..at + kind.stored()]);
            (0..kind.speeds()).for_each(|c| m.u[u + c] = 3.0 * random.number());
        }
        let (q, u) = (m.q.clone(), m.u.clone());
        m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("{d}"));
        let d = difference(&mut m, &mut e);
        assert!(d < 1e-9, "{d:.1e}");
    }
    let t = 0.3;
    let (ours, other) = (moved(&model, &start, "grcr", t), moved(&model, &start, "so3xr3", t));
    let worst = (1..ours.q.len()).map(|b| (ours.q[b].r - other.q[b].r).norm()).fold(0.0, f64::max);
    assert!(worst < 1e-8, "{worst:.1e} m");
    // The weight is the only external force.
    let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
    let gained = momentum(&model, &ours) - momentum(&model, &Instant { v: start.v.clone(), ..Instant::new(&model, &start) });
    assert!((gained - Vector3::new(0.0, 0.0, -9.81 * mass * t)).norm() < 1e-9 * mass, "{gained}");
}

#[test]
fn a_thousand_four_bars_in_a_row_move_as_one() {
    let model = ladder(1000);
    let start = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut e = Equations::new(&model, &start);
    let mut m = Mechanism::new(&model, &start);
    let (q, u) = (m.q.clone(), m.u.clone());
    m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("{d}"));
    // One degree of freedom; three of the six rows per cell are redundant in space, which the recursion detects.
    assert_eq!((m.tree.speeds - m.selection.rank, m.selection.redundant), (1, 3000));
    let d = difference(&mut m, &mut e);
    assert!(d < 1e-9, "{d:.1e}");
    let t = 0.3;
    let end = moved(&model, &start, "grcr", t);
    // All cranks stay parallel.
    let first = end.q[1].A;
    for b in 2..=1001 {
        assert!((end.q[b].A - first).amax() < 1e-9, "crank {b}");
    }
    assert!(end.errors[0] < 1e-9 && end.errors[1] < 1e-9, "{:?}", end.errors);
    // n + 1 cranks and n couplers: the angle obeys one equation, (n + 1) / 3 + n times its acceleration = g ((n + 1) / 2 + n) sin.
    let n = 1000.0;
    let ratio = 9.81 * (0.5 * (n + 1.0) + n) / ((n + 1.0) / 3.0 + n);
    let (mut angle, mut rate, steps) = (0.0_f64, 1.0_f64, 3000);
    let h = t / f64::from(steps);
    let f = |a: f64| ratio * a.sin();
    for _ in 0..steps {
        let (k1, l1) = (rate, f(angle));
        let (k2, l2) = (rate + 0.5 * h * l1, f(angle + 0.5 * h * k1));
        let (k3, l3) = (rate + 0.5 * h * l2, f(angle + 0.5 * h * k2));
        let (k4, l4) = (rate + h * l3, f(angle + h * k3));
        angle += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        rate += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    let r = &end.q[1].r;
    assert!((r.x - 0.5 * angle.sin()).abs() < 1e-8 && (r.y - 0.5 * angle.cos()).abs() < 1e-8, "{r} {angle}");
}
