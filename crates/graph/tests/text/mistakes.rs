//! Texts that are no programs: what is said of them, and that nothing worse comes of any text.

use std::panic::AssertUnwindSafe;

use insta::assert_snapshot;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::TestCaseError;
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::error::Result;
use stridewise_core::operators::make;
use stridewise_cpu::{Cpu, Tensor};
use stridewise_graph::Program;
use stridewise_suite::Choices;

use crate::chains::text;
use crate::random::{reason, runner};

/// What is said of a program with these lines, given an `x` of some sizes and an `i` of integers.
fn said(lines: &str) -> String {
    said_of(&format!(
        "graph(x: float32[B, C], i: int64[2]) {{\n{lines}\n}}\n"
    ))
}

fn said_of(text: &str) -> String {
    match text.parse::<Program>() {
        Ok(program) => panic!("no mistake was found in\n{program}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let all = [
        ("nothing", said_of("")),
        ("another language", said_of("def f(x):\n  return x")),
        (
            "an input without a shape",
            said_of("graph(x: float32) {\n  return x\n}"),
        ),
        (
            "an unknown dtype",
            said_of("graph(x: float33[2]) {\n  return x\n}"),
        ),
        (
            "two inputs of one name",
            said_of("graph(x: f32[2],\n      x: f32[2]) {\n  return x\n}"),
        ),
        (
            "two tuples",
            said_of("graph(x: f32[*a, *b]) {\n  return x\n}"),
        ),
        ("no size", said_of("graph(x: f32[2, B +]) {\n  return x\n}")),
        (
            "no numbers in bounds",
            said_of("graph(x: f32[B]) where 3 <= B <= 2 {\n  return x\n}"),
        ),
        ("no end", said_of("graph(x: f32[B]) {\n  return x\n")),
        (
            "more behind the end",
            said_of("graph(x: f32[B]) {\n  return x\n}\ngraph"),
        ),
        ("no return", said("  %0 = flatten(x): float32[B*C]")),
        ("an unknown operator", said("  %0 = flaten(x)\n  return %0")),
        (
            "an unknown primitive",
            said("  %0 = primitive.flatten(x)\n  return %0"),
        ),
        ("an unknown value", said("  return y")),
        (
            "a value twice",
            said("  y = flatten(x)\n  y = flatten(x)\n  return y"),
        ),
        (
            "an unknown argument",
            said("  %0 = flatten(x, stat=1)\n  return %0"),
        ),
        (
            "an argument twice",
            said("  %0 = flatten(x, start=1, start=1)\n  return %0"),
        ),
        (
            "an argument missing",
            said("  %0 = reshape(x)\n  return %0"),
        ),
        (
            "another kind of argument",
            said("  %0 = reshape(x, shape=4)\n  return %0"),
        ),
        (
            "a bracket that stays open",
            said("  %0 = reshape(x, shape=(B*C,)\n  return %0"),
        ),
        (
            "an error of the operator",
            said("  %0 = reshape(x, shape=(-1, -1))\n  return %0"),
        ),
        (
            "another shape",
            said("  %0 = flatten(x): float32[B, C]\n  return %0"),
        ),
        (
            "another dtype",
            said("  %0 = flatten(x): float64[B*C]\n  return %0"),
        ),
        (
            "shapes missing",
            said("  a, b = unstack(i): int64[]\n  return a"),
        ),
        ("names missing", said("  a = unstack(i)\n  return a")),
        ("too many names", said("  a, b = flatten(x)\n  return a")),
        (
            "a guard missing",
            said("  %0 = unflatten(x, axis=0, shape=(-1, 4))\n  return %0"),
        ),
        (
            "another guard",
            said(
                "  %0 = unflatten(x, axis=0, shape=(-1, 4))\n  guard 4 divides C  # unflatten\n  return %0",
            ),
        ),
        (
            "a guard too many",
            said("  %0 = flatten(x)\n  guard B == C\n  return %0"),
        ),
        (
            "a symbol of nothing",
            said("  %0 = reshape(x, shape=(_4, -1))\n  return %0"),
        ),
        (
            "a size of no list",
            said("  %0 = reshape(x, shape=(x[0], -1))\n  return %0"),
        ),
        (
            "a size past a list",
            said("  %0 = reshape(x, shape=(i[2], -1))\n  return %0"),
        ),
        (
            "a tensor for a size",
            said("  %0 = flatten(i)\n  %1 = reshape(x, shape=(%0, -1))\n  return %1"),
        ),
        (
            "a large constant",
            said("  %0 = constant(#93c4a1b200000000): float32[1000]\n  return %0"),
        ),
        (
            "a constant of another shape",
            said("  %0 = constant([[1, 2], [3]]): int64[2, 2]\n  return %0"),
        ),
        (
            "a constant of another dtype",
            said("  %0 = constant([1, 300]): uint8[2]\n  return %0"),
        ),
        (
            "a string without an end",
            said("  %0 = flatten(x, name=\"a)\n  return %0"),
        ),
        (
            "an axis that is not there",
            said("  %0 = primitive.view(x, axes=[0, 2])\n  return %0"),
        ),
        (
            "far too many tensors",
            said_of("graph(x: f32[99999999999]) {\n  a = unstack(x)\n  return a\n}"),
        ),
        (
            "far too many axes",
            said("  %0 = atleast_nd(x, n=99999999999)\n  return %0"),
        ),
        ("a gradient by nothing", said("  gradient(x by y)")),
        ("a gradient by integers", said("  gradient(x by i)")),
    ];
    let all: Vec<String> = all
        .into_iter()
        .map(|(what, text)| format!("-- {what}\n{text}\n"))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn brackets_in_each_other_do_not_use_up_the_stack() {
    let deep = |sign: &str| sign.repeat(200_000);
    for open in ["(", "[", "len(", "'"] {
        said(&format!("  %0 = reshape(x, shape=({}", deep(open)));
        said(&format!("  %0 = constant({}", deep(open)));
        said(&format!(
            "  %0 = primitive.view(x, axes=[new({}",
            deep(open)
        ));
        said(&format!("  %0 = flatten(x): float32[{}", deep(open)));
        said_of(&deep(open));
    }
    let shape = format!("[{}]", ["1"; 60_000].join(", "));
    let nested = format!("{}7{}", "[".repeat(60_000), "]".repeat(60_000));
    let text = format!("graph() {{\n  %0 = constant({nested}): int8{shape}\n  return %0\n}}");
    // Whether or not a tensor can have as many axes, something is said.
    let _ = text.parse::<Program>().map(|program| program.to_string());
}

/// Words that texts are made of, to put where they do not belong.
const WORDS: &[&str] = &[
    "graph",
    "guard",
    "return",
    "gradient",
    "by",
    "where",
    "<=",
    "primitive.",
    "view",
    "sum",
    "gather",
    "constant",
    "None",
    "...",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    "#",
    "\"",
    "'",
    "\\",
    "*",
    "%",
    "%0",
    "%1",
    "x0",
    "i",
    "_0",
    "_1",
    "B",
    "-1",
    "0",
    "1",
    "3",
    "64",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "170141183460469231731687303715884105728",
    "nan",
    "inf",
    "1e999",
    "complex(",
    "True",
    "float16",
    "bool",
    "int64",
    "[0]",
    "[]",
    "[:]",
    "[1:]",
    "len(",
    "prod(",
    "/",
    "//",
    "**",
    "+",
    "-",
    "new(",
    "merge(0:2)",
    "range(0, ::-1)",
    "slice(0, start=1, len=2, step=-1)",
    "split(0, len=2, inner=2)",
    "stretch(0, len=5)",
    "axis=0",
    "shape=(2, -1)",
    "name=\"n\"",
    "é",
    "\u{1}",
    "\n",
    "  ",
    "# note\n",
];

/// A text with pieces left out, put in, exchanged or said again. Now and then without what it says of shapes and
/// guards, so that more than that is held to be wrong.
fn mutated(text: &str, choices: &mut Choices) -> String {
    let bare = choices.once_in(2);
    let lines = text
        .lines()
        .filter(|line| !(bare && line.contains("  guard ")));
    let lines = lines.map(|line| match line.rfind("): ") {
        Some(end) if bare && line.starts_with("  ") => &line[..=end],
        _ => line,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut parts: Vec<String> = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some(word) if c.is_alphanumeric() && word.ends_with(char::is_alphanumeric) => {
                word.push(c);
            }
            _ => parts.push(c.to_string()),
        }
    }
    for _ in 0..1 + choices.below(3) {
        let (at, other) = (choices.below(parts.len()), choices.below(parts.len()));
        if parts.is_empty() {
            break;
        }
        match choices.below(8) {
            0 => drop(parts.remove(at)),
            1 => parts.insert(at, choices.pick(WORDS).to_string()),
            2 => parts[at] = choices.pick(WORDS).to_string(),
            3 => parts.swap(at, other),
            4 => {
                let end = parts.len().min(at + 1 + choices.below(12));
                let again: Vec<String> = parts[at..end].to_vec();
                parts.splice(other..other, again);
            }
            // One number for another, the likeliest to be read.
            _ => {
                let number = |part: &&mut String| part.starts_with(|c: char| c.is_ascii_digit());
                let mut numbers: Vec<&mut String> = parts.iter_mut().filter(number).collect();
                let place = choices.below(numbers.len());
                if let Some(number) = numbers.get_mut(place) {
                    **number = choices
                        .pick(&["0", "1", "2", "3", "5", "64", "4294967296"])
                        .into();
                }
            }
        }
    }
    parts.concat()
}

/// Tensors that fit what a program declares, where its symbols stand for small numbers. Large ones, and some that
/// do not fit after all, are as good: then a run says so.
fn given(program: &Program) -> Vec<Tensor> {
    let one = |(_, dtype, shape): (&str, DType, &Outline)| {
        let dim = |dim: &Dim| dim.evaluate(|_| Some(2)).map_or(1, |size| size.min(8));
        let front = shape.front().iter().map(dim);
        let rest = shape.rest().map(|_| 3).into_iter();
        let dims: Vec<usize> = front
            .chain(rest)
            .chain(shape.back().iter().map(dim))
            .collect();
        let dims = if dims.len() > 8 { vec![1] } else { dims };
        let bytes = vec![1; dims.iter().product::<usize>() * dtype.width()];
        match dtype.is_integer() {
            true => make::ones(&Cpu, dims.as_slice(), dtype),
            false => Tensor::from_bytes(dtype, &dims, &bytes),
        }
    };
    let tensors = program.inputs().map(one);
    tensors.collect::<Result<_>>().unwrap_or_default()
}

#[test]
fn no_text_does_worse_than_an_error() {
    let (seed, mut runner) = runner("mutated texts", 4000);
    let primitives = include_str!("snapshots/text__examples__primitives.snap");
    let read = include_str!("snapshots/text__examples__read.snap");
    let made = include_str!("snapshots/text__examples__made.snap");
    let examples = [primitives, read, made].map(|text| &text[text.find("graph(").unwrap_or(0)..]);
    let choices = (vec(any::<u32>(), 0..200), vec(any::<u32>(), 1..40));
    let good = std::cell::Cell::new(0);
    let outcome = runner.run(&choices, |(choices, more)| {
        let mut more = Choices::new(&more);
        let text = match more.below(5) {
            at @ 0..3 => examples[at].to_string(),
            _ => text(&mut Choices::new(&choices))
                .map_err(|error| TestCaseError::fail(error.to_string()))?,
        };
        let mutated = mutated(&text, &mut more);
        let read = std::panic::catch_unwind(|| mutated.parse::<Program>());
        let Ok(read) = read else {
            return Err(TestCaseError::fail(format!("this panics:\n{mutated}")));
        };
        // Whatever is read is a program like any other.
        if let Ok(program) = read {
            let printed = program.to_string();
            let again = printed.parse::<Program>().map(|again| again.to_string());
            match again {
                Ok(again) if again == printed => {}
                Ok(again) => {
                    return Err(TestCaseError::fail(format!(
                        "{mutated}\n{printed}\n{again}"
                    )));
                }
                Err(error) if error.to_string().contains("cannot be read back") => {}
                Err(error) => {
                    return Err(TestCaseError::fail(format!(
                        "{mutated}\n{printed}\n{error}"
                    )));
                }
            }
            good.set(good.get() + 1);
            // No run may take all the memory there is.
            let long = |word: &str| word.len() > 3;
            if mutated.split(|c: char| !c.is_ascii_digit()).any(long) {
                return Ok(());
            }
            let given = given(&program);
            if std::panic::catch_unwind(AssertUnwindSafe(|| program.run(&given))).is_err() {
                return Err(TestCaseError::fail(format!(
                    "running this panics:\n{mutated}"
                )));
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("PROPTEST_RNG_SEED={seed}: {}", reason(error));
    }
    // Were all of them refused, nothing would be told of what is read.
    assert!(good.get() > 0, "PROPTEST_RNG_SEED={seed}: no text was read");
    eprintln!("TALLY {}", good.get()); //
}
