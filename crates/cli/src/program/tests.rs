//! Programs of every kind, good and broken, are read and planned without a panic.

use proptest::prelude::*;
use stridewise::Graph;
use stridewise_core::dtype::DType;
use stridewise_core::operators::TABLE;
use stridewise_dry::{Dry, Sketch};

use super::*;
use crate::failure::Failure;
use crate::inputs::Shape;
use crate::plan::symbolic;
use crate::terminal::Paint;

/// Plans a program over two inputs and shows the mistake if there is one.
fn plan(source: &str) -> Result<Vec<Sketch>, Mistake> {
    let dry = Dry::new();
    let inputs = [
        dry.tensor(DType::F32, &[4, 6, 16]).unwrap(),
        dry.tensor(DType::I64, &[2, 3]).unwrap(),
    ];
    let shown = |mistake: Mistake| {
        for paint in [Paint::plain(), Paint::coloured()] {
            assert!(!mistake.show(source, paint).is_empty());
        }
        mistake
    };
    let program = Program::parse(source).map_err(shown)?;
    let mut flow = start(&program, &inputs).map_err(shown)?;
    for one in &program.steps {
        flow = Some(step(&dry, one, flow.as_ref(), &inputs).map_err(shown)?.flow);
    }
    Ok(flow.map_or(Vec::new(), |flow| flow.tensors().to_vec()))
}

/// Plans a program over inputs of which little is known, on a graph, and writes the plan.
fn plan_with_symbols(source: &str) -> Result<(), Failure> {
    let graph = Graph::new();
    let shapes = ["B,?,16", "*rest,B*2"].map(|text| Shape::read(text).unwrap().outline(&graph));
    let [x, y] = shapes;
    let inputs = [
        graph.input("x", DType::F32, x).unwrap(),
        graph.input("y", DType::I64, y).unwrap(),
    ];
    let program = Program::parse(source).map_err(Failure::within(source))?;
    let plan = symbolic::plan(&program, &graph, &inputs, None)?;
    plan.write(true, &mut std::io::sink())?;
    plan.write(false, &mut std::io::sink())
}

fn shape(source: &str) -> Vec<usize> {
    plan(source).unwrap()[0].shape().to_vec()
}

/// The part of the text that is blamed.
fn blamed(source: &str) -> &str {
    let mistake = plan(source).unwrap_err();
    &source[mistake.details.labels[0].0.clone()]
}

#[test]
fn a_chain_runs_from_left_to_right() {
    let source =
        r#"unflatten(1, [2, -1]).expand(5, -1, -1, -1, -1).take([0, 3], axis=0, mode="wrap")"#;
    assert_eq!(shape(source), [2, 4, 2, 3, 16]);
}

#[test]
fn an_empty_program_changes_nothing() {
    for source in ["", "  \n", "x", "$1"] {
        assert_eq!(shape(source), [4, 6, 16], "{source:?}");
    }
    assert_eq!(shape("$2"), [2, 3]);
}

#[test]
fn an_index_is_a_step() {
    for source in [
        "[1:3, ::-1, None, ..., 0]",
        "x[1:3, ::-1, None, ..., 0]",
        ".slice(1:3, ::-1, None, ..., 0)",
    ] {
        assert_eq!(shape(source), [2, 6, 1], "{source:?}");
    }
    assert_eq!(shape("flip(0)[0][None]"), [1, 6, 16]);
}

