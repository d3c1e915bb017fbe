//! Mechanisms in the formats of other programs, each an implementation of one trait: recognised by content, read into a [`ModelSpec`] with
//! a note for everything that is not converted.
//!
//! An importer fills a [`draft::Draft`], which is independent of the format; [`lower`] converts it to a specification.
#![allow(non_snake_case)]

mod asmt;
mod draft;
mod gcon;
mod lower;
mod meshes;
mod mjcf;
mod reading;
mod sdf;
mod urdf;
mod xml;

use crate::file::{Loaded, ReadOptions, text_hash};
use crate::places::{Foreign, Places};
use crate::studies::Studies;
use crate::writer::write_model;
use draft::Draft;
use fourbar::{Diagnostic, Error};
use reading::{Reading, Spot};
use std::path::Path;
use std::sync::Arc;

/// Largest number of links of a file, unless large files are requested: robots have tens, and each costs time and memory.
const MOST_LINKS: usize = 20_000;

/// A format of another program.
pub trait Importer: Sync {
    /// Short name, such as `urdf`.
    fn name(&self) -> &'static str;
    /// Name for users.
    fn title(&self) -> &'static str;
    /// File name extensions.
    fn endings(&self) -> &'static [&'static str];
    /// Whether a text has this format.
    fn recognises(&self, text: &str) -> bool;
    #[doc(hidden)]
    fn draft(&self, reading: &Opened<'_>) -> Option<Sketch>;
}

/// A file that is being read.
#[doc(hidden)]
pub struct Opened<'a>(Reading<'a>, Arc<str>);
/// The mechanism read from it.
#[doc(hidden)]
pub struct Sketch(Draft);

/// The supported formats of other programs.
pub const IMPORTERS: &[&dyn Importer] = &[&Mjcf, &Urdf, &Sdf, &Asmt, &Gcons];

struct Mjcf;
struct Urdf;
struct Sdf;
struct Asmt;
struct Gcons;

impl Importer for Mjcf {
    fn name(&self) -> &'static str {
        "mjcf"
    }
    fn title(&self) -> &'static str {
        "MJCF, the format of MuJoCo"
    }
    fn endings(&self) -> &'static [&'static str] {
        &["xml", "mjcf"]
    }
    fn recognises(&self, text: &str) -> bool {
        matches!(xml::root_tag(text), Some("mujoco" | "mujocoinclude"))
    }
    fn draft(&self, opened: &Opened<'_>) -> Option<Sketch> {
        of_xml(opened, mjcf::include::expand, mjcf::read)
    }
}

impl Importer for Urdf {
    fn name(&self) -> &'static str {
        "urdf"
    }
    fn title(&self) -> &'static str {
        "URDF, the robot description of ROS"
    }
    fn endings(&self) -> &'static [&'static str] {
        &["urdf", "xml"]
    }
    fn recognises(&self, text: &str) -> bool {
        xml::root_tag(text) == Some("robot")
    }
    fn draft(&self, opened: &Opened<'_>) -> Option<Sketch> {
        of_xml(opened, |_, _| {}, urdf::read)
    }
}

impl Importer for Sdf {
    fn name(&self) -> &'static str {
        "sdf"
    }
    fn title(&self) -> &'static str {
        "SDF, the format of Gazebo"
    }
    fn endings(&self) -> &'static [&'static str] {
        &["sdf", "world"]
    }
    fn recognises(&self, text: &str) -> bool {
        xml::root_tag(text) == Some("sdf")
    }
    fn draft(&self, opened: &Opened<'_>) -> Option<Sketch> {
        of_xml(opened, |_, _| {}, sdf::read)
    }
}

impl Importer for Asmt {
    fn name(&self) -> &'static str {
        "asmt"
    }
    fn title(&self) -> &'static str {
        "ASMT, the format that FreeCAD's assembly workbench passes to its solver"
    }
    fn endings(&self) -> &'static [&'static str] {
        &["asmt"]
    }
    fn recognises(&self, text: &str) -> bool {
        asmt::recognises(text)
    }
    fn draft(&self, Opened(reading, text): &Opened<'_>) -> Option<Sketch> {
        asmt::read(reading, text).map(Sketch)
    }
}

