//! The findings of `check` as one JSON object, in SI units and radians.

use super::{Findings, depth, floating, idle_drives, in_time, inertia};
use crate::explain::sweep::{Event, Sweep};
use fourbar::analysis::assembly::modes::Mode;
use fourbar::analysis::rank::{FreeMotion, Mobility, TOLERANCE};
use fourbar::analysis::redundancy::around;
use fourbar::model::Model;
use fourbar::state::Pose;
use fourbar::study::FORMULATIONS;
use serde_json::{Map, Value, json};

/// All fields.
pub fn fields(model: &Model, f: &Findings) -> Value {
    let t = &f.topology;
    let e = &f.explanation;
    let motion = |m: &FreeMotion| json!({"name": m.name, "what": m.what});
    let loops: Vec<Vec<&str>> = t.loops.iter().map(|l| around(l).into_iter().map(|k| model.joints[k].name.as_str()).collect()).collect();
    let start = match &f.assembled {
        Ok(a) => json!({
            "assembles": true, "consistent": !a.start_was_inconsistent(model), "residual": a.residual_before,
            "velocity_residual": a.velocity_residual_before, "open": a.open,
        }),
        Err(_) => json!({"assembles": false, "consistent": false}),
    };
    let kinematics = match &f.driven {
        Some(d) => d.generic.mobility() == 0,
        None => f.free.generic.mobility() == 0 && !in_time(model).is_empty(),
    };
    let not_unique: Map<String, Value> = e.not_unique.iter().map(|(j, c)| (j.clone(), json!(c))).collect();
    let mut object = json!({
        "title": model.title,
        "bodies": model.moving(), "joints": model.joints.len(), "couplings": model.couplings.len(), "constraints": model.bare.len(), "rolling": model.rolling.len(),
        "drives": model.drives.len(), "forces": model.forces.len(), "points": model.points.len(),
        "gravity": model.gravity_given.then(|| [model.gravity.x, model.gravity.y, model.gravity.z]),
        "characteristic_length": model.length,
        "planar": t.planar.is_some(), "plane_normal": t.planar.map(|n| [n.x, n.y, n.z]),
        "tree_depth": depth(t), "components": t.components.len(), "loops": loops, "not_joined_to_ground": floating(model, t),
        "mobility": mobility(model, &f.free),
        "mobility_with_drives": f.driven.as_ref().map(|m| mobility(model, m)),
        "free_motions": f.motions.iter().map(motion).collect::<Vec<_>>(),
        "free_motions_with_drives": f.still_free.iter().map(motion).collect::<Vec<_>>(),
        "idle_drives": idle_drives(model, f),
        "redundancy": e.redundancy,
        "start": start,
        "analyses": {"kinematics": kinematics, "dynamics": true},
        "formulations": FORMULATIONS.iter().map(|f| {
            let why = (f.applies)(model).err().map(|d| d.message);
            json!({"name": f.name, "applies": why.is_none(), "why_not": why, "integrators": f.integrators})
        }).collect::<Vec<_>>(),
    });
    object["inertia"] = inertia::fields(model);
    object["redundant_sets"] = json!(e.sets);
    object["cures"] = json!({"exchanges": e.cures, "rows_left": e.uncured});
    object["reactions_not_unique"] = Value::Object(not_unique);
    object["sweeps"] = e.sweeps.iter().map(|s| sweep(model, s)).collect();
    object["nearest_singular"] = nearest(model, &e.sweeps);
    object["modes"] = e.modes.iter().map(|m| mode(model, m)).collect();
    object["mode_starts"] = json!(e.starts);
    object["doubts"] = json!(e.doubts);
    object["left_out"] = json!(e.skipped);
    object
}

fn mobility(model: &Model, m: &Mobility) -> Value {
    json!({
        "by_count": m.by_count, "by_rank": m.start.mobility(), "generic": m.generic.mobility(), "idle": m.generic.idle(model), "singular_start": m.singular_start,
        "freedoms": m.start.columns, "rows": m.start.rows, "rank": m.start.rank, "tolerance": TOLERANCE, "smallest_singular_value": m.start.smallest,
    })
}

/// Joint coordinates of a pose.
fn joints(model: &Model, q: &[Pose], turns: &[f64]) -> Value {
    let mut list = Map::new();
    for j in &model.joints {
        for (what, y) in j.coordinates() {
            let [a, b] = j.bodies.map(|b| &q[b.index()]);
            list.insert(format!("{}.{what}", j.name), json!(y.value(a, b, turns)));
        }
    }
    Value::Object(list)
}

fn event(model: &Model, e: &Event) -> Value {
    json!({
        "kind": e.kind, "value": e.value, "away": e.away, "path": e.path, "names": e.names, "mobility": e.mobility,
        "joints": joints(model, &e.q, &e.turns), "bodies": pose(model, &e.q),
    })
}

fn sweep(model: &Model, s: &Sweep) -> Value {
    let (start, least, at) = s.sigma;
    json!({
        "coordinate": s.coordinate, "held": s.held, "start": s.start, "closed": s.closed, "lost": s.lost, "poses": s.points.len(),
        "ranges": s.ranges, "singular": s.events.iter().map(|e| event(model, e)).collect::<Vec<_>>(),
        "smallest_singular_value": {"at_start": start, "least": least, "least_at": at},
    })
}

/// The singular pose with the shortest path to it.
fn nearest(model: &Model, sweeps: &[Sweep]) -> Value {
    let all = sweeps.iter().flat_map(|s| s.events.iter().map(move |e| (s, e)));
    let Some((s, e)) = all.min_by(|a, b| a.1.path.abs().total_cmp(&b.1.path.abs())) else { return Value::Null };
    let mut value = event(model, e);
    value["coordinate"] = json!(s.coordinate);
    value
}

fn mode(model: &Model, m: &Mode) -> Value {
    let c = &m.configuration;
    json!({
        "changes": m.changes, "farthest": {"body": m.farthest.0, "distance": m.farthest.1, "angle": m.farthest.2}, "reachable": m.reachable, "found": m.found, "joints": joints(model, &c.q, &c.turns), "bodies": pose(model, &c.q),
    })
}

/// Centre of mass and quaternion of every body.
pub fn pose(model: &Model, q: &[Pose]) -> Value {
    let bodies = model.bodies.iter().enumerate().skip(1).map(|(b, body)| {
        let p = fourbar_math::so3::quaternion(&q[b].A);
        (body.name.clone(), json!({"r": q[b].r.as_slice(), "p": p}))
    });
    Value::Object(bodies.collect())
}
