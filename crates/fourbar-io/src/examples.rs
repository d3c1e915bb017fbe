//! The shipped models, embedded in the program: every file of the `models` folder by name.

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// A shipped model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its name: the file name without its ending.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

impl Example {
    /// The title it states, or its name.
    pub fn title(&self) -> &'static str {
        let stated = self.text.lines().find_map(|line| line.strip_prefix("title:"));
        stated.map_or(self.name, |t| t.trim().trim_matches(['"', '\'']))
    }

    /// What it shows: the comment at its head, one paragraph.
    pub fn about(&self) -> String {
        let lines = self.text.lines().take_while(|l| l.starts_with('#'));
        lines.map(|l| l.trim_start_matches('#').trim()).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// All shipped models, sorted by name.
pub fn examples() -> impl ExactSizeIterator<Item = Example> {
    embedded::MODELS.iter().map(|&(name, text)| Example { name, text })
}

/// The shipped model of a name; the ending `.yaml` may be left on.
pub fn example(name: &str) -> Option<Example> {
    let name = name.strip_suffix(".yaml").unwrap_or(name);
    examples().find(|e| e.name == name)
}

/// The example of the README is run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_bar_is_shipped_with_a_title_and_a_description() {
        let e = example("fourbar.yaml").expect("the four-bar is embedded");
        assert_ne!(e.title(), e.name);
        assert!(e.about().len() > 40, "{}", e.about());
        assert!(example("no_such_model").is_none());
    }

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<_> = examples().map(|e| e.name).collect();
        assert!(names.windows(2).all(|w| w[0] < w[1]), "{names:?}");
    }
}
