//! Examples of what sizes look like and what is known of them.

use crate::dim::{Dim, Leaf, NoValue, Outline};
use crate::params::Symbol;
use crate::size::{Size, Truth};

#[track_caller]
fn dim(text: &str) -> Dim {
    match text.parse() {
        Ok(dim) => dim,
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn a_size_is_two_words_and_a_known_one_is_a_number() {
    assert_eq!(size_of::<Dim>(), 16);
    assert_eq!(Dim::from(5).known(), Some(5));
    assert_eq!(Dim::symbol("B").known(), None);
    assert_eq!(dim("B*0 + 5").known(), Some(5));
}

#[test]
fn texts_come_to_their_normal_form() {
    for (text, normal) in [
        ("4*B", "B*4"),
        ("2 + 4*C*B", "B*C*4 + 2"),
        ("B*4/4", "B"),
        ("(B/4)*4", "B"),
        ("(B*C*6)/(C*2)", "B*3"),
        ("(B*2 + 4)/2", "B + 2"),
        ("B*C/4", "B*C/4"),
        ("B//4", "B/4"),
        ("(B+1)*C/2", "(B*C + C)/2"),
        ("B/(C*4)", "B/(C*4)"),
        ("B/C/C", "B/C**2"),
        ("B*B*B", "B**3"),
        ("B/2 + C/3", "(B*3 + C*2)/6"),
        ("(B + 1)*(C + 1)/(C + 1)", "B + 1"),
        ("(B**2 + 2*B*C + C**2)/(B + C)", "B + C"),
        ("(B**3 + 1)/(B + 1)", "B**2 - B + 1"),
        ("C - B", "-B + C"),
        ("B - B", "0"),
        ("prod(rest)*B", "B*prod(rest)"),
        ("2*len(B[1:])*B", "B*len(B[1:])*2"),
        ("len(B[::-1])", "B"),
        ("len(B[-5:])", "len(B[:5])"),
        ("len(B[1:-2])", "len(B[3:])"),
        ("len(B[-3:5])", "len(B[-3:5])"),
        ("len((B+5)[2:])", "B + 3"),
        ("len((B+1)[3:])", "len(B[2:])"),
        ("len((B*2 + 1)[::2])", "B + 1"),
        ("len((B*2)[2::2])", "len(B[1:])"),
        ("len((B+C)[1:])", "len((B + C)[1:])"),
        ("len((B/2)[1::3])", "len((B/2)[1::3])"),
        ("len(len(B[1:])[::2])", "len(B[1::2])"),
        ("len(len(B[:9])[:4])", "len(B[:4])"),
        ("len(10[1::2])", "5"),
        ("len*prod", "len*prod"),
        ("'a b'*x.0", "'a b'*x.0"),
        (" B\t+\n1 ", "B + 1"),
    ] {
        assert_eq!(dim(text).to_string(), normal, "{text}");
        assert_eq!(dim(normal), dim(text), "{text}");
    }
}

#[test]
fn sizes_are_compared_where_that_can_be_done() {
    use Truth::{No, Unknown, Yes};
    for (a, b, same) in [
        ("B", "B", Yes),
        ("B*2", "B + B", Yes),
        ("(B/2)*2", "B", Yes),
        ("B", "C", Unknown),
        ("B", "0", Unknown),
        ("B", "1", Unknown),
        ("B*C", "C", Unknown),
        ("B + 1", "B", No),
        ("B + 1", "0", No),
        ("B*2", "3", No),
        ("B*2 + 1", "C*4", No),
        ("B*2", "4", Unknown),
        ("B*C + 1", "0", No),
        ("len(B[:4])", "5", No),
        ("len(B[:4])", "4", Unknown),
        ("B/2", "B/2 + 1", No),
        ("B/2", "B", Unknown),
        ("prod(rest)", "1", Unknown),
    ] {
        assert_eq!(dim(a).same(&dim(b)), same, "{a} and {b}");
        assert_eq!(dim(b).same(&dim(a)), same, "{b} and {a}");
    }
}

#[test]
fn bounds_sharpen_answers() {
    let b = Dim::bounded("B", 1, Some(8)).unwrap();
    let c = Dim::symbol("C");
    assert_eq!(b.is(0), Truth::No);
    assert_eq!(b.is(9), Truth::No);
    assert_eq!(b.is(8), Truth::Unknown);
    // B is not 0, so it can be left out of 2*B*C = 3*B.
    let (left, right) = (b.times(&dim("C*2")).unwrap(), b.times(&3.into()).unwrap());
    assert_eq!(left.same(&right), Truth::No);
    assert_eq!(dim("B*C*2").same(&dim("B*3")), Truth::Unknown);
    assert_eq!(b.plus(&c).unwrap().bounds(), (1, None));
    assert_eq!(Dim::bounded("B", 3, Some(3)).unwrap().is(3), Truth::Yes);
    assert_eq!(Dim::bounded("B", 3, Some(2)), None);
    assert_eq!(b.sliced(Some(8), None, 1), Some(0.into()));
    assert_eq!(b.sliced(None, Some(8), 1), Some(b.clone()));
    let out = NoValue::OutOfBounds {
        leaf: Leaf::Size(Symbol::new("B")),
        value: 9,
        min: 1,
        max: Some(8),
    };
    assert_eq!(b.evaluate(|_| Some(9)), Err(out));
}

#[test]
fn divisibility_is_told_where_it_can_be() {
    use Truth::{No, Unknown, Yes};
    for (a, b, divides) in [
        ("C", "B*C", Yes),
        ("1", "B", Yes),
        ("B", "0", Yes),
        ("0", "0", Yes),
        ("0", "3", No),
        ("0", "B", Unknown),
        ("0", "B + 1", No),
        ("3", "6", Yes),
        ("4", "6", No),
        ("4", "B", Unknown),
        ("4", "B*8 + 4", Yes),
        ("2", "B*4 + 1", No),
        ("B*2", "B", Unknown),
        ("B*2 + 2", "B + 1", No),
        ("B + 5", "3", No),
        ("B", "3", Unknown),
        ("B/4", "B", Yes),
        ("B + 1", "B*C + C", Yes),
    ] {
        assert_eq!(dim(a).divides(&dim(b)), divides, "{a} divides {b}");
    }
}

#[test]
fn a_quotient_by_zero_is_none_and_one_of_numbers_is_rounded_as_for_numbers() {
    assert_eq!(dim("B").over(&0.into()), None);
    assert_eq!(Dim::from(7).over(&2.into()), Some(3.into()));
    assert_eq!(dim("B*3").over(&dim("B*2")), Some(1.into()));
    assert_eq!(Dim::from(0).over(&dim("B")), Some(0.into()));
}

#[test]
fn symbols_are_listed_once_from_everywhere() {
    let all = dim("len((C + prod(r))[1::2])*B/(D*B + 1) + B").symbols();
    let text: Vec<String> = all.iter().map(Leaf::to_string).collect();
    assert_eq!(text, ["B", "C", "D", "prod(r)"]);
    assert_eq!(dim("B").as_symbol(), Some(&Symbol::new("B")));
    assert_eq!(dim("B + 1").as_symbol(), None);
}

#[test]
fn a_size_without_a_value_says_why() {
    let at = |text: &str, n: usize| {
        dim(text)
            .evaluate(|_| Some(n))
            .map_err(|why| why.to_string())
    };
    assert_eq!(at("B/2", 3), Err("2 does not divide 3".into()));
    assert_eq!(at("2/B", 0), Err("2 is divided by 0".into()));
    assert_eq!(at("B - 4", 3), Err("the size comes out as -1".into()));
    let past = "the size is past any machine's reach";
    assert_eq!(at("B*B", 1 << 40), Err(past.into()));
    assert_eq!(at("B", usize::MAX), Err(past.into()));
    let unbound = dim("B*2").evaluate(|_| None).map_err(|why| why.to_string());
    assert_eq!(unbound, Err("B is not known".into()));
}

#[test]
fn outlines_read_back_as_they_are_written() {
    for (text, rank, least, count) in [
        ("[]", Some(0), 0, "1"),
        ("[B, 4]", Some(2), 2, "B*4"),
        ("[*rest]", None, 0, "prod(rest)"),
        ("[B, *rest, 4]", None, 2, "B*prod(rest)*4"),
        (
            "[(B + 1)/2, len(C[1:])]",
            Some(2),
            2,
            "(B*len(C[1:]) + len(C[1:]))/2",
        ),
        ("[0, *rest]", None, 1, "0"),
        ("[*'odd name', 1]", None, 1, "prod('odd name')"),
    ] {
        let outline: Outline = text.parse().unwrap();
        assert_eq!(outline.to_string(), text);
        assert_eq!(
            (outline.rank(), outline.least_rank()),
            (rank, least),
            "{text}"
        );
        assert_eq!(outline.count().unwrap(), dim(count), "{text}");
    }
    assert_eq!("[ B,4, ]".parse::<Outline>().unwrap().to_string(), "[B, 4]");
    assert_ne!(
        "[B, *r]".parse::<Outline>().unwrap(),
        "[*r, B]".parse().unwrap()
    );
    let split = Outline::new([2.into()][..].into(), None, [3.into()][..].into());
    assert_eq!(split, "[2, 3]".parse().unwrap());
}
