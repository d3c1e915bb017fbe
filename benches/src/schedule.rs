//! The tree of divide and conquer as a graph of tasks, and how long so many processors take for it: list scheduling with measured times,
//! the task with the longest way to the end first.

use fourbar::formulation::dca::kernel;
use fourbar::formulation::dca::layout::Layout;
use fourbar::formulation::dca::timing::FrontTime;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Something that one processor does in one go.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Seconds.
    pub time: f64,
    /// Tasks that must have ended.
    pub after: Vec<usize>,
}

/// A task that may begin, by the time from its beginning to the end of everything.
struct Ready(f64, usize);

impl PartialEq for Ready {
    fn eq(&self, o: &Self) -> bool {
        self.cmp(o) == Ordering::Equal
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl Ord for Ready {
    fn cmp(&self, o: &Self) -> Ordering {
        self.0.total_cmp(&o.0).then(o.1.cmp(&self.1))
    }
}

/// When the last of some tasks ends on `cores` processors. A task that does not go on where the last of those before it ended is handed over,
/// which takes `hand_over`. Tasks stand after those that they wait for.
pub fn makespan(tasks: &[Task], cores: usize, hand_over: f64) -> f64 {
    let n = tasks.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waiting: Vec<usize> = tasks.iter().map(|t| t.after.len()).collect();
    for (k, t) in tasks.iter().enumerate() {
        t.after.iter().for_each(|&a| next[a].push(k));
    }
    let mut left = vec![0.0_f64; n];
    for k in (0..n).rev() {
        left[k] = tasks[k].time + next[k].iter().map(|&j| left[j]).fold(0.0, f64::max);
    }
    let mut ready: BinaryHeap<Ready> = (0..n).filter(|&k| waiting[k] == 0).map(|k| Ready(left[k], k)).collect();
    // When and where the last of those before a task ended.
    let mut before: Vec<(f64, usize)> = vec![(0.0, usize::MAX); n];
    let mut free = vec![0.0_f64; cores.min(n).max(1)];
    // Ends of tasks that run, earliest first.
    let mut running: Vec<(f64, usize, usize)> = Vec::new();
    let (mut now, mut end) = (0.0_f64, 0.0_f64);
    loop {
        while let Some(at) = (0..free.len()).find(|&c| free[c] <= now) {
            let Some(Ready(_, k)) = ready.pop() else { break };
            // The processor of the last one before it, where that is idle.
            let own = before[k].1;
            let core = if own < free.len() && free[own] <= now { own } else { at };
            let cost = if core == own || before[k].1 == usize::MAX && now == 0.0 { 0.0 } else { hand_over };
            let done = now + cost + tasks[k].time;
            free[core] = done;
            running.push((done, k, core));
            end = end.max(done);
        }
        let Some(first) = (0..running.len()).min_by(|&a, &b| running[a].0.total_cmp(&running[b].0)) else { break };
        let (time, k, core) = running.swap_remove(first);
        now = time;
        for &j in &next[k] {
            if time >= before[j].0 {
                before[j] = (time, core);
            }
            waiting[j] -= 1;
            if waiting[j] == 0 {
                ready.push(Ready(left[j], j));
            }
        }
    }
    end
}

/// Which pass over the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Up with factors.
    Factor,
    /// Up with another right-hand side.
    Up,
    /// Down.
    Down,
}

/// The tasks of a pass up. Subtrees that are no tasks of their own are one, unless `divide_all`; the elimination of large fronts is divided
/// as the program divides it, by the share of its multiply-adds.
fn up(layout: &Layout, cost: &[FrontTime], pass: Pass, divide_all: bool) -> Vec<Task> {
    let fronts = &layout.fronts;
    let time = |k: usize| match pass {
        Pass::Factor => cost[k].factor,
        Pass::Up => cost[k].up,
        Pass::Down => cost[k].down,
    };
    let large = |k: usize| fronts[k].large && pass == Pass::Factor;
    // Whether a subtree is one task, and its time.
    let (mut whole, mut sum) = (vec![false; fronts.len()], vec![0.0; fronts.len()]);
    // The first task of each subtree, and the one that ends it.
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
        // Children that are whole become their task now; the others have theirs.
        for (i, &c) in children.iter().enumerate() {
            if whole[c] {
                first[c] = tasks.len();
                last[c] = tasks.len();
                tasks.push(Task { time: sum[c], after: Vec::new() });
            }
            first[k] = first[k].min(first[c]);
            // Where a front does not divide, one child follows the other.
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

/// The same tasks from the last to the first: a pass down.
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

/// Seconds of one acceleration of so many rounds on `cores` processors.
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
        // Down, every second child is handed over: four times on the longest way.
        assert_eq!(makespan(&reversed(&t), 16, 0.5), 7.0);
        let chain: Vec<Task> = (0..10).map(|k| Task { time: 1.0, after: if k > 0 { vec![k - 1] } else { Vec::new() } }).collect();
        assert_eq!(makespan(&chain, 64, 5.0), 10.0);
    }
}
