//! The motion as pictures, without a browser: an animated SVG, a GIF, or a still picture of the first pose with later poses behind it.
//!
//! Everything is drawn as strokes through points of bodies, in the same way for planar and spatial mechanisms. Planar mechanisms are viewed
//! along their normal, others obliquely from above.

mod gif;
mod raster;
mod svg;

pub use raster::{Frames, animated_gif, frames, still_png};
pub use svg::animated_svg;

use super::motion::{Kept, Poses};
use super::{Shown, absent};
use fourbar::Diagnostic;
use fourbar::force::Glyph;
use fourbar::model::{BodyId, Joint, Model, PointOn};
use fourbar::spec::Shape;
use fourbar::topology::Topology;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use std::collections::HashSet;

/// Longest edge of the drawing area, and the margin around it, in pixels.
const FIELD: f64 = 440.0;
const MARGIN: f64 = 26.0;
/// Largest number of key frames.
const FRAMES: usize = 90;
/// Shortest and longest duration, seconds: motions outside this range are played slower or faster.
const DURATION: [f64; 2] = [2.0, 12.0];
/// Colours of the bodies, which colour-blind people can distinguish, and of the other parts.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
const INK: &str = "#333";
const TRACE: &str = "#c1272d";

/// Poses at one time.
struct Frame<'m> {
    poses: Vec<(Vector3<f64>, UnitQuaternion<f64>)>,
    /// Joints and forces that are inactive.
    absent: HashSet<&'m str>,
}

/// Projection from space to the picture.
struct Camera {
    right: Vector3<f64>,
    up: Vector3<f64>,
    planar: bool,
    /// Pixels per metre, and the corner of the drawing area.
    scale: f64,
    corner: [f64; 2],
    height: f64,
}

impl Camera {
    /// Views a planar mechanism along its normal, a spatial one obliquely from above; up is opposite to gravity if possible.
    fn new(model: &Model, frames: &[Frame<'_>]) -> Self {
        let normal = Topology::new(model).planar.or_else(|| plane_of(model, frames));
        let planar = normal.is_some();
        let vertical = -model.gravity;
        let wanted = vertical.try_normalize(1e-9).unwrap_or(Vector3::z());
        let view = normal.unwrap_or_else(|| {
            let side = if wanted.z.abs() > 0.9 { Vector3::new(0.55, -0.78, 0.0) } else { Vector3::new(0.55, 0.0, 0.78) };
            side + 0.42 * wanted
        });
        let view = view.try_normalize(1e-9).unwrap_or(Vector3::z());
        let across = |up: &Vector3<f64>| (up - view * view.dot(up)).try_normalize(1e-3);
        let up = across(&wanted).or_else(|| across(&Vector3::y())).or_else(|| across(&Vector3::z())).unwrap_or(Vector3::y());
        // Of the two sides of the plane, the one with x to the right.
        let mut right = up.cross(&view);
        if planar && right.sum() < 0.0 {
            right = -right;
        }
        Self { right, up, planar, scale: 1.0, corner: [0.0; 2], height: 0.0 }
    }

    fn flat(&self, p: &Vector3<f64>) -> [f64; 2] {
        [self.right.dot(p), self.up.dot(p)]
    }

    fn pixel(&self, p: &Vector3<f64>) -> [f64; 2] {
        let [x, y] = self.flat(p);
        [MARGIN + (x - self.corner[0]) * self.scale, self.height - MARGIN - (y - self.corner[1]) * self.scale]
    }
}

/// The normal of the plane in which all bodies move, even if the joints would allow other motions.
fn plane_of(model: &Model, frames: &[Frame<'_>]) -> Option<Vector3<f64>> {
    let (first, rest) = frames.split_first()?;
    let turns = || {
        rest.iter()
            .flat_map(|f| f.poses.iter().zip(&first.poses).skip(1).map(|((r, q), (r0, q0))| (r - r0, (q * q0.inverse()).scaled_axis())))
    };
    let largest = turns().map(|(_, w)| w).max_by(|a, b| a.norm().total_cmp(&b.norm()))?;
    let normal = largest.try_normalize(1e-3)?;
    let inside = turns().all(|(d, w)| w.cross(&normal).norm() < 1e-6 * w.norm().max(1.0) && d.dot(&normal).abs() < 1e-6 * model.length);
    inside.then_some(normal)
}

impl Frame<'_> {
    fn new(model: &Model, poses: &Poses<'_>, row: usize) -> Self {
        let mut list = vec![(Vector3::zeros(), UnitQuaternion::identity())];
        for body in 0..model.bodies.len() - 1 {
            let [w, x, y, z] = poses.p(body, row);
            list.push((poses.r(body, row).into(), UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))));
        }
        Self { poses: list, absent: HashSet::new() }
    }

    /// The world position of a point on a body.
    fn place(&self, p: &PointOn) -> Vector3<f64> {
        let (r, q) = &self.poses[p.body.index()];
        r + q * p.s
    }
}

