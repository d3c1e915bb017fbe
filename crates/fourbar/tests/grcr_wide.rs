//! Wide trees: limbs on several threads give the same bits as one thread and as the recursion without limbs.

#![cfg(feature = "parallel")]

use fourbar::formulation::grcr::Mechanism;
use fourbar::random::Random;
use fourbar::spec::{BodySpec, Inertia, JointSpec, ModelSpec, PairKind, Placement};
use fourbar::{Configuration, Model};

/// A tree of bodies drawn at random: each is attached to one of the last `reach` bodies before it, or to the ground.
fn tree(n: usize, reach: f64, seed: u64) -> Model {
    let mut r = Random(seed);
    let mut spec = ModelSpec { gravity: Some([0.0, -9.81, 1.0]), ..ModelSpec::default() };
    let share = |r: &mut Random| 0.5 * (r.number() + 1.0);
    let mut places = vec![[0.0; 3]];
    for k in 1..=n {
        let back = (share(&mut r) * reach * k as f64) as usize;
        let on = (k - 1).saturating_sub(back);
        let name = |k: usize| if k == 0 { "ground".to_string() } else { format!("b{k}") };
        let at: [f64; 3] = std::array::from_fn(|i| places[on][i] + 0.3 * r.number());
        places.push(at);
        let omega = [r.number(), r.number(), r.number()];
        let inertia = Inertia::Principal([0.02, 0.03, 0.025]);
        spec.bodies.push((name(k), BodySpec { mass: 1.0 + share(&mut r), inertia, at, omega, ..BodySpec::default() }));
        let kind = match (share(&mut r) * 6.0) as usize {
            0 => PairKind::Spherical,
            1 => PairKind::Cylindrical,
            2 => PairKind::Fixed,
            _ => PairKind::Revolute,
        };
        let axis = [r.number(), r.number(), 1.5];
        let middle: [f64; 3] = std::array::from_fn(|i| 0.5 * (places[on][i] + at[i]));
        let placement = Placement::World { at: middle, axis, axis_moving: None };
        spec.joints.push((format!("j{k}"), JointSpec::Pair { kind, bodies: [name(on), name(k)], placement }));
    }
    spec.build().unwrap_or_else(|e| panic!("{e:#?}"))
}

fn rates(m: &mut Mechanism<'_>) -> (Vec<u64>, Vec<u64>) {
    let (q, u) = (m.q.clone(), m.u.clone());
    m.close(0.0, &q, &u).unwrap_or_else(|d| panic!("{d}"));
    m.accelerate(0.0);
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect();
    let places: Vec<f64> = m.fronts.a_hat.iter().flat_map(|a| [a.l.x, a.l.y, a.l.z, a.a.x, a.a.y, a.a.z]).collect();
    (bits(&m.udot), bits(&places))
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // Bushes with many limbs, a broom with a long handle, and bodies all attached to the ground.
    for (n, reach, seed) in [(2500, 1.0, 11), (2500, 0.3, 12), (1500, 0.02, 13)] {
        println!("seed {seed}");
        let model = tree(n, reach, seed);
        let start = Configuration::start(&model);
        let mut m = Mechanism::new(&model, &start);
        let limbs = m.fronts.limbs();
        println!("{n} bodies, reach {reach}: {limbs} limbs");
        assert!(limbs > 1 || reach < 0.1, "{n} {reach}");
        let all: Vec<_> = [1, 2, 3, 7]
            .iter()
            .map(|&threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                pool.install(|| rates(&mut m))
            })
            .collect();
        m.fronts.one_by_one();
        let alone = rates(&mut m);
        assert!(f64::from_bits(alone.0[n / 2]).is_finite() && alone.0.iter().any(|x| *x != 0));
        for (k, x) in all.iter().enumerate() {
            assert!(*x == alone, "{n} bodies, run {k} differs");
        }
    }
}
