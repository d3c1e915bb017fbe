//! Highest-value transversal of the signature matrix by shortest augmenting paths, and the canonical offsets.
//!
//! Costs are minus the orders, with potentials that keep reduced costs non-negative. Dijkstra's search from each row left free by a greedy
//! start stops at the nearest free column and visits only the columns it needs. Ties are broken towards free columns and then the newest:
//! with ties broken by column number long chains take quadratic time.

use super::sigma::Signature;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// Rows and columns of a set of rows that contains one column too few.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HallSet {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

/// Column matched to each row, or a proof that there is no transversal.
pub(crate) fn transversal(sigma: &Signature) -> Result<Vec<usize>, HallSet> {
    let n = sigma.size();
    let (mut u, mut v) = (vec![0i64; n], vec![i64::MAX; n]);
    let (mut column_of, mut row_of) = (vec![NONE; n], vec![NONE; n]);
    for i in 0..n {
        for &(j, s) in sigma.row(i) {
            let j = j as usize;
            v[j] = v[j].min(-i64::from(s));
        }
    }
    v.iter_mut().for_each(|x| *x = if *x == i64::MAX { 0 } else { *x });
    for i in 0..n {
        u[i] = sigma.row(i).iter().map(|&(j, s)| -i64::from(s) - v[j as usize]).min().unwrap_or(0);
    }
    // Greedy start on tight entries.
    for i in 0..n {
        let tight = |&&(j, s): &&(u32, u32)| -i64::from(s) - u[i] - v[j as usize] == 0 && row_of[j as usize] == NONE;
        if let Some(&(j, _)) = sigma.row(i).iter().find(tight) {
            column_of[i] = j;
            row_of[j as usize] = i as u32;
        }
    }
    let mut distance = vec![i64::MAX; n];
    let mut from = vec![NONE; n];
    let mut done = vec![false; n];
    for free in 0..n {
        if column_of[free] != NONE {
            continue;
        }
        let mut heap = BinaryHeap::new();
        let mut touched: Vec<usize> = Vec::new();
        let mut settled: Vec<usize> = Vec::new();
        let mut stamp = 0i64;
        let (mut row, mut base) = (free, 0i64);
        let end = loop {
            for &(j, s) in sigma.row(row) {
                let j = j as usize;
                let d = base - i64::from(s) - u[row] - v[j];
                if !done[j] && d < distance[j] {
                    if distance[j] == i64::MAX {
                        touched.push(j);
                    }
                    distance[j] = d;
                    from[j] = row as u32;
                    stamp += 1;
                    heap.push((-d, row_of[j] == NONE, stamp, j));
                }
            }
            let next = loop {
                match heap.pop() {
                    None => break None,
                    Some((d, _, _, j)) if !done[j] && -d == distance[j] => break Some(j),
                    Some(_) => {}
                }
            };
            let Some(j) = next else {
                let mut rows = vec![free];
                rows.extend(settled.iter().map(|&j| row_of[j] as usize));
                return Err(HallSet { rows, columns: settled });
            };
            done[j] = true;
            settled.push(j);
            base = distance[j];
            if row_of[j] == NONE {
                break j;
            }
            row = row_of[j] as usize;
        };
        // Update the potentials, then flip the matching along the path.
        let length = distance[end];
        u[free] += length;
        for &j in &settled {
            if j != end {
                u[row_of[j] as usize] += length - distance[j];
            }
            v[j] -= length - distance[j];
        }
        let mut j = end;
        loop {
            let i = from[j] as usize;
            let previous = column_of[i];
            column_of[i] = j as u32;
            row_of[j] = i as u32;
            if i == free {
                break;
            }
            j = previous as usize;
        }
        for j in touched {
            distance[j] = i64::MAX;
            done[j] = false;
        }
    }
    Ok(column_of.into_iter().map(|j| j as usize).collect())
}