/// Strokes of the same style through points of bodies.
struct Part {
    /// Lines through points; all are closed or none is.
    strokes: Vec<Vec<PointOn>>,
    closed: bool,
    colour: String,
    /// Line width: metres for the width of a part, otherwise pixels.
    width: Width,
    /// Whether the inside is filled.
    filled: bool,
    coil: bool,
    /// The joint or force it represents, if it is not a body.
    of: Option<String>,
}

#[derive(Clone, Copy)]
enum Width {
    Metres(f64),
    Pixels(f64),
}

/// A motion laid out for drawing.
struct Film<'m> {
    model: &'m Model,
    camera: Camera,
    parts: Vec<Part>,
    traces: Vec<PointOn>,
    /// Key frames, and their times as fractions of the duration.
    frames: Vec<Frame<'m>>,
    shares: Vec<f64>,
    /// Paths of the traced points through all rows, in pixels.
    paths: Vec<Vec<[f64; 2]>>,
    /// Width and height of the picture, in pixels.
    size: [f64; 2],
    /// Duration of the motion and of its playback, seconds.
    span: f64,
    duration: f64,
}

impl<'m> Film<'m> {
    /// The motion of a result, with at most `most` key frames.
    fn new(model: &'m Model, shown: &Shown<'_>, most: usize) -> Result<Self, Diagnostic> {
        let (table, label) = (shown.table, shown.label.as_str());
        let poses = Poses::find(model, table, label)?;
        let times = table.column("t").unwrap_or(&[]);
        let (sound, _) = poses.sound_rows(table.rows().min(times.len()));
        if sound == 0 {
            return Err(Diagnostic::new("U013", format!("the result `{label}` has no rows, or no time"))
                .help("the run may have ended before its first output"));
        }
        let rows = Kept::at_most(sound, most).rows;
        let frame = |&k: &usize| Frame { absent: absent(model, &shown.summary.events, times[k]), ..Frame::new(model, &poses, k) };
        let frames: Vec<Frame<'m>> = rows.iter().map(frame).collect();
        let mut camera = Camera::new(model, &frames);
        let parts = parts(model, &camera, &frames[0]);
        let traces = traces(model);
        let all: Vec<Frame<'_>> = if traces.is_empty() { Vec::new() } else { (0..sound).map(|k| Frame::new(model, &poses, k)).collect() };
        let size = fit(&mut camera, model, &parts, &frames, &traces, &all);
        let paths = traces.iter().map(|p| all.iter().map(|f| camera.pixel(&f.place(p))).collect()).collect();
        let span = times[sound - 1] - times[0];
        // Rows with unequal time steps keep their times.
        let shares = rows.iter().map(|&k| if span > 0.0 { (times[k] - times[0]) / span } else { 0.0 }).collect();
        let duration = span.clamp(DURATION[0], DURATION[1]);
        Ok(Self { model, camera, parts, traces, frames, shares, paths, size, span, duration })
    }

