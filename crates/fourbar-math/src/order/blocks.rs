//! The order in which the blocks of a sparse matrix are eliminated.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Minimum-degree elimination on the explicit graph: order, and the later neighbours of each eliminated node.
/// Node `i` waits until all nodes of `before[i]` are eliminated; an empty list of lists makes none wait.
///
/// Nodes eliminated into another node directly precede it, see [`postordered`].
pub(crate) fn eliminate(sizes: &[usize], neighbours: &[Vec<u32>], before: &[Vec<u32>]) -> (Vec<usize>, Vec<Vec<u32>>) {
    let (order, columns) = smallest_first(sizes, neighbours, before);
    postordered(order, columns, before)
}

/// The node with the fewest adjacent rows is next; of several, the first.
fn smallest_first(sizes: &[usize], neighbours: &[Vec<u32>], before: &[Vec<u32>]) -> (Vec<usize>, Vec<Vec<u32>>) {
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
    let degree = |list: &[u32]| list.iter().map(|&k| sizes[k as usize]).sum::<usize>();
    let mut degrees: Vec<usize> = graph.iter().map(|list| degree(list)).collect();
    // Outdated entries are skipped.
    let mut queue: BinaryHeap<Reverse<(usize, usize)>> = (0..n).filter(|&i| waits[i] == 0).map(|i| Reverse((degrees[i], i))).collect();
    let mut done = vec![false; n];
    let (mut order, mut columns) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut merged = Vec::new();
    while let Some(Reverse((valued, v))) = queue.pop() {
        if done[v] || valued != degrees[v] {
            continue;
        }
        done[v] = true;
        let clique = std::mem::take(&mut graph[v]);
        for &u in &clique {
            let u = u as usize;
            merge_without(&graph[u], &clique, v as u32, u as u32, &mut merged);
            std::mem::swap(&mut graph[u], &mut merged);
            let now = degree(&graph[u]);
            if now != degrees[u] {
                degrees[u] = now;
                if waits[u] == 0 {
                    queue.push(Reverse((now, u)));
                }
            }
        }
        for &u in &releases[v] {
            waits[u] -= 1;
            if waits[u] == 0 {
                queue.push(Reverse((degrees[u], u)));
            }
        }
        order.push(v);
        columns.push(clique);
    }
    (order, columns)
}

/// The same elimination in postorder of its tree: the children of a node directly precede it, and so do their values in memory. Minimum
/// degree alone traverses the whole matrix many times, with cache misses at every pass if the matrix is large. Fill and operations are the
/// same.
fn postordered(order: Vec<usize>, mut columns: Vec<Vec<u32>>, before: &[Vec<u32>]) -> (Vec<usize>, Vec<Vec<u32>>) {
    const NONE: usize = usize::MAX;
    let n = order.len();
    let mut position = vec![NONE; n];
    order.iter().enumerate().for_each(|(k, &v)| position[v] = k);
    // Children of a position in a list, the first one first.
    let (mut first, mut next) = (vec![NONE; n], vec![NONE; n]);
    let mut roots = Vec::new();
    for k in (0..n).rev() {
        match columns[k].iter().map(|&u| position[u as usize]).min() {
            Some(parent) => (next[k], first[parent]) = (first[parent], k),
            None => roots.push(k),
        }
    }
    let mut walk = Vec::with_capacity(n);
    let mut open = Vec::new();
    for root in roots.into_iter().rev() {
        open.push(root);
        while let Some(&k) = open.last() {
            match first[k] {
                NONE => {
                    walk.push(k);
                    open.pop();
                }
                child => {
                    first[k] = next[child];
                    open.push(child);
                }
            }
        }
    }
    walk.iter().enumerate().for_each(|(at, &k)| position[order[k]] = at);
    // A node that waits for an uncoupled node may lie elsewhere in the tree.
    let kept = before.iter().enumerate().all(|(i, list)| list.iter().all(|&b| position[b as usize] < position[i]));
    if !kept || walk.len() < n {
        return (order, columns);
    }
    (walk.iter().map(|&k| order[k]).collect(), walk.iter().map(|&k| std::mem::take(&mut columns[k])).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rails with rungs between them.
    fn rails(n: usize) -> Vec<Vec<u32>> {
        let mut g = vec![Vec::new(); 2 * n];
        let mut edge = |a: usize, b: usize| {
            g[a].push(b as u32);
            g[b].push(a as u32);
        };
        for i in 0..n {
            edge(2 * i, 2 * i + 1);
            if i + 1 < n {
                edge(2 * i, 2 * i + 2);
                edge(2 * i + 1, 2 * i + 3);
            }
        }
        g
    }

    #[test]
    fn the_walk_through_the_tree_changes_no_column() {
        let g = rails(200);
        let sizes = vec![1; g.len()];
        let (plain, of_plain) = smallest_first(&sizes, &g, &[]);
        let (walk, of_walk) = postordered(plain.clone(), of_plain.clone(), &[]);
        let mut at = vec![0; g.len()];
        walk.iter().enumerate().for_each(|(k, &v)| at[v] = k);
        for (v, column) in plain.iter().zip(&of_plain) {
            assert_eq!(&of_walk[at[*v]], column);
            assert!(column.iter().all(|&u| at[u as usize] > at[*v]), "what {v} changes comes after it");
        }
        // Both orders cause little fill: a ladder has a bandwidth of a few nodes.
        assert!(of_plain.iter().map(Vec::len).sum::<usize>() <= 4 * g.len());
    }

    #[test]
    fn whoever_waits_goes_later() {
        // Node 0 waits for the last one, with which it is not coupled.
        let g = rails(20);
        let sizes = vec![1; g.len()];
        let mut before = vec![Vec::new(); g.len()];
        before[0].push(39);
        let (order, columns) = eliminate(&sizes, &g, &before);
        let place = |v: usize| order.iter().position(|&u| u == v);
        assert!(place(39) < place(0));
        assert_eq!((order.len(), columns.len()), (40, 40));
    }
}
