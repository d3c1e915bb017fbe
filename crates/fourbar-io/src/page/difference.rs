//! Differences between results in full precision, computed before anything is rounded for the page.

use super::motion::{Kept, Poses, choose, column, turn};
use crate::pack;
use crate::results::Table;
use fourbar::model::Model;
use serde_json::Value;

/// Largest size of the differences in bytes before base64, all results together.
const BYTES: usize = 1_200_000;
/// Smallest and largest number of samples.
const SAMPLES: [usize; 2] = [200, 4000];

/// Differences of a result from the first, and their times.
pub struct Difference {
    /// Packed times.
    pub times: Value,
    /// Columns at these times, relative to the time base `time`.
    pub columns: Vec<Value>,
}

/// Rows of both results at the same times.
fn common(a: &[f64], b: &[f64]) -> Vec<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    let mut list = Vec::new();
    while i < a.len() && j < b.len() {
        // Output times are computed in the same way, but may differ in the last bits if steps differ.
        let near = 1e-9 * a[i].abs().max(1e-3);
        if (a[i] - b[j]).abs() <= near {
            list.push((i, j));
            i += 1;
            j += 1;
        } else if a[i] < b[j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    list
}

/// Computes `second - first` at the common times; `None` if there are fewer than two. `time` is the number of the time base of these
/// columns in the page, `others` the number of compared results.
pub fn difference(
    model: &Model,
    first: (&Table, &Poses<'_>),
    second: (&Table, &Poses<'_>),
    time: usize,
    others: usize,
) -> Option<Difference> {
    let (ta, tb) = (first.0.column("t")?, second.0.column("t")?);
    let rows = common(ta, tb);
    if rows.len() < 2 {
        return None;
    }
    let bodies = first.1.columns.len();
    let most = BYTES / (4 * SAMPLES[0] * others);
    let mut columns: Vec<(String, String, Vec<f64>)> = Vec::new();
    let mut largest = [vec![0.0_f64; rows.len()], vec![0.0_f64; rows.len()]];
    for body in 0..bodies {
        let name = &model.bodies[body + 1].name;
        let mut parts: [Vec<f64>; 7] = Default::default();
        for (k, &(i, j)) in rows.iter().enumerate() {
            let (ra, rb, pa, mut pb) = (first.1.r(body, i), second.1.r(body, j), first.1.p(body, i), second.1.p(body, j));
            // Two quaternions describe the same orientation.
            if pa.iter().zip(&pb).map(|(x, y)| x * y).sum::<f64>() < 0.0 {
                pb = pb.map(|x| -x);
            }
            let d: [f64; 3] = std::array::from_fn(|c| rb[c] - ra[c]);
            largest[0][k] = largest[0][k].max(d.iter().map(|x| x * x).sum::<f64>().sqrt());
            largest[1][k] = largest[1][k].max(turn(&pa, &pb));
            (0..3).for_each(|c| parts[c].push(d[c]));
            (0..4).for_each(|c| parts[3 + c].push(pb[c] - pa[c]));
        }
        if columns.len() + 7 <= most / 2 {
            let ends = ["r.x", "r.y", "r.z", "p.0", "p.1", "p.2", "p.3"];
            columns.extend(
                parts
                    .into_iter()
                    .zip(ends)
                    .map(|(v, end)| (format!("{name}.{end}"), if end.starts_with('r') { "m".into() } else { "1".into() }, v)),
            );
        }
    }
    let (chosen, _) = choose(model, second.0, most - columns.len().min(most));
    for k in chosen {
        let (name, b) = (&second.0.names[k], &second.0.columns[k]);
        if let Some(a) = first.0.column(name) {
            columns.push((name.clone(), second.0.units[k].clone(), rows.iter().map(|&(i, j)| b[j] - a[i]).collect()));
        }
    }
    let kept = Kept::at_most(rows.len(), (BYTES / (4 * (columns.len() + 2) * others)).clamp(SAMPLES[0], SAMPLES[1]));
    let t: Vec<f64> = rows.iter().map(|&(i, _)| ta[i]).collect();
    let [position, rotation] = largest;
    // The two summary columns keep their extremes, so that a spike of one column is visible there.
    let mut out =
        vec![column("position", "m", time, &position, &kept, true, true), column("rotation", "rad", time, &rotation, &kept, true, true)];
    out.extend(columns.iter().map(|(name, unit, v)| column(name, unit, time, v, &kept, true, false)));
    Some(Difference { times: pack::times(&kept.of(&t)), columns: out })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_compared_at_the_times_both_have() {
        let coarse: Vec<f64> = (0..=10).map(|k| f64::from(k) * 0.1).collect();
        let fine: Vec<f64> = (0..=40).map(|k| f64::from(k) * 0.025).collect();
        assert_eq!(common(&coarse, &fine), (0..=10).map(|k| (k, 4 * k)).collect::<Vec<_>>());
        assert_eq!(common(&[0.0, 0.3], &[0.1, 0.2]), []);
    }
}