    /// Line width of a part in pixels.
    fn pen(&self, part: &Part) -> f64 {
        match part.width {
            Width::Metres(w) => (w * self.camera.scale).clamp(3.0, 60.0),
            Width::Pixels(w) => w,
        }
    }

    /// Positions of joints in a frame, in pixels, and whether the joints are active.
    fn joints(&self, frame: &Frame<'_>) -> Vec<([f64; 2], bool)> {
        let place = |j: &Joint| self.camera.pixel(&frame.place(&PointOn { body: j.bodies[1], s: j.M.s }));
        self.model.joints.iter().map(|j| (place(j), !frame.absent.contains(j.name.as_str()))).collect()
    }
}

/// Drawing of the ground, in pixels.
enum Footing {
    /// A support under a joint.
    Foot([f64; 2]),
    /// A rail along which a body slides.
    Rail([[f64; 2]; 2]),
}

/// Traced points: those of the view, otherwise the first ones of the file.
fn traces(model: &Model) -> Vec<PointOn> {
    let point = |name: &String| model.points.iter().find(|(n, _)| n == name).map(|(_, p)| *p);
    let body = |name: &String| {
        let k = model.bodies.iter().position(|b| b.name == *name)?;
        Some(PointOn { body: BodyId(k as u32), s: Vector3::zeros() })
    };
    match model.trace.is_empty() {
        false => model.trace.iter().filter_map(|n| point(n).or_else(|| body(n))).take(6).collect(),
        true => model.points.iter().map(|(_, p)| *p).filter(|p| p.body != BodyId::GROUND).take(3).collect(),
    }
}

/// All drawn parts of bodies and springs.
fn parts(model: &Model, camera: &Camera, first: &Frame<'_>) -> Vec<Part> {
    let mut list = Vec::new();
    for (k, b) in model.bodies.iter().enumerate() {
        let id = BodyId(k as u32);
        let colour = if k == 0 { "#999".to_string() } else { COLOURS[(k - 1) % COLOURS.len()].to_string() };
        let on = |p: &[f64; 3]| PointOn { body: id, s: Vector3::from(*p) - b.com };
        let shapes: Vec<&Shape> = b.shapes.iter().filter(|s| !matches!(s, Shape::Mesh { .. })).collect();
        for shape in &shapes {
            list.extend(drawn(shape, &on, &colour, camera, first));
        }
        if shapes.is_empty() && k > 0 {
            list.extend(made_from_joints(model, id, &colour, camera, first));
        }
    }
    for (name, f) in &model.forces {
        let (between, coil) = match f.glyph() {
            Glyph::Coil(between) => (between.to_vec(), true),
            Glyph::Line { path, .. } => (path, false),
            _ => continue,
        };
        let of = Some(name.clone());
        list.push(Part {
            strokes: vec![between],
            closed: false,
            colour: "#666".into(),
            width: Width::Pixels(1.6),
            filled: false,
            coil,
            of,
        });
    }
    for j in model.joints.iter().filter(|j| j.kind.name() == "distance") {
        let ends = vec![PointOn { body: j.bodies[0], s: j.F.s }, PointOn { body: j.bodies[1], s: j.M.s }];
        list.push(Part {
            strokes: vec![ends],
            closed: false,
            colour: "#777".into(),
            width: Width::Pixels(3.0),
            filled: false,
            coil: false,
            of: Some(j.name.clone()),
        });
    }
    list
}

