//! Minimum-degree ordering on a quotient graph, with nodes that may have to wait for their neighbours.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A hub has this many times more neighbours than the median of all nodes, and more than [`FEW`] times the root of their number: the fill
/// among hubs then stays in proportion to the rest.
const HUB: usize = 10;
const FEW: f64 = 2.0;

/// Order of elimination of the symmetric graph of `pattern`. A node marked `late` is eliminated after all its
/// neighbours that are not late: a structurally zero pivot has then been filled.
///
/// Hubs, which are coupled with nearly all nodes, come last. A late node need not wait for them if it has other neighbours: otherwise all
/// neighbours of a hub would have to wait and cause fill among themselves.
pub fn minimum_degree(n: usize, pattern: &[(u32, u32)], late: &[bool]) -> Vec<u32> {
    let mut near: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &(i, j) in pattern.iter().filter(|e| e.0 != e.1) {
        near[i as usize].push(j);
        near[j as usize].push(i);
    }
    for list in &mut near {
        list.sort_unstable();
        list.dedup();
    }
    let mut sizes: Vec<usize> = near.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    let limit = (HUB * sizes.get(n / 2).copied().unwrap_or(0)).max((FEW * (n as f64).sqrt()) as usize).max(16);
    let hub: Vec<bool> = near.iter().map(|l| l.len() > limit).collect();
    // Late nodes with only hubs as neighbours come after those, late hubs last.
    let after = |i: usize| late[i] && !near[i].is_empty() && near[i].iter().all(|&j| late[j as usize] || hub[j as usize]);
    let place: Vec<u8> = (0..n).map(|i| if hub[i] { 1 + 2 * u8::from(late[i]) } else { 2 * u8::from(after(i)) }).collect();
    let mut deferred: Vec<u32> = (0..n as u32).filter(|&i| place[i as usize] > 0).collect();
    deferred.sort_by_key(|&i| (place[i as usize], near[i as usize].len()));
    for (i, list) in near.iter_mut().enumerate() {
        if place[i] > 0 {
            list.clear();
        } else {
            list.retain(|&j| place[j as usize] == 0);
        }
    }
    // Number of neighbours for which a late node waits, and the nodes waiting for each node.
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
        if waits[i] == 0 && place[i] == 0 {
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
        // Size of other elements outside the new one, decremented once per common member.
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
    order.extend(deferred);
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
    fn hubs_and_what_waits_for_them_alone_come_last() {
        // Node 0 is coupled with all; late node 400 only with it; late node 401 with it and with node 7.
        let n = 402;
        let mut pattern: Vec<(u32, u32)> = (1..n).map(|i| (0, i)).collect();
        pattern.push((401, 7));
        let late: Vec<bool> = (0..n).map(|i| i >= 400).collect();
        let order = minimum_degree(n as usize, &pattern, &late);
        let place = |x: u32| order.iter().position(|&o| o == x).unwrap();
        assert_eq!(order.len(), n as usize);
        assert!(place(7) < place(401) && place(401) < place(0) && place(0) < place(400));
    }

    #[test]
    fn a_tree_is_eliminated_from_its_leaves() {
        // A star: the centre must not come first.
        let pattern: Vec<(u32, u32)> = (1..6).map(|i| (0, i)).collect();
        let order = minimum_degree(6, &pattern, &[false; 6]);
        assert!(order[..4].iter().all(|&i| i != 0));
    }
}
