//! The rows of a run with their derivatives, for the columns that are read or for all.

use super::Parameters;
use super::around::Around;
use super::columns::Row;
use super::quick::Quick;
use super::run::Needed;
use super::state::{Spaces, Tangent, Varied};
use fourbar::state::Configuration;
use fourbar::trajectory::Trajectory;
use fourbar::{Error, Model, stop};

/// The rows and columns of a run that are requested.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub rows: &'a Needed<'a>,
    /// Columns that are read; `None` for all.
    pub columns: Option<&'a [bool]>,
}

/// A run at its output times, with the data for its derivatives.
pub(super) struct Way<'a> {
    pub parameters: &'a Parameters<'a>,
    pub which: &'a [usize],
    /// Without dry friction.
    pub model: &'a Model,
    pub around: &'a [Around],
    pub needed: &'a Asked<'a>,
}

/// Tangents at an output time, by parameter, in one or two sets.
pub(super) type Tangents<'a> = dyn FnMut(&Varied<'_>, usize, &Spaces) -> Vec<Vec<Tangent>> + 'a;

/// Source of the tangents: known for every row, or solved where they are needed.
pub(super) enum Source<'a> {
    Known(&'a [Vec<Tangent>]),
    Solved(&'a mut Tangents<'a>),
}

impl Way<'_> {
    /// The rows of a run, and their derivatives where needed, for each set of tangents.
    pub fn rows(&self, states: &[Configuration], mut source: Source<'_>) -> Result<(Trajectory, Vec<Vec<Trajectory>>), Error> {
        let Self { parameters, which, model, around, needed } = *self;
        let mut row = Row::new(model, parameters, which, around);
        let mut quick = needed.columns.and_then(|read| Quick::new(model, around, states, read));
        let run = match &mut quick {
            Some(quick) => quick.run(states),
            None => {
                let mut run = row.empty();
                for state in states {
                    run.push(&row.value(state)?);
                }
                run
            }
        };
        let needed = (needed.rows)(&run)?;
        let sizes = parameters.values_of(which);
        let mut varied: Option<Varied<'_>> = None;
        let mut sets: Vec<Vec<Trajectory>> = Vec::new();
        let none = vec![f64::NAN; run.columns.len()];
        for (i, state) in states.iter().enumerate() {
            stop::check()?;
            let wanted = needed.get(i).copied().unwrap_or(true);
            if let Some(quick) = &mut quick {
                quick.at(state);
            }
            if i > 0 && !wanted {
                sets.iter_mut().flatten().for_each(|t| t.push(&none));
                continue;
            }
            let mut spaces = None;
            let mut look = || -> Result<(), Error> {
                let varied = varied.get_or_insert_with(|| Varied::new(model, around, &states[0]));
                varied.choose(state.t);
                super::alone::check(parameters, varied, state, which)?;
                spaces = Some(varied.spaces(state));
                Ok(())
            };
            let solved: Vec<Vec<Tangent>>;
            let tangents: &[Vec<Tangent>] = match (&mut source, &mut quick) {
                (Source::Known(list), Some(quick)) => {
                    // A tangent that closes all joints shows that the parameter can change alone.
                    if !(0..which.len()).all(|k| quick.closes(k, state, &list[i][k], sizes[k])) {
                        look()?;
                    }
                    &list[i..=i]
                }
                (Source::Known(list), None) => {
                    look()?;
                    &list[i..=i]
                }
                (Source::Solved(solve), _) => {
                    look()?;
                    solved = match (&varied, &spaces) {
                        (Some(varied), Some(spaces)) => solve(varied, i, spaces),
                        _ => Vec::new(),
                    };
                    &solved
                }
            };
            for (s, set) in tangents.iter().enumerate() {
                if s == sets.len() {
                    sets.push(vec![Trajectory::new(run.columns.clone()); which.len()]);
                }
                for (k, x) in set.iter().enumerate() {
                    match (&mut quick, &spaces) {
                        _ if !wanted => sets[s][k].push(&none),
                        (Some(quick), _) => sets[s][k].push(&quick.slope(k, state, x)),
                        (None, Some(spaces)) => sets[s][k].push(&row.slope(k, state, spaces, x)?),
                        (None, None) => sets[s][k].push(&none),
                    }
                }
            }
        }
        Ok((run, sets))
    }
}
