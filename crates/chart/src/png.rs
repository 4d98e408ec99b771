//! A picture as PNG, for places that do not accept SVG. The font is embedded, so the picture is the same on every
//! machine.

#[cfg(feature = "png")]
use resvg::tiny_skia::{Pixmap, Transform};
#[cfg(feature = "png")]
use resvg::usvg::{Options, Tree};
use std::fmt;

/// The reason why a picture could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpaintable(String);

impl fmt::Display for Unpaintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot render the picture: {}", self.0)
    }
}

impl std::error::Error for Unpaintable {}

/// Whether this build can render images: the renderer is a Cargo feature.
pub const IS_BUILT: bool = cfg!(feature = "png");

/// Replaces the function below in a build without the renderer.
///
/// # Errors
/// Always returns an error.
#[cfg(not(feature = "png"))]
pub fn of(_svg: &str, _scale: f32) -> Result<Vec<u8>, Unpaintable> {
    Err(Unpaintable("this build cannot render images (missing feature `png`)".into()))
}

/// Most pixels per side; a chart is far smaller.
#[cfg(feature = "png")]
const MOST: f64 = 16_384.0;

/// Renders the SVG of a file as PNG, at `scale` times its size.
///
/// # Errors
/// Returns an error if the text is not SVG, or if the image would be too large.
#[cfg(feature = "png")]
pub fn of(svg: &str, scale: f32) -> Result<Vec<u8>, Unpaintable> {
    let mut options = Options { font_family: "DejaVu Sans".into(), ..Options::default() };
    // Copied, because the library takes ownership of the data.
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(|e| Unpaintable(e.to_string()))?;
    let side = |length: f32| f64::from(length) * f64::from(scale);
    let (width, height) = (side(tree.size().width()).ceil(), side(tree.size().height()).ceil());
    if !(1.0..=MOST).contains(&width) || !(1.0..=MOST).contains(&height) {
        return Err(Unpaintable(format!("invalid image size: {width:.0} × {height:.0} pixels")));
    }
    let mut pixels = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| Unpaintable("not enough memory for its pixels".into()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| Unpaintable(e.to_string()))
}
