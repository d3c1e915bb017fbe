//! Processor time, so that other programs on the machine do not enter the figures.
#![allow(dead_code)]

use std::time::Instant;

/// Seconds of processor time of this thread if the system provides it, otherwise seconds since the first call.
pub fn seconds() -> f64 {
    use std::sync::OnceLock;
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let begin = *BEGIN.get_or_init(Instant::now);
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = own.and_then(|s| s.split_whitespace().next().and_then(|x| x.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |n| n * 1e-9)
}

/// Time of one call, as the smallest mean of `bursts` bursts, and the last result. A burst is long enough for a clock that
/// moves in steps of a few milliseconds.
pub fn best<T>(bursts: usize, mut f: impl FnMut() -> T) -> (f64, T) {
    let mut least = f64::INFINITY;
    let mut last = f();
    for _ in 0..bursts {
        let (begin, mut calls) = (seconds(), 0);
        while seconds() - begin < 0.06 {
            last = f();
            calls += 1;
        }
        least = least.min((seconds() - begin) / calls as f64);
    }
    (least, last)
}
