//! Numbers past reach, sizes that would grow without end, and texts that mean harm.

use proptest::prelude::*;

use crate::dim::{Dim, Outline};
use crate::size::Size;

fn fault(text: &str) -> String {
    match text.parse::<Dim>() {
        Ok(dim) => panic!("{text} reads as {dim}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn known_sizes_past_reach_are_none() {
    let large = Dim::from(isize::MAX as usize);
    assert_eq!(large.plus(&1.into()), None);
    assert_eq!(large.times(&2.into()), None);
    let b = Dim::symbol("B");
    let far = b.times(&large).and_then(|n| n.times(&large)).unwrap();
    assert_eq!(far.over(&b), None);
    assert_eq!(far.over(&large), b.times(&large));
    assert_eq!(far.times(&large), None);
}

#[test]
fn sizes_stop_growing_somewhere() {
    let mut sum = Dim::from(1);
    let mut steps = 0;
    while let Some(more) = sum
        .plus(&Dim::symbol(format!("B{steps}")))
        .and_then(|n| n.times(&n))
    {
        sum = more;
        steps += 1;
    }
    assert!((2..16).contains(&steps), "{steps} squares");

    let mut length = Dim::symbol("B");
    let mut steps = 0;
    while let Some(more) = length
        .plus(&Dim::symbol("C"))
        .and_then(|n| n.sliced(None, None, 2))
    {
        length = more;
        steps += 1;
    }
    assert_eq!(steps, 32);
    assert_eq!(length.to_string().parse::<Dim>().unwrap(), length);
}

#[test]
fn texts_that_are_no_sizes_are_told_why() {
    for (text, message) in [
        (
            "",
            "expected a number, a name or `(`, found the end at character 0",
        ),
        (
            "B +",
            "expected a number, a name or `(`, found the end at character 3",
        ),
        (
            "B C",
            "expected `+`, `-`, `*`, `/` or the end, found `C` at character 2",
        ),
        ("4B", "expected an operator, found `B` at character 1"),
        ("1.5", "expected an operator, found `.` at character 1"),
        ("(B", "expected `)`, found the end at character 2"),
        ("B/0", "a division by 0 at character 2"),
        ("B/(C - C)", "a division by 0 at character 2"),
        ("-3", "`-3` is negative, so it is no size"),
        ("-B - 1", "`-B - 1` is negative, so it is no size"),
        ("7/2", "`7/2` is not a whole number"),
        ("len(B)", "expected `[`, found `)` at character 5"),
        ("len(B[::0])", "a step of 0 at character 9"),
        ("'B", "a name without a closing quote at character 0"),
        ("9223372036854775808", "the size is past reach"),
        (
            "B**99999999999999999999999999999999999999999",
            "the size is past reach",
        ),
        ("(B + C)**1000000", "the size is past reach"),
    ] {
        let fault = fault(text);
        assert!(fault.starts_with(message), "{text}: {fault}");
    }
    for text in ["", "[", "[B", "[B C]", "[*]", "[*a, *b]", "[B]]", "B"] {
        assert!(text.parse::<Outline>().is_err(), "{text}");
    }
}

#[test]
fn hostile_texts_end_soon_and_well() {
    let names: Vec<String> = (0..9000).map(|n| format!("a{n}")).collect();
    for text in [
        "(".repeat(60_000),
        "-".repeat(60_000),
        "len(".repeat(15_000),
        format!("{}B{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("{}B{}", "len(".repeat(9000), "[1:])".repeat(6000)),
        names.join("+"),
        names.join("*"),
        names.join("/"),
        format!(
            "({})*({})",
            names[..500].join("+"),
            names[500..1000].join("+")
        ),
        format!("({})/({})", names[..90].join("+"), names[50..120].join("+")),
        "B*".repeat(30_000) + "B",
        "B+".repeat(30_000) + "B",
        "B/C+".repeat(15_000) + "B",
        "(B**4000000000+1)/(B+1)".to_string(),
        "(B**60+C**50+D+1)/(B**31+C**29+D**3+7)*(B+C+D)/(B*C+D)".to_string(),
        "(a+b+c+d+e)**6/(a+b+c+d+e+1)**4".to_string(),
        "1/(a+1)+1/(b+2)+1/(c+3)+1/(d+4)+1/(e+5)+1/(f+6)+1/(g+7)+1/(h+8)".to_string(),
        "9".repeat(60_000),
        "a".repeat(1 << 20),
    ] {
        if let Ok(dim) = text.parse::<Dim>() {
            assert_eq!(dim.to_string().parse::<Dim>().unwrap(), dim);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,40}") {
        let _ = text.parse::<Dim>();
        let _ = text.parse::<Outline>();
    }

    #[test]
    fn any_row_of_tokens_is_read_without_a_panic(
        tokens in proptest::collection::vec(
            proptest::sample::select(vec![
                "B", "C", "2", "0", "7", "+", "-", "*", "/", "**", "(", ")", "len(", "prod(", "[", "]",
                ":", ",", "'", "\\", " ", "4294967295", "170141183460469231731687303715884105727",
            ]),
            0..14,
        ),
    ) {
        let text = tokens.concat();
        if let Ok(dim) = text.parse::<Dim>() {
            prop_assert_eq!(dim.to_string().parse::<Dim>().unwrap(), dim);
        }
        let _ = text.parse::<Outline>();
    }

    #[test]
    fn any_name_is_printed_so_that_it_reads_back(name in "\\PC{0,8}", tuple in any::<String>()) {
        let tuple = crate::params::Symbol::new(&tuple);
        let dim = Dim::symbol(&name).times(&Dim::product_of(&tuple)).unwrap();
        prop_assert_eq!(dim.to_string().parse::<Dim>().unwrap(), dim);
        let outline = Outline::unknown(tuple);
        prop_assert_eq!(outline.to_string().parse::<Outline>().unwrap(), outline);
    }
}
