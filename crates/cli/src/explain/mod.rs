//! `stridewise explain`: a picture of which memory cell each element of a result reads.
//!
//! The program runs on tensors whose every element is the number of its own cell, so whatever only moves
//! data shows where it comes from. Steps that compute end the picture: what follows them reads no cell.

mod elide;
mod ramp;
mod svg;
mod text;
mod trace;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use stridewise_dry::Dry;

use crate::failure::Failure;
use crate::inputs::Shapes;
use crate::program::Program;
use crate::terminal::Paint;

/// Draw which memory cell each element of the result reads.
///
/// As text, and with --svg as a picture: cells are numbered in the order they lie in memory, and every
/// element of the result shows the cell it reads. The inputs are files, of which only dtype, shape and
/// strides are looked at, or shapes.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  stridewise explain 'expand(-1, 4)' --shape 3,1
  stridewise explain 'transpose()[::2]' x.npy
  stridewise explain 'repeat(2, 2)' --shape 2,3 --svg repeat.svg")]
pub(crate) struct Options {
    /// The chain of operators.
    program: String,

    #[command(flatten)]
    shapes: Shapes,

    /// Write a picture to this .svg file as well.
    #[arg(long, value_name = "FILE", value_parser = picture)]
    svg: Option<PathBuf>,
}

fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("svg") => Ok(path),
        _ => Err("the picture is an SVG: give a name ending in .svg".to_string()),
    }
}

/// Explains a program.
pub(crate) fn explain(options: &Options, out: &mut dyn Write) -> Result<(), Failure> {
    let program = Program::parse(&options.program).map_err(Failure::within(&options.program))?;
    let dry = Dry::new();
    let inputs = options.shapes.sketches(&dry)?;
    if program.steps.is_empty() && inputs.is_empty() {
        return Err(Failure::Usage(
            "there is neither a file or shape nor a program that makes something".to_string(),
        ));
    }
    let picture = trace::trace(&program, &dry, &inputs)?;
    text::write(&picture, Paint::stdout(), out)?;
    if let Some(path) = &options.svg {
        std::fs::write(path, svg::draw(&picture)).map_err(|error| {
            Failure::Other(format!("{} cannot be written: {error}", path.display()))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use stridewise_core::dtype::DType;

    use super::*;

    /// Text and picture of a program on one input.
    fn drawn(source: &str, shape: &[usize]) -> (String, String) {
        let dry = Dry::new();
        let program = Program::parse(source).unwrap();
        let input = dry.tensor(DType::F32, shape).unwrap();
        let picture = trace::trace(&program, &dry, &[input]).unwrap();
        let mut out = Vec::new();
        text::write(&picture, Paint::plain(), &mut out).unwrap();
        (String::from_utf8(out).unwrap(), svg::draw(&picture))
    }

    #[test]
    fn shapes_of_every_rank_are_drawn_within_eighty_columns() {
        for (source, shape) in [
            ("", &[][..]),
            ("unsqueeze(0)", &[]),
            ("expand(3, 0)", &[3, 1]),
            ("flip(0)", &[0, 5]),
            ("[::7]", &[1000]),
            ("expand(3, -1, 2, -1, -1, -1)", &[2, 1, 1, 2, 3]),
            ("repeat(3, 1, 20, 30)", &[4, 9, 9]),
            ("unstack(1)", &[2, 30]),
            ("unstack(1)", &[2, 0]),
            ("transpose().flatten().cast(bool)", &[3, 4]),
            ("sum()", &[3, 4]),
            ("concat($1, axis=1)", &[2, 2]),
            ("take([[0, 9], [1, -9]], 0, fill)", &[3, 4]),
        ] {
            let (text, picture) = drawn(source, shape);
            assert!(picture.ends_with("</svg>\n"), "{source}");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{source}: {line}");
            }
        }
    }

    #[test]
    fn a_picture_escapes_what_xml_reserves() {
        let (_, picture) = drawn("enforce_shape([\"<&>\"])", &[3]);
        assert!(picture.contains("&lt;&amp;&gt;"));
        assert!(!picture.contains("<&>"));
    }
}
