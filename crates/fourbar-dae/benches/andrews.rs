//! Work against precision for Andrews' squeezing mechanism.
#[path = "../tests/problems/mod.rs"]
mod problems;
use fourbar_dae::{Integrator, Options};
use problems::*;
use std::time::Instant;
fn main() {
    let (_, rows) = read_table(include_str!("../tests/data/andrews.csv"));
    let last = rows.last().unwrap();
    for points in [false, true] {
        let (p, s) = if points { andrews_points_problem() } else { andrews_problem() };
        for tol in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14] {
            let o = if points { Options::new(tol) } else { andrews_options(tol) };
            let mut best = f64::MAX;
            let mut run = None;
            for _ in 0..40 {
                let t0 = Instant::now();
                let mut i = Integrator::new(&p, &s, o.clone()).unwrap();
                i.run_to(0.03).unwrap();
                best = best.min(t0.elapsed().as_secs_f64());
                run = Some(i);
            }
            let i = run.unwrap();
            let err = if points {
                let e = andrews_positions(&last[1..8]);
                (0..8).map(|j| (i.at(0.03, j, 0).unwrap() - e[j]).abs() / if j < 2 { 0.007 } else { 0.028 }).fold(0.0, f64::max)
            } else {
                (0..7).map(|j| (i.at(0.03, j, 0).unwrap() - last[1 + j]).abs()).fold(0.0, f64::max)
            };
            println!("points {points} tol {tol:e} K {} steps {} {:.3} ms err {err:.2e}", i.order(), i.work().steps, best * 1e3);
        }
        for tol in [1e-9, 1e-10, 1e-11] {
            let o = if points { Options::new(tol) } else { andrews_options(tol) };
            let t0 = Instant::now();
            let mut i = Integrator::new(&p, &s, o.clone()).unwrap();
            i.run_to(0.3).unwrap();
            let el = t0.elapsed().as_secs_f64();
            if points { println!("0.3: {tol:e} {el} {:?}", i.work()); continue; }
            let mut i = Integrator::new(&p, &s, o.clone()).unwrap();
            let (mut first, mut worst, mut largest) = (None, 0.0f64, 0.0f64);
            i.run(0.3, |r| {
                let balance = r.value("balance", 0).unwrap();
                worst = worst.max((balance - *first.get_or_insert(balance)).abs());
                largest = largest.max(r.value("kinetic", 0).unwrap());
            }).unwrap();
            println!("0.3: {tol:e} {el} s {:?} balance {:.2e}", i.work(), worst / largest);
        }
    }
}
