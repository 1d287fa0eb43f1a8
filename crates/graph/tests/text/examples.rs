//! What programs look like. Together the examples hold every operator, every primitive and every kind of guard.

use insta::assert_snapshot;
use stridewise_core::axis::Axis;
use stridewise_core::dim::{Dim, Outline};
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::Result;
use stridewise_core::operators::{Methods, Shapes, TABLE, concat, make, stack};
use stridewise_core::params::{Item, Mode, Place, Scalar, Sizes};
use stridewise_core::size::Shape;
use stridewise_core::{index, pattern};
use stridewise_cpu::Tensor;
use stridewise_graph::{Graph, Program, Symbolic, spread};

fn input(graph: &Graph, name: &str, dtype: DType, shape: &str) -> Result<Symbolic> {
    graph.input(name, dtype, shape.parse()?)
}

fn sizes<const N: usize>(sizes: [Dim; N]) -> Sizes<Dim> {
    Shape::from(sizes.as_slice()).into()
}

fn views() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F32, "[B, _7, 4]")?;
    let y = x
        .unsqueeze([0, -1])?
        .squeeze(-1)?
        .squeeze([0])?
        .squeeze(..)?;
    let p = x.permute([2, 0, 1])?.transpose(..)?.swapaxes(0, -1)?;
    let p = p.moveaxis([0, 1], [1, 0])?.flip(..)?.flip(1)?;
    let s = x.slice(index![Item::from(1..), Item::Rest, Item::from(..).step(-2)])?;
    let n = s.slice(index![0, stridewise_core::params::NewAxis, 1..3])?;
    let a = make::zeros(&graph, (), DType::F64)?;
    let (a, b) = (a.atleast_1d()?, a.atleast_2d()?);
    let c = b.atleast_3d()?.atleast_nd(5usize, Place::Back)?;
    graph.finish(&[&y, &p, &n, &a, &c])
}

fn sized() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F64, "[B, C]")?;
    let y = input(&graph, "y", DType::F64, "[1, C]")?;
    let (b, c) = (Dim::symbol("B"), Dim::symbol("C"));
    let e = y.expand(sizes([3.into(), b, c.clone()]))?;
    let f = y
        .expand_as(&x)?
        .broadcast_to(sizes([2.into(), "B".parse()?, c.clone()]))?;
    let r = x
        .repeat([2, 1, 3])?
        .tile([2])?
        .repeat_interleave([2], Some(1isize))?;
    graph.at(Some("model.py:12".into()), Some("heads".into()));
    let u = x.unflatten(1, [-1, 8])?;
    graph.at(Some("model.py:13".into()), None);
    let v = u.flatten(0, 1)?.reshape([-1, 4])?.view([2, -1])?;
    graph.at(None, None);
    let w = x.reshape(sizes([c, 2.into(), "B/2".parse()?]))?;
    graph.finish(&[&e, &f, &r, &v, &w])
}

fn gathered() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F32, "[B, C]")?;
    let i = input(&graph, "i", DType::I64, "[N]")?;
    let a = x.take(&i, None, Mode::Raise)?;
    let b = x.take(&i, Some(-1isize), Mode::Fill(Scalar::Float(f64::NAN)))?;
    let c = x.take(&i, Some(0isize), Mode::Wrap)?;
    let d = x.index_select(1, &i)?;
    let e = x.index_add(0, &i, &input(&graph, "s", DType::F32, "[_3, C]")?)?;
    let j = input(&graph, "j", DType::U8, "[B, _3]")?;
    let f = x.take_along_axis(&j, 1isize)?;
    let g = x.take_along_axis(&i, None)?;
    graph.finish(&[&a, &b, &c, &d, &e, &f, &g])
}

fn made() -> Result<Program> {
    let graph = Graph::new();
    input(&graph, "x", DType::F32, "[B]")?;
    let a = make::zeros(&graph, sizes(["B".parse()?, 2.into()]), DType::F64)?;
    let b = make::ones(&graph, [2, 3], DType::C64)?;
    let c = make::full(&graph, [2], Scalar::Complex(-0.0, f64::INFINITY), None)?;
    let d = make::full(
        &graph,
        (),
        f64::from_bits(0xfff8_0000_0000_0001),
        DType::F32,
    )?;
    let e = make::arange(&graph, 1e300, Scalar::Float(f64::MAX), 1e306, None)?;
    let f = make::arange(&graph, 5, None, 1, Some(DType::I16))?;
    let g = concat(&[&a, &a], 1)?;
    let g = stack(&[&g, &g], 0)?;
    let h = g.sum(.., false, None)?.cast(DType::I64)?;
    let k = g.sum([0, 2], true, Some(DType::F32))?.contiguous()?;
    let rows = b.unstack(0)?;
    let none = make::zeros(&graph, [0, 2], DType::Bool)?.unstack(0)?;
    assert!(none.is_empty());
    graph.finish(&[&c, &d, &e, &f, &h, &k, &rows[1]])
}