#[test]
fn literals_are_read_as_python_reads_them() {
    let value = |text: &str| {
        let program = Program::parse(&format!("full(2, {text})")).unwrap();
        program.steps[0].args[1].value.kind.clone()
    };
    assert_eq!(value("1_000"), Kind::Int(1000));
    assert_eq!(value("--3"), Kind::Int(3));
    assert_eq!(value("1e-3"), Kind::Float(1e-3));
    assert_eq!(value("-.5"), Kind::Float(-0.5));
    assert_eq!(value("5."), Kind::Float(5.0));
    assert_eq!(value("-inf"), Kind::Float(f64::NEG_INFINITY));
    assert_eq!(value("2j"), Kind::Complex(0.0, 2.0));
    assert_eq!(value("1-2.5j"), Kind::Complex(1.0, -2.5));
    assert_eq!(value("True"), Kind::Bool(true));
    assert_eq!(value("None"), Kind::None);
    assert_eq!(value("'it\\'s'"), Kind::Text("it's".to_string()));
    assert_eq!(
        value("170141183460469231731687303715884105727"),
        Kind::Int(i128::MAX)
    );
    assert_eq!(value("()"), Kind::List(Vec::new()));
}

#[test]
fn a_mistake_points_at_the_very_place() {
    for (source, place) in [
        ("expand(-1, -1, 5)", "5"),
        ("expand([-1, -3, 5])", "-3"),
        ("expand(-1, 2.5, 16)", "2.5"),
        ("expand(6, 16)", "6, 16"),
        ("flip(0).unflatten(1, [2, -1, -1])", "[2, -1, -1]"),
        ("unflatten(1, shape=[4])", "[4]"),
        ("unflatten(7, [4])", "7"),
        ("unflaten(1, [4])", "unflaten"),
        ("flip(0, 1, 7)", "7"),
        ("take([0], 1, \"raise\", None, 3)", "3"),
        ("take([0], axs=1)", "axs"),
        ("take([0], 1, axis=2)", "axis"),
        ("take([0], mode=\"rais\")", "\"rais\""),
        ("take([0.5])", "[0.5]"),
        ("take($3)", "$3"),
        ("take([0, 1)", ")"),
        ("take([0, 1]", "("),
        ("take([0, 1], ", "("),
        ("take([[0, 1], [2]", "["),
        ("concat($1, $2)", "$2"),
        ("concat([$1, $2])", "$2"),
        ("[0, 9]", "9"),
        ("[0, ..., 99]", "99"),
        ("[1:2:0]", "1:2:0"),
        ("[1.5]", "1.5"),
        ("enforce_shape([4, ..., \"C\", 3])", "3"),
        ("enforce_shape([4, None])", "[4, None]"),
        ("cast(f33)", "f33"),
        ("cast(f32) ; flip(0)", ";"),
        ("cast(f32) flip(0)", "flip"),
        ("cast", "cast"),
        ("cast(f32).", "."),
        ("cast('f32)", "'"),
        ("full(2, 12ab)", "12ab"),
        ("flip(0).zeros(2)", "zeros(2)"),
        ("unstack(0).flip(0)", "flip(0)"),
        ("permute(2, 0, 0)", "0"),
        ("expand_as($2)", "$2"),
        ("expand($2)", "$2"),
        ("sum(axes=0, 1)", "1"),
        ("reshape(flip(0))", "("),
    ] {
        assert_eq!(blamed(source), place, "{source}");
    }
}

#[test]
fn several_tensors_go_on_to_operators_on_many() {
    assert_eq!(shape("unstack(1).stack(0)"), [6, 4, 16]);
    assert_eq!(blamed("unstack(2).concat($2)"), "$2");
}

#[test]
fn a_first_step_that_names_its_tensors_has_no_other() {
    assert_eq!(shape("concat($1, $1, axis=1)"), [4, 12, 16]);
    assert_eq!(shape("concat([$1, $1], 1)"), [4, 12, 16]);
    assert_eq!(shape("stack([$1])"), [1, 4, 6, 16]);
    assert_eq!(shape("stack([$2, $2, $2])"), [3, 2, 3]);
    assert_eq!(shape("atleast_1d([$1, $1])"), [2, 4, 6, 16]);
    assert_eq!(plan("atleast_1d($1, $2)").unwrap().len(), 2);
    assert_eq!(plan("atleast_1d($2)").unwrap().len(), 2);
    assert_eq!(plan("atleast_1d([$1, $1], $2)").unwrap().len(), 2);
    assert_eq!(shape("x.concat($1, axis=1)"), [4, 12, 16]);
    assert_eq!(shape("flip(0).concat($1, axis=1)"), [4, 12, 16]);
}

