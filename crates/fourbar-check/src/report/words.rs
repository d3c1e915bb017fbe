//! The text of `check`: the most important findings first, the rest on request.

use super::{Findings, depth, floating, idle_drives, in_time, inertia, motion};
use crate::explain::stress::{Agreement, Explained, When};
use crate::explain::sweep::{Event, Kind, Sweep};
use crate::text::{self, joined, names, wrapped};
use fourbar::analysis::assembly::modes::{self, Mode, quantity};
use fourbar::analysis::rank::{FreeMotion, TOLERANCE};
use fourbar::analysis::redundancy::around;
use fourbar::diagnostic::number;
use fourbar::model::Model;
use fourbar::study::{FORMULATIONS, Study, count};

/// Number of list entries shown before the rest is only counted, unless everything is requested.
const FEW: usize = 4;

/// Facts under their labels; an empty label continues the one above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Labels and sentences, in the order of reading.
    pub list: Vec<(&'static str, String)>,
}

impl Facts {
    fn add(&mut self, label: &'static str, text: &str) {
        self.list.push((label, text.into()));
    }
}

/// The whole text, without a title.
pub fn words(model: &Model, f: &Findings, all: bool) -> String {
    let mut lines = text::Facts::new(12);
    lines.text = format!("{}\n\n", wrapped(&headline(model, f), 0, 0));
    for (label, text) in facts(model, f, all).list {
        lines.add(label, &text);
    }
    lines.text
}

/// The facts after the headline; all of them, or the most important.
pub fn facts(model: &Model, f: &Findings, all: bool) -> Facts {
    let mut facts = Facts::default();
    let most = if all { usize::MAX } else { FEW };
    conflicts(&mut facts, f);
    let (fine, text) = start(model, f);
    if !fine {
        facts.add("start", &text);
    }
    moves(&mut facts, model, f, most);
    mobility(&mut facts, model, f);
    redundant(&mut facts, f, most, all);
    singular(&mut facts, model, f, most);
    modes(&mut facts, model, f, most);
    structure(&mut facts, model, f, all);
    masses(&mut facts, model, most, all);
    switches(&mut facts, model);
    if fine {
        facts.add("start", &text);
    }
    if all {
        ranges(&mut facts, f);
    }
    if !model.gravity_given {
        facts.add("gravity", "none: the file does not state it");
    }
    applies(&mut facts, model, f, all);
    for s in &f.explanation.skipped {
        facts.add("left out", &format!("{}: {}", s.what, s.why));
    }
    facts
}

/// A number of degrees of freedom in words.
fn degrees(n: usize) -> String {
    format!("{} of freedom", count(n, "degree"))
}

/// One sentence with the main result.
pub fn headline(model: &Model, f: &Findings) -> String {
    if f.assembled.is_err() {
        return "It cannot be assembled.".into();
    }
    let idle = f.free.generic.idle(model);
    let n = f.free.generic.mobility() - idle;
    let bare = in_time(model);
    let mut text = match (n, &f.driven) {
        (0, None) if !bare.is_empty() => {
            let verb = if bare.len() == 1 { "changes" } else { "change" };
            format!("Its whole motion is prescribed: {} {verb} with time, and no freedom is left.", names(&bare))
        }
        (0, None) => "It does not move: its joints leave no freedom.".to_string(),
        (0, Some(_)) => "It cannot follow its drives: its joints leave no freedom.".to_string(),
        (_, None) => format!("It has {}; nothing drives it.", degrees(n)),
        (_, Some(d)) => {
            let drives: Vec<&str> = model.drives.iter().map(|d| d.name.as_str()).collect();
            let verb = if drives.len() == 1 { "drives" } else { "drive" };
            match d.generic.mobility() - d.generic.idle(model) {
                0 if n == 1 => format!("It has 1 degree of freedom, and {} {verb} it.", names(&drives)),
                0 => format!("It has {n} degrees of freedom, and {} {verb} all of them.", names(&drives)),
                left => {
                    let stay = if left == 1 { "1 stays".into() } else { format!("{left} stay") };
                    format!("It has {}; {} {verb} {}, {stay} free.", degrees(n), names(&drives), n - left.min(n))
                }
            }
        }
    };
    let r = f.explanation.redundancy.total;
    if r > 0 {
        let rows = if r == 1 { "1 constraint row is".into() } else { format!("{r} constraint rows are") };
        let harmless = if n > 0 { "; the motion is not affected" } else { "" };
        text += &format!(" {rows} redundant{harmless}.");
    }
    if f.free.singular_start {
        text += " It starts in a singular pose.";
    }
    text
}

