//! Curves as a PNG picture: the marks of the plot drawn with an embedded font.

use super::Curve;
use super::picture::{Anchor, Mark, Scale, picture};
use crate::disk::MARK;
use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// DejaVu Sans, Latin and Greek letters; its licence is stored next to it.
static FONT: &[u8] = include_bytes!("dejavu-sans.ttf");
/// Pixels for each unit of the layout, so that the picture is sharp in print.
const SCALE: f32 = 2.0;

/// Paints curves over a common abscissa named `x`; `None` if no value is finite.
pub fn png(title: &str, x: (&str, &str), curves: &[Curve<'_>]) -> Option<Vec<u8>> {
    png_scaled(title, x, ("", ""), Scale::default(), curves)
}

/// As above, with a name for the ordinate and options of the axes.
pub fn png_scaled(title: &str, x: (&str, &str), y: (&str, &str), scale: Scale, curves: &[Curve<'_>]) -> Option<Vec<u8>> {
    let marks = picture(title, x, y, scale, curves)?;
    let [w, h] = scale.size().map(|v| (v as f32 * SCALE) as u32);
    let mut paper = Pixmap::new(w, h)?;
    paper.fill(Color::WHITE);
    let face = Face::parse(FONT, 0).ok()?;
    let place = Transform::from_scale(SCALE, SCALE);
    for mark in &marks {
        match mark {
            Mark::Line { strokes, colour, width } => {
                let mut path = PathBuilder::new();
                for stroke in strokes {
                    for (k, [x, y]) in stroke.iter().map(|p| p.map(|v| v as f32)).enumerate() {
                        if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
                    }
                }
                if let Some(path) = path.finish() {
                    draw(&mut paper, &path, colour, *width as f32, place);
                }
            }
            Mark::Text { at, size, anchor, colour, halo, text } => {
                let Some(path) = outline(&face, text, *at, *size, *anchor) else { continue };
                if *halo {
                    draw(&mut paper, &path, &[255; 3], 3.0, place);
                }
                paper.fill_path(&path, &ink(colour), FillRule::Winding, place, None);
            }
        }
    }
    paper.encode_png().ok().map(signed)
}

/// Bytes of the signature and of the header, which begin every PNG.
const HEAD: usize = 33;

/// The picture with a text chunk that names this program, so that a later run may replace it.
pub(crate) fn signed(mut png: Vec<u8>) -> Vec<u8> {
    let body = [b"tEXtSoftware\0", MARK.as_bytes()].concat();
    let chunk = [&(body.len() as u32 - 4).to_be_bytes()[..], &body, &crc(&body).to_be_bytes()].concat();
    if png.len() >= HEAD {
        png.splice(HEAD..HEAD, chunk);
    }
    png
}

/// The checksum of a chunk according to the PNG standard.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, b| (0..8).fold(crc ^ u32::from(*b), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 }))
}

fn ink([r, g, b]: &[u8; 3]) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(*r, *g, *b, 255);
    paint.anti_alias = true;
    paint
}

fn draw(paper: &mut Pixmap, path: &Path, colour: &[u8; 3], width: f32, place: Transform) {
    paper.stroke_path(path, &ink(colour), &Stroke { width, line_join: LineJoin::Round, ..Stroke::default() }, place, None);
}

/// Converts glyph outlines to paths; y points upwards in fonts.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    at: [f32; 2],
    scale: f32,
}

impl Pen<'_> {
    fn x(&self, x: f32) -> f32 {
        self.at[0] + self.scale * x
    }
    fn y(&self, y: f32) -> f32 {
        self.at[1] - self.scale * y
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x(x), self.y(y));
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x(x), self.y(y));
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x(x1), self.y(y1), self.x(x), self.y(y));
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x(x1), self.y(y1), self.x(x2), self.y(y2), self.x(x), self.y(y));
    }
    fn close(&mut self) {
        self.path.close();
    }
}

/// The letters of a text; unknown letters become the box glyph of the font.
fn outline(face: &Face<'_>, text: &str, at: [f64; 2], size: f64, anchor: Anchor) -> Option<Path> {
    let scale = size as f32 / f32::from(face.units_per_em());
    let glyphs: Vec<GlyphId> = text.chars().map(|c| face.glyph_index(if c.is_control() { ' ' } else { c }).unwrap_or(GlyphId(0))).collect();
    let advance = |g: GlyphId| scale * f32::from(face.glyph_hor_advance(g).unwrap_or(0));
    let width: f32 = glyphs.iter().map(|&g| advance(g)).sum();
    let mut x = at[0] as f32
        - match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * width,
            Anchor::End => width,
        };
    let mut path = PathBuilder::new();
    for g in glyphs {
        face.outline_glyph(g, &mut Pen { path: &mut path, at: [x, at[1] as f32], scale });
        x += advance(g);
    }
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_its_curve_and_its_letters() {
        let (x, y) = ([0.0, 1.0], [0.0, 1.0]);
        let bytes = png("title", ("t", "s"), &[Curve { name: "y", unit: "m", x: &x, y: &y }]).expect("finite");
        let picture = Pixmap::decode_png(&bytes).expect("a PNG");
        assert_eq!((picture.width(), picture.height()), (1600, 960));
        let count = |test: &dyn Fn([u8; 3]) -> bool| picture.pixels().iter().filter(|p| test([p.red(), p.green(), p.blue()])).count();
        // The line crosses the field once and is three pixels wide; letters of the legend have its colour as well.
        let blue = count(&|c| c == [0, 114, 178]);
        assert!((1000..9000).contains(&blue), "{blue}");
        let dark = count(&|c| c == [0x33; 3]);
        assert!(dark > 300, "{dark}");
        assert!(png("", ("t", ""), &[]).is_none());
        // The checksum of the end chunk is a known constant.
        assert_eq!(crc(b"IEND"), 0xae42_6082);
        assert!(bytes.windows(MARK.len()).any(|w| w == MARK.as_bytes()));
    }

    #[test]
    fn texts_stand_where_their_anchor_says() {
        let face = Face::parse(FONT, 0).expect("the font");
        let bounds = |anchor| outline(&face, "m \u{3c9}", [100.0, 50.0], 12.0, anchor).expect("letters").bounds();
        assert!(bounds(Anchor::Start).left() >= 100.0 && bounds(Anchor::End).right() <= 100.0);
        let middle = bounds(Anchor::Middle);
        assert!((middle.left() + middle.right() - 200.0).abs() < 3.0 && middle.bottom() <= 51.0);
    }
}
