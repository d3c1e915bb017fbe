//! Divide and conquer: time per body and acceleration over size, threads, the critical path, and the tree. `cargo bench --bench dca`.
//! Serial times are processor times if the system provides them, independent of other load; times with threads are wall times. All are the
//! shortest of several runs; compare figures of one run only.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::dca::timing::FrontTime;
use fourbar::formulation::dca::{Settings, Solver, State};
use fourbar::state::{Configuration, Pose, Twist};
use fourbar_bench::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

fn start(model: &Model) -> Configuration {
    assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration
}

/// Processor time of this thread; `None` if the system does not provide it.
fn on_processor() -> Option<f64> {
    // The kernel updates the count when the thread is rescheduled.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// A mechanism whose accelerations are computed repeatedly: rows, factorisation and iterations, with a different pose each time.
struct Repeated<'m> {
    solver: Solver<'m, 6>,
    c: &'m Configuration,
    /// Poses that differ by rounding: the solver keeps the factors of an unchanged pose.
    shifted: Vec<Pose>,
    a: Vec<Twist>,
    next: usize,
}

impl<'m> Repeated<'m> {
    fn new(model: &'m Model, c: &'m Configuration, settings: Settings) -> Self {
        let shifted = c.q.iter().map(|q| Pose { r: q.r * (1.0 + 1e-15), A: q.A }).collect();
        let a = vec![Twist::zero(); model.bodies.len()];
        let mut new = Self { solver: Solver::new(model, &c.q, settings), c, shifted, a, next: 0 };
        // The first call touches the memory.
        new.seconds(1);
        new
    }

    /// Seconds per acceleration, averaged over a number of them.
    fn seconds(&mut self, times: usize) -> f64 {
        let before = on_processor().filter(|_| !self.solver.settings.parallel);
        let wall = shortest(1, || {
            for _ in 0..times {
                self.next += 1;
                let q = if self.next.is_multiple_of(2) { &self.shifted } else { &self.c.q };
                let s = State { t: 0.0, q, v: &self.c.v, turns: &self.c.turns, z: &self.c.z };
                self.solver.accelerate(&s, false, &mut self.a);
            }
        });
        assert!(self.solver.counts.factorisations >= self.next, "every acceleration factors");
        let t = match (before, on_processor()) {
            (Some(before), Some(now)) => now - before,
            _ => wall,
        };
        t / times as f64
    }

    fn iterations(&self) -> f64 {
        self.solver.counts.iterations as f64 / self.solver.counts.accelerations as f64
    }
}

