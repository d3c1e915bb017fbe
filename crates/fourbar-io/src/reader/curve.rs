//! Reads curves and the joints on them.

use super::record::{Record, Value};
use super::{Path, Reader};
use crate::keys::{CURVE, PLANE};
use crate::tree::{Content, Node, Text};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{CurvePoints, CurveSpec, JointSpec, Side, V3};

/// Origin, normal and first direction of a plane as written.
pub(crate) type LoosePlane = (V3, V3, Option<V3>);

impl Reader<'_> {
    /// A curve of the section `curves`.
    pub(crate) fn curve(&mut self, key: &Text, node: &Node, path: &Path<'_>) -> Option<CurveSpec> {
        let x = self.record(&CURVE, key, node, path, &[])?;
        if x.broken {
            return None;
        }
        let (Some(Value::Rows(rows)), closed) = (x.get("points"), x.flag("closed").unwrap_or(false)) else { return None };
        let plane = x.plane("plane");
        let two: Option<Vec<[f64; 2]>> = rows.iter().map(|r| r.as_slice().try_into().ok()).collect();
        if let Some(points) = two {
            let (at, normal, x) = plane.unwrap_or(([0.0; 3], [0.0, 0.0, 1.0], None));
            return Some(CurveSpec { points: CurvePoints::Plane { points, at, normal, x }, closed });
        }
        let three: Option<Vec<V3>> = rows.iter().map(|r| r.as_slice().try_into().ok()).collect();
        let span = x.span_of("points");
        match (three, plane) {
            (Some(points), None) => Some(CurveSpec { points: CurvePoints::Space(points), closed }),
            (Some(_), Some(_)) => {
                let message = format!("curve `{}` has a `plane` and points of three numbers", x.name);
                self.conflict(message, "points of three numbers define their own plane: omit `plane`", span, path);
                None
            }
            (None, _) => {
                let d = Diagnostic::new("M017", format!("the points of curve `{}` are not all of two or all of three numbers", x.name))
                    .help("write all points as `[x, y]` in a plane, or all as `[x, y, z]`")
                    .at(path.to_string());
                self.problem(d, span);
                None
            }
        }
    }

    /// Points of two or three numbers.
    pub(crate) fn curve_points(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<Vec<f64>>> {
        let items = self.items(node, None, path)?;
        let mut rows = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            if self.full() {
                return None;
            }
            let path = path.index(i);
            let count = match &item.content {
                Content::List(list) if list.len() == 2 => 2,
                _ => 3,
            };
            rows.push(match count {
                2 => self.numbers(item, &[Some(Dimension::LENGTH); 2], &path)?.to_vec(),
                _ => self.numbers(item, &[Some(Dimension::LENGTH); 3], &path)?.to_vec(),
            });
        }
        Some(rows)
    }

    /// The plane of a curve.
    pub(crate) fn plane(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<LoosePlane> {
        let x = self.record(&PLANE, key, node, path, &[])?;
        let plane = (x.vector("at").unwrap_or_default(), x.vector("normal").unwrap_or([0.0, 0.0, 1.0]), x.vector("x"));
        (!x.broken).then_some(plane)
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, node: &Node, path: &Path<'_>) -> Option<bool> {
        match self.text(node, path)?.as_str() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => {
                self.wrong_kind(node, "`true` or `false`", path);
                None
            }
        }
    }
}

/// A point of the moving body on a curve of the base.
pub(crate) fn point_on_curve(r: &mut Reader<'_>, x: &Record, _: &'static str) -> Option<JointSpec> {
    let bodies = x.pair("bodies")?;
    let at = r.settle(x, "at", x.place("at")?, Some(&bodies[1]))?.at;
    let side = match x.text("side").as_deref() {
        Some("left") => Some(Side::Left),
        Some(_) => Some(Side::Right),
        None => None,
    };
    Some(JointSpec::Curve { bodies, curve: x.text("curve")?, at, radius: x.number("radius").unwrap_or(0.0), side })
}
