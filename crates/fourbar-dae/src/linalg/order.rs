//! Minimum-degree ordering on a quotient graph, with nodes that may have to wait for their neighbours.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Order of elimination of the symmetric graph of `pattern`. A node marked `late` is eliminated after all its
/// neighbours that are not late: a structurally zero pivot has then been filled.
pub(crate) fn minimum_degree(n: usize, pattern: &[(u32, u32)], late: &[bool]) -> Vec<u32> {
    let mut near: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &(i, j) in pattern.iter().filter(|e| e.0 != e.1) {
        near[i as usize].push(j);
        near[j as usize].push(i);
    }
    for list in &mut near {
        list.sort_unstable();
        list.dedup();
    }
    // Unfinished neighbours a late node waits for, and who waits for a node.
    let mut waits = vec![0usize; n];
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); n];
    for i in (0..n).filter(|&i| late[i]) {
        for &j in near[i].iter().filter(|&&j| !late[j as usize]) {
            waits[i] += 1;
            waiting[j as usize].push(i as u32);
        }
    }
    // Elements are eliminated nodes; `members` are the nodes they have made mutually adjacent.
    let mut elements: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut gone = vec![false; n];
    let mut absorbed = vec![false; n];
    let mut degree: Vec<usize> = near.iter().map(|l| l.len()).collect();
    let mut heap: BinaryHeap<Reverse<(usize, u32)>> = BinaryHeap::new();
    for i in 0..n {
        if waits[i] == 0 {
            heap.push(Reverse((degree[i], i as u32)));
        }
    }
    let mut mark = vec![u32::MAX; n];
    let mut outside = vec![0usize; n];
    let mut outside_of = vec![u32::MAX; n];
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((d, p))) = heap.pop() {
        let pu = p as usize;
        if gone[pu] || d != degree[pu] {
            continue;
        }
        gone[pu] = true;
        order.push(p);
        // The new element: everything p is adjacent to, directly or through elements.
        let mut reach = Vec::new();
        mark[pu] = p;
        let through = elements[pu].iter().flat_map(|&e| members[e as usize].iter());
        for &i in near[pu].iter().chain(through) {
            if !gone[i as usize] && mark[i as usize] != p {
                mark[i as usize] = p;
                reach.push(i);
            }
        }
        for e in std::mem::take(&mut elements[pu]) {
            absorbed[e as usize] = true;
            members[e as usize] = Vec::new();
        }
        near[pu] = Vec::new();
        // Size of other elements outside the new one, counted down once per common member.
        for &i in &reach {
            elements[i as usize].retain(|&e| !absorbed[e as usize]);
            for &e in &elements[i as usize] {
                let e = e as usize;
                if outside_of[e] != p {
                    outside_of[e] = p;
                    outside[e] = members[e].iter().filter(|&&m| !gone[m as usize]).count();
                }
                outside[e] -= 1;
            }
        }
        for &i in &reach {
            let iu = i as usize;
            near[iu].retain(|&j| !gone[j as usize] && mark[j as usize] != p);
            let far: usize = elements[iu].iter().map(|&e| outside[e as usize]).sum();
            elements[iu].push(p);
            degree[iu] = near[iu].len() + reach.len() - 1 + far;
            if waits[iu] == 0 {
                heap.push(Reverse((degree[iu], i)));
            }
        }
        members[pu] = reach;
        for i in std::mem::take(&mut waiting[pu]) {
            waits[i as usize] -= 1;
            if waits[i as usize] == 0 {
                heap.push(Reverse((degree[i as usize], i)));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_ordered_once_and_late_nodes_wait() {
        // A star of constraints: node 6 is late and touches 0, 2 and 4; 7 is late and touches 1 and 6.
        let pattern = [(6, 0), (6, 2), (6, 4), (7, 1), (7, 6), (0, 1), (2, 3), (4, 5)];
        let late = [false, false, false, false, false, false, true, true];
        let order = minimum_degree(8, &pattern, &late);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<u32>>());
        let place = |x: u32| order.iter().position(|&o| o == x).unwrap();
        assert!([0, 2, 4].iter().all(|&q| place(q) < place(6)));
        assert!(place(1) < place(7));
    }

    #[test]
    fn a_tree_is_eliminated_from_its_leaves() {
        // A star: the centre must not come first.
        let pattern: Vec<(u32, u32)> = (1..6).map(|i| (0, i)).collect();
        let order = minimum_degree(6, &pattern, &[false; 6]);
        assert!(order[..4].iter().all(|&i| i != 0));
    }
}