/// The shortest of several runs, and iterations.
fn acceleration(model: &Model, c: &Configuration, settings: Settings, times: usize, runs: usize) -> (f64, f64) {
    let mut r = Repeated::new(model, c, settings);
    let best = (0..runs).map(|_| r.seconds(times)).fold(f64::INFINITY, f64::min);
    (best, r.iterations())
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let serial = Settings { parallel: false, ..Settings::default() };

    println!("the tree: levels, widest front, multiply-adds per body, share of the critical path");
    let cases: Vec<(&str, Model)> = if quick {
        vec![("chain", chain(20, false)), ("lattice", lattice(3, 3))]
    } else {
        vec![
            ("chain", chain(1000, false)),
            ("ring", ring(1000)),
            ("ladder of 300 cells", ladder(300)),
            ("lattice 20 x 20", lattice(20, 20)),
            ("200 branches of 5", branches(200, 5)),
        ]
    };
    for (name, model) in &cases {
        let solver = Solver::<6>::new(model, &start(model).q, serial);
        let n = model.moving() as f64;
        let [flops, path] = solver.layout.critical_path::<6>(&solver.set);
        println!(
            "  {name:<20} {n:>5} bodies  {:>2} levels (log2 n = {:.1})  front {:>3}  {:>6.0} multiply-adds  path {:.2e}",
            solver.tree.levels(),
            n.log2(),
            6 * solver.tree.widest(),
            flops / n,
            path / flops
        );
    }

    println!("\nserial time per body and acceleration, us (limit 2 at 1000 bodies; at most 1.5 times as much at 100000)");
    let sizes: &[usize] = if quick { &[10, 30] } else { &[10, 100, 1000, 10_000, 100_000] };
    let mut at_thousand = None;
    for &n in sizes {
        let model = chain(n, false);
        let c = start(&model);
        let (t, iterations) = acceleration(&model, &c, serial, (30_000 / n).clamp(1, 1000), if quick { 1 } else { 10 });
        let each = 1e6 * t / n as f64;
        if n == 1000 {
            at_thousand = Some(each);
        }
        let ratio = at_thousand.map_or(String::new(), |x: f64| format!("   {:.2} of that at 1000", each / x));
        println!("  chain {n:>7}  {each:.2}   {iterations:.1} iterations{ratio}");
    }

    println!("\ntwo threads against one, median of nine ratios with the least and the largest (limit 1.7 at 10000 bodies)");
    for n in if quick { vec![300] } else { vec![300, 1000, 3000, 10_000] } {
        let model = chain(n, false);
        let c = start(&model);
        let times = (10_000 / n).max(2);
        // Alternating wall times, so that both are affected by the same load; the serial one in tasks that are never divided.
        let alone = Settings { task: usize::MAX, ..Settings::default() };
        let (mut first, mut second) = (Repeated::new(&model, &c, alone), Repeated::new(&model, &c, Settings::default()));
        let mut ratios: Vec<(f64, f64, f64)> = (0..if quick { 1 } else { 9 })
            .map(|_| {
                // The shortest of a few each, as the machine is shared.
                let (mut one, mut two) = (f64::INFINITY, f64::INFINITY);
                for _ in 0..3 {
                    one = one.min(first.seconds(times));
                    two = two.min(second.seconds(times));
                }
                (one / two, one, two)
            })
            .collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (middle, one, two) = ratios[ratios.len() / 2];
        let (least, most) = (ratios[0].0, ratios[ratios.len() - 1].0);
        println!(
            "  chain {n:>6}  {:.0} us, {:.0} us with threads: {middle:.2} times as fast ({least:.2} to {most:.2})",
            1e6 * one,
            1e6 * two
        );
    }

    println!(
        "\nlattices: multiply-adds of all fronts and of the longest path, with the largest fronts divided and without, and their powers of the number of bodies"
    );
    let mut before: Option<[f64; 4]> = None;
    for k in if quick { vec![2, 3] } else { vec![5, 10, 20, 40] } {
        let model = lattice(k, k);
        let solver = Solver::<6>::new(&model, &start(&model).q, serial);
        let n = model.moving() as f64;
        let [all, path] = solver.layout.critical_path::<6>(&solver.set);
        let mut plain = solver.layout.clone();
        plain.fronts.iter_mut().for_each(|f| f.large = false);
        let undivided = plain.critical_path::<6>(&solver.set)[1];
        let now = [n, all, path, undivided];
        let powers = before.map_or(String::new(), |b| {
            let power = |i: usize| (now[i] / b[i]).ln() / (n / b[0]).ln();
            format!("  powers {:.2}, {:.2}, {:.2}", power(1), power(2), power(3))
        });
        println!("  {k:>2} x {k:<2} {n:>5} bodies  {all:.2e}, {path:.2e}, {undivided:.2e}{powers}");
        before = Some(now);
    }

    println!(
        "\non 64 cores: the graph of tasks is simulated with the measured time of every kind of front; no contention for memory is counted"
    );
    let hand_over = if quick { 1e-6 } else { hand_over() };
    println!("  a subtree is handed to another core in {:.1} us (measured between two threads)", 1e6 * hand_over);
    for (name, model) in if quick {
        vec![("chain", chain(30, false))]
    } else {
        vec![
            ("chain", chain(1000, false)),
            ("chain", chain(10_000, false)),
            ("chain", chain(100_000, false)),
            ("ring", ring(1000)),
            ("ladder", ladder(300)),
            ("lattice", lattice(20, 20)),
        ]
    } {
        let c = start(&model);
        project(name, &model, &c, hand_over, if quick { 1 } else { 20 });
    }

    println!("\nclosed planar chain, us per acceleration with threads (Simbody, measured on another run: 29.5, 140, 1234)");
    for n in if quick { vec![10] } else { vec![10, 100, 1000] } {
        let model = ring(n);
        let c = start(&model);
        let (t, iterations) = acceleration(&model, &c, Settings::default(), (20_000 / n).clamp(2, 1000), if quick { 1 } else { 5 });
        println!("  {n:>5} links {:>8.1}   {iterations:.1} iterations", 1e6 * t);
    }
}

