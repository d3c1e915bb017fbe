//! Text descriptions of the work of a run.

/// Work counts of a run as phrases: `200 steps`, `1.94 Newton iterations per step`. Zero counts are omitted.
pub fn work_words<'a>(work: impl Iterator<Item = (&'a str, f64)>) -> String {
    // Residuals are not work.
    work.filter(|(name, n)| *n != 0.0 && !name.starts_with("largest_")).map(|(name, n)| phrase(name, n)).collect::<Vec<_>>().join(", ")
}

fn phrase(name: &str, n: f64) -> String {
    let number = if n.fract() == 0.0 && n.abs() < 1e15 { format!("{n:.0}") } else { format!("{n:.2}") };
    let words = |name: &str| {
        let words = name.replace('_', " ").replace("newton", "Newton");
        if number == "1" { singular(&words) } else { words }
    };
    match (name, name.strip_prefix("mean_")) {
        ("order", _) => format!("series of order {number}"),
        ("most_iterations", _) => format!("at most {number} {}", words("iterations")),
        ("tree_levels", _) => format!("a tree of {number} {}", words("levels")),
        (_, Some(rest)) => format!("{number} {} per step", words(rest)),
        _ => format!("{number} {}", words(name)),
    }
}

/// A phrase with its counted noun in the singular; the noun precedes `of`, `above` and `with`.
fn singular(words: &str) -> String {
    let mut list: Vec<String> = words.split(' ').map(String::from).collect();
    let counted = list.iter().position(|w| matches!(w.as_str(), "of" | "above" | "with")).unwrap_or(list.len());
    if let Some(word) = counted.checked_sub(1).and_then(|k| list.get_mut(k)) {
        *word = match word.as_str() {
            "matrices" => "matrix".into(),
            "passes" => "pass".into(),
            "switches" => "switch".into(),
            other => other.strip_suffix('s').unwrap_or(other).into(),
        };
    }
    list.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_zero_is_left_out() {
        let work = [("steps", 1.0), ("newton_iterations", 1.0), ("mean_newton_iterations", 1.0), ("matrices", 1.0), ("evaluations", 0.0)];
        assert_eq!(work_words(work.into_iter()), "1 step, 1 Newton iteration, 1 Newton iteration per step, 1 matrix");
        let work =
            [("steps", 200.0), ("mean_newton_iterations", 1.94), ("expansions", 97.0), ("order", 21.0), ("steps_above_tolerance", 1.0)];
        assert_eq!(
            work_words(work.into_iter()),
            "200 steps, 1.94 Newton iterations per step, 97 expansions, series of order 21, 1 step above tolerance"
        );
    }
}