fn drawn(shape: &Shape, on: &dyn Fn(&[f64; 3]) -> PointOn, colour: &str, camera: &Camera, first: &Frame<'_>) -> Option<Part> {
    let part =
        |strokes, closed, width, filled| Some(Part { strokes, closed, colour: colour.to_string(), width, filled, coil: false, of: None });
    let outline = Width::Pixels(1.5);
    match shape {
        Shape::Rod { from, to, radius } => part(vec![vec![on(from), on(to)]], false, Width::Metres(2.0 * radius), false),
        Shape::Sphere { at, radius } => part(vec![vec![on(at), on(at)]], false, Width::Metres(2.0 * radius), false),
        Shape::Cylinder { from, to, radius } => {
            let (a, b) = (Vector3::from(*from), Vector3::from(*to));
            let axis = (b - a).try_normalize(0.0).unwrap_or(Vector3::z());
            let (_, q) = &first.poses[on(from).body.index()];
            let end_on = camera.planar && (q * axis).cross(&camera.right.cross(&camera.up)).norm() < 0.1;
            if !end_on && (b - a).norm() > 2.0 * radius {
                return part(vec![vec![on(from), on(to)]], false, Width::Metres(2.0 * radius), false);
            }
            let u = axis.cross(&if axis.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() }).normalize();
            let v = axis.cross(&u);
            let ring = |centre: &Vector3<f64>| {
                // Seen along its axis it is a wheel, and should look round.
                let n = if end_on { 48 } else { 32 };
                let angles = (0..n).map(|k| f64::from(k) * std::f64::consts::TAU / f64::from(n));
                angles.map(|a| on(&(centre + (u * a.cos() + v * a.sin()) * *radius).into())).collect::<Vec<_>>()
            };
            let strokes = if end_on { vec![ring(&a)] } else { vec![ring(&a), ring(&b)] };
            part(strokes, true, outline, true)
        }
        Shape::Box { size, at } => {
            let corner = |i: usize| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 0.5 } else { -0.5 };
                on(&[at[0] + sign(0) * size[0], at[1] + sign(1) * size[1], at[2] + sign(2) * size[2]])
            };
            let faces = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
            let area = |f: &[usize; 4]| {
                let p: Vec<[f64; 2]> = f.iter().map(|&i| camera.flat(&first.place(&corner(i)))).collect();
                (0..4).map(|k| p[k][0] * p[(k + 1) % 4][1] - p[k][1] * p[(k + 1) % 4][0]).sum::<f64>().abs()
            };
            // Seen along the normal, one face hides the others.
            let shown: Vec<[usize; 4]> = match camera.planar {
                true => faces.into_iter().max_by(|a, b| area(a).total_cmp(&area(b))).into_iter().collect(),
                false => faces.to_vec(),
            };
            part(shown.iter().map(|f| f.iter().map(|&i| corner(i)).collect()).collect(), true, outline, true)
        }
        Shape::Plate { points, .. } => part(vec![points.iter().map(on).collect()], true, outline, true),
        Shape::Mesh { .. } => None,
    }
}

/// A body without shapes: lines between its joints, or the plate that they span.
fn made_from_joints(model: &Model, id: BodyId, colour: &str, camera: &Camera, first: &Frame<'_>) -> Option<Part> {
    let mut places: Vec<PointOn> = Vec::new();
    let ends = model.joints.iter().flat_map(|j| [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)]);
    let marked = model.points.iter().map(|(_, p)| (p.body, p.s));
    for (_, s) in ends.chain(marked).filter(|(b, _)| *b == id) {
        if places.iter().all(|p| (p.s - s).norm() > 1e-9 * model.length) {
            places.push(PointOn { body: id, s });
        }
    }
    if places.len() == 1 && places[0].s.norm() > 1e-9 * model.length {
        places.push(PointOn { body: id, s: Vector3::zeros() });
    }
    let part =
        |strokes, closed, width, filled| Some(Part { strokes, closed, colour: colour.to_string(), width, filled, coil: false, of: None });
    match places.len() {
        0 | 1 => part(vec![vec![PointOn { body: id, s: Vector3::zeros() }; 2]], false, Width::Pixels(14.0), false),
        2 => part(vec![places], false, Width::Pixels(6.0), false),
        n => {
            let middle = places.iter().map(|p| p.s).sum::<Vector3<f64>>() / n as f64;
            if camera.planar {
                let centre = camera.flat(&first.place(&PointOn { body: id, s: middle }));
                let angle = |p: &PointOn| {
                    let [x, y] = camera.flat(&first.place(p));
                    (y - centre[1]).atan2(x - centre[0])
                };
                places.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
                return part(vec![places], true, Width::Pixels(4.0), true);
            }
            let spokes = places.iter().map(|p| vec![PointOn { body: id, s: middle }, *p]).collect();
            part(spokes, false, Width::Pixels(5.0), false)
        }
    }
}

