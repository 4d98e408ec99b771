//! A picture as PNG, for places that take no SVG. The font comes with the program: the same picture on every machine,
//! whatever is installed there.

#[cfg(feature = "png")]
use resvg::tiny_skia::{Pixmap, Transform};
#[cfg(feature = "png")]
use resvg::usvg::{Options, Tree};
use std::fmt;

/// Why there is no image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpaintable(String);

impl fmt::Display for Unpaintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no image can be made of the picture: {}", self.0)
    }
}

impl std::error::Error for Unpaintable {}

/// Whether this program can make images: the renderer is a feature of the build.
pub const IS_BUILT: bool = cfg!(feature = "png");

/// As below, of a program without the renderer.
///
/// # Errors
/// Always.
#[cfg(not(feature = "png"))]
pub fn of(_svg: &str, _scale: f32) -> Result<Vec<u8>, Unpaintable> {
    Err(Unpaintable("this program was built without images (feature `png`)".into()))
}

/// Pixels of a side at most: a picture of a chart is far below it.
#[cfg(feature = "png")]
const MOST: f64 = 16_384.0;

/// A file's SVG as PNG, `scale` times its size.
///
/// # Errors
/// When it is no SVG, or would be too large for an image.
#[cfg(feature = "png")]
pub fn of(svg: &str, scale: f32) -> Result<Vec<u8>, Unpaintable> {
    let mut options = Options { font_family: "DejaVu Sans".into(), ..Options::default() };
    // In copies: the library wants to own what it reads.
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(|e| Unpaintable(e.to_string()))?;
    let side = |length: f32| f64::from(length) * f64::from(scale);
    let (width, height) = (side(tree.size().width()).ceil(), side(tree.size().height()).ceil());
    if !(1.0..=MOST).contains(&width) || !(1.0..=MOST).contains(&height) {
        return Err(Unpaintable(format!("{width:.0} by {height:.0} pixels are no size for an image")));
    }
    let mut pixels = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| Unpaintable("there is no room for its pixels".into()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| Unpaintable(e.to_string()))
}