/// Contradictory sets.
fn conflicts(facts: &mut Facts, f: &Findings) {
    for s in &f.explanation.sets {
        let what = match s.agreement {
            Agreement::Conflicting { gap } => format!("require different positions: a gap of {} m remains", number(gap)),
            Agreement::ConflictingSpeeds { speed } => format!("require different velocities: {} m/s apart", number(speed)),
            Agreement::Consistent => continue,
        };
        facts.add("conflict", &format!("{} {what}", names(&s.names)));
    }
}

/// Whether the start is consistent, and the text that reports it.
fn start(model: &Model, f: &Findings) -> (bool, String) {
    let stated = model.bodies.iter().any(|b| b.v.norm() + b.omega.norm() > 0.0);
    match &f.assembled {
        Ok(a) if a.residual_before > 1e-6 * model.length => {
            let open: Vec<&str> = a.open.iter().map(|g| g.name.as_str()).collect();
            let (are, them) = if open.len() == 1 { ("is", "it") } else { ("are", "them") };
            let note = a.note().map_or(String::new(), |n| format!("; {n}"));
            (
                false,
                format!(
                    "not consistent: {} {are} open as drawn; assembly closes {them} (`fourbar assemble` shows how){note}",
                    names(&open)
                ),
            )
        }
        Ok(a) if stated && a.velocity_residual_before > 1e-6 * model.length => {
            let worst = number(a.velocity_residual_before);
            (false, format!("positions are consistent; velocities are not (worst {worst} m/s) and are projected"))
        }
        Ok(a) => {
            let velocities = if a.velocity_residual_before > 1e-6 * model.length { "; velocities follow from the drives" } else { "" };
            let closed = if a.residual_before < 1e-12 * model.length {
                if model.joints.is_empty() { "all constraints hold" } else { "all joints are closed" }.to_string()
            } else {
                format!("largest gap {} m", number(a.residual_before))
            };
            let asked: Vec<&str> = a.asked.iter().map(|g| g.name.as_str()).collect();
            let moved = if asked.is_empty() { String::new() } else { format!("; moved to {} as `start:` requires", names(&asked)) };
            (true, format!("consistent: {closed}{moved}{velocities}"))
        }
        Err(_) => (false, "the mechanism cannot be assembled".into()),
    }
}

fn moves(facts: &mut Facts, model: &Model, f: &Findings, most: usize) {
    let lines = motion::lines(model, f, most);
    for (k, line) in lines.iter().enumerate() {
        facts.add(if k == 0 { "motion" } else { "" }, line);
    }
    if let Some(d) = &f.driven {
        let idle = idle_drives(model, f);
        if idle > 0 {
            let some = if idle == 1 { "one of them prescribes".into() } else { format!("{idle} of them prescribe") };
            facts.add("drives", &format!("{some} what joints or other drives already prescribe at the start"));
        }
        if d.generic.mobility() > 0 && !f.still_free.is_empty() {
            // In the coordinates of the motions above, if these describe the pose completely.
            let undriven = f.explanation.coordinates.iter().map(|c| &c.named).filter(|c| c.drive.is_none());
            let own: Vec<FreeMotion> = undriven.map(|c| FreeMotion { name: c.joint.clone(), what: c.what }).collect();
            let free = if own.len() == d.generic.mobility() { &own } else { &f.still_free };
            facts.add("drives", &format!("leave free: {}", spoken(free)));
        }
    }
}

