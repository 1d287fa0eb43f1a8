//! Elements as words of equal width, by the rules of NumPy's `arrayprint`: one notation for all of a tensor,
//! at most eight digits behind the point, points and signs under each other.

use stridewise_core::DType;
use stridewise_core::dtype::Family;
use stridewise_core::params::Scalar;

use super::digits::{Until, decimal};

/// Digits behind the point, at most.
const DIGITS: usize = 8;

/// Each element as a word. All have one width, so that columns align.
pub(super) fn words(dtype: DType, values: &[Scalar], rank: usize) -> Vec<String> {
    match dtype.family() {
        Family::Float => {
            let values: Vec<f64> = values.iter().map(|x| x.real()).collect();
            floats(dtype, &values, Sign::Minus)
        }
        Family::Complex => {
            let (re, im): (Vec<f64>, Vec<f64>) = values.iter().map(|&z| parts(z)).unzip();
            let re = floats(part(dtype), &re, Sign::Minus);
            let im = floats(part(dtype), &im, Sign::Always);
            let pair = |(re, im): (&String, &String)| {
                let number = im.trim_end();
                format!("{re}{number}j{}", &im[number.len()..])
            };
            re.iter().zip(&im).map(pair).collect()
        }
        _ => {
            let words: Vec<String> = values.iter().map(Scalar::to_string).collect();
            // Bools are as wide as `False` even where all are true; but a single one has no column.
            let least = if dtype == DType::Bool && rank > 0 {
                5
            } else {
                0
            };
            let width = words.iter().map(String::len).fold(least, usize::max);
            words.iter().map(|word| format!("{word:>width$}")).collect()
        }
    }
}

/// The one element of a tensor of rank 0, as NumPy's scalars print: all digits, no padding.
pub(super) fn scalar(dtype: DType, value: Scalar) -> String {
    match value {
        Scalar::Float(x) => {
            let word = lone(dtype, x, Sign::Minus);
            match x.is_finite() && !word.contains(['.', 'e']) {
                true => format!("{word}.0"),
                false => word,
            }
        }
        Scalar::Complex(re, im) => {
            let dtype = part(dtype);
            // A real part of zero is left out, but not one of minus zero.
            if re.to_bits() == 0 {
                return format!("{}j", lone(dtype, im, Sign::Minus));
            }
            let (re, im) = (lone(dtype, re, Sign::Minus), lone(dtype, im, Sign::Always));
            format!("({re}{im}j)")
        }
        other => other.to_string(),
    }
}

/// What is printed in front of a number that is not negative.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    /// Nothing.
    Minus,
    /// A plus.
    Always,
}

/// The type of each part of a complex number.
fn part(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        _ => DType::F64,
    }
}

fn parts(value: Scalar) -> (f64, f64) {
    match value {
        Scalar::Complex(re, im) => (re, im),
        other => (other.real(), 0.0),
    }
}

/// Decimal digits that the type always keeps, `precision` in NumPy's `finfo`. By that bfloat16 would have 2
/// and print 100 as 1.e+02; it is shown as float16 is.
fn kept_digits(dtype: DType) -> i32 {
    match dtype {
        DType::F16 | DType::BF16 => 3,
        DType::F32 => 6,
        _ => 15,
    }
}

/// The nearest number of the type.
fn rounded(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f64(x).to_f64(),
        DType::BF16 => half::bf16::from_f64(x).to_f64(),
        DType::F32 => f64::from(x as f32),
        _ => x,
    }
}

/// A number in pieces, before it is known how wide each must be.
struct Pieces {
    /// Sign and digits in front of the point.
    whole: String,
    /// Digits behind it, without zeros at the end.
    fraction: String,
    exponent: i32,
}

impl Pieces {
    fn plain(dtype: DType, x: f64, sign: Sign, until: Until) -> Pieces {
        let (digits, exponent) = decimal(dtype, x.abs(), until);
        let whole = usize::try_from(exponent + 1).unwrap_or(0);
        let mut pieces = Pieces {
            whole: sign_of(x, sign).to_string(),
            fraction: "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0)),
            exponent: 0,
        };
        let (before, behind) = digits.split_at(whole.min(digits.len()));
        pieces.whole.push_str(before);
        match whole {
            0 => pieces.whole.push('0'),
            _ => pieces.whole.push_str(&"0".repeat(whole - before.len())),
        }
        pieces.fraction.push_str(behind);
        pieces.trim()
    }

    fn scientific(dtype: DType, x: f64, sign: Sign, until: Until) -> Pieces {
        let (digits, exponent) = decimal(dtype, x.abs(), until);
        let (first, rest) = digits.split_at(1);
        Pieces {
            whole: format!("{}{first}", sign_of(x, sign)),
            fraction: rest.to_string(),
            exponent,
        }
        .trim()
    }