/// Time from passing work to another thread until it begins there, the shortest of many.
fn hand_over() -> f64 {
    let begun = AtomicBool::new(false);
    let mut best = f64::INFINITY;
    for _ in 0..2000 {
        begun.store(false, Ordering::SeqCst);
        let started = Instant::now();
        let took = rayon::join(
            || {
                while !begun.load(Ordering::SeqCst) && started.elapsed().as_secs_f64() < 1e-3 {
                    std::hint::spin_loop();
                }
                started.elapsed().as_secs_f64()
            },
            || begun.store(true, Ordering::SeqCst),
        )
        .0;
        best = best.min(took);
    }
    best
}

/// Prints the estimated time of a mechanism on 64 cores.
fn project(name: &str, model: &Model, c: &Configuration, hand_over: f64, runs: usize) {
    let mut solver = Solver::<6>::new(model, &c.q, Settings { parallel: false, ..Settings::default() });
    let s = State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z };
    let mut a = vec![Twist::zero(); model.bodies.len()];
    let rounds = solver.accelerate(&s, false, &mut a).iterations;
    let times = solver.front_times(&s, runs);
    // Fronts of one kind do the same work: each is given the mean of their times.
    let kind = |k: usize| {
        let f = &solver.layout.fronts[k];
        (f.e, f.b, solver.layout.at[k + 1].row - solver.layout.at[k].row)
    };
    let mut kinds: BTreeMap<_, (f64, [f64; 3])> = BTreeMap::new();
    for (k, t) in times.iter().enumerate() {
        let (count, sum) = kinds.entry(kind(k)).or_insert((0.0, [0.0; 3]));
        *count += 1.0;
        sum.iter_mut().zip([t.factor, t.up, t.down]).for_each(|(s, t)| *s += t);
    }
    let cost: Vec<FrontTime> = (0..times.len())
        .map(|k| {
            let (count, [factor, up, down]) = kinds[&kind(k)];
            FrontTime { factor: factor / count, up: up / count, down: down / count }
        })
        .collect();
    let whole =
        |cores: usize, hand_over: f64, all: bool| 1e6 * schedule::acceleration(&solver.layout, &cost, rounds, cores, hand_over, all);
    let n = model.moving() as f64;
    println!(
        "  {name} of {n} bodies: {} levels (log2 n = {:.1}), {rounds} rounds; fronts one after the other {:.0} us, on 64 cores {:.0} us, longest path {:.0} us",
        solver.tree.levels(),
        n.log2(),
        whole(1, 0.0, false),
        whole(64, hand_over, false),
        whole(usize::MAX, 0.0, true)
    );
    let mut most: Vec<_> = kinds.iter().collect();
    most.sort_by(|x, y| y.1.0.total_cmp(&x.1.0));
    for ((e, b, rows), (count, [factor, up, down])) in most.into_iter().take(3) {
        println!(
            "    {count:>6} fronts of {e} + {b} bodies and {rows} rows: {:.0} ns with factors, {:.0} up, {:.0} down",
            1e9 * factor / count,
            1e9 * up / count,
            1e9 * down / count
        );
    }
}