/// Smallest offsets with `d_j - c_i >= sigma_ij` and equality on the transversal.
pub(crate) fn offsets(sigma: &Signature, column_of: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let n = sigma.size();
    let mut row_of = vec![0; n];
    column_of.iter().enumerate().for_each(|(i, &j)| row_of[j] = i);
    let on_transversal: Vec<usize> = (0..n).map(|i| sigma.get(i, column_of[i]).unwrap_or(0) as usize).collect();
    let (mut c, mut d) = (vec![0usize; n], vec![0usize; n]);
    let mut waiting: Vec<usize> = (0..n).collect();
    let mut is_waiting = vec![true; n];
    while let Some(i) = waiting.pop() {
        is_waiting[i] = false;
        for &(j, s) in sigma.row(i) {
            let j = j as usize;
            let wanted = s as usize + c[i];
            if wanted > d[j] {
                d[j] = wanted;
            }
            let k = row_of[j];
            let raised = d[j] - on_transversal[k].min(d[j]);
            if raised > c[k] {
                c[k] = raised;
                if !is_waiting[k] {
                    is_waiting[k] = true;
                    waiting.push(k);
                }
            }
        }
    }
    (c, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(rows: &[&[(u32, u32)]]) -> Signature {
        let mut s = Signature { start: vec![0], entries: Vec::new() };
        for r in rows {
            s.entries.extend_from_slice(r);
            s.start.push(s.entries.len());
        }
        s
    }

    #[test]
    fn pendulum_offsets_are_those_of_the_paper() {
        let s = signature(&[&[(0, 2), (2, 0)], &[(1, 2), (2, 0)], &[(0, 0), (1, 0)]]);
        let t = transversal(&s).unwrap();
        assert_eq!(offsets(&s, &t), (vec![0, 0, 2], vec![2, 2, 0]));
    }

    #[test]
    fn deficient_rows_are_returned_with_their_columns() {
        let s = signature(&[&[(0, 1)], &[(0, 0)], &[(0, 0), (1, 0), (2, 0)]]);
        let hall = transversal(&s).unwrap_err();
        let mut rows = hall.rows.clone();
        rows.sort_unstable();
        assert_eq!((rows, hall.columns), (vec![0, 1], vec![0]));
    }

    /// All permutations of 0..n by insertion.
    fn permutations(n: usize) -> Vec<Vec<usize>> {
        (0..n).fold(vec![vec![]], |all, k| {
            let insert = |p: Vec<usize>| (0..=k).map(move |at| [&p[..at], &[k], &p[at..]].concat());
            all.into_iter().flat_map(insert).collect()
        })
    }

    #[test]
    fn transversal_has_the_highest_value_of_all_permutations() {
        let mut seed = 1u64;
        let mut random = move |m: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % m
        };
        let n = 5;
        for _ in 0..400 {
            let rows: Vec<Vec<(u32, u32)>> = (0..n)
                .map(|_| {
                    let columns: Vec<u32> = (0..n as u32).filter(|_| random(2) == 0).collect();
                    columns.into_iter().map(|j| (j, random(4) as u32)).collect()
                })
                .collect();
            let s = signature(&rows.iter().map(|r| r.as_slice()).collect::<Vec<_>>());
            let value = |p: &[usize]| (0..n).map(|i| s.get(i, p[i])).sum::<Option<u32>>();
            let best = permutations(n).iter().filter_map(|p| value(p)).max();
            match transversal(&s) {
                Ok(t) => {
                    assert_eq!(value(&t), best);
                    let (c, d) = offsets(&s, &t);
                    for i in 0..n {
                        for &(j, o) in s.row(i) {
                            assert!(d[j as usize] >= c[i] + o as usize);
                        }
                        assert_eq!(d[t[i]], c[i] + s.get(i, t[i]).unwrap() as usize);
                    }
                    assert!(c.contains(&0));
                }
                Err(hall) => {
                    assert_eq!(best, None);
                    assert_eq!(hall.rows.len(), hall.columns.len() + 1);
                    for &i in &hall.rows {
                        assert!(s.row(i).iter().all(|e| hall.columns.contains(&(e.0 as usize))));
                    }
                }
            }
        }
    }
}