fn checked() -> Result<Program> {
    let graph = Graph::new();
    let image = input(&graph, "image", DType::F32, "[*pixels, 3]")?;
    let x = graph.input("x", DType::F32, graph.unknown_shape())?;
    let (flat, dims) = image.enforce_shape(pattern![.., 3])?;
    let axes = dims.axes()[0].clone();
    let flat = flat.reshape(sizes([dims.size(0).unwrap_or(0.into()), 3.into()]))?;
    let back = flat.reshape(sizes([axes, 3.into()]))?;
    let (x, dims) = x.enforce_shape(pattern!["H", _, .., "H", "_0", "None"])?;
    let (y, _) = graph
        .input(
            "y",
            DType::F32,
            [Dim::symbol("B"), graph.unknown()].as_slice().into(),
        )?
        .enforce_shape(pattern!["B", 4])?;
    let learned = dims.size(1).unwrap_or(0.into());
    let pieces = vec![
        stridewise_core::params::Piece::Is(Dim::symbol("B")),
        stridewise_core::params::Piece::Is(learned),
    ];
    let (z, _) = y.enforce_shape(stridewise_core::params::Pattern::from(pieces))?;
    let later = x.flatten(0, -1)?;
    graph.finish(&[&back, &z, &later])
}

fn read() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F32, "[*s]")?;
    let s = input(&graph, "s", DType::I64, "[2]")?;
    let n = input(&graph, "n", DType::I32, "[]")?;
    let all = input(&graph, "all", DType::I64, "[_0]")?;
    let call = |name: &str, x: &Symbolic, shape: Vec<stridewise_core::call::Arg<Symbolic, Dim>>| {
        let positional = vec![
            stridewise_core::call::Arg::Tensor(x.clone()),
            match <[_; 1]>::try_from(shape) {
                Ok([whole]) => whole,
                Err(parts) => stridewise_core::call::Arg::List(parts),
            },
        ];
        let named = Vec::new();
        let args = stridewise_core::call::Args { positional, named };
        match stridewise_core::operators::call(&graph, name, args)? {
            stridewise_core::table::Outcome::One(x) => Ok(x),
            _ => Err(stridewise_core::Error::argument("one tensor was wanted")),
        }
    };
    use stridewise_core::call::Arg;
    let a = call("reshape", &x, vec![Arg::Tensor(s.clone())])?;
    let b = call("reshape", &a, vec![Arg::Tensor(n.clone()), Arg::Int(-1)])?;
    let c = call("expand", &b, vec![Arg::Tensor(all)])?;
    let doubled = concat(&[&s, &s], 0)?;
    let d = call("reshape", &c, vec![Arg::Tensor(doubled)])?;
    // The shape of a tensor is known before any run, so nothing is read from it.
    let shape = b.shape_of()?;
    let e = call("reshape", &x, vec![Arg::Tensor(shape)])?;
    let f = x.shape_of()?;
    let g = call("reshape", &e, vec![Arg::Tensor(f.clone())])?;
    graph.finish(&[&d, &f, &g])
}

fn bounded() -> Result<Program> {
    let graph = Graph::new();
    let dims = [
        Dim::bounded("B", 1, None),
        Dim::bounded("N", 2, Some(8)),
        Dim::bounded("M", 0, Some(4)),
        Some(Dim::symbol("odd name's")),
    ];
    let dims: Option<Vec<Dim>> = dims.into_iter().collect();
    let dims = dims.ok_or_else(|| stridewise_core::Error::argument("no such bounds"))?;
    let x = graph.input("x", DType::BF16, Outline::from(dims.as_slice()))?;
    let y = x.slice(index![1.., 1, 1..])?;
    let z = x.slice(index![-1, 5, 3])?;
    graph.finish(&[&y, &z])
}

