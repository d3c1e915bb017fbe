//! The motion as pixels: a still picture, the frames of a film, a GIF.

use super::{Film, Footing, Frame, INK, Part, TRACE, footings, gif, strokes, thinned};
use crate::page::Shown;
use crate::plot::signed;
use fourbar::Diagnostic;
use fourbar::model::Model;
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

/// Pixels per unit of the layout: for stills and films, and for GIFs, which are larger files.
const SHARP: f32 = 2.0;
const PLAIN: f32 = 1.0;
/// Number of poses behind the first one in a still picture.
const GHOSTS: usize = 7;
/// Opacity of these poses.
const FAINT: f32 = 0.3;
/// Largest number of frames of a GIF, and of a film.
const GIF_FRAMES: usize = 120;
const FILM_FRAMES: usize = 360;
/// Frames per second of a film.
const RATE: u32 = 30;

/// A still picture of a result: the first pose, later poses behind it, paths of points.
pub fn still_png(model: &Model, shown: &Shown<'_>) -> Result<Vec<u8>, Diagnostic> {
    let film = Film::new(model, shown, GHOSTS + 1)?;
    let mut paper = sheet(&film, SHARP)?;
    // The last pose of a closed motion is the first one again.
    for frame in film.frames.iter().skip(1).rev() {
        pose(&mut paper, &film, frame, FAINT, SHARP);
    }
    pose(&mut paper, &film, &film.frames[0], 1.0, SHARP);
    paper.encode_png().map(signed).map_err(|e| no_picture(&e.to_string()))
}

/// An animated GIF of a result that repeats endlessly.
pub fn animated_gif(model: &Model, shown: &Shown<'_>) -> Result<Vec<u8>, Diagnostic> {
    let film = Film::new(model, shown, GIF_FRAMES)?;
    let empty = sheet(&film, PLAIN)?;
    let pictures: Vec<Pixmap> = film
        .frames
        .iter()
        .map(|frame| {
            let mut paper = empty.clone();
            pose(&mut paper, &film, frame, 1.0, PLAIN);
            paper
        })
        .collect();
    // Start times of the frames in hundredths of a second; the last frame has the average duration.
    let n = pictures.len();
    let begin = |k: usize| match film.shares.get(k) {
        Some(x) => (100.0 * film.duration * x).round() as u32,
        None => (100.0 * film.duration * (1.0 + 1.0 / n as f64)).round() as u32,
    };
    let delays: Vec<u16> = (0..n).map(|k| u16::try_from(begin(k + 1).saturating_sub(begin(k)).max(2)).unwrap_or(u16::MAX)).collect();
    Ok(gif::encode(&pictures, &delays))
}

/// The frames of a film at equal time steps.
pub struct Frames<'m> {
    film: Film<'m>,
    empty: Pixmap,
    /// Width in pixels, an even number as video encoders require.
    pub width: u32,
    /// Height in pixels, an even number.
    pub height: u32,
    /// Frames per second.
    pub rate: u32,
}

impl Frames<'_> {
    /// Number of frames.
    pub fn count(&self) -> usize {
        ((self.film.duration * f64::from(self.rate)).ceil() as usize).max(1)
    }

    /// Passes the frames to `take` one by one: three bytes per pixel, red, green, blue, by rows.
    pub fn each<E>(&self, take: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut shown = usize::MAX;
        let mut bytes = Vec::new();
        for k in 0..self.count() {
            let share = k as f64 / self.count() as f64;
            let next = self.film.shares.partition_point(|x| *x <= share).clamp(1, self.film.shares.len()) - 1;
            if next != shown {
                shown = next;
                let mut paper = self.empty.clone();
                pose(&mut paper, &self.film, &self.film.frames[next], 1.0, SHARP);
                bytes = paper.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
            }
            take(&bytes)?;
        }
        Ok(())
    }
}

/// A result as a film.
pub fn frames<'m>(model: &'m Model, shown: &Shown<'_>) -> Result<Frames<'m>, Diagnostic> {
    let film = Film::new(model, shown, FILM_FRAMES)?;
    let empty = sheet(&film, SHARP)?;
    let (width, height) = (empty.width(), empty.height());
    Ok(Frames { film, empty, width, height, rate: RATE })
}

fn no_picture(why: &str) -> Diagnostic {
    Diagnostic::new("U484", format!("the picture cannot be painted: {why}")).help("write the motion as SVG or as a page instead")
}

