//! Requested dependents: by the names of their joints, or the last coordinates of every loop, as in plain recursive coordinate reduction.

use super::dependents::{select_given, select_last};
use super::mechanism::Mechanism;
use super::schedule::Role;
use super::{Coupling, Options};
use crate::constraint::Owner;
use crate::diagnostic::{Diagnostic, nearest};
use crate::settings::count;

impl Options {
    /// Whether a joint is among the named dependents.
    pub(super) fn names(&self, joint: &str) -> bool {
        self.dependents.iter().any(|n| n == joint)
    }
}

/// Quoted names, separated by commas.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

impl Mechanism<'_> {
    /// Puts the dependents requested by the options into use, or reports why this is impossible.
    pub(super) fn choose_as_asked(&mut self, options: &Options) -> Result<(), Diagnostic> {
        if options.coupling == Coupling::Rcr && !self.closings.is_empty() {
            return self.last_ones();
        }
        if options.dependents.is_empty() {
            return Ok(());
        }
        for name in &options.dependents {
            if !self.model.joints.iter().any(|j| j.name == *name) {
                let help = nearest(name, self.model.joints.iter().map(|j| j.name.as_str()))
                    .map_or_else(|| "name joints, separated by commas".to_string(), |n| format!("did you mean `{n}`?"));
                return Err(Diagnostic::new("U304", format!("option `dependents` names `{name}`, which is not a joint"))
                    .name(name)
                    .help(help));
            }
        }
        self.named(options)
    }

    fn named(&mut self, options: &Options) -> Result<(), Diagnostic> {
        let asked = listed(options.dependents.iter().map(String::as_str));
        let joints = &self.model.joints;
        // A joint that closes a loop is not a coordinate of the tree, and is therefore dependent.
        let left_out: Vec<&str> = self
            .closings
            .list
            .iter()
            .filter_map(|c| if let Owner::Joint(k) = c.owner { Some(joints[k].name.as_str()) } else { None })
            .collect();
        if let Some(name) = left_out.iter().find(|n| !options.names(n)) {
            return Err(Diagnostic::new(
                "U304",
                format!("the dependents {asked} leave every joint of the loop through `{name}` independent"),
            )
            .name(*name)
            .help("of every loop one joint closes it and is dependent by that; name it among the dependents"));
        }
        let fixed = self.fixed();
        let mut roles: Vec<Role> = fixed.iter().map(|f| if *f { Role::Prescribed } else { Role::Independent }).collect();
        for node in self.tree.nodes.iter().filter(|n| n.joint.is_some_and(|j| options.names(&joints[j].name))) {
            for c in node.u..node.u + node.kind.speeds() {
                if fixed[c] {
                    let d = Diagnostic::new("U304", format!("{} is driven, so it cannot be dependent", self.column_name(c)));
                    return Err(d.help("leave it out of `dependents`"));
                }
                roles[c] = Role::Dependent;
            }
        }
        let (found, needed) = (roles.iter().filter(|r| **r == Role::Dependent).count(), self.selection.rank);
        if found != needed {
            let closes = if left_out.is_empty() { String::new() } else { format!(" ({} closes)", listed(left_out.iter().copied())) };
            return Err(Diagnostic::new(
                "U304",
                format!("the dependents {asked} have {} in the tree{closes}, and the loops determine {needed}", count(found, "coordinate")),
            )
            .help("name as many as the loops determine; `fourbar check FILE --formulation grcr` shows those that are chosen"));
        }
        let (all, schedule) = self.all_open();
        let s = select_given(&self.tree, &all, &schedule, &fixed, &roles).map_err(|(column, sine)| {
            Diagnostic::new(
                "U304",
                format!(
                    "the dependents {asked} do not follow from the other coordinates: {} is not determined (sine {sine:.0e})",
                    if column < self.tree.speeds { self.column_name(column) } else { "one of them".into() }
                ),
            )
            .help("it can move while all others are fixed; name another one instead")
        })?;
        if s.rank != needed {
            let d = Diagnostic::new("U304", format!("the dependents {asked} belong to loops that determine fewer of them"));
            return Err(d.help("name coordinates of every loop, as many as it determines"));
        }
        self.adopt(s);
        Ok(())
    }

    /// The last coordinates of every loop.
    fn last_ones(&mut self) -> Result<(), Diagnostic> {
        let (all, schedule) = self.all_open();
        let s = select_last(&self.tree, &all, &schedule, &self.fixed()).map_err(|(skipped, instead)| {
            Diagnostic::new(
                "S271",
                format!(
                    "plain recursive coordinate reduction breaks down at {}: it is among the last coordinates of its loop but is not determined by it; {} would have to be dependent instead",
                    self.column_name(skipped),
                    self.column_name(instead)
                ),
            )
            .help("`--option coupling=acs` or `gcl` take other dependents; `--option dependents=...` names them")
        })?;
        self.adopt(s);
        Ok(())
    }
}