impl Importer for Gcons {
    fn name(&self) -> &'static str {
        "gcons"
    }
    fn title(&self) -> &'static str {
        "JSON of bodies and geometric constraints, the model files of simEngine3D"
    }
    fn endings(&self) -> &'static [&'static str] {
        &["mdl", "json"]
    }
    fn recognises(&self, text: &str) -> bool {
        gcon::recognises(text)
    }
    fn draft(&self, Opened(reading, text): &Opened<'_>) -> Option<Sketch> {
        gcon::read(reading, text).map(Sketch)
    }
}

/// Reads an XML file and lists the content that was not read. `expand` inserts included files.
fn of_xml(
    Opened(reading, text): &Opened<'_>,
    expand: impl FnOnce(&Reading<'_>, &mut xml::Tree),
    read: impl FnOnce(&Reading<'_>, xml::Element<'_>) -> Draft,
) -> Option<Sketch> {
    match xml::Tree::parse(reading, text) {
        Ok(mut tree) => {
            expand(reading, &mut tree);
            let draft = read(reading, tree.root());
            reading.left_over(tree.root());
            Some(Sketch(draft))
        }
        Err(d) => {
            reading.refuse(d);
            None
        }
    }
}

/// Any other XML format.
struct Unknown;

impl Importer for Unknown {
    fn name(&self) -> &'static str {
        "xml"
    }
    fn title(&self) -> &'static str {
        "XML of an unknown kind"
    }
    fn endings(&self) -> &'static [&'static str] {
        &[]
    }
    fn recognises(&self, text: &str) -> bool {
        xml::looks_like_xml(text)
    }
    fn draft(&self, Opened(reading, text): &Opened<'_>) -> Option<Sketch> {
        if let Err(d) = xml::Tree::parse(reading, text) {
            reading.refuse(d);
        } else {
            let tag = xml::root_tag(text).unwrap_or("?");
            let d = Diagnostic::new("M659", format!("`<{}>` is not the root of a mechanism", crate::tree::shorten(tag)));
            reading.problem(d.help("`<mujoco>` is MJCF, `<robot>` URDF, `<sdf>` SDF"), Spot::START);
        }
        None
    }
}

/// The importer for a text, selected by content only.
pub(crate) fn recognised(text: &str, _path: Option<&Path>) -> Option<&'static dyn Importer> {
    IMPORTERS.iter().copied().find(|i| i.recognises(text)).or_else(|| Unknown.recognises(text).then_some(&Unknown as &dyn Importer))
}

/// Reads a text in a format of another program.
pub(crate) fn read(importer: &dyn Importer, source: Arc<str>, options: &ReadOptions<'_>) -> Result<Loaded, Error> {
    let opened = Opened(Reading::new(source.clone(), options), source.clone());
    if let Some((name, _)) = options.set.first() {
        let d = Diagnostic::new("M655", format!("there is no parameter `{name}`: {} files have none", importer.name())).name(name);
        opened.0.refuse(d.help("convert the file and give its numbers names"));
    }
    let draft = importer.draft(&opened);
    let Opened(reading, _) = opened;
    if let Some(Sketch(d)) = &draft
        // The first link is the ground.
        && d.links.len() > MOST_LINKS + 1
        && !options.large
    {
        let message = format!("the file has {} links; at most {MOST_LINKS} are read", d.links.len() - 1);
        reading.problem(Diagnostic::new("M652", message).help("`--large` reads larger files"), Spot::START);
    }
    let lowered = match draft {
        Some(Sketch(draft)) if reading.good() => Some(lower::lower(draft, &reading)),
        _ => None,
    };
    let (sources, mut warnings) = reading.finish()?;
    let Some(lower::Lowered { spec, places }) = lowered else { return Err(crate::tree::empty().into()) };
    warnings.sort_by_key(|d| d.code.0);
    // Results and pages store the mechanism in the format of this program, which needs no other files except meshes.
    let text: Arc<str> = write_model(&spec).into();
    let hash = text_hash(&text);
    let foreign = Foreign { texts: sources.into_iter().map(|s| (s.name, s.text)).collect(), spots: places };
    Ok(Loaded {
        spec,
        warnings,
        parameters: Vec::new(),
        unused_parameters: Vec::new(),
        computed_parameters: Vec::new(),
        hash,
        places: Places::foreign(text, foreign),
        mechspec: false,
        imported: Some(importer.name()),
        functions: Vec::new(),
        data: Vec::new(),
        studies: Studies::default(),
    })
}
