//! The option `spaces`: groups of bodies by name.

use super::space::Space;
use crate::diagnostic::{Diagnostic, nearest};
use crate::model::Model;

/// Sets the groups of the named bodies, and describes the groups of all bodies.
pub(super) fn named_spaces(model: &Model, text: &str, space: &mut Space) -> Result<String, Diagnostic> {
    let refused = |message: String| Diagnostic::new("U304", message);
    let mut seen = vec![false; model.bodies.len()];
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let Some((name, group)) = part.rsplit_once(':').map(|(n, g)| (n.trim(), g.trim())) else {
            return Err(refused(format!("option `spaces` has `{part}`, which names no group"))
                .help("write `--option spaces=link1:se3,link2:so3xr3`"));
        };
        let screw = match group.to_ascii_lowercase().as_str() {
            "se3" => true,
            "so3xr3" => false,
            _ => return Err(refused(format!("option `spaces` puts `{name}` on `{group}`")).help("the groups are se3 and so3xr3")),
        };
        let Some(b) = model.bodies.iter().skip(1).position(|b| b.name == name).map(|b| b + 1) else {
            let names = || model.bodies.iter().skip(1).map(|b| b.name.as_str());
            let help = nearest(name, names()).map_or_else(
                || format!("the bodies are {}", names().take(20).collect::<Vec<_>>().join(", ")),
                |n| format!("did you mean `{n}`?"),
            );
            return Err(refused(format!("option `spaces` names `{name}`, which is not a moving body")).name(name).help(help));
        };
        if std::mem::replace(&mut seen[b], true) {
            return Err(refused(format!("option `spaces` names `{name}` twice")).name(name).help("name each body once"));
        }
        space.screw[b] = screw;
    }
    if !seen.contains(&true) {
        return Err(refused("option `spaces` names no body".into()).help("write `--option spaces=link1:se3,link2:so3xr3`"));
    }
    let on = |screw: bool| -> Vec<&str> {
        let bodies = model.bodies.iter().zip(&space.screw).skip(1);
        bodies.filter(|(_, s)| **s == screw).map(|(b, _)| b.name.as_str()).collect()
    };
    let parts: Vec<String> = [("SE(3)", on(true)), ("SO(3) x R3", on(false))]
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(group, names)| format!("{group} for {}", super::group_choice::named(names)))
        .collect();
    let own = seen.iter().filter(|s| **s).count();
    let all = own == model.bodies.len() - 1;
    Ok(format!("state space: {}{}", parts.join("; "), if all { ", as requested" } else { ", some of them as requested" }))
}
