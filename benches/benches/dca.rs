//! Divide and conquer: time per body and acceleration against size, threads, the critical path, and the tree. `cargo bench
//! --bench dca`. Serial times are time on the processor where the system tells it, so that other load does not count; times
//! with threads are wall times. All are the shortest of several runs; compare figures of one run only.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::dca::{Settings, Solver, State};
use fourbar::state::{Configuration, Pose, Velocity};
use fourbar_bench::*;

fn start(model: &Model) -> Configuration {
    assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration
}

/// Time this thread has spent on a processor; `None` where the system does not tell.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

/// Seconds per acceleration: rows, factorisation and iterations, the pose another one every time. Also iterations.
fn acceleration(model: &Model, c: &Configuration, settings: Settings, times: usize, runs: usize) -> (f64, f64) {
    let mut solver = Solver::<6>::new(model, &c.q, settings);
    let mut a = vec![Velocity::zero(); model.bodies.len()];
    // Two poses that differ by rounding: the solver keeps factors for a pose it knows.
    let shifted: Vec<Pose> = c.q.iter().map(|q| Pose { r: q.r * (1.0 + 1e-15), A: q.A }).collect();
    let poses = [&c.q, &shifted];
    let (mut best, mut next) = (f64::INFINITY, 0);
    for _ in 0..runs {
        let before = on_processor().filter(|_| !settings.parallel);
        let wall = shortest(1, || {
            for _ in 0..times {
                next += 1;
                let s = State { t: 0.0, q: poses[next % 2], v: &c.v, turns: &c.turns };
                solver.accelerate(&s, false, &mut a);
            }
        });
        let t = match (before, on_processor()) {
            (Some(before), Some(now)) => now - before,
            _ => wall,
        };
        best = best.min(t / times as f64);
    }
    assert!(solver.counts.factorisations >= times * runs, "every acceleration factors");
    (best, solver.counts.iterations as f64 / solver.counts.accelerations as f64)
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
        let [flops, path] = critical_path(&solver);
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
    let mut at_thousand = f64::NAN;
    for &n in sizes {
        let model = chain(n, false);
        let c = start(&model);
        let (t, iterations) = acceleration(&model, &c, serial, (30_000 / n).clamp(1, 1000), if quick { 1 } else { 10 });
        let each = 1e6 * t / n as f64;
        if n == 1000 {
            at_thousand = each;
        }
        println!("  chain {n:>7}  {each:.2}   {iterations:.1} iterations   {:.2} of that at 1000", each / at_thousand);
    }

    println!("\ntwo threads against one (limit 1.7 at 10000 bodies)");
    for n in if quick { vec![300] } else { vec![300, 1000, 3000, 10_000] } {
        let model = chain(n, false);
        let c = start(&model);
        let times = (10_000 / n).max(2);
        let (mut one, mut two) = (f64::INFINITY, f64::INFINITY);
        // Wall times, turn about, so that both see the same load of the machine: the serial one in tasks that never divide.
        let alone = Settings { task: usize::MAX, ..Settings::default() };
        for _ in 0..if quick { 1 } else { 10 } {
            one = one.min(acceleration(&model, &c, alone, times, 1).0);
            two = two.min(acceleration(&model, &c, Settings::default(), times, 1).0);
        }
        println!("  chain {n:>6}  {:.0} us, {:.0} us with threads: {:.2} times as fast", 1e6 * one, 1e6 * two, one / two);
        let solver = Solver::<6>::new(&model, &c.q, serial);
        let [flops, path] = critical_path(&solver);
        // An estimate: the measured serial time, the longest path's share of the multiply-adds, tasks of at least 128 bodies,
        // and a microsecond per join, assumed, met twice per pass and level.
        let tasks = 64_f64.min(n as f64 / 128.0).max(1.0);
        let projected = one * (1.0 / tasks + path / flops) + 2.0 * 5.0 * tasks.log2() * 1e-6;
        println!(
            "    {} levels; on 64 cores, estimated from the serial time and the longest path: {:.0} us",
            solver.tree.levels(),
            1e6 * projected
        );
    }

    println!("\nclosed planar chain, us per acceleration with threads (Simbody, measured on another run: 29.5, 140, 1234)");
    for n in if quick { vec![10] } else { vec![10, 100, 1000] } {
        let model = ring(n);
        let c = start(&model);
        let (t, iterations) = acceleration(&model, &c, Settings::default(), (20_000 / n).clamp(2, 1000), if quick { 1 } else { 5 });
        println!("  {n:>5} links {:>8.1}   {iterations:.1} iterations", 1e6 * t);
    }
}

/// Multiply-adds of factorisation and four solves: of all fronts, and along the heaviest path from a leaf to the root.
fn critical_path(solver: &Solver<'_, 6>) -> [f64; 2] {
    let fronts = &solver.layout.fronts;
    let mut path = vec![0.0_f64; fronts.len()];
    let mut all = 0.0;
    for k in 0..fronts.len() {
        let [factor, solve] = solver.layout.flops::<6>(&solver.set, k);
        let own = factor + 4.0 * solve;
        all += own;
        let below = fronts[k].children.iter().filter(|&&c| c != usize::MAX).map(|&c| path[c]).fold(0.0, f64::max);
        path[k] = own + below;
    }
    [all, path.last().copied().unwrap_or(0.0)]
}
