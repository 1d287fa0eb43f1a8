//! The colours of memory cells: a ramp from blue to yellow in even perceptual steps, light enough for dark
//! text throughout.

use std::f64::consts::PI;

/// The colour of cell `at` of `count`.
pub(crate) fn colour(at: usize, count: usize) -> (u8, u8, u8) {
    let t = match count {
        0 | 1 => 0.0,
        n => at as f64 / (n - 1) as f64,
    };
    let lightness = 0.74 + 0.17 * t;
    let hue = (262.0 - 172.0 * t) * PI / 180.0;
    oklch(lightness, 0.115, hue)
}

/// The colour as CSS writes it.
pub(crate) fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Oklch to sRGB, after Björn Ottosson's "A perceptual color space for image processing".
fn oklch(lightness: f64, chroma: f64, hue: f64) -> (u8, u8, u8) {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    let byte = |x: f64| {
        let x = x.clamp(0.0, 1.0);
        let curved = match x <= 0.0031308 {
            true => 12.92 * x,
            false => 1.055 * x.powf(1.0 / 2.4) - 0.055,
        };
        (curved * 255.0).round() as u8
    };
    (
        byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_text_is_legible_on_every_colour() {
        for at in 0..=100 {
            let (r, g, b) = colour(at, 101);
            let light = 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
            assert!(light > 140.0, "{at}: {r} {g} {b}");
        }
    }
}