fn mobility(facts: &mut Facts, model: &Model, f: &Findings) {
    let m = &f.free;
    let how = match m.start.smallest {
        Some(s) if m.start.rank > 0 => {
            format!("; singular values below {TOLERANCE:.0e} of the largest count as zero, the smallest kept is {}", number(s))
        }
        Some(_) => "; there are no constraints".into(),
        None => ", found by eliminating body after body".into(),
    };
    facts.add(
        "mobility",
        &format!("{} by rank: {} freedoms - rank {} of the constraints{how}", m.start.mobility(), m.start.columns, m.start.rank),
    );
    match m.start.idle(model) {
        0 => {}
        1 => facts.add("", "1 of them turns a point mass about itself, has no effect and is not counted as a freedom"),
        n => facts.add("", &format!("{n} of them turn point masses about themselves, have no effect and are not counted as freedoms")),
    }
    let planar = match f.topology.planar {
        // Joints of planar mechanisms have two rows in the plane each, except welds.
        Some(_) => format!(", {} in its plane", planar_count(model)),
        None => String::new(),
    };
    facts.add("", &format!("{} by Gruebler's count: {} freedoms - {} constraint rows{planar}", m.by_count, m.start.columns, m.start.rows));
    if m.singular_start {
        facts.add("", &format!("nearby it is {} (rank {}): the start is a singular pose", m.generic.mobility(), m.generic.rank));
    }
}

/// Gruebler's count with three freedoms per body, for mechanisms all of whose joints keep one plane.
fn planar_count(model: &Model) -> i64 {
    let rows: i64 = model.joints.iter().map(|j| j.kind.in_plane().map_or(3, |p| p.rows as i64)).sum();
    let others = model.couplings.len() + model.bare.len();
    3 * model.moving() as i64 - rows - others as i64
}

