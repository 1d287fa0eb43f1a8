//! `enforce_shape` where it matters most: the examples it was proposed with, at once and in graphs of which all
//! sizes, some, none, or not even the rank are known; and checks that no graph may lose.

use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::error::{Error, Result};
use stridewise_core::operators::{Dims, Methods};
use stridewise_core::params::Pattern;
use stridewise_core::pattern;
use stridewise_core::size::{Shape, Size};
use stridewise_cpu::Tensor;
use stridewise_graph::{Graph, Program, Symbolic};

/// 0, 1, 2, … of that shape.
fn counting(shape: &[usize]) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    Tensor::from_vec((0..count).map(|n| n as f64).collect(), shape)
}

/// A shape with all sizes known, some, none, and with unknown rank.
fn declarations(graph: &Graph, shape: &[usize]) -> [Outline; 5] {
    let unknown: Shape<Dim> = shape.iter().map(|_| graph.unknown()).collect();
    let mut some = unknown.clone();
    some[0] = Dim::symbol("B");
    if let Some(last) = some.last_mut() {
        *last = Dim::from(shape[shape.len() - 1]);
    }
    let rest = graph.unknown_shape().rest().cloned();
    let tail = some[shape.len() - 1..].into();
    [
        shape.into(),
        some.into(),
        unknown.into(),
        Outline::new(Shape::new(), rest, tail),
        graph.unknown_shape(),
    ]
}

/// How many declarations there are.
const DECLARATIONS: usize = 5;

/// Records a function of one tensor under one of the declarations for a shape.
fn traced(
    at: usize,
    shape: &[usize],
    f: impl FnOnce(&Graph, &Symbolic) -> Result<Vec<Symbolic>>,
) -> Result<Program> {
    let graph = Graph::new();
    let declared = declarations(&graph, shape)[at].clone();
    let x = graph.input("x", DType::F64, declared)?;
    graph.at(Some("model.py:7".to_string()), Some("check".to_string()));
    let outputs = f(&graph, &x)?;
    graph.at(None, None);
    graph.finish(&outputs.iter().collect::<Vec<_>>())
}

/// The numbers that sizes stand for in a run.
fn numbers(program: &Program, x: &Tensor, sizes: &[Dim]) -> Result<Vec<usize>> {
    let one = |size: &Dim| {
        let shape = Outline::from([size.clone()].as_slice());
        Ok(program.foreseen(std::slice::from_ref(x), &shape)?[0])
    };
    sizes.iter().map(one).collect()
}

/// Checks one tensor against a pattern, at once and under every declaration that fits.
fn checked(shape: &[usize], pattern: Pattern<usize>) -> Result<(Tensor, Dims<usize>)> {
    counting(shape)?.enforce_shape(pattern)
}

#[test]
fn any_three_sizes() -> Result<()> {
    let x = counting(&[2, 3, 4])?;
    let (same, dims) = checked(&[2, 3, 4], pattern![_, _, _])?;
    assert_eq!(same.shape(), [2, 3, 4]);
    assert_eq!(dims.to_string(), "[2, 3, 4]");
    for at in 0..DECLARATIONS {
        let mut found = Vec::new();
        let program = traced(at, &[2, 3, 4], |_, x| {
            let (x, dims) = x.enforce_shape(pattern![_, _, _])?;
            found.extend((0..3).filter_map(|at| dims.size(at)));
            assert_eq!(
                x.shape().rank(),
                Some(3),
                "the returned tensor carries its rank"
            );
            Ok(vec![x])
        })?;
        assert_eq!(numbers(&program, &x, &found)?, [2, 3, 4]);
        let y = program.run(std::slice::from_ref(&x))?;
        assert!(y[0].shares_storage_with(&x));
    }
    Ok(())
}

#[test]
fn other_ranks_fail_at_the_check() -> Result<()> {
    let wanted = checked(&[2, 3], pattern![_, _, _]);
    assert!(matches!(wanted, Err(Error::Shape(_))));
    for at in 0..DECLARATIONS {
        let run = traced(at, &[2, 3], |_, x| {
            Ok(vec![x.enforce_shape(pattern![_, _, _])?.0])
        })
        .and_then(|program| program.run(&[counting(&[2, 3])?]));
        let Err(Error::Shape(report)) = run else {
            panic!("declaration {at} gives {run:?}");
        };
        assert_eq!(report.operator(), "enforce_shape");
        // Known ranks are refused when the graph is made, where the caller is at hand.
        if at >= 3 {
            let place = report.notes().find(|(label, _)| *label == "called at");
            assert_eq!(place, Some(("called at", "model.py:7")));
            assert_eq!(report.node(), Some("check"));
        }
    }
    Ok(())
}