#[test]
fn a_list_of_tensors_is_refused_where_the_chain_has_one() {
    for source in [
        "flip(0).concat([$1], axis=1)",
        "x.concat([$1])",
        "$2.stack([$2])",
        "flip(0).atleast_1d([$1])",
    ] {
        let mistake = plan(source).unwrap_err();
        let message = "the chain's own tensor is already the first input";
        assert_eq!(mistake.message, message, "{source}");
    }
}

/// How to mend a program.
fn help(source: &str) -> String {
    plan(source).unwrap_err().details.help.unwrap_or_default()
}

#[test]
fn a_list_in_an_index_is_answered_with_take() {
    for (source, call) in [
        ("[[0,1]]", "take([0, 1], 0)"),
        ("[None, :, (0, 1)]", "take([0, 1], 1)"),
        ("[..., [0, 1], :]", "take([0, 1], -2)"),
        ("[[[0], [1]]]", "take([[0], [1]], 0)"),
    ] {
        let wanted = format!("a list picks slices: use `{call}`");
        assert_eq!(help(source), wanted, "{source}");
    }
    assert_eq!(help("[0, $2]"), "a tensor picks slices: use `take($2, 1)`");
    for source in ["slice([[0, 1]])", "slice([0, 1], 2)"] {
        assert!(plan(source).is_err(), "{source}");
    }
}

#[test]
fn words_of_other_libraries_are_answered_with_ours() {
    for (source, word) in [
        ("x.T", "`transpose()`"),
        ("shape", "`shape_of()`"),
        ("unsqueeze_(0)", "`unsqueeze(…)`"),
        ("view_as($2)", "`view("),
        ("gather([0])", "`take_along_axis("),
        ("cat($2)", "`concat("),
        ("expand_dims(0)", "`unsqueeze("),
        ("broadcast(2)", "`broadcast_to("),
        ("astype(f32)", "`cast("),
        ("to(f32)", "`cast("),
        ("take([0], dim=1)", "`axis`"),
        ("take([0], axes=1)", "`axis`"),
        ("permute(axis=1)", "`axes`"),
        ("sum(0, keepdim=True)", "`keepdims`"),
        ("zeros(2, 3)", "`zeros([2, 3])`"),
        ("ones(2, 3, 4)", "`ones([2, 3, 4])`"),
        ("full(2, 3, 7)", "`full([2, 3], 7)`"),
        ("cast(float)", "`float64`"),
        ("zeros(2, dtype=int)", "`int64`"),
    ] {
        assert!(help(source).contains(word), "{source}: {}", help(source));
    }
    assert_eq!(shape("tile(2)"), [4, 6, 32]);
    assert_eq!(shape("full(2, 3)"), [2]);
}

#[test]
fn the_signature_is_not_told_as_a_help_as_well() {
    for source in ["unflatten(1)", "expand(2.5)", "cast(3)"] {
        let details = plan(source).unwrap_err().details;
        assert!(details.signature.is_some(), "{source}");
        assert_eq!(details.help, None, "{source}");
    }
}

#[test]
fn only_what_is_out_of_range_is_called_so() {
    let label = |source: &str| plan(source).unwrap_err().details.labels[0].1.clone();
    for source in ["flip(3)", "permute(0, 1, 3)", "[9]", "take([0], -9)"] {
        assert_eq!(label(source), "out of range", "{source}");
    }
    for source in ["permute(1, 0)", "permute(2, 0, 0)", "moveaxis([0, 1], [0])"] {
        assert_ne!(label(source), "out of range", "{source}");
    }
}

