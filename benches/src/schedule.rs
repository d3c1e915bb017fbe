//! The tree of divide and conquer as a graph of tasks, and its time on a number of processors: list scheduling with measured times, the
//! task with the longest remaining path first.

use fourbar::formulation::dca::kernel;
use fourbar::formulation::dca::layout::Layout;
use fourbar::formulation::dca::timing::FrontTime;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A unit of work of one processor.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Duration, seconds.
    pub time: f64,
    /// Tasks that must have finished.
    pub after: Vec<usize>,
}

/// A number with associated data, ordered by the number, then by the data.
#[derive(Clone, Copy, PartialEq)]
struct By<T>(f64, T);

impl<T: Ord> Eq for By<T> {}
impl<T: Ord> PartialOrd for By<T> {
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl<T: Ord> Ord for By<T> {
    fn cmp(&self, o: &Self) -> Ordering {
        self.0.total_cmp(&o.0).then_with(|| self.1.cmp(&o.1))
    }
}

/// Time when the last task ends on `cores` processors. A task that does not continue on the processor of its last predecessor is passed to
/// another one, which takes `hand_over`. Tasks come after their predecessors in the list.
pub fn makespan(tasks: &[Task], cores: usize, hand_over: f64) -> f64 {
    let n = tasks.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waiting: Vec<usize> = tasks.iter().map(|t| t.after.len()).collect();
    for (k, t) in tasks.iter().enumerate() {
        t.after.iter().for_each(|&a| next[a].push(k));
    }
    // Longest time from the start of a task to the end of all.
    let mut left = vec![0.0_f64; n];
    for k in (0..n).rev() {
        left[k] = tasks[k].time + next[k].iter().map(|&j| left[j]).fold(0.0, f64::max);
    }
    let ready_by = |k: usize| By(left[k], Reverse(k));
    let mut ready: BinaryHeap<By<Reverse<usize>>> = (0..n).filter(|&k| waiting[k] == 0).map(ready_by).collect();
    // Processor on which the last predecessor of a task ended.
    let mut before = vec![usize::MAX; n];
    let cores = cores.min(n).max(1);
    let mut idle = vec![true; cores];
    // Processors that may be idle; busy ones are skipped.
    let mut list: Vec<usize> = (0..cores).rev().collect();
    let mut running: BinaryHeap<Reverse<By<(usize, usize)>>> = BinaryHeap::new();
    let (mut now, mut busy) = (0.0_f64, 0);
    loop {
        while busy < cores {
            let Some(By(_, Reverse(k))) = ready.pop() else { break };
            let own = before[k];
            let core = if own < cores && idle[own] {
                own
            } else {
                loop {
                    match list.pop() {
                        Some(c) if idle[c] => break c,
                        Some(_) => {}
                        None => return f64::NAN,
                    }
                }
            };
            idle[core] = false;
            busy += 1;
            // Tasks without predecessors need not be passed on.
            let cost = if core == own || own == usize::MAX { 0.0 } else { hand_over };
            running.push(Reverse(By(now + cost + tasks[k].time, (k, core))));
        }
        let Some(Reverse(By(time, (k, core)))) = running.pop() else { break };
        now = time;
        idle[core] = true;
        busy -= 1;
        list.push(core);
        for &j in &next[k] {
            before[j] = core;
            waiting[j] -= 1;
            if waiting[j] == 0 {
                ready.push(ready_by(j));
            }
        }
    }
    now
}

/// Pass over the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Upwards with factorisation.
    Factor,
    /// Upwards with another right-hand side.
    Up,
    /// Downwards.
    Down,
}

