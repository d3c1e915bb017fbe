//! Poses over time as the table for a page.

use fourbar::model::Model;
use fourbar::state::Pose;
use fourbar_io::results::Table;
use std::borrow::Borrow;

/// A table of poses at some times: time, positions and quaternions of all bodies, with continuous signs.
pub fn moving_table<Q: Borrow<[Pose]>>(model: &Model, instants: impl Iterator<Item = (f64, Q)>) -> Table {
    let mut names = vec!["t".to_string()];
    for b in model.bodies.iter().skip(1) {
        names.extend(["r.x", "r.y", "r.z", "p.0", "p.1", "p.2", "p.3"].map(|c| format!("{}.{c}", b.name)));
    }
    let mut columns = vec![Vec::new(); names.len()];
    let mut last = vec![[0.0; 4]; model.bodies.len()];
    for (t, q) in instants {
        columns[0].push(t);
        for (b, q) in q.borrow().iter().enumerate().skip(1) {
            let mut p = fourbar_math::so3::quaternion(&q.A);
            if p.iter().zip(&last[b]).map(|(x, y)| x * y).sum::<f64>() < 0.0 {
                p.iter_mut().for_each(|x| *x = -*x);
            }
            last[b] = p;
            for (c, x) in q.r.iter().chain(&p).enumerate() {
                columns[7 * (b - 1) + 1 + c].push(*x);
            }
        }
    }
    Table { units: vec![String::new(); names.len()], names, columns }
}
