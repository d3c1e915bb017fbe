//! Cases on all cores. The result of a case depends on its number alone; only the order in which results arrive depends on the threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Maximum number of results waiting for the receiver.
const WAITING: usize = 1024;

/// Runs every case of a list on some threads (zero: one for every core) and passes each result on, in the order of arrival.
///
/// No case is started after `stop` is set, and a case may test it and return `None`, which is not passed on. Returning `false` from `done`
/// has the same effect as `stop`.
pub fn execute<R: Send>(
    numbers: &[usize],
    threads: usize,
    stop: &AtomicBool,
    run: impl Fn(usize) -> Option<R> + Sync,
    mut done: impl FnMut(usize, R) -> bool,
) {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let threads = threads.clamp(1, numbers.len().max(1));
    if threads == 1 {
        // A single thread: the cases run in the calling thread.
        for &k in numbers {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            if let Some(r) = run(k)
                && !done(k, r)
            {
                return;
            }
        }
        return;
    }
    let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, receive) = mpsc::sync_channel(WAITING);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next, ended, run) = (send.clone(), &next, &ended, &run);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed) {
                    let Some(&k) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    if let Some(r) = run(k)
                        && send.send((k, r)).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (k, r) in &receive {
            if !done(k, r) {
                ended.store(true, Ordering::Relaxed);
                break;
            }
        }
        // Releases threads that still wait to pass on a result.
        drop(receive);
    });
}

/// Splits a list of cases into parts that run together on some threads (zero: one for every core): each a few batches, and enough parts for
/// all threads.
pub fn parts(numbers: &[usize], threads: usize, lanes: usize) -> Vec<&[usize]> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let size = numbers.len().div_ceil(4 * threads).next_multiple_of(lanes).clamp(lanes, 8 * lanes);
    numbers.chunks(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_every_case_and_keep_all_threads_busy() {
        let numbers: Vec<usize> = (0..1000).collect();
        for (threads, lanes) in [(1, 8), (2, 8), (64, 8), (3, 1)] {
            let parts = parts(&numbers, threads, lanes);
            assert_eq!(parts.concat(), numbers);
            assert!(parts.len() >= threads && parts.iter().rev().skip(1).all(|p| p.len() % lanes == 0), "{threads}");
        }
        assert!(parts(&[], 0, 8).is_empty());
    }

    #[test]
    fn every_case_comes_once_whatever_the_threads() {
        let numbers: Vec<usize> = (0..500).filter(|k| k % 3 != 0).collect();
        for threads in [0, 1, 2, 7, 64] {
            let mut seen = Vec::new();
            let stop = AtomicBool::new(false);
            execute(
                &numbers,
                threads,
                &stop,
                |k| (k % 10 != 7).then_some(k * k),
                |k, r| {
                    assert_eq!(r, k * k);
                    seen.push(k);
                    true
                },
            );
            seen.sort_unstable();
            assert!(seen.into_iter().eq(numbers.iter().copied().filter(|k| k % 10 != 7)));
        }
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let numbers: Vec<usize> = (0..100_000).collect();
        for threads in [1, 3] {
            let stop = AtomicBool::new(false);
            let mut count = 0;
            execute(&numbers, threads, &stop, Some, |_, _| {
                count += 1;
                count < 10
            });
            assert_eq!(count, 10);
            stop.store(true, Ordering::Relaxed);
            execute(&numbers, threads, &stop, Some, |_, _| panic!("nothing is begun"));
        }
    }
}