/// Free motions as joint coordinates and bodies.
pub fn spoken(motions: &[FreeMotion]) -> String {
    const SHOWN: usize = 10;
    // The six degrees of freedom of a body without joints make one sentence.
    let mut parts: Vec<(String, usize)> = Vec::new();
    for m in motions {
        let text = match m.what {
            "angle" | "distance" => format!("{} of `{}`", m.what, m.name),
            what => format!("`{}` {what}", m.name),
        };
        match parts.iter_mut().find(|(t, _)| *t == text) {
            Some((_, n)) => *n += 1,
            None => parts.push((text, 1)),
        }
    }
    let more = parts.len().saturating_sub(SHOWN);
    let mut text =
        parts.into_iter().take(SHOWN).map(|(t, n)| if n > 1 { format!("{t} ({n} ways)") } else { t }).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

fn redundant(facts: &mut Facts, f: &Findings, most: usize, all: bool) {
    let r = &f.explanation.redundancy;
    if r.total == 0 && f.explanation.sets.is_empty() {
        facts.add("redundancy", "none: every constraint row is needed, every reaction is unique");
        return;
    }
    let sets = &f.explanation.sets;
    for (k, s) in sets.iter().take(most).enumerate() {
        facts.add(if k == 0 { "redundancy" } else { "" }, &set(s));
        if all && !s.single_loop {
            for j in &s.joints {
                facts.add("", &format!("  `{}` carries {}", j.joint, j.words.join("; ")));
            }
        }
    }
    if sets.is_empty() {
        // Too large to be explained: names only.
        for (k, s) in r.sets.iter().take(most).enumerate() {
            let label = if k == 0 { "redundancy" } else { "" };
            facts.add(label, &format!("{} among {}", count(s.times, "redundant constraint"), names(&s.names)));
        }
    }
    let known = sets.len().max(r.sets.len());
    if known > most {
        let rows: usize = r.sets.iter().skip(most).map(|s| s.times).sum();
        facts.add("", &format!("and {} with {}", count(known - most, "more set"), count(rows, "row")));
    }
    if r.unexplained > 0 {
        facts.add("", &format!("{} in loops that are not listed", count(r.unexplained, "more redundant constraint")));
    }
    cures(facts, f, most);
    reactions(facts, f, most);
}

fn set(s: &Explained) -> String {
    let what = if s.directions.is_empty() { String::new() } else { format!(": {}", s.directions.join("; ")) };
    let where_ = if s.single_loop { "in the loop of" } else { "among" };
    let when = match s.when {
        When::Always => "at every pose examined",
        When::OnlyHere => "only at this pose",
        When::MoreHere => "partly only at this pose",
        When::OnePose => "in its one pose",
    };
    let agree = if s.agreement == Agreement::Consistent { "consistent" } else { "contradictory" };
    format!("{} {where_} {}{what} ({when}; {agree})", count(s.times, "redundant constraint"), names(&s.names))
}

fn cures(facts: &mut Facts, f: &Findings, most: usize) {
    let e = &f.explanation;
    let summary = e.cures.len().min(most);
    for (k, c) in e.cures.iter().take(most).enumerate() {
        let exchanged: Vec<String> = c.exchange.iter().filter(|x| x.to != "none").map(|x| format!("`{}` {}", x.joint, x.to)).collect();
        let left_out: Vec<&str> = c.exchange.iter().filter(|x| x.to == "none").map(|x| x.joint.as_str()).collect();
        let mut parts = Vec::new();
        if !exchanged.is_empty() {
            parts.push(format!("make {}", joined(&exchanged)));
        }
        if !left_out.is_empty() {
            parts.push(format!("leave out {}", names(&left_out)));
        }
        let mut text = parts.join(", ");
        if k + 1 == summary {
            let left = match e.uncured {
                0 => "nothing is redundant".to_string(),
                1 => "1 constraint is still redundant".into(),
                n => format!("{n} constraints are still redundant"),
            };
            let all = if summary > 1 { "all together " } else { "" };
            text += &format!(" ({all}tried at {}: the motion is the same and {left})", count(c.poses, "pose"));
        }
        facts.add(if k == 0 { "cure" } else { "" }, &text);
    }
    if e.cures.len() > most {
        facts.add("", &format!("and {}", count(e.cures.len() - most, "more exchange")));
    }
    let tried = !e.skipped.iter().any(|s| s.what == "replacements of joints") && f.assembled.is_ok();
    if e.cures.is_empty() && e.redundancy.total > 0 && tried {
        facts.add("cure", "no replacement of up to three joints removes the redundancy and keeps the motion");
    }
}

/// Which reaction components are unique; joints with the same list are reported together.
fn reactions(facts: &mut Facts, f: &Findings, most: usize) {
    let mut groups: Vec<(Vec<&str>, &[String])> = Vec::new();
    for (joint, components) in &f.explanation.not_unique {
        match groups.iter_mut().find(|(_, c)| *c == components.as_slice()) {
            Some((joints, _)) => joints.push(joint),
            None => groups.push((vec![joint], components)),
        }
    }
    for (k, (joints, components)) in groups.iter().take(most).enumerate() {
        let label = if k == 0 { "reactions" } else { "" };
        facts.add(label, &format!("not unique: {} of {}", brief(components), names(joints)));
    }
    if groups.len() > most {
        facts.add("", &format!("and of {}", count(groups.iter().skip(most).map(|g| g.0.len()).sum(), "more joint")));
    }
    if !groups.is_empty() {
        facts.add("", "all other components are unique");
    }
}

/// Components of a reaction; a force or torque without unique components is named as a whole.
fn brief(components: &[String]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for what in ["force", "torque"] {
        let own: Vec<&String> = components.iter().filter(|c| c.starts_with(what)).collect();
        if own.len() == 3 { parts.push(what.into()) } else { parts.extend(own.into_iter().cloned()) }
    }
    parts.join(", ")
}

/// Singular poses: all of a single sweep, the nearest of each of several sweeps; sweeps without any in one line.
fn singular(facts: &mut Facts, model: &Model, f: &Findings, most: usize) {
    let sweeps = &f.explanation.sweeps;
    let mut lines: Vec<(f64, String)> = Vec::new();
    let mut without: Vec<&Sweep> = Vec::new();
    let each = if sweeps.len() == 1 || most == usize::MAX { most } else { 1 };
    for s in sweeps {
        if s.events.is_empty() {
            without.push(s);
        }
        for (k, e) in s.events.iter().take(each).enumerate() {
            let rest = s.events.len().saturating_sub(each);
            let more = if k + 1 == each && rest > 0 { format!("; {rest} more farther away") } else { String::new() };
            // Equally distant ones keep the order of the sweeps, independent of rounding.
            lines.push(((1e2 * e.path.abs() / model.length).round(), event(s, e) + &more));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let more = lines.len().saturating_sub(most);
    let mut text: Vec<String> = lines.into_iter().take(most).map(|(_, t)| t).collect();
    if more > 0 {
        text.push(format!("and {} along other coordinates", count(more, "more pose")));
    }
    match without.as_slice() {
        [] => {}
        list if sweeps.len() == 1 || most == usize::MAX => text.extend(list.iter().map(|s| regular(s))),
        list => {
            let joints: Vec<&str> = list.iter().map(|s| s.coordinate.joint.as_str()).collect();
            text.push(format!("none along {}", names(&joints)));
        }
    }
    for (k, line) in text.iter().enumerate() {
        facts.add(if k == 0 { "singular" } else { "" }, line);
    }
}

/// A sweep without singular poses, and where it is closest to one.
fn regular(s: &Sweep) -> String {
    let c = &s.coordinate;
    let dead = if c.drive.is_some() { "no dead point and no branching" } else { "no branching" };
    let way = if s.closed {
        "along the whole motion"
    } else if s.lost {
        "until no further pose was found"
    } else {
        "as far as it was followed"
    };
    let (start, least, value) = s.sigma;
    let near = if least < 0.9 * start {
        let at = quantity(c.what, value);
        format!(
            "; nearest to one at `{}` = {at}, where the smallest singular value is {} ({} at the start)",
            c.joint,
            number(least),
            number(start)
        )
    } else {
        "; the smallest singular value is never below that of the start".into()
    };
    format!("{} of `{}`: {dead} {way}{near}", c.what, c.joint)
}

fn event(s: &Sweep, e: &Event) -> String {
    let c = &s.coordinate;
    let place = format!("`{}` = {}", c.joint, quantity(c.what, e.value));
    let away = if e.path == 0.0 { "the start".into() } else { format!("{} from the start", quantity(c.what, e.away.abs())) };
    match (e.kind, &c.drive) {
        (Kind::DeadPoint, Some(d)) if e.names.first() == Some(d) => {
            format!("dead point of `{d}` at {place} ({away}): it cannot drive the mechanism past this pose")
        }
        (Kind::DeadPoint, _) => format!("dead point at {place} ({away}): the drives do not control the mechanism there"),
        (Kind::Bifurcation, _) => {
            format!("branches of motion cross at {place} ({away}): mobility {} there, {} depend on each other", e.mobility, names(&e.names))
        }
    }
}

fn modes(facts: &mut Facts, model: &Model, f: &Findings, most: usize) {
    let e = &f.explanation;
    if e.modes.is_empty() {
        return;
    }
    let held: Vec<&str> = e.coordinates.iter().map(|c| c.named.joint.as_str()).collect();
    let same = if held.is_empty() { String::new() } else { format!(" with {} as drawn", names(&held)) };
    if e.modes.len() == 1 {
        facts.add("assembly", &format!("no other way to assemble it{same} was found from {}", count(e.starts, "random start")));
        return;
    }
    let text = format!(
        "{} ways to assemble it{same} were found from {}; `--assembly-modes FILE.html` draws them",
        e.modes.len(),
        count(e.starts, "random start")
    );
    facts.add("assembly", &text);
    for line in mode_lines(model, f, most) {
        facts.add("", &line);
    }
    if e.modes.len() - 1 > most {
        facts.add("", &format!("and {} more", e.modes.len() - 1 - most));
    }
}

/// Differences of the other modes from the drawn one, at most `most` of them.
pub fn mode_lines(model: &Model, f: &Findings, most: usize) -> Vec<String> {
    let e = &f.explanation;
    let crossing = e.sweeps.iter().any(|s| s.events.iter().any(|e| e.kind == Kind::Bifurcation));
    let lines = modes::lines(model, &e.modes, most);
    lines.into_iter().zip(&e.modes[1.min(e.modes.len())..]).map(|(line, m)| line + reach(m, crossing)).collect()
}

fn reach(m: &Mode, crossing: bool) -> &'static str {
    match m.reachable {
        Some(true) => "; the motion passes it",
        Some(false) => "; cannot be reached by moving it, only by taking it apart",
        None if crossing => "; perhaps reached where branches cross",
        None => "",
    }
}

fn structure(facts: &mut Facts, model: &Model, f: &Findings, all: bool) {
    let t = &f.topology;
    let plane = match &t.planar {
        Some(n) => format!("planar, normal ({}, {}, {})", number(n.x), number(n.y), number(n.z)),
        None => "spatial".into(),
    };
    let loops = if t.loops.is_empty() { "no loops".into() } else { count(t.loops.len(), "loop") };
    facts.add("made of", &format!("{}; {plane}; tree of depth {}, {loops}", elements(model), depth(t)));
    for l in t.loops.iter().take(if all { usize::MAX } else { 0 }) {
        let joints: Vec<&str> = around(l).into_iter().map(|k| model.joints[k].name.as_str()).collect();
        facts.add("", &format!("loop of {}", names(&joints)));
    }
    let groups = floating(model, t);
    for group in groups.iter().take(FEW) {
        facts.add("", &format!("not joined to the ground: {}", names(group)));
    }
    if groups.len() > FEW {
        facts.add("", &format!("and {} more groups of bodies not joined to the ground", groups.len() - FEW));
    }
}

/// Mass properties: of all bodies, or of those whose principal axes are not the axes of their frame.
fn masses(facts: &mut Facts, model: &Model, most: usize, all: bool) {
    let bodies: Vec<_> = model.bodies.iter().skip(1).filter(|b| all || inertia::is_turned(b)).collect();
    for (k, b) in bodies.iter().take(most).enumerate() {
        facts.add(if k == 0 { "inertia" } else { "" }, &inertia::sentence(b));
    }
    if bodies.len() > most {
        let more = match bodies.len() - most {
            1 => "1 more body whose principal axes are".into(),
            n => format!("{n} more bodies whose principal axes are"),
        };
        facts.add("", &format!("and {more} not those of the frame"));
    }
}

fn elements(model: &Model) -> String {
    let mut parts = vec![if model.moving() == 1 { "1 body".to_string() } else { format!("{} bodies", model.moving()) }, kinds(model)];
    let compliant = model.forces.iter().filter(|(_, f)| matches!(f, fourbar::force::Force::Contact(_))).count();
    let more = [
        (model.couplings.len(), "coupling"),
        (model.bare.len(), "bare constraint"),
        (model.rolling.len(), "rolling element"),
        (model.drives.len(), "drive"),
        (model.forces.len() - compliant, "force"),
        (compliant + model.contacts.len(), "contact pair"),
        (model.points.len(), "point"),
        (model.inputs.len(), "input"),
        (model.states.len(), "state"),
        (model.outputs.len(), "output"),
    ];
    parts.extend(more.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what)));
    parts.join(", ")
}

