//! Memory of a large mechanism.

use fourbar::analysis::assembly::assemble;
use fourbar::integrator::Method;
use fourbar::integrator::index3::Stepper;
use fourbar_bench::chain;

/// Peak memory of this process so far, bytes.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(1024.0 * line.split_whitespace().nth(1)?.parse::<f64>().ok()?)
}

/// Peak memory of a chain of 100,000 bodies.
pub fn run(_: &[String]) -> Result<(), String> {
    const BODIES: usize = 100_000;
    let peak = || peak_memory().ok_or("the peak memory of the process cannot be read on this system".to_string());
    let before = peak()?;
    let per_body = |now: f64| format!("{:.2} kB per body", (now - before) / 1e3 / BODIES as f64);
    let model = chain(BODIES, false);
    println!("chain of {BODIES} bodies: peak memory above that of the empty process");
    println!("  model built                {}", per_body(peak()?));
    let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
    println!("  assembled                  {}", per_body(peak()?));
    let mut s = Stepper::new(&model, &start, Method::GenAlpha { rho: 0.8 });
    s.start(1e-3);
    for _ in 0..3 {
        s.attempt(1e-3).and_then(|()| s.accept(1e-3)).map_err(|t| format!("{t:?}"))?;
    }
    println!("  three steps of gen-alpha   {}", per_body(peak()?));
    Ok(())
}
