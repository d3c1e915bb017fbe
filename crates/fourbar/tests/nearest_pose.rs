//! The pose chosen by assembly against the best of many random starts, on parallel robots with several assembly modes.
//!
//! `FOURBAR_ROBOTS=200` sets the number of robots, `FOURBAR_ROBOT=SEED` selects a single one; the seeds are fixed.

use fourbar::analysis::assembly::Options;
use fourbar_testing::robot::{FAMILIES, STARTS, compare};

#[test]
fn the_pose_taken_is_never_much_further_than_the_best_of_many_random_starts() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let robots = number("FOURBAR_ROBOTS").unwrap_or(42);
    let options = number("FOURBAR_STARTS").map_or(Options::default(), |n| Options { starts: n as usize, ..Options::default() });
    let seeds: Vec<u64> = number("FOURBAR_ROBOT").map_or_else(|| (1..=robots).collect(), |s| vec![s]);
    let (mut wrong, mut closed, mut gained, mut looked, mut others) = (Vec::new(), 0, 0, 0, 0);
    let mut seconds = [0.0; 2];
    for seed in seeds {
        match compare(seed, options) {
            Ok(Some(c)) => {
                closed += 1;
                looked += usize::from(c.starts > 0);
                others += usize::from(c.other);
                gained += usize::from(c.taken < 0.95 * c.plain);
                seconds = [seconds[0] + c.seconds[0], seconds[1] + c.seconds[1]];
                println!("seed {seed}: walk {:.4}, taken {:.4}, best {:.4}, {} starts", c.plain, c.taken, c.best, c.starts);
                if c.taken > 1.05 * c.best + 1e-9 {
                    wrong.push(format!(
                        "seed {seed} ({}): {:.4} L away, the best of {STARTS} starts {:.4}, the plain walk {:.4}, {} starts",
                        FAMILIES[seed as usize % FAMILIES.len()],
                        c.taken,
                        c.best,
                        c.plain,
                        c.starts
                    ));
                }
            }
            Ok(None) => println!("seed {seed}: closes from no start"),
            Err(why) => wrong.push(why),
        }
    }
    println!(
        "{closed} closed, {looked} looked for, {gained} nearer than the plain walk by 5 %, {others} with another close by, {seconds:.3?} s"
    );
    assert!(wrong.is_empty(), "{} of {robots}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Robots for which the search from the drawn pose ends well beyond the nearest solution.
#[test]
fn a_nearer_pose_than_the_first_is_taken_and_told() {
    for seed in [877, 1365] {
        let c = compare(seed, Options::default()).expect("a robot that closes").expect("a robot that closes");
        assert!(c.starts > 1 && c.taken < 0.95 * c.plain && c.taken < 1.05 * c.best, "seed {seed}: {c:?}");
    }
}