/// `4 joints (3 revolute, 1 prismatic)`.
fn kinds(model: &Model) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for j in &model.joints {
        match kinds.iter_mut().find(|(k, _)| *k == j.kind.name()) {
            Some((_, n)) => *n += 1,
            None => kinds.push((j.kind.name(), 1)),
        }
    }
    let list = kinds.iter().map(|(k, n)| format!("{n} {k}")).collect::<Vec<_>>().join(", ");
    if list.is_empty() { "no joints".into() } else { format!("{} ({list})", count(model.joints.len(), "joint")) }
}

/// Limits, events, and warnings about smoothed friction.
fn switches(facts: &mut Facts, model: &Model) {
    for (k, l) in model.limits.iter().take(FEW).enumerate() {
        let side = if l.side > 0.0 { "not below" } else { "not above" };
        let how = if l.restitution > 0.0 { format!("rigid, restitution {}", number(l.restitution)) } else { "rigid".to_string() };
        facts.add(if k == 0 { "limits" } else { "" }, &format!("`{}`: {side} {}, {how}", l.name, number(l.bound)));
    }
    if model.limits.len() > FEW {
        facts.add("", &format!("and {} more", model.limits.len() - FEW));
    }
    if !model.events.is_empty() {
        let list: Vec<&str> = model.events.iter().map(|e| e.name.as_str()).collect();
        facts.add("events", &names(&list));
    }
    let smooth = model.forces.iter().filter_map(|(name, f)| match f {
        fourbar::force::Force::Friction(f) if !f.stick && (f.coulomb > 0.0 || f.preload > 0.0) => Some((name, f)),
        _ => None,
    });
    for (name, f) in smooth.take(FEW) {
        let turns = f.coordinate(model) == fourbar::model::JointCoordinate::Angle;
        let lever = if turns && f.radius > 0.0 { f.radius } else { 1.0 };
        let creep = f.speed / lever * 0.5_f64.atanh();
        let unit = if turns { "rad/s" } else { "m/s" };
        let line = format!(
            "`{name}` is smoothed: under half of its holding load the joint creeps at {} {unit}; `stick: true` prevents this",
            number(creep)
        );
        facts.add("friction", &line);
    }
}