fn constants() -> Result<Program> {
    let graph = Graph::new();
    let c = |tensor: Result<Tensor>| tensor.map(|tensor| graph.constant(&tensor));
    let bytes = |dtype: DType, bytes: &[u8]| {
        let count = bytes.len() / dtype.width();
        c(Tensor::from_bytes(dtype, &[count], bytes))
    };
    graph.at(
        Some("weights.py:1\nthe first line".into()),
        Some("w \"0\"\n".into()),
    );
    let mut all = vec![c(Tensor::from_vec(
        vec![0.1f32, -0.0, 1e-45, f32::MAX, f32::NAN, -f32::INFINITY],
        &[2, 3],
    ))?];
    graph.at(None, None);
    all.push(c(Tensor::from_vec(
        vec![0.1, 5e-324, f64::from_bits(0x7ff0_0000_0000_0001)],
        &[3, 1, 1],
    ))?);
    all.push(c(Tensor::scalar(-7i64))?);
    all.push(c(Tensor::from_vec(vec![u64::MAX], &[1]))?);
    all.push(c(Tensor::from_vec(vec![i8::MIN, i8::MAX], &[2]))?);
    all.push(c(Tensor::from_vec(vec![true, false], &[2, 1]))?);
    all.push(c(Tensor::from_vec(Vec::<f32>::new(), &[2, 0, 3]))?);
    all.push(bytes(DType::F16, &[0x00, 0x2e, 0x01, 0x7c, 0x00, 0x7e])?);
    all.push(bytes(DType::BF16, &[0xcd, 0x3d])?);
    let halves: Vec<u8> = [1.5f32, f32::NAN]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    all.push(bytes(DType::C64, &halves)?);
    graph.finish(&all.iter().collect::<Vec<_>>())
}

fn large() -> Result<Program> {
    let graph = Graph::new();
    let w = graph.constant(&Tensor::from_vec(
        (0..1200).collect::<Vec<i32>>(),
        &[30, 40],
    )?);
    graph.finish(&[&w])
}

fn primitives() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F32, "[B, C, 4]")?;
    let r = input(&graph, "r", DType::F32, "[*any]")?;
    let i = input(&graph, "i", DType::I64, "[N]")?;
    let (b, c): (Dim, Dim) = ("B".parse()?, "C".parse()?);
    graph.at(None, Some("back".into()));
    let zeros = graph.full(
        DType::F32,
        Scalar::Float(0.0),
        &[b.clone(), c.clone(), 4.into()],
    )?;
    graph.at(None, None);
    let sum = graph.add(&x, &zeros)?;
    let range = graph.range(DType::I32, Scalar::Int(0), Scalar::Int(-1), b.clone())?;
    let s = graph.sizes(&[b.clone(), 4.into()])?;
    let of = graph.sizes_of(&r)?;
    let runs = graph.runs(&[2.into(), c.clone()])?;
    let axes = [
        Axis::Of(1),
        Axis::Fresh(b.clone()),
        Axis::Slice {
            of: 0,
            start: 1.into(),
            len: "B/2".parse()?,
            step: 2,
        },
        Axis::Split {
            of: 2,
            len: 2.into(),
            inner: 2.into(),
        },
        Axis::Split {
            of: 2,
            len: 2.into(),
            inner: 1.into(),
        },
    ];
    let view = graph.view(&sum, axes.len(), |out| axes[out].clone())?;
    let axes = [
        Axis::Stretch {
            of: 0,
            len: "D".parse()?,
        },
        Axis::Range {
            of: 1,
            start: Some(1),
            stop: None,
            step: -1,
        },
        Axis::Merge(2..4),
        Axis::Of(4),
    ];
    let view = graph.view(&view, axes.len(), |out| axes[out].clone())?;
    let copy = graph.copy(&view)?;
    let got = graph.gather(&x, &i, &Along::Run(0..2), Mode::Clip)?;
    let fill = Mode::Fill(Scalar::Int(-1));
    let next = graph.gather(&i, &range, &Along::Aligned(0), fill)?;
    let back = graph.scatter_add(&x, &i, &got, &Along::Run(0..2), Mode::Raise)?;
    let total = graph.sum(&back, &[0, 2], DType::F64)?;
    let wide = graph.cast(&x, DType::C128)?;
    let both = graph.concat(&[&wide, &wide], 2)?;
    let scope = Shapes::new();
    let (same, _) = scope.enforce(&r, pattern![.., "D", 2])?;
    let (same, _) = scope.enforce(&same, pattern![_, _, _])?;
    graph.finish(&[&copy, &next, &total, &both, &s, &of, &runs, &same])
}

