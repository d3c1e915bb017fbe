//! The JSON Schema of mechanism files, generated from the key tables.

#[cfg(test)]
mod tests;

use crate::keys::{
    BODY, CONSTRAINTS, CONTACT, CONTACT_FRICTION, CURVE, DRIVE, EVENT, Expect, FRAME, INPUT, INTEGRATOR, JOINTS, Key, MOTOR, ORIENTATION,
    OUTPUT, PATH, PLACE, PLANE, SHAPES, SIDE, SIDE_PLANE, SOLIDS, STATE, TABLE, TOLERANCE, TOP, Table,
};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of mechanism files, for editors.
pub fn schema() -> Value {
    let mut top = group(&TOP);
    let named = |inner: Value| json!({"type": "object", "propertyNames": {"$ref": "#/$defs/name"}, "additionalProperties": inner});
    let defs = json!({
        "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$", "not": {"enum": ["t", "ground", "energy", "error"]}},
        "number": {
            "description": "A number in SI units and radians, a quantity such as `40 mm`, or an expression such as `2*L1`.",
            "type": ["number", "string"]
        },
        "vector": {"type": "array", "items": {"$ref": "#/$defs/number"}, "minItems": 3, "maxItems": 3},
        "parameters": named(json!({"$ref": "#/$defs/number"})),
        "bodies": named(group(&BODY)),
        "joints": named(one_of(JOINTS.iter().map(|t| &t.table))),
        "constraints": named(one_of(CONSTRAINTS.iter().map(|t| &t.table))),
        "drives": named(group(&DRIVE)),
        "forces": named(one_of(crate::keys::forces().iter().map(|t| &t.table))),
        "contacts": named(group(&CONTACT)),
        "points": named(group(&PLACE)),
        "tables": named(group(&TABLE)),
        "outputs": named(json!({"anyOf": [{"$ref": "#/$defs/number"}, group(&OUTPUT)]})),
        "tolerances": named(json!({"anyOf": [{"$ref": "#/$defs/number"}, group(&TOLERANCE)]})),
        "inputs": named(group(&INPUT)),
        "states": named(group(&STATE)),
        "curves": named(group(&CURVE)),
        "paths": named(group(&PATH)),
        "motors": named(group(&MOTOR)),
        "events": named(group(&EVENT)),
        "place": {"anyOf": [{"$ref": "#/$defs/vector"}, group(&PLACE)]},
        "frame": group(&FRAME),
        "orientation": group(&ORIENTATION),
        "shape": one_of(SHAPES.iter().map(|t| &t.table)),
        "solid": one_of(SOLIDS.iter().map(|t| &t.table)),
    });
    if let Value::Object(top) = &mut top {
        top.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        top.insert("title".into(), json!("Fourbar mechanism file"));
        top.insert("$defs".into(), defs);
    }
    top
}

/// A group of keys.
fn group(table: &Table) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = table.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    if let Some(kind) = table.kind {
        properties.insert("type".into(), json!({"const": kind, "description": table.doc}));
        required.insert(0, "type");
    }
    for key in table.keys {
        properties.insert(key.name.into(), property(key));
    }
    let mut group = json!({"type": "object", "description": table.doc, "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        group["required"] = json!(required);
    }
    group
}

fn one_of<'a>(tables: impl Iterator<Item = &'a Table>) -> Value {
    json!({"type": "object", "required": ["type"], "oneOf": tables.map(group).collect::<Vec<_>>()})
}

fn property(key: &Key) -> Value {
    let mut schema = of(&key.expect);
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".into(), json!(format!("{} ({})", key.doc, key.expect.words())));
    }
    schema
}

fn list(items: Value, count: usize) -> Value {
    json!({"type": "array", "items": items, "minItems": count, "maxItems": count})
}

