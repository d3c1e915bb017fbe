//! The outcome of a verification as text.

use super::{Row, Verdict, Verification};
use crate::text::{table, wrapped};
use fourbar::diagnostic::number;

impl Verification {
    /// The table of formulations: differences, expected errors, residuals, work. `states` adds the column of states of the file.
    pub fn table(&self, states: bool) -> String {
        let small = |x: f64| if x == 0.0 { "0".to_string() } else { format!("{x:.0e}") };
        let pick = |r: &Row, names: &[&str]| {
            names.iter().find_map(|n| r.work.iter().find(|(k, _)| k == n)).map_or(String::new(), |(_, n)| format!("{n:.0}"))
        };
        let ran = self.rows.iter().filter(|r| r.until.is_some());
        let rows: Vec<Vec<String>> = ran
            .map(|r| {
                let mut cells = vec![format!("{} {}", r.formulation, r.integrator)];
                cells.extend(r.difference.iter().take(if states { 5 } else { 4 }).map(|x| small(*x)));
                cells.push(small((r.expected[0] / self.scales[0]).max(r.expected[1])));
                cells.push(small(r.constraints[0]));
                cells.extend([small(r.energy), small(r.newton_euler)]);
                cells.push(pick(r, &["steps"]));
                cells.push(pick(r, &["newton_iterations", "evaluations"]));
                cells.push(number(r.seconds));
                cells
            })
            .collect();
        let mut header = vec!["", "position", "angle", "speed", "force", "expected", "gap", "energy", "laws", "steps", "evals", "time"];
        if states {
            header.insert(5, "states");
        }
        let own = if states { ", of states relative" } else { "" };
        let mut text = format!(
            "largest differences from the consensus (m, rad, m/s, N{own}), relative error expected, gaps of the joints\n(m), relative errors of energy and of Newton's and Euler's laws, work, time (s)\n\n",
        );
        text += &table(&header, &rows, &(1..header.len()).collect::<Vec<_>>());
        text
    }
}

impl Verdict {
    /// The sentences of the verdict, without its word.
    pub fn text(&self) -> String {
        self.words.iter().map(|w| format!("  {}\n", wrapped(w, 2, 2))).collect()
    }
}