fn gradient() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F32, "[B, 4]")?;
    let w = input(&graph, "w", DType::F64, "[N]")?;
    let i = input(&graph, "i", DType::I64, "[N]")?;
    let y = x.take(&i, Some(0isize), Mode::Raise)?;
    let total = w.sum(.., false, None)?;
    graph.finish(&[&y, &total, &i])?.gradient(None)
}

fn nothing() -> Result<Program> {
    Graph::new().finish(&[])
}

fn unpacked() -> Result<Program> {
    let graph = Graph::new();
    let x = input(&graph, "x", DType::F32, "[B, *rest]")?;
    let rest = spread(&stridewise_core::params::Symbol::new("rest"));
    let y = x.reshape(sizes(["B".parse()?, 1.into(), rest.clone()]))?;
    let z = make::zeros(&graph, sizes([rest]), DType::F32)?;
    let count = Dim::product_of(&stridewise_core::params::Symbol::new("rest"));
    let flat = x.reshape(sizes([count.clone(), "B".parse()?]))?;
    graph.finish(&[&y, &z, &flat])
}

type Example = (&'static str, fn() -> Result<Program>);

const ALL: [Example; 13] = [
    ("views", views),
    ("sized", sized),
    ("gathered", gathered),
    ("made", made),
    ("checked", checked),
    ("read", read),
    ("bounded", bounded),
    ("constants", constants),
    ("large", large),
    ("primitives", primitives),
    ("gradient", gradient),
    ("nothing", nothing),
    ("unpacked", unpacked),
];

fn texts() -> Vec<(&'static str, String)> {
    let text = |(name, example): Example| match example() {
        Ok(program) => (name, program.to_string()),
        Err(error) => panic!("{name}: {error}"),
    };
    ALL.into_iter().map(text).collect()
}

#[test]
fn programs_look_like_this() {
    for (name, text) in texts() {
        assert_snapshot!(name, text);
    }
}

#[test]
fn every_operator_is_in_an_example() {
    let all: String = texts().into_iter().map(|(_, text)| text).collect();
    for entry in TABLE {
        let there = all.contains(&format!(" = {}(", entry.name));
        assert!(there, "no example has `{}`", entry.name);
    }
}

#[test]
fn every_example_reads_back_as_itself() {
    for (name, text) in texts() {
        match text.parse::<Program>() {
            Ok(again) => assert_eq!(again.to_string(), text, "{name}"),
            Err(error) => assert!(
                name == "large" && error.to_string().contains("cannot be read back"),
                "{name}: {error}\n{text}"
            ),
        }
    }
}

#[test]
fn constants_read_back_bit_for_bit() -> Result<()> {
    let program = constants()?;
    let again: Program = program.to_string().parse()?;
    for (a, b) in program.run(&[])?.iter().zip(&again.run(&[])?) {
        assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()));
        assert_eq!(a.to_bytes()?, b.to_bytes()?, "{a:?}");
    }
    Ok(())
}

#[test]
fn a_gradient_that_was_read_back_gives_the_same() -> Result<()> {
    let given = [
        Tensor::from_vec((0..12).map(|n| n as f32).collect(), &[3, 4])?,
        Tensor::from_vec(vec![1.0, 2.0], &[2])?,
        Tensor::from_vec(vec![2i64, 2], &[2])?,
        Tensor::from_vec(vec![1f32; 8], &[2, 4])?,
        Tensor::scalar(3.0)?,
    ];
    let program = gradient()?;
    let again: Program = program.to_string().parse()?;
    for (a, b) in program.run(&given)?.iter().zip(&again.run(&given)?) {
        assert_eq!(a.to_bytes()?, b.to_bytes()?);
    }
    Ok(())
}

#[test]
fn guards_are_told_in_the_names_of_the_text() -> Result<()> {
    let program = checked()?;
    let text = program.to_string();
    assert_eq!(program.guard_texts().len(), program.guards().len());
    for guard in program.guard_texts() {
        assert!(text.contains(&format!("  guard {guard}\n")), "{guard}");
    }
    Ok(())
}

#[test]
fn texts_by_hand_may_name_values_and_leave_shapes_out() -> Result<()> {
    let by_hand = "# a program
graph(x: f32[B,
             _9],  # any width
      s: int64[2])
{
  # half of it
  y = unflatten(x, axis=0,
                shape=[2, -1])
  guard 2   divides B
  z = shape_of(y)
  w = reshape(y, shape=(z[0]*z[1], z[2],))
  return w, y }
";
    let by_hand = by_hand.replace("[2, -1]", "(2, -1)");
    assert_snapshot!("by_hand", by_hand.parse::<Program>()?);
    Ok(())
}
