//! The page of every diagnostic code: printed by `fourbar explain`, collected in the docs.

mod check;
mod contact;
mod data;
mod design;
mod event;
mod files;
mod fmi;
mod hints;
mod import;
mod mechanism;
mod model;
mod natural;
mod page;
mod solve;
mod sweep;
mod task;
mod usage;

/// The meaning of a code, with an example and a remedy.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The code, such as `M012`.
    pub code: &'static str,
    /// One line.
    pub title: &'static str,
    /// A few paragraphs.
    pub text: &'static str,
}

/// All pages, in the order of their codes.
pub fn pages() -> impl Iterator<Item = &'static Page> {
    let solving = solve::PAGES.iter().chain(natural::PAGES);
    model::PAGES
        .iter()
        .chain(mechanism::PAGES)
        .chain(solving)
        .chain(usage::PAGES)
        .chain(page::PAGES)
        .chain(check::PAGES)
        .chain(files::PAGES)
        .chain(hints::PAGES)
        .chain(data::PAGES)
        .chain(design::PAGES)
        .chain(import::PAGES)
        .chain(sweep::PAGES)
        .chain(task::PAGES)
        .chain(event::PAGES)
        .chain(contact::PAGES)
        .chain(fmi::PAGES)
}

/// The page of a code, letters in either case.
pub fn page(code: &str) -> Option<&'static Page> {
    pages().find(|p| p.code.eq_ignore_ascii_case(code))
}
