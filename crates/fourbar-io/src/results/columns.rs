//! Patterns that select columns: `*` matches any text.

use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use fourbar::trajectory::Column;

/// Whether a name matches a pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut open_end = false;
    let mut last = first;
    for part in parts {
        open_end = true;
        last = part;
        match rest.find(part) {
            Some(k) => rest = &rest[k + part.len()..],
            None => return false,
        }
    }
    // The text after the last star must be at the end.
    if open_end { last.is_empty() || name.ends_with(last) && name.len() >= first.len() + last.len() } else { rest.is_empty() }
}

/// Indices of the columns that match the patterns, always beginning with the time; all columns if there are no patterns.
pub fn choose(columns: &[Column], patterns: &[String]) -> Result<Vec<usize>, Diagnostic> {
    if patterns.is_empty() {
        return Ok((0..columns.len()).collect());
    }
    for p in patterns {
        // The name of an element selects all its columns: `crank` means `crank.*`.
        if !columns.iter().any(|c| fits(p, &c.name)) {
            let near = nearest(p, columns.iter().map(|c| c.name.as_str()));
            let help = near.map_or("write for instance `crank.*` or `*.angle`; a run without `--columns` shows all".to_string(), |n| {
                format!("did you mean `{n}`?")
            });
            return Err(Diagnostic::new("U005", format!("no column matches `{p}`")).help(help));
        }
    }
    Ok((0..columns.len()).filter(|&k| k == 0 || patterns.iter().any(|p| fits(p, &columns[k].name))).collect())
}

/// Whether a column matches a pattern or belongs to the element named by it: `crank` means `crank.*`.
pub fn fits(pattern: &str, name: &str) -> bool {
    matches(pattern, name) || (!pattern.contains('*') && name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, fits) in [
            ("t", "t", true),
            ("t", "tip.x", false),
            ("crank.*", "crank.r.x", true),
            ("crank.*", "crank2.r.x", false),
            ("*.angle", "pin.angle", true),
            ("*.angle", "pin.angle.x", false),
            ("*r*x", "crank.r.x", true),
            ("a*a", "a", false),
            ("*", "anything", true),
            ("*.x*", "p.x", true),
            ("*.x.x", "a.x.x", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn the_time_is_always_there_and_a_pattern_without_a_column_is_refused() {
        let columns: Vec<Column> = ["t", "a.x", "b.x"].map(|n| Column { name: n.into(), unit: "1".into() }).into();
        assert_eq!(choose(&columns, &["b".into()]), Ok(vec![0, 2]));
        assert_eq!(choose(&columns, &["c.*".into()]).map_err(|d| d.code.0), Err("U005"));
    }
}