/// A white picture with the ground and the paths of points.
fn sheet(film: &Film<'_>, scale: f32) -> Result<Pixmap, Diagnostic> {
    let even = |x: f64| 2 * (x * f64::from(scale) / 2.0).ceil() as u32;
    let mut paper = Pixmap::new(even(film.size[0]), even(film.size[1])).ok_or_else(|| no_picture("it has no size"))?;
    paper.fill(Color::WHITE);
    let mut pen = Pen { paper: &mut paper, scale, alpha: 1.0 };
    for f in footings(film.model, &film.camera, &film.frames) {
        match f {
            Footing::Rail(ends) => pen.stroke(&[ends.to_vec()], false, "#bbb", 5.0, 1.0, LineCap::Butt),
            Footing::Foot([x, y]) => {
                let foot = vec![[x, y], [x - 7.0, y + 13.0], [x + 7.0, y + 13.0]];
                pen.fill(std::slice::from_ref(&foot), "#e8e8e8", 1.0);
                pen.stroke(&[foot], true, "#888", 1.2, 1.0, LineCap::Butt);
                let mut hatch = vec![vec![[x - 11.0, y + 13.0], [x + 11.0, y + 13.0]]];
                hatch.extend((0..4).map(|k| x - 8.0 + 6.0 * f64::from(k)).map(|x| vec![[x, y + 13.0], [x - 4.0, y + 18.0]]));
                pen.stroke(&hatch, false, "#888", 1.2, 1.0, LineCap::Butt);
            }
        }
    }
    for path in &film.paths {
        pen.stroke(&[thinned(path)], false, TRACE, 1.5, 0.45, LineCap::Round);
    }
    Ok(paper)
}

/// Paints all bodies in one pose.
fn pose(paper: &mut Pixmap, film: &Film<'_>, frame: &Frame<'_>, alpha: f32, scale: f32) {
    let mut pen = Pen { paper, scale, alpha };
    for part in film.parts.iter().filter(|p| p.is_in(frame)) {
        let lines = strokes(part, &film.camera, frame);
        if part.filled {
            pen.fill(&lines, &part.colour, 0.25);
        }
        pen.part(&lines, part, film.pen(part));
    }
    for (p, _) in film.joints(frame).into_iter().filter(|(_, there)| *there) {
        pen.dot(p, 3.5, INK);
        pen.dot(p, 2.0, "#fff");
    }
    for p in &film.traces {
        pen.dot(film.camera.pixel(&frame.place(p)), 3.5, TRACE);
    }
}

struct Pen<'p> {
    paper: &'p mut Pixmap,
    scale: f32,
    alpha: f32,
}

impl Pen<'_> {
    fn paint(&self, colour: &str, opacity: f32) -> Paint<'static> {
        let [r, g, b] = rgb(colour);
        let mut paint = Paint::default();
        paint.set_color_rgba8(r, g, b, (255.0 * self.alpha * opacity).round() as u8);
        paint.anti_alias = true;
        paint
    }

    fn fill(&mut self, lines: &[Vec<[f64; 2]>], colour: &str, opacity: f32) {
        if let Some(path) = path(lines, true) {
            self.paper.fill_path(
                &path,
                &self.paint(colour, opacity),
                FillRule::EvenOdd,
                Transform::from_scale(self.scale, self.scale),
                None,
            );
        }
    }

    fn stroke(&mut self, lines: &[Vec<[f64; 2]>], closed: bool, colour: &str, width: f64, opacity: f32, cap: LineCap) {
        let Some(path) = path(lines, closed) else { return };
        let stroke = Stroke { width: width as f32, line_cap: cap, line_join: LineJoin::Round, ..Stroke::default() };
        self.paper.stroke_path(&path, &self.paint(colour, opacity), &stroke, Transform::from_scale(self.scale, self.scale), None);
    }

    fn part(&mut self, lines: &[Vec<[f64; 2]>], part: &Part, width: f64) {
        // A stroke of zero length is a dot.
        let (dots, lines): (Vec<_>, Vec<_>) =
            lines.iter().cloned().partition(|l| l.iter().all(|p| (p[0] - l[0][0]).hypot(p[1] - l[0][1]) < 1e-3));
        for d in dots.iter().filter_map(|l| l.first()) {
            self.dot(*d, 0.5 * width, &part.colour);
        }
        self.stroke(&lines, part.closed, &part.colour, width, 0.8, LineCap::Round);
    }

    fn dot(&mut self, [x, y]: [f64; 2], radius: f64, colour: &str) {
        if let Some(path) = PathBuilder::from_circle(x as f32, y as f32, radius as f32) {
            self.paper.fill_path(&path, &self.paint(colour, 1.0), FillRule::Winding, Transform::from_scale(self.scale, self.scale), None);
        }
    }
}

fn path(lines: &[Vec<[f64; 2]>], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        for (k, [x, y]) in line.iter().map(|p| p.map(|v| v as f32)).enumerate() {
            if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        if closed {
            path.close();
        }
    }
    path.finish()
}

/// A colour such as `#0072b2` or `#999`.
fn rgb(colour: &str) -> [u8; 3] {
    let digits: Vec<u8> = colour.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    match digits[..] {
        [r, g, b] => [17 * r, 17 * g, 17 * b],
        [a, b, c, d, e, f] => [16 * a + b, 16 * c + d, 16 * e + f],
        _ => [0; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::rgb;

    #[test]
    fn colours_have_three_or_six_digits() {
        assert_eq!(rgb("#0072b2"), [0, 0x72, 0xb2]);
        assert_eq!(rgb("#333"), [0x33; 3]);
    }
}