fn ranges(facts: &mut Facts, f: &Findings) {
    for s in &f.explanation.sweeps {
        let c = &s.coordinate;
        facts.add("ranges", &format!("with {} of `{}` swept:", c.what, c.joint));
        for r in &s.ranges {
            let (from, to) = (quantity(r.what, r.from), quantity(r.what, r.to));
            let how = if r.full_turn { "right round".into() } else { format!("{from} to {to}") };
            facts.add("", &format!("  `{}` {}: {how}", r.joint, r.what));
        }
    }
}

fn applies(facts: &mut Facts, model: &Model, f: &Findings, all: bool) {
    if f.assembled.is_err() {
        return;
    }
    let kinematics = match &f.driven {
        Some(d) if d.generic.mobility() == 0 => "kinematics, dynamics",
        None if f.free.generic.mobility() == 0 && !in_time(model).is_empty() => "kinematics, dynamics",
        _ => "dynamics",
    };
    facts.add("analyses", kinematics);
    if all {
        for form in FORMULATIONS {
            let label = if form.name == FORMULATIONS[0].name { "formulations" } else { "" };
            let line = match (form.applies)(model) {
                Ok(()) => format!("{}: applies ({})", form.name, form.summary),
                Err(d) => format!("{}: does not apply: {}", form.name, d.message),
            };
            facts.add(label, &line);
        }
        let s = Study::of(model);
        let what = model.study.analysis.as_deref().map_or("chosen by the drives".to_string(), String::from);
        facts.add("study", &format!("{what}, to {} s, output every {} s", number(s.t_end), number(s.output_step)));
    }
}
