//! Common parts of the tests of this crate.

use fourbar_io::examples::example;
use fourbar_wasm::Live;
use serde_json::{Value, json};

/// The file of a shipped model.
pub fn text(name: &str) -> &'static str {
    example(name).unwrap_or_else(|| panic!("there is no model {name}")).text
}

/// The engine as used by a page.
pub struct Page {
    live: Live,
    /// Its description of the mechanism.
    pub described: Value,
}

impl Page {
    /// An engine without a mechanism.
    pub fn new() -> Self {
        Self { live: Live::new(), described: Value::Null }
    }

    /// An engine with the mechanism of a text.
    pub fn of(text: &str) -> Self {
        let mut page = Self::new();
        page.described = page.good(json!({"do": "load", "text": text}));
        assert_eq!(page.described["assembled"], true, "{}", page.described);
        page
    }

    /// The reply to a request.
    pub fn ask(&mut self, request: &Value) -> Value {
        serde_json::from_str(&self.live.answer(&request.to_string())).expect("replies are JSON")
    }

    /// The reply to a request that must succeed.
    pub fn good(&mut self, request: Value) -> Value {
        let reply = self.ask(&request);
        assert_eq!(reply["ok"], true, "{request}: {reply}");
        reply
    }

    /// Index of a column.
    pub fn column(&self, name: &str) -> usize {
        let columns = self.described["columns"].as_array().expect("columns");
        columns.iter().position(|c| c == name).unwrap_or_else(|| panic!("there is no column {name}"))
    }

    /// The current value of a column.
    pub fn at(&self, column: &str) -> f64 {
        self.live.row()[self.column(column)]
    }
}
