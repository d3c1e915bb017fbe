//! Rotors behind gears. A file gives their inertia reflected to the joint: a kinetic energy of half this inertia times the squared rate of
//! the joint coordinate, for any motion of the links. A wheel on the ground whose angle follows that coordinate has exactly this energy and
//! no other effect; for a slide it is a mass that moves horizontally.

use super::super::draft::*;
use super::super::reading::{Reading, about};
use super::{LISTED, LITTLE, Merged, coordinate};
use fourbar::Diagnostic;
use fourbar::diagnostic::number;
use fourbar::spec::PairKind;
use nalgebra::{Matrix3, Vector3};

/// Adds a wheel or a mass on the ground for every rotor; rotors of joints without a single coordinate are listed.
pub(super) fn carry(draft: &mut Draft, merged: &mut Merged, reading: &Reading<'_>) {
    let total: f64 = draft.links.iter().enumerate().filter(|(k, _)| merged.0[*k].0 == *k).map(|(_, l)| l.body.mass).sum();
    let light = if total > 0.0 { LITTLE * total } else { LITTLE };
    let mut carried: Vec<(String, String)> = Vec::new();
    let mut first = None;
    for k in 0..draft.joints.len() {
        let j = draft.joints[k].clone();
        let inertia = j.passive.rotor;
        // A joint between parts of one body does not move.
        if inertia == 0.0 || j.links[0] == j.links[1] {
            continue;
        }
        let moves = match j.kind {
            Kind::Pair(PairKind::Revolute | PairKind::Cylindrical | PairKind::Screw { .. }) => Some(PairKind::Revolute),
            Kind::Pair(PairKind::Prismatic) => Some(PairKind::Prismatic),
            _ => None,
        };
        let (Some(kind), Some(drawn), true) = (moves, coordinate(draft, &j), inertia > 0.0) else {
            let unit = if j.turns() == Some(false) { "kg" } else { "kg m^2" };
            let why = if inertia < 0.0 { "it is negative" } else { "the joint has no single coordinate" };
            let message = format!("the rotor inertia of `{}`, {} {unit}, is not converted: {why}", j.name, number(inertia));
            let d = Diagnostic::new("W455", message).name(&j.name);
            reading.note(d.help("the mechanism moves as if this rotor were absent"), j.spot);
            continue;
        };
        let (base, _) = draft.drawn(&j);
        let (frame, to, body) = if kind == PairKind::Revolute {
            let to = Pose { p: Vector3::zeros(), R: about(&Vector3::z(), drawn) };
            (base, to, Body { mass: light, com: Vector3::zeros(), J: Matrix3::identity() * inertia })
        } else {
            // Horizontal, so that its weight does no work.
            let down = Vector3::from(draft.gravity.unwrap_or_default());
            let axis = if down.norm() > 0.0 { Vector3::from(Pose::with_axis(base.p, &down.normalize()).R.column(0)) } else { Vector3::z() };
            (
                Pose::with_axis(base.p, &axis),
                Pose::at(Vector3::z() * drawn),
                Body { mass: inertia, com: Vector3::zeros(), J: Matrix3::zeros() },
            )
        };
        let name = format!("{}_rotor", j.name);
        let link = draft.links.len();
        merged.0.push((link, Pose::IDENTITY));
        draft.links.push(Link {
            name: name.clone(),
            pose: frame.then(&to),
            body,
            shapes: Vec::new(),
            velocity: [Vector3::zeros(); 2],
            spot: j.spot,
        });
        let shaft = draft.joints.len();
        draft.joints.push(Joint::new(format!("{name}_shaft"), Kind::Pair(kind), [0, link], [frame, Pose::IDENTITY], j.spot));
        draft.couplings.push(Coupling { name: format!("{name}_gear"), joints: [k, shaft], ratio: 1.0, spot: j.spot });
        first.get_or_insert(j.spot);
        carried.push((j.name, name));
    }
    let Some(spot) = first else { return };
    let list: Vec<String> = carried.iter().take(LISTED).map(|(joint, rotor)| format!("`{rotor}` with `{joint}`")).collect();
    let more = match carried.len().saturating_sub(LISTED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let are = if carried.len() == 1 { "the rotor inertia is that of a body" } else { "rotor inertias are those of bodies" };
    let d = Diagnostic::new("W455", format!("{are} on the ground, moved by a gear: {}{more}", list.join(", ")))
        .names(carried.into_iter().map(|(_, rotor)| rotor))
        .help("they resist accelerations of the joints, and nothing else, as in the file");
    reading.note(d, spot);
}
