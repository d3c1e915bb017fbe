//! The order in which the blocks of a sparse matrix are eliminated.

use std::collections::BTreeSet;

/// Minimum-degree elimination on the explicit graph: order, and the later neighbours of each eliminated node.
/// Node `i` waits until all nodes of `before[i]` are eliminated; an empty list of lists makes none wait.
pub(crate) fn eliminate(sizes: &[usize], neighbours: &[Vec<u32>], before: &[Vec<u32>]) -> (Vec<usize>, Vec<Vec<u32>>) {
    let n = sizes.len();
    let mut waits: Vec<usize> = (0..n).map(|i| before.get(i).map_or(0, Vec::len)).collect();
    let mut releases: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (i, list) in before.iter().enumerate() {
        list.iter().for_each(|&b| releases[b as usize].push(i));
    }
    let mut graph: Vec<Vec<u32>> = neighbours
        .iter()
        .map(|list| {
            let mut list = list.clone();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let degree = |graph: &[Vec<u32>], i: usize| graph[i].iter().map(|&k| sizes[k as usize]).sum::<usize>();
    let mut queue: BTreeSet<(usize, usize)> = (0..n).filter(|&i| waits[i] == 0).map(|i| (degree(&graph, i), i)).collect();
    let mut degrees: Vec<usize> = (0..n).map(|i| degree(&graph, i)).collect();
    let (mut order, mut columns) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut merged = Vec::new();
    while let Some((_, v)) = queue.pop_first() {
        let clique = std::mem::take(&mut graph[v]);
        for &u in &clique {
            let u = u as usize;
            merge_without(&graph[u], &clique, v as u32, u as u32, &mut merged);
            std::mem::swap(&mut graph[u], &mut merged);
            let was_queued = queue.remove(&(degrees[u], u));
            degrees[u] = degree(&graph, u);
            if was_queued {
                queue.insert((degrees[u], u));
            }
        }
        for &u in &releases[v] {
            waits[u] -= 1;
            if waits[u] == 0 {
                queue.insert((degrees[u], u));
            }
        }
        order.push(v);
        columns.push(clique);
    }
    (order, columns)
}

/// Union of two ascending lists without two entries.
fn merge_without(a: &[u32], b: &[u32], x: u32, y: u32, out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&p), Some(&q)) => p.min(q),
            (Some(&p), None) => p,
            (None, Some(&q)) => q,
            (None, None) => break,
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        if next != x && next != y {
            out.push(next);
        }
    }
}