/// Chooses the scale so that the whole motion is visible, including the traces of `all` rows; returns the size of the picture.
fn fit(camera: &mut Camera, model: &Model, parts: &[Part], frames: &[Frame<'_>], traces: &[PointOn], all: &[Frame<'_>]) -> [f64; 2] {
    let (mut lo, mut hi) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    let mut see = |p: [f64; 2], room: f64| {
        for k in 0..2 {
            lo[k] = lo[k].min(p[k] - room);
            hi[k] = hi[k].max(p[k] + room);
        }
    };
    for f in frames {
        for part in parts {
            let room = if let Width::Metres(w) = part.width { 0.5 * w } else { 0.0 };
            part.strokes.iter().flatten().for_each(|p| see(camera.flat(&f.place(p)), room));
        }
    }
    for f in all {
        traces.iter().for_each(|p| see(camera.flat(&f.place(p)), 0.0));
    }
    for j in model.joints.iter().filter(|j| j.bodies[0] == BodyId::GROUND) {
        see(camera.flat(&frames[0].place(&PointOn { body: BodyId::GROUND, s: j.F.s })), 0.0);
    }
    if lo[0] > hi[0] {
        (lo, hi) = ([-0.5 * model.length; 2], [0.5 * model.length; 2]);
    }
    let size = (hi[0] - lo[0]).max(hi[1] - lo[1]).max(1e-12);
    camera.scale = FIELD / size;
    camera.corner = lo;
    // A motion along a line still needs a picture of some height.
    let extent = |k: usize| ((hi[k] - lo[k]) * camera.scale).max(0.2 * FIELD);
    let (wide, high) = (extent(0), extent(1));
    camera.corner = [0.5 * (lo[0] + hi[0]) - 0.5 * wide / camera.scale, 0.5 * (lo[1] + hi[1]) - 0.5 * high / camera.scale];
    camera.height = high + 2.0 * MARGIN;
    [wide + 2.0 * MARGIN, camera.height]
}

