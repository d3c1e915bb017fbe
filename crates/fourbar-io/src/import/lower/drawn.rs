//! The start of a draft: drawn coordinates of joints, and whether every joint is closed.

use super::super::draft::*;
use fourbar::spec::PairKind;
use nalgebra::Vector3;

/// Tolerance of closure, relative to the size of the mechanism: assembly moves nothing by more.
const CLOSED: f64 = 1e-10;

/// Coordinate of a joint as drawn.
pub(super) fn coordinate(draft: &Draft, j: &Joint) -> Option<f64> {
    Some(if j.turns()? { angle(draft, j) } else { distance(draft, j) })
}

/// Angle about the axis of a joint as drawn, at most half a turn.
pub(super) fn angle(draft: &Draft, j: &Joint) -> f64 {
    let (f, m) = draft.drawn(j);
    let R = f.R.tr_mul(&m.R);
    R[(1, 0)].atan2(R[(0, 0)])
}

/// Distance along the axis of a joint as drawn.
pub(super) fn distance(draft: &Draft, j: &Joint) -> f64 {
    let (f, m) = draft.drawn(j);
    f.R.tr_mul(&(m.p - f.p)).z
}

/// Whether the start is as drawn: all joints are closed, and no coordinate is prescribed.
pub(super) fn stands(draft: &Draft) -> bool {
    let coupled = |c: &Coupling| {
        let [a, b] = c.joints.map(|k| coordinate(draft, &draft.joints[k]));
        a.zip(b).is_some_and(|(a, b)| (b - c.ratio * a).abs() <= CLOSED)
    };
    draft.drives.is_empty()
        && draft.gcons.is_empty()
        && draft.joints.iter().all(|j| j.links[0] == j.links[1] || closed(draft, j))
        && draft.couplings.iter().all(coupled)
}

/// Whether a joint is closed as drawn.
fn closed(draft: &Draft, j: &Joint) -> bool {
    let (f, m) = draft.drawn(j);
    let near = CLOSED * f.p.amax().max(1.0);
    let apart = f.R.tr_mul(&(m.p - f.p));
    let turned = f.R.tr_mul(&m.R);
    let z: Vector3<f64> = turned.column(2).into();
    let parallel = (z - Vector3::z()).amax() <= CLOSED;
    let unturned = (turned - nalgebra::Matrix3::identity()).amax() <= CLOSED;
    let (met, on_axis) = (apart.amax() <= near, apart.xy().amax() <= near);
    match j.kind {
        Kind::Welded | Kind::Free | Kind::Distance(None) | Kind::Angle(None) => true,
        Kind::Pair(PairKind::Fixed) => met && unturned,
        Kind::Pair(PairKind::Revolute) => met && parallel,
        Kind::Pair(PairKind::Prismatic) => on_axis && unturned,
        Kind::Pair(PairKind::Cylindrical) => on_axis && parallel,
        Kind::Pair(PairKind::Spherical) => met,
        Kind::Pair(PairKind::Planar) => apart.z.abs() <= near && parallel,
        Kind::Universal => met && z.z.abs() <= CLOSED,
        Kind::Pair(_) | Kind::Distance(Some(_)) | Kind::Angle(Some(_)) => false,
    }
}