#[test]
fn a_size_of_another_tensor_and_a_number() -> Result<()> {
    for at in 0..DECLARATIONS {
        for (rows, good) in [(2, true), (5, false)] {
            let program = |graph: &Graph, x: &Symbolic| {
                let y = graph.input("y", DType::F64, "[R, 4]".parse()?)?;
                let (_, dims) = y.enforce_shape(pattern![_, 4])?;
                let wanted = dims.size(0).unwrap_or(Dim::from(0));
                let pattern = Pattern::from(vec![
                    stridewise_core::params::Piece::Is(wanted),
                    stridewise_core::params::any(),
                    4usize.into(),
                ]);
                Ok(vec![x.enforce_shape(pattern)?.0])
            };
            let program = traced(at, &[2, 3, 4], program)?;
            let run = program.run(&[counting(&[2, 3, 4])?, counting(&[rows, 4])?]);
            match run {
                Ok(_) => assert!(good, "declaration {at}, {rows} rows"),
                Err(error) => {
                    assert!(!good, "declaration {at}, {rows} rows: {error}");
                    assert_eq!(error.report().operator(), "enforce_shape");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_symbol_of_an_input_means_its_size_in_a_pattern() -> Result<()> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F64, "[B, 3]".parse()?)?;
    let y = graph.input("y", DType::F64, graph.unknown_shape())?;
    let (y, _) = y.enforce_shape(pattern!["B", _, 4])?;
    assert_eq!(y.shape().front()[0], Dim::symbol("B"));
    let program = graph.finish(&[&x, &y])?;
    assert!(
        program
            .run(&[counting(&[2, 3])?, counting(&[2, 1, 4])?])
            .is_ok()
    );
    assert!(
        program
            .run(&[counting(&[2, 3])?, counting(&[3, 1, 4])?])
            .is_err()
    );
    Ok(())
}

#[test]
fn an_ellipsis_gives_its_sizes_and_their_product() -> Result<()> {
    let shapes: [(&[usize], &[usize]); 4] = [
        (&[1, 5, 3], &[]),
        (&[1, 5, 2, 3], &[2]),
        (&[1, 5, 2, 4, 3], &[2, 4]),
        (&[1, 5, 2, 0, 3], &[2, 0]),
    ];
    for (shape, axes) in shapes {
        let (_, dims) = checked(shape, pattern![1, _, .., 3])?;
        assert_eq!((dims.len(), dims.axes()), (4, axes));
        let count: usize = axes.iter().product();
        assert_eq!(dims.size(2), Some(count));
        for at in 0..DECLARATIONS {
            let mut found = Vec::new();
            let program = traced(at, shape, |_, x| {
                let (x, dims) = x.enforce_shape(pattern![1, _, .., 3])?;
                found.extend((0..dims.len()).filter_map(|at| dims.size(at)));
                assert_eq!(found[0], Dim::from(1), "what is checked is known");
                assert_eq!(found[3], Dim::from(3));
                let mut back: Shape<Dim> = dims.axes().into();
                back.push(found[1].clone());
                back.push(found[3].clone());
                Ok(vec![x.reshape(back)?])
            })?;
            let x = counting(shape)?;
            assert_eq!(numbers(&program, &x, &found)?, [1, 5, count, 3]);
            let y = program.run(&[x])?;
            assert_eq!(y[0].shape(), [axes, &[5, 3]].concat());
        }
        let mut wrong = shape.to_vec();
        wrong[shape.len() - 1] = 2;
        assert!(checked(&wrong, pattern![1, _, .., 3]).is_err());
        for at in 0..DECLARATIONS {
            let run = traced(at, &wrong, |_, x| {
                Ok(vec![x.enforce_shape(pattern![1, _, .., 3])?.0])
            })
            .and_then(|program| program.run(&[counting(&wrong)?]));
            assert!(
                matches!(run, Err(Error::Shape(_))),
                "declaration {at}: {run:?}"
            );
        }
    }
    Ok(())
}

/// A conversion that is only written for two axes, the last of which holds channels: they are turned around, and
/// their sum stands behind them.
fn convert<S: Size, V: Methods<S>>(pixels: &V) -> Result<V> {
    let turned = pixels.flip([1])?;
    let (pixels, _) = pixels.enforce_shape(pattern![_, 3])?;
    stridewise_core::operators::concat(&[&turned, &pixels.sum([1], true, None)?], 1)
}

/// The recipe: down to two axes, the conversion, and back to as many as there were.
fn recipe<S: Size, V: Methods<S>>(x: &V) -> Result<V> {
    let (x, dims) = x.enforce_shape(pattern![.., _])?;
    let size = |at| {
        dims.size(at)
            .ok_or_else(|| Error::argument("two pieces were given"))
    };
    let flat: Shape<S> = [size(0)?, size(1)?].into_iter().collect();
    let converted = convert(&x.reshape(flat)?)?;
    let mut back: Shape<S> = dims.axes().into();
    back.push(S::from(4));
    converted.reshape(back)
}

#[test]
fn the_recipe_for_colours_of_any_rank() -> Result<()> {
    let shapes: [&[usize]; 5] = [&[3], &[2, 3], &[2, 4, 3], &[2, 0, 3], &[2, 1, 2, 2, 3]];
    for declared_for in shapes {
        for at in 0..DECLARATIONS {
            let program = traced(at, declared_for, |_, x| Ok(vec![recipe(x)?]))?;
            for shape in shapes {
                let x = counting(shape)?;
                // With unknown rank one graph does for all ranks; otherwise for that it was declared with.
                if at < 3 && shape != declared_for {
                    continue;
                }
                let (wanted, got) = (recipe(&x)?, program.run(&[x])?);
                assert_eq!(got[0].shape(), wanted.shape(), "declaration {at}");
                assert_eq!(got[0].to_vec::<f64>()?, wanted.to_vec::<f64>()?);
            }
        }
    }
    let program = traced(4, &[2, 3], |_, x| Ok(vec![recipe(x)?]))?;
    let error = program.run(&[counting(&[2, 4])?]).unwrap_err();
    assert_eq!(error.report().operator(), "enforce_shape");
    Ok(())
}

#[test]
fn a_check_whose_result_nobody_uses_still_fails_the_run() -> Result<()> {
    for at in [1, 2, 3, 4] {
        let program = traced(at, &[2, 3, 4], |_, x| {
            x.enforce_shape(pattern![2, .., 4])?;
            Ok(vec![x.repeat([1, 1, 1, 2])?])
        })?;
        assert!(program.run(&[counting(&[2, 3, 4])?]).is_ok());
        let bad = [counting(&[3, 3, 4])?];
        // It fails while the run is planned: no step is taken, and no output made.
        for error in [
            program.run(&bad).unwrap_err(),
            program.steps(&bad).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Shape(_)), "{error}");
            assert_eq!(error.report().operator(), "enforce_shape");
            assert_eq!(error.report().node(), Some("check"));
        }
    }
    Ok(())
}

#[test]
fn guards_are_merged_name_their_source_and_stay() -> Result<()> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F64, "[B, N]".parse()?)?;
    graph.at(Some("model.py:3".to_string()), Some("first".to_string()));
    x.enforce_shape(pattern![_, 4])?;
    graph.at(Some("model.py:4".to_string()), None);
    x.enforce_shape(pattern![_, 4])?;
    x.enforce_shape(pattern![2, _])?;
    x.unflatten(1, [-1, 3])?;
    graph.at(None, None);
    // Nothing of this is used.
    let program = graph.finish(&[&x])?;
    let guards: Vec<_> = (program.guards().iter())
        .map(|guard| {
            (
                guard.operator,
                guard.name.as_deref(),
                guard.source.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        guards,
        [
            ("enforce_shape", Some("first"), Some("model.py:3")),
            ("enforce_shape", None, Some("model.py:4")),
            ("unflatten", None, Some("model.py:4")),
        ]
    );
    Ok(())
}

#[test]
fn what_is_proved_needs_no_guard() -> Result<()> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F64, "[B, 6]".parse()?)?;
    let (x, _) = x.enforce_shape(pattern!["B", 6])?;
    let (x, _) = x.enforce_shape(pattern![.., 6])?;
    let y = x.unflatten(1, [2, -1])?.reshape([-1, 3])?;
    assert!(graph.finish(&[&y])?.guards().is_empty());
    Ok(())
}

#[test]
fn a_gather_that_nobody_uses_still_fails_outside() -> Result<()> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F64, graph.unknown_shape())?;
    let index = graph.input("i", DType::I64, "[N]".parse()?)?;
    graph.at(Some("model.py:9".to_string()), None);
    x.take(&index, 0, stridewise_core::params::Mode::Raise)?;
    graph.at(None, None);
    let program = graph.finish(&[&x])?;
    let index = |at: i64| Tensor::from_vec(vec![0, at], &[2]);
    let x = counting(&[3, 2])?;
    assert!(program.run(&[x.clone(), index(-3)?]).is_ok());
    for _ in 0..2 {
        let error = program.run(&[x.clone(), index(3)?]).unwrap_err();
        assert!(matches!(error, Error::Index(_)), "{error}");
        let report = error.report();
        assert_eq!(report.operator(), "take");
        assert!(
            report
                .notes()
                .any(|note| note == ("called at", "model.py:9"))
        );
    }
    Ok(())
}
