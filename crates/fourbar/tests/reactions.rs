//! Reactions that are not unique: every formulation makes the same choice, the one of least norm.

#![allow(non_snake_case)]

use fourbar::analysis::assembly::assemble;
use fourbar::analysis::rank::dense_jacobian;
use fourbar::analysis::uniqueness::not_unique;
use fourbar::constraint::ConstraintSet;
use fourbar::motion::{Instant, Loads, Reaction};
use fourbar::study::{FORMULATIONS, Study};
use fourbar::{Configuration, Model};
use fourbar_testing::common::model;
use nalgebra::{DMatrix, DVector};

/// The instant at the start, by a formulation.
fn first(model: &Model, start: &Configuration, formulation: &str) -> Instant {
    let info = FORMULATIONS.iter().find(|f| f.name == formulation).expect("known");
    let mut out = Instant::new(model, start);
    let mut motion = (info.start)(&fourbar::Structure::new(model, start), &Study::of(model), info.integrators[0], start)
        .unwrap_or_else(|d| panic!("{formulation}: {d}"));
    motion.instant(start.t, &mut out).unwrap_or_else(|d| panic!("{formulation}: {d}"));
    out
}

fn flat(L: f64, list: &[Reaction]) -> Vec<f64> {
    list.iter().flat_map(|w| w.force.iter().copied().chain(w.torque.iter().map(move |x| x / L)).collect::<Vec<_>>()).collect()
}

/// Largest difference of all components, unique or not, relative to the largest one.
fn difference(L: f64, a: &Instant, b: &Instant) -> f64 {
    let (x, y) = (flat(L, &a.reactions), flat(L, &b.reactions));
    let size = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    x.iter().zip(&y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / size
}

const REDUNDANT: [&str; 6] = ["pantograph", "bennett", "a04_bricard", "fourbar_3d", "a02_n_fourbar_N2", "slider_crank_engine"];

#[test]
fn all_formulations_choose_the_same_reactions() {
    for name in REDUNDANT {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        assert!(!not_unique(&model, &start).is_empty(), "{name}");
        let ra = first(&model, &start, "ra");
        for other in ["rp", "reps", "so3xr3", "se3", "lie", "dca", "grcr", "natural"] {
            let d = difference(model.length, &ra, &first(&model, &start, other));
            // Accelerations of the formulations agree to the accuracy of their solves, 1e-9 at worst; masses convert this into forces.
            assert!(d < 1e-8, "{name}: {other} differs from ra by {d:.1e}");
        }
    }
}

/// By singular values of the dense matrix: no self-stress makes the reactions smaller.
#[test]
fn the_choice_is_the_smallest_in_forces_and_torques_over_the_characteristic_length() {
    for name in REDUNDANT {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        let loads = Loads::new(&model, &set);
        let A = dense_jacobian(&model, &set, &start.q);
        // dense_jacobian scales rows to unit length; multipliers scale the other way.
        let mut G = vec![0.0; set.values];
        set.jacobian(&start.q, &mut G);
        let L = model.length;
        let mut norms = vec![0.0; set.rows()];
        for c in 0..set.list.len() {
            for b in set.blocks_of(c) {
                for (k, row) in G[b.start..].chunks_exact(6).take(set.row_start[c + 1] - set.row_start[c]).enumerate() {
                    norms[set.row_start[c] + k] += (0..6).map(|l| (if l < 3 { row[l] } else { row[l] / L }).powi(2)).sum::<f64>();
                }
            }
        }
        let null = fourbar_math::dense::rank(&A.transpose(), 1e-8).null;
        assert!(null.ncols() > 0);
        let ours = first(&model, &start, "ra");
        // Self-stresses in components of the reactions; none of them loads a drive.
        let mut columns = Vec::new();
        for z in null.column_iter() {
            let lambda: Vec<f64> = z.iter().zip(&norms).map(|(z, n)| z / n.sqrt()).collect();
            let mut part = Instant::new(&model, &start);
            loads.fill(&model, &set, &lambda, &mut part);
            let efforts = part.efforts.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(efforts < 1e-9, "{name}: no self-stress of these mechanisms loads a drive");
            columns.push(DVector::from_vec(flat(L, &part.reactions)));
        }
        let N = DMatrix::from_columns(&columns);
        let w = DVector::from_vec(flat(L, &ours.reactions));
        let along = N.tr_mul(&w).amax();
        assert!(along < 1e-9 * w.norm() * N.norm(), "{name}: {along:.1e} of {:.1e}", w.norm());
    }
}

/// Also along the motion, where poses differ by the tolerances of the runs.
#[test]
fn the_choice_stays_the_same_along_the_motion() {
    for name in ["bennett", "fourbar_3d"] {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        let study = Study { tol: Some(1e-9), ..Study::of(&model) };
        let at = |formulation: &str| {
            let info = FORMULATIONS.iter().find(|f| f.name == formulation).expect("known");
            let mut motion = (info.start)(&fourbar::Structure::new(&model, &start), &study, info.integrators[0], &start).expect("starts");
            let mut out = Instant::new(&model, &start);
            motion.advance(0.5, &mut |_| true).unwrap_or_else(|d| panic!("{formulation}: {d}"));
            motion.instant(0.5, &mut out).expect("an instant");
            out
        };
        let lie = at("lie");
        for other in ["dca", "grcr"] {
            let d = difference(model.length, &lie, &at(other));
            assert!(d < 1e-6, "{name}: {other} differs from lie by {d:.1e}");
        }
    }
}
