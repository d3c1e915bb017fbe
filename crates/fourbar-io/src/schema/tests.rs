//! The schema accepts all files that the reader accepts, in particular the shipped models.

use super::schema;
use crate::tree::{Content, Node, Tree, is_null};
use crate::{ReadOptions, read_model, starter};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// A small validator for the part of JSON Schema that is used here.
fn valid(schema: &Value, value: &Value, root: &Value) -> Result<(), String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(&reference[1..]).ok_or(format!("{reference} leads nowhere"))?;
        valid(target, value, root)?;
    }
    if let Some(c) = schema.get("const")
        && c != value
    {
        return Err(format!("{value} is not {c}"));
    }
    if let Some(Value::Array(words)) = schema.get("enum")
        && !words.contains(value)
    {
        return Err(format!("{value} is none of {words:?}"));
    }
    if let Some(types) = schema.get("type") {
        let is = |t: &str| match t {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            other => panic!("type {other}"),
        };
        let fits = match types {
            Value::Array(types) => types.iter().any(|t| is(t.as_str().unwrap())),
            one => is(one.as_str().unwrap()),
        };
        if !fits {
            return Err(format!("{value} is not of type {types}"));
        }
    }
    for (word, least) in [("anyOf", 1..=99), ("oneOf", 1..=1)] {
        if let Some(Value::Array(choices)) = schema.get(word) {
            let fit = choices.iter().filter(|c| valid(c, value, root).is_ok()).count();
            if !least.contains(&fit) {
                return Err(format!("{fit} of {word} fit {value}"));
            }
        }
    }
    if let Value::Object(entries) = value {
        let properties = schema.get("properties");
        for (key, entry) in entries {
            match (properties.and_then(|p| p.get(key)), schema.get("additionalProperties")) {
                (Some(inner), _) => valid(inner, entry, root)?,
                (None, Some(Value::Bool(false))) => return Err(format!("unknown key {key}")),
                (None, Some(inner)) => valid(inner, entry, root)?,
                (None, None) => {}
            }
        }
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !entries.contains_key(key.as_str().unwrap()) {
                return Err(format!("{key} is missing"));
            }
        }
    }
    if let Value::Array(items) = value {
        let bound = |word: &str| schema.get(word).and_then(Value::as_u64).map(|n| n as usize);
        if bound("minItems").is_some_and(|n| items.len() < n) || bound("maxItems").is_some_and(|n| items.len() > n) {
            return Err(format!("{} items", items.len()));
        }
        if let Some(inner) = schema.get("items") {
            for item in items {
                valid(inner, item, root)?;
            }
        }
    }
    Ok(())
}

#[test]
fn the_schema_accepts_what_the_reader_accepts_and_refuses_what_it_refuses() {
    let schema = schema();
    let check = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        (valid(&schema, &value, &schema), read_model(text, &ReadOptions::default()).is_ok())
    };
    let file = |bodies: &str, rest: &str| format!(r#"{{"fourbar": 1, "bodies": {{{bodies}}}{rest}}}"#);
    let a = r#""a": {"mass": "2 kg", "inertia": [1, 1, 1]}"#;
    for (good, text) in [
        (true, file(a, "")),
        (true, file(r#""a": {"solid": {"type": "box", "size": [1, 2, 3], "density": 5}}"#, "")),
        (true, file(a, r#", "joints": {"j": {"type": "revolute", "bodies": ["ground", "a"], "at": [0, 0, 0], "axis": [0, 0, 1]}}"#)),
        (true, file(a, r#", "forces": {"f": {"type": "force", "body": "a", "force": ["3*t", 0, 0]}}, "view": {"trace": []}"#)),
        (true, file(a, r#", "study": {"analysis": "dynamics", "t_end": "5 s", "options": {"rho": 0.5}}"#)),
        (false, file(r#""a": {"mass": [1], "inertia": 0}"#, "")),
        (false, file(r#""a": {"mass": 1, "inertia": 0, "colour": 1}"#, "")),
        (false, file(a, r#", "joints": {"j": {"type": "hinge", "bodies": ["ground", "a"]}}"#)),
        (false, file(a, r#", "joints": {"j": {"type": "screw", "bodies": ["ground", "a"], "at": [0, 0, 0], "axis": [0, 0, 1]}}"#)),
        (false, file(a, r#", "gravity": [0, 0]"#)),
        (false, r#"{"bodies": {}}"#.to_string()),
    ] {
        let (by_schema, by_reader) = check(&text);
        assert_eq!((by_schema.is_ok(), by_reader), (good, good), "{text}: {by_schema:?}");
    }
}

/// A node as an editor interprets it: plain scalars that look like numbers or truth values are such.
fn json(node: &Node, source: &str) -> Value {
    match &node.content {
        Content::Scalar(text) if is_null(text, source) => Value::Null,
        Content::Scalar(text) if text.plain && ["true", "false"].contains(&text.get(source)) => (text.get(source) == "true").into(),
        Content::Scalar(text) => match text.get(source).parse::<i64>() {
            Ok(n) if text.plain => n.into(),
            _ => match text.get(source).parse::<f64>() {
                Ok(x) if text.plain => x.into(),
                _ => text.get(source).into(),
            },
        },
        Content::List(items) => items.iter().map(|n| json(n, source)).collect(),
        Content::Map(entries) => {
            Value::Object(entries.iter().map(|(k, v)| (k.get(source).to_string(), json(v, source))).collect::<Map<_, _>>())
        }
    }
}

#[test]
fn the_schema_accepts_the_starter_and_every_shipped_model() {
    let schema = schema();
    let check = |name: &str, text: &str| {
        let tree = Tree::parse(&Arc::from(text), usize::MAX).unwrap();
        let value = json(&tree.root, text);
        valid(&schema, &value, &schema).unwrap_or_else(|e| panic!("{name}: {e}"));
    };
    check("starter", starter());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "yaml") {
            check(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
        }
    }
}
