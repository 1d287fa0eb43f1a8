//! The decimal digits of a float: as few as tell it from its neighbours in its own type, the last one rounded
//! to the nearest, ties to even. This is Steele and White's free-format algorithm ("How to print
//! floating-point numbers accurately", 1990) in whole numbers of any length, with NumPy's limits on the number
//! of digits. The standard library's shortest digits will not do: they round ties up, and know neither
//! `float16` nor `bfloat16`.

use std::cmp::Ordering;

use stridewise_core::DType;

/// When to stop.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// Once the number is told from its neighbours.
    Unique,
    /// The same, or after this many digits behind the point.
    Behind(usize),
    /// The same, but after no fewer and no more digits than these.
    Digits {
        /// True digits, even where fewer tell the number from its neighbours.
        least: usize,
        most: usize,
    },
}

/// The digits of a finite number that is not negative, and the power of ten the first one counts.
pub(super) fn decimal(dtype: DType, x: f64, until: Until) -> (String, i32) {
    if x == 0.0 {
        return ("0".to_string(), 0);
    }
    let binary = Binary::new(dtype, x);
    // The number is value / scale, and half the way to its neighbours low / scale and high / scale: in units
    // of half a step, or of a quarter where the lower neighbour is nearer.
    let unit = 1 + usize::from(binary.near_below);
    let mut value = Big::new(binary.mantissa).shifted(unit);
    let mut scale = Big::new(1).shifted(unit);
    let mut low = Big::new(1);
    let mut high = Big::new(1).shifted(unit - 1);
    match usize::try_from(binary.exponent) {
        Ok(bits) => {
            for number in [&mut value, &mut low, &mut high] {
                *number = number.shifted(bits);
            }
        }
        Err(_) => scale = scale.shifted(binary.exponent.unsigned_abs() as usize),
    }

    // Scaled into 0.1 .. 1. The logarithm may be off by one where it is rounded, hence the two corrections.
    let mut power = x.log10().floor() as i32 + 1;
    if power > 0 {
        scale.times_ten_to(power.unsigned_abs());
    } else {
        for number in [&mut value, &mut low, &mut high] {
            number.times_ten_to(power.unsigned_abs());
        }
    }
    while value >= scale {
        scale.times(10);
        power += 1;
    }
    while value.ten_times() < scale {
        for number in [&mut value, &mut low, &mut high] {
            number.times(10);
        }
        power -= 1;
    }

    // The powers of ten of the first digit that may be the last, and of the last that may be written.
    let (enough, limit) = match until {
        Until::Unique => (power, i32::MIN),
        Until::Behind(most) => (power, -(most as i32)),
        Until::Digits { least, most } => (power - least as i32, power - most as i32),
    };
    let even = binary.mantissa.is_multiple_of(2);
    let mut at = power;
    let mut digits = Vec::new();
    let (last, round_up) = loop {
        at -= 1;
        for number in [&mut value, &mut low, &mut high] {
            number.times(10);
        }
        let digit = value.take_quotient(&scale);
        // What rounds to this number when read: the bounds themselves do where the mantissa is even.
        let inside = |order: Ordering| order.is_lt() || even && order.is_eq();
        let down = inside(value.cmp(&low));
        let up = inside(scale.cmp(&value.plus(&high)));
        if (down || up) && at <= enough || at <= limit {
            let nearest_is_up = match value.shifted(1).cmp(&scale) {
                Ordering::Equal => digit % 2 == 1,
                order => order.is_gt(),
            };
            break (digit, if down == up { nearest_is_up } else { up });
        }
        digits.push(b'0' + digit);
    };
    digits.push(b'0' + last);
    let mut exponent = power - 1;
    if round_up {
        while digits.last() == Some(&b'9') {
            digits.pop();
        }
        match digits.last_mut() {
            Some(digit) => *digit += 1,
            None => {
                digits.push(b'1');
                exponent += 1;
            }
        }
    }
    (digits.into_iter().map(char::from).collect(), exponent)
}

/// A number as its own type holds it: `mantissa · 2^exponent`, a step of the mantissa being one to the next.
struct Binary {
    mantissa: u64,
    exponent: i32,
    /// At a power of two the numbers below lie twice as close.
    near_below: bool,
}

impl Binary {
    fn new(dtype: DType, x: f64) -> Binary {
        let (bits, lowest) = match dtype {
            DType::F16 => (11, -14),
            DType::BF16 => (8, -126),
            DType::F32 => (24, -126),
            _ => (53, -1022),
        };
        let raw = (x.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = x.to_bits() & ((1 << 52) - 1);
        let wide = fraction | u64::from(raw > 0) << 52;
        let step = |bits: i32, lowest: i32| lowest.max(raw - 1023) - (bits - 1);
        let exponent = step(bits, lowest);
        // The type holds the number, so only zeros are shifted out.
        let mantissa = wide >> (exponent - step(53, -1022)).min(63);
        Binary {
            mantissa,
            exponent,
            near_below: mantissa == 1 << (bits - 1) && raw - 1023 > lowest,
        }
    }
}

/// A whole number of any size: 32-bit limbs, the lowest first, the last one not zero.
#[derive(Clone, PartialEq, Eq)]
struct Big(Vec<u32>);

impl Big {
    fn new(n: u64) -> Big {
        Big(vec![n as u32, (n >> 32) as u32]).trim()
    }

    fn trim(mut self) -> Big {
        self.drop_zeros();
        self
    }

    fn drop_zeros(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn shifted(&self, bits: usize) -> Big {
        let mut result = Big(vec![0; bits / 32]);
        result.0.extend(&self.0);
        result.times(1 << (bits % 32));
        result
    }

    fn times(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn times_ten_to(&mut self, power: u32) {
        for _ in 0..power / 9 {
            self.times(1_000_000_000);
        }
        self.times(10u32.pow(power % 9));
    }

    fn ten_times(&self) -> Big {
        let mut result = self.clone();
        result.times(10);
        result
    }

    fn plus(&self, other: &Big) -> Big {
        let len = self.0.len().max(other.0.len());
        let limb = |n: &Big, at: usize| u64::from(n.0.get(at).copied().unwrap_or(0));
        let mut carry = 0;
        let mut limbs = Vec::with_capacity(len + 1);
        for at in 0..len {
            let sum = limb(self, at) + limb(other, at) + carry;
            limbs.push(sum as u32);
            carry = sum >> 32;
        }
        limbs.push(carry as u32);
        Big(limbs).trim()
    }

    /// Divides by a number more than a tenth of this one, leaving the remainder.
    fn take_quotient(&mut self, divisor: &Big) -> u8 {
        let mut quotient = 0;
        while *self >= *divisor {
            let mut borrow = false;
            for (at, limb) in self.0.iter_mut().enumerate() {
                let (less, first) = limb.overflowing_sub(divisor.0.get(at).copied().unwrap_or(0));
                let (less, second) = less.overflowing_sub(u32::from(borrow));
                *limb = less;
                borrow = first || second;
            }
            self.drop_zeros();
            quotient += 1;
        }
        quotient
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> Ordering {
        let lens = self.0.len().cmp(&other.0.len());
        lens.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