#[test]
fn brackets_that_nest_without_end_are_a_mistake() {
    for open in ["[", "(", "take([", "x["] {
        let mistake = Program::parse(&format!("take({}", open.repeat(100_000))).unwrap_err();
        assert!(!mistake.message.is_empty());
    }
    assert_eq!(blamed(&format!("take({})", "[".repeat(80))), "[");
}

#[test]
fn a_tensor_is_not_taken_apart_without_end() {
    let source = "broadcast_to(1000000000, 4, 6, 16).unstack(-4)";
    assert_eq!(blamed(source), "unstack(-4)");
    assert_eq!(
        blamed("broadcast_to(1000000000, 4, 6, 16).unstack(axis=0)"),
        "unstack(axis=0)"
    );
    assert_eq!(blamed("unstack(9)"), "9");
}

/// Words that programs are made of, in any order.
fn word() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = TABLE.iter().map(|entry| entry.name).collect();
    prop_oneof![
        4 => proptest::sample::select(names).prop_map(|name| format!("{name}(")),
        6 => proptest::sample::select(vec![
            "(", ")", "[", "]", ",", ":", "=", ".", "...", "-", "+", "$1", "$2", "$9", "$", "None",
            "True", "x", "f32", "\"wrap\"", "mode=\"clip\"", "axis=", "axes=", "keepdims=True", "shape=", "inf",
            "nan", "2j", "1.5", "é", "\n", "\t", "'", "\\", ") .", "),", ")",
        ]).prop_map(str::to_string),
        3 => (-3i64..20).prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
    ]
}

/// A call with arguments that are mostly right.
fn likely() -> impl Strategy<Value = String> {
    let symbols = vec!["B", "rest", "C", "\"B*2\"", "\"prod(rest)\""];
    let size = prop_oneof![
        4 => (-2i64..7).prop_map(|n| n.to_string()),
        4 => Just("-1".to_string()),
        1 => proptest::sample::select(symbols).prop_map(str::to_string),
    ];
    let argument = prop_oneof![
        4 => size.clone(),
        3 => proptest::collection::vec(size, 0..4).prop_map(|v| format!("[{}]", v.join(", "))),
        1 => Just("$2".to_string()),
        1 => Just("None".to_string()),
        1 => Just("...".to_string()),
        1 => Just("::-1".to_string()),
        1 => Just("f16".to_string()),
    ];
    let names: Vec<&'static str> = TABLE.iter().map(|entry| entry.name).collect();
    (
        proptest::sample::select(names),
        proptest::collection::vec(argument, 0..5),
    )
        .prop_map(|(name, args)| format!("{name}({})", args.join(", ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read_without_a_panic(source in "\\PC{0,60}") {
        let _ = plan(&source);
    }

    #[test]
    fn any_row_of_words_is_planned_without_a_panic(words in proptest::collection::vec(word(), 0..14)) {
        let _ = plan(&words.concat());
        let _ = plan(&words.join(" "));
        let _ = plan_with_symbols(&words.concat());
    }

    #[test]
    fn likely_programs_are_planned_without_a_panic(steps in proptest::collection::vec(likely(), 0..4)) {
        let _ = plan(&steps.join("."));
        let _ = plan_with_symbols(&steps.join("."));
    }

    #[test]
    fn a_good_program_with_one_change_is_planned_without_a_panic(
        at in 0usize..200,
        with in "\\PC",
        remove in any::<bool>(),
    ) {
        let good = r#"unflatten(1, [2, -1]).expand(5, -1, -1, -1, -1)[1:3, ..., None].take([[0], [3]], axis=0, mode="wrap").enforce_shape([None, 1, ..., "C"])"#;
        let at = at % good.len();
        let until = if remove { at + 1 } else { at };
        let _ = plan(&format!("{}{with}{}", &good[..at], &good[until..]));
        let _ = plan(&good[..at]);
        let _ = plan_with_symbols(&format!("{}{with}{}", &good[..at], &good[until..]));
    }
}