fn of(expect: &Expect) -> Value {
    let number = || json!({"$ref": "#/$defs/number"});
    let vector = || json!({"$ref": "#/$defs/vector"});
    let word = || json!({"type": "string"});
    match expect {
        Expect::Number(_) | Expect::TimeFunction(_) | Expect::InputFunction(_) | Expect::StateFunction(_) => number(),
        Expect::Range => list(number(), 2),
        Expect::Vector(_) | Expect::StateVector(_) | Expect::Axis => vector(),
        Expect::Four => list(number(), 4),
        Expect::Six(..) => list(number(), 6),
        Expect::Matrix => list(vector(), 3),
        Expect::TwoAxes => list(vector(), 2),
        Expect::PointList => json!({"type": "array", "items": vector(), "minItems": 3}),
        Expect::CurvePoints => json!({"type": "array", "items": {"anyOf": [list(number(), 2), vector()]}, "minItems": 3}),
        Expect::Plane => group(&PLANE),
        Expect::Flag => json!({"type": "boolean"}),
        Expect::Inertia => json!({"anyOf": [{"const": 0}, list(number(), 3), list(number(), 6)]}),
        // Any scalar is accepted as text: `title: 4` is text.
        Expect::Text => json!({"type": ["string", "number", "boolean"]}),
        Expect::Version => json!({"const": 1}),
        Expect::Choice(words) => json!({"enum": words}),
        Expect::Name(_) | Expect::File => word(),
        Expect::TwoNames(_) => list(word(), 2),
        Expect::Names(_) => json!({"type": "array", "items": word()}),
        Expect::Place | Expect::Direction => json!({"$ref": "#/$defs/place"}),
        Expect::TwoPlaces | Expect::TwoDirections => list(json!({"$ref": "#/$defs/place"}), 2),
        Expect::Places => json!({"type": "array", "items": {"$ref": "#/$defs/place"}, "minItems": 1}),
        Expect::Frames => json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/frame"}}),
        Expect::Orientation => json!({"$ref": "#/$defs/orientation"}),
        Expect::Shapes => json!({"type": "array", "items": {"$ref": "#/$defs/shape"}}),
        Expect::Solid => {
            json!({"anyOf": [{"$ref": "#/$defs/solid"}, {"type": "array", "items": {"$ref": "#/$defs/solid"}, "minItems": 1}]})
        }
        Expect::Options => json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}),
        Expect::Group(table) => group(table),
        Expect::Section(section) => json!({"$ref": format!("#/$defs/{section}")}),
        Expect::Functions => json!({"$ref": "#/$defs/parameters"}),
        Expect::Unit => json!({"type": ["string", "number"]}),
        Expect::Column => json!({"type": ["number", "string"]}),
        Expect::Pairs => json!({"type": "array", "items": list(number(), 2), "minItems": 3}),
        Expect::TwoNumbers => list(number(), 2),
        Expect::Plots => {
            let names = json!({"anyOf": [word(), {"type": "array", "items": word(), "minItems": 1}]});
            let over = json!({"type": "object", "properties": {"x": word(), "y": names}, "required": ["y"], "additionalProperties": false});
            json!({"type": "array", "items": {"anyOf": [names, over]}})
        }
        Expect::Actions => {
            let names = || json!({"anyOf": [word(), {"type": "array", "items": word()}]});
            let mut properties: serde_json::Map<String, Value> =
                ["enable", "disable", "lock", "release", "remove"].iter().map(|w| (w.to_string(), names())).collect();
            properties.insert("set".into(), json!({"type": "object", "additionalProperties": number()}));
            properties.insert("stop".into(), json!({"type": "boolean"}));
            let action = json!({"anyOf": [{"const": "stop"}, {"type": "object", "properties": properties, "additionalProperties": false}]});
            json!({"anyOf": [action, {"type": "array", "items": action}]})
        }
        Expect::Points => json!({"type": "array", "items": vector(), "minItems": 1}),
        Expect::Sides => list(group(&SIDE), 2),
        Expect::SidePlane => group(&SIDE_PLANE),
        Expect::Friction => json!({"anyOf": [number(), group(&CONTACT_FRICTION)]}),
        Expect::Integrator => json!({"anyOf": [word(), group(&INTEGRATOR)]}),
        Expect::NumberList => json!({"type": "array", "items": number()}),
        Expect::NumberRows => json!({"type": "array", "items": {"type": "array", "items": number()}}),
        Expect::Parameters => json!({"$ref": "#/$defs/parameters"}),
        Expect::Coordinates => json!({
            "type": "object",
            "properties": {"from": {"const": "equilibrium", "description": "settle the mechanism first and start where it rests"}},
            "propertyNames": {"pattern": "^(from|[A-Za-z_][A-Za-z0-9_-]*\\.(angle|distance|speed|v?[xyz]))$"},
            "additionalProperties": {"$ref": "#/$defs/number"}
        }),
    }
}