/// The tasks of an upward pass. Undivided subtrees are one task each, unless `divide_all`; the elimination of large fronts is divided as in
/// the program, in proportion to the multiply-adds.
fn up(layout: &Layout, cost: &[FrontTime], pass: Pass, divide_all: bool) -> Vec<Task> {
    let fronts = &layout.fronts;
    let time = |k: usize| match pass {
        Pass::Factor => cost[k].factor,
        Pass::Up => cost[k].up,
        Pass::Down => cost[k].down,
    };
    let large = |k: usize| fronts[k].large && pass == Pass::Factor;
    // Whether a subtree is one task, and its duration.
    let (mut whole, mut sum) = (vec![false; fronts.len()], vec![0.0; fronts.len()]);
    // The first and the last task of each subtree.
    let (mut first, mut last) = (vec![0; fronts.len()], vec![usize::MAX; fronts.len()]);
    let mut tasks: Vec<Task> = Vec::new();
    for (k, front) in fronts.iter().enumerate() {
        let children: Vec<usize> = front.children.iter().copied().filter(|&c| c != usize::MAX).collect();
        whole[k] = !divide_all && !front.divided && !large(k) && children.iter().all(|&c| whole[c]);
        sum[k] = time(k) + children.iter().map(|&c| sum[c]).sum::<f64>();
        if whole[k] {
            continue;
        }
        first[k] = tasks.len();
        // Undivided children become tasks here; the others already have tasks.
        for (i, &c) in children.iter().enumerate() {
            if whole[c] {
                first[c] = tasks.len();
                last[c] = tasks.len();
                tasks.push(Task { time: sum[c], after: Vec::new() });
            }
            first[k] = first[k].min(first[c]);
            // In an undivided front the second child follows the first.
            if i == 1 && !front.divides && !divide_all {
                let before = last[children[0]];
                tasks[first[c]..=last[c]].iter_mut().filter(|t| t.after.is_empty()).for_each(|t| t.after.push(before));
            }
        }
        let mut after: Vec<usize> = children.iter().map(|&c| last[c]).collect();
        if large(k) {
            let [all, _] = kernel::flops::<6>(front.e, front.b);
            let scale = time(k) / all as f64;
            for (panel, rest) in kernel::panels::<6>(front.e, front.b) {
                tasks.push(Task { time: scale * panel as f64, after: std::mem::take(&mut after) });
                let head = tasks.len() - 1;
                let pieces = (rest / kernel::GRAIN).max(1);
                for _ in 0..pieces {
                    tasks.push(Task { time: scale * rest as f64 / pieces as f64, after: vec![head] });
                    after.push(tasks.len() - 1);
                }
            }
            tasks.push(Task { time: 0.0, after });
        } else {
            tasks.push(Task { time: time(k), after });
        }
        last[k] = tasks.len() - 1;
    }
    if tasks.is_empty() {
        tasks.push(Task { time: sum.last().copied().unwrap_or(0.0), after: Vec::new() });
    }
    tasks
}

/// The same tasks in reverse order: a downward pass.
fn reversed(tasks: &[Task]) -> Vec<Task> {
    let n = tasks.len();
    let mut down: Vec<Task> = tasks.iter().rev().map(|t| Task { time: t.time, after: Vec::new() }).collect();
    for (k, t) in tasks.iter().enumerate() {
        for &a in &t.after {
            down[n - 1 - a].after.push(n - 1 - k);
        }
    }
    down
}

/// Seconds of one acceleration with a number of iterations on `cores` processors.
pub fn acceleration(layout: &Layout, cost: &[FrontTime], rounds: usize, cores: usize, hand_over: f64, divide_all: bool) -> f64 {
    let time = |pass: Pass| {
        let tasks = up(layout, cost, pass, divide_all);
        if pass == Pass::Down { makespan(&reversed(&tasks), cores, hand_over) } else { makespan(&tasks, cores, hand_over) }
    };
    time(Pass::Factor) + (rounds - 1) as f64 * time(Pass::Up) + rounds as f64 * time(Pass::Down)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(levels: u32) -> Vec<Task> {
        // A full binary tree, children first.
        let mut tasks = Vec::new();
        let mut row: Vec<usize> = Vec::new();
        for level in (0..levels).rev() {
            row = (0..1usize << level)
                .map(|k| {
                    let after = if row.is_empty() { Vec::new() } else { vec![row[2 * k], row[2 * k + 1]] };
                    tasks.push(Task { time: 1.0, after });
                    tasks.len() - 1
                })
                .collect();
        }
        tasks
    }

    #[test]
    fn makespans_of_full_trees_and_chains() {
        let t = tree(5);
        assert_eq!(t.len(), 31);
        assert_eq!(makespan(&t, 1, 0.0), 31.0);
        assert_eq!(makespan(&t, 16, 0.0), 5.0);
        // Two processors: 16 leaves in 8, 8 in 4, 4 in 2, 2 in 1, and the root.
        assert_eq!(makespan(&t, 2, 0.0), 16.0);
        assert_eq!(makespan(&reversed(&t), 16, 0.0), 5.0);
        // Downwards, every second child is passed to another processor: four times on the longest path.
        assert_eq!(makespan(&reversed(&t), 16, 0.5), 7.0);
        let chain: Vec<Task> = (0..10).map(|k| Task { time: 1.0, after: if k > 0 { vec![k - 1] } else { Vec::new() } }).collect();
        assert_eq!(makespan(&chain, 64, 5.0), 10.0);
    }
}
