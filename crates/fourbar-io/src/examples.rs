//! The shipped models, embedded in the program: every file of the `models` folder by name.

mod groups;

use groups::{GROUPS, OTHERS, entries};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// A shipped model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name: the file name without its ending.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

impl Example {
    /// The title stated in the file, or the name.
    pub fn title(&self) -> &'static str {
        let stated = self.text.lines().find_map(|line| line.strip_prefix("title:"));
        stated.map_or(self.name, |t| t.trim().trim_matches(['"', '\'']))
    }

    /// The name in the list, which is more descriptive than some file names.
    pub fn listed(&self) -> &'static str {
        entries().find(|e| e.file == self.name).map_or(self.name, |e| e.name)
    }

    /// One line on its purpose; the title if the list has none.
    pub fn purpose(&self) -> &'static str {
        entries().find(|e| e.file == self.name).map_or_else(|| self.title(), |e| e.purpose)
    }

    /// The comment at the head of the file as one paragraph.
    pub fn about(&self) -> String {
        let lines = self.text.lines().take_while(|l| l.starts_with('#'));
        lines.map(|l| l.trim_start_matches('#').trim()).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// All shipped models, sorted by name.
pub fn examples() -> impl ExactSizeIterator<Item = Example> {
    embedded::MODELS.iter().map(|&(name, text)| Example { name, text })
}

/// All shipped models in groups with headings, in the order in which they are listed.
pub fn grouped() -> Vec<(&'static str, Vec<Example>)> {
    let find = |file: &str| examples().find(|e| e.name == file);
    let mut groups: Vec<_> =
        GROUPS.iter().map(|(heading, list)| (*heading, list.iter().filter_map(|e| find(e.file)).collect::<Vec<_>>())).collect();
    groups.push((OTHERS, examples().filter(|e| entries().all(|x| x.file != e.name)).collect()));
    groups.retain(|(_, list)| !list.is_empty());
    groups
}

/// The shipped model with this file name or name in the list; the ending `.yaml` is optional.
pub fn example(name: &str) -> Option<Example> {
    let name = name.strip_suffix(".yaml").unwrap_or(name);
    let file = entries().find(|e| e.name == name).map_or(name, |e| e.file);
    examples().find(|e| e.name == file)
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
    fn every_model_is_listed_once_under_a_name_that_finds_it() {
        let listed: Vec<Example> = grouped().into_iter().flat_map(|(_, list)| list).collect();
        assert_eq!(listed.len(), examples().len());
        let mut names: Vec<&str> = listed.iter().map(Example::listed).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|w| w[0] < w[1]), "{names:?}");
        for e in &listed {
            assert_eq!(example(e.listed()), Some(*e));
            assert_eq!(example(e.name), Some(*e));
            assert!(e.purpose().len() <= 80, "{}", e.purpose());
        }
        assert!(entries().all(|x| examples().any(|e| e.name == x.file)), "a group names a model that is not shipped");
        assert_eq!(example("bricard").map(|e| e.name), Some("a04_bricard"));
    }

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<_> = examples().map(|e| e.name).collect();
        assert!(names.windows(2).all(|w| w[0] < w[1]), "{names:?}");
    }
}