    fn trim(mut self) -> Pieces {
        self.fraction
            .truncate(self.fraction.trim_end_matches('0').len());
        self
    }

    fn exponent_len(&self) -> usize {
        self.exponent.unsigned_abs().to_string().len().max(2)
    }

    fn exponent_sign(&self) -> char {
        if self.exponent < 0 { '-' } else { '+' }
    }
}

fn sign_of(x: f64, sign: Sign) -> &'static str {
    match (x.is_sign_negative() && !x.is_nan(), sign) {
        (true, _) => "-",
        (false, Sign::Always) => "+",
        (false, Sign::Minus) => "",
    }
}

fn not_finite(x: f64, sign: Sign) -> String {
    let name = if x.is_nan() { "nan" } else { "inf" };
    format!("{}{name}", sign_of(x, sign))
}

/// Floats in one notation, their points under each other.
fn floats(dtype: DType, values: &[f64], sign: Sign) -> Vec<String> {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let scientific = is_scientific(dtype, finite());
    let pieces: Vec<Pieces> = match scientific {
        true => {
            // The number that needs most digits sets how many all get: their own, not zeros.
            let until = Until::Digits {
                least: 0,
                most: DIGITS + 1,
            };
            let longest = finite()
                .map(|x| Pieces::scientific(dtype, x, sign, until).fraction.len())
                .fold(0, usize::max);
            let until = Until::Digits {
                least: longest + 1,
                most: longest + 1,
            };
            finite()
                .map(|x| {
                    let mut pieces = Pieces::scientific(dtype, x, sign, until);
                    let missing = longest - pieces.fraction.len();
                    pieces.fraction.push_str(&"0".repeat(missing));
                    pieces
                })
                .collect()
        }
        false => finite()
            .map(|x| Pieces::plain(dtype, x, sign, Until::Behind(DIGITS)))
            .collect(),
    };
    let longest = |len: fn(&Pieces) -> usize| pieces.iter().map(len).fold(0, usize::max);
    let whole = longest(|pieces| pieces.whole.len());
    let fraction = longest(|pieces| pieces.fraction.len());
    let exponent = longest(Pieces::exponent_len);
    // Behind the point; `e` and its sign take two columns.
    let right = match scientific {
        true => fraction + 2 + exponent,
        false => fraction,
    };
    let width = values
        .iter()
        .filter(|x| !x.is_finite())
        .map(|x| not_finite_width(*x, sign))
        .fold(0, usize::max)
        .max(whole + 1 + right);
    let left = width - 1 - right;
    let mut pieces = pieces.iter();
    let word = |x: &f64| match x.is_finite().then(|| pieces.next()).flatten() {
        Some(number) if scientific => format!(
            "{:>left$}.{}e{}{:0exponent$}",
            number.whole,
            number.fraction,
            number.exponent_sign(),
            number.exponent.unsigned_abs(),
        ),
        Some(number) => format!("{:>left$}.{:right$}", number.whole, number.fraction),
        None => format!("{:>width$}", not_finite(*x, sign)),
    };
    values.iter().map(word).collect()
}

/// The columns a number that is not finite asks for. NumPy reckons with a sign where all numbers have one.
fn not_finite_width(x: f64, sign: Sign) -> usize {
    3 + usize::from(sign == Sign::Always || x == f64::NEG_INFINITY)
}

/// Whether numbers are too large, too small or too far apart to be written out. NumPy compares in the type
/// itself, so the bounds are rounded to it.
fn is_scientific(dtype: DType, finite: impl Iterator<Item = f64>) -> bool {
    let (low, high) = finite
        .map(f64::abs)
        .filter(|x| *x > 0.0)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| {
            (low.min(x), high.max(x))
        });
    let most = 10f64.powi(kept_digits(dtype).min(8));
    high > 0.0
        && (high >= most || low < rounded(dtype, 1e-4) || rounded(dtype, high / low) > 1000.0)
}

/// A number by itself, without a point where none is needed.
fn lone(dtype: DType, x: f64, sign: Sign) -> String {
    if !x.is_finite() {
        return not_finite(x, sign);
    }
    // Below this the digits in front of the point are the number's own, not zeros that fill up.
    let most = match dtype {
        DType::F64 => 1e16,
        _ => 10f64.powi(kept_digits(dtype)),
    };
    let plain = x == 0.0 || (1e-4..most).contains(&x.abs());
    let pieces = match plain {
        true => Pieces::plain(dtype, x, sign, Until::Unique),
        false => Pieces::scientific(dtype, x, sign, Until::Unique),
    };
    let mut word = pieces.whole.clone();
    if !pieces.fraction.is_empty() {
        word.push('.');
        word.push_str(&pieces.fraction);
    }
    if !plain {
        let (sign, exponent) = (pieces.exponent_sign(), pieces.exponent.unsigned_abs());
        word.push_str(&format!("e{sign}{exponent:02}"));
    }
    word
}