/// Supports under joints of the ground, and rails for sliding bodies.
fn footings(model: &Model, camera: &Camera, frames: &[Frame<'_>]) -> Vec<Footing> {
    let mut list = Vec::new();
    for j in model.joints.iter().filter(|j| j.bodies.contains(&BodyId::GROUND)) {
        let base = j.bodies[0] == BodyId::GROUND;
        let own = PointOn { body: BodyId::GROUND, s: if base { j.F.s } else { j.M.s } };
        let other = PointOn { body: j.bodies[usize::from(base)], s: if base { j.M.s } else { j.F.s } };
        if matches!(j.kind.name(), "prismatic" | "cylindrical" | "point-on-line") {
            let along = if base { j.F.axis(2) } else { j.M.axis(2) };
            let places = frames.iter().map(|f| (f.place(&other) - own.s).dot(&along));
            let (lo, hi) = places.fold((0.0_f64, 0.0_f64), |(lo, hi), d| (lo.min(d), hi.max(d)));
            let room = 12.0 / camera.scale;
            list.push(Footing::Rail([lo - room, hi + room].map(|d| camera.pixel(&(own.s + along * d)))));
        } else {
            list.push(Footing::Foot(camera.pixel(&frames[0].place(&own))));
        }
    }
    list
}

/// The strokes of a part in a frame, in pixels.
fn strokes(part: &Part, camera: &Camera, frame: &Frame<'_>) -> Vec<Vec<[f64; 2]>> {
    let points = |stroke: &Vec<PointOn>| -> Vec<[f64; 2]> { stroke.iter().map(|p| camera.pixel(&frame.place(p))).collect() };
    part.strokes.iter().map(points).map(|p| if part.coil { coil(&p) } else { p }).collect()
}

impl Part {
    /// Whether the part is active in a frame.
    fn is_in(&self, frame: &Frame<'_>) -> bool {
        self.of.as_deref().is_none_or(|name| !frame.absent.contains(name))
    }
}

/// A coil spring between two points.
fn coil(ends: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let [a, b] = match ends {
        [a, b] => [*a, *b],
        other => return other.to_vec(),
    };
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let length = dx.hypot(dy).max(1e-9);
    let (nx, ny) = (-6.0 * dy / length, 6.0 * dx / length);
    let at = |f: f64, side: f64| [a[0] + f * dx + side * nx, a[1] + f * dy + side * ny];
    let turns = 8;
    let mut points = vec![a, at(0.12, 0.0)];
    points.extend((0..turns).map(|k| at(0.12 + 0.76 * (f64::from(k) + 0.5) / f64::from(turns), if k % 2 == 0 { 1.0 } else { -1.0 })));
    points.extend([at(0.88, 0.0), b]);
    points
}

/// A path without the points that are within half a pixel of the previous one.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut list: Vec<[f64; 2]> = Vec::new();
    for (k, [x, y]) in points.iter().enumerate() {
        let far = list.last().is_none_or(|[a, b]| (x - a).hypot(y - b) > 0.5);
        if far || k + 1 == points.len() {
            list.push([*x, *y]);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::RunSummary;
    use crate::results::Table;
    use crate::{ReadOptions, examples, read_model};
    use fourbar::study::{self, Study};
    use fourbar::trajectory::Trajectory;

    #[test]
    fn what_an_event_takes_out_is_not_drawn_any_more() {
        let text = "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies: {bob: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0]}}\njoints: {rod: {type: distance, bodies: [ground, bob], from: [0, 0, 0], to: [1, 0, 0]}}\nevents: {cut: {when: 't - 0.25', do: [{remove: rod}]}}\nstudy: {t_end: 0.5, output_step: 0.05}\n";
        let model = read_model(text, &ReadOptions::default()).expect("good").spec.build().expect("good");
        let mut rows = Trajectory::default();
        let report = study::run(&model, &Study::of(&model), &mut rows).unwrap_or_else(|f| panic!("{}", f.diagnostic));
        let (table, summary) = (Table::from(&rows), RunSummary::from(&report));
        let shown = Shown { label: "cut".into(), table: &table, summary: &summary };
        let film = Film::new(&model, &shown, FRAMES).expect("drawn");
        let there: Vec<bool> = film.frames.iter().map(|f| film.joints(f)[0].1).collect();
        let times = table.column("t").expect("times");
        assert!(there.len() == times.len() && there[0] && !there[there.len() - 1], "{there:?}");
        for (k, is) in there.iter().enumerate().filter(|(k, _)| (times[*k] - 0.25).abs() > 1e-6) {
            assert_eq!(*is, times[k] < 0.25, "at {} s", times[k]);
        }
        assert!(animated_svg(&model, &shown).expect("drawn").contains("visibility"));
    }

    #[test]
    fn traces_between_key_frames_are_in_the_picture() {
        let text = examples::example("fourbar").expect("shipped").text;
        let model = read_model(text, &ReadOptions::default()).expect("read").spec.build().expect("built");
        let mut rows = Trajectory::default();
        study::run(&model, &Study::of(&model), &mut rows).expect("runs");
        let (table, summary) = (Table::from(&rows), RunSummary::default());
        let film = Film::new(&model, &Shown { label: "fourbar".into(), table: &table, summary: &summary }, 2).expect("drawn");
        assert!(!film.paths.is_empty());
        for [x, y] in film.paths.iter().flatten() {
            assert!((0.0..=film.size[0]).contains(x) && (0.0..=film.size[1]).contains(y), "{x} {y} outside of {:?}", film.size);
        }
    }
}
