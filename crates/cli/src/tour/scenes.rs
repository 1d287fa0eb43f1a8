//! Parts of the tour that are more than one call: layers, scopes, what repeat is made of, gradients and graphs.

use stridewise::{Cpu, Graph, Tape, Tensor, Var, vjp};
use stridewise_core::dim::Dim;
use stridewise_core::dtype::DType;
use stridewise_core::error::Error;
use stridewise_core::nn::{Layer, Sequential, Unflatten};
use stridewise_core::operators::{Methods, Shapes, make, repeat_plan};
use stridewise_core::params::{Extent, Mode, Sizes, dim};
use stridewise_core::size::tuple;
use stridewise_core::{index, pattern};

use crate::failure::Failure;
use crate::how::How;
use crate::terminal::lines;
use crate::tour::Walk;

fn zeros(shape: &[usize]) -> Result<Tensor, Error> {
    make::zeros(&Cpu, Sizes::from(shape), DType::F32)
}

/// Many ways to write the sizes of one expand.
pub(crate) fn legal_sizes(walk: &mut Walk) -> Result<(), Failure> {
    walk.say("-1 keeps an axis. All of these ask for the same, from (4, 3, 1, 2):")?;
    walk.line("")?;
    let x = zeros(&[4, 3, 1, 2])?;
    for sizes in [
        [4, 3, 5, 2],
        [-1, 3, 5, 2],
        [-1, -1, 5, 2],
        [-1, -1, 5, -1],
        [4, -1, 5, 2],
        [4, -1, 5, -1],
        [4, 3, 5, -1],
    ] {
        let y = x.expand(sizes)?;
        let call = format!("{:<24}", format!("x.expand{}", tuple(sizes)));
        let how = How::of(std::slice::from_ref(&y), &[&x], false).shown(walk.paint, 0);
        let call = walk.paint.cyan(&call);
        walk.line(&format!(
            "    {call} {} strides {}  {how}",
            tuple(y.shape()),
            tuple(y.strides())
        ))?;
    }
    Ok(())
}

/// The three shapes behind each repeat.
pub(crate) fn repeat_plans(walk: &mut Walk) -> Result<(), Failure> {
    walk.say(
        "A repeat is a reshape, an expand and a reshape. repeat_plan gives the three shapes; \
         the kernel does it in one pass instead.",
    )?;
    let examples: [(&[usize], &[isize]); 3] = [
        (&[5], &[3]),
        (&[3, 1, 5], &[5, 3, 1]),
        (&[3, 1, 5], &[2, 5, 3, 1]),
    ];
    for (shape, sizes) in examples {
        let plan = repeat_plan(shape, sizes)?;
        let call = format!("repeat_plan({}, {})", tuple(shape), tuple(sizes));
        walk.line("")?;
        let call = walk.paint.cyan(&call);
        walk.line(&format!("    {call}"))?;
        for (name, shape) in [
            ("reshape to", &plan.reshape_input),
            ("expand to", &plan.expand),
            ("reshape to", &plan.reshape_output),
        ] {
            walk.line(&format!("      {name:<10} {}", tuple(shape)))?;
        }
    }
    Ok(())
}

/// `unflatten` as a layer in a row of layers.
pub(crate) fn unflatten_layer(walk: &mut Walk) -> Result<(), Failure> {
    walk.say("The same as a layer, alone or in a row with others:")?;
    walk.line("")?;
    let (first, second) = (Unflatten::new(1, [2, 3]), Unflatten::new(0, [2, 2]));
    let x = zeros(&[4, 6])?;
    walk.line(&format!("    x is float32 {}", tuple(x.shape())))?;
    let alone = first.forward(&x)?;
    let line = |layer: &str, y: &Tensor, walk: &mut Walk| {
        let how = How::of(std::slice::from_ref(y), &[&x], false).shown(walk.paint, 0);
        let layer = walk.paint.cyan(layer);
        walk.line(&format!("    {layer}"))?;
        walk.line(&format!(
            "      {} strides {}  {how}",
            tuple(y.shape()),
            tuple(y.strides())
        ))
    };
    line(&first.to_string(), &alone, walk)?;
    let names = format!("Sequential({first}, {second})");
    let row = Sequential::new().then(first).then(second);
    line(&names, &row.forward(&x)?, walk)
}

/// One scope for several checks.
pub(crate) fn shared_symbols(walk: &mut Walk) -> Result<(), Failure> {
    walk.say(
        "Within a Shapes scope a symbol means the same for every tensor, and a check that fails \
         says where the symbol got its size:",
    )?;
    walk.line("")?;
    let shapes = Shapes::new();
    for shape in [[8, 3], [3, 5], [4, 2]] {
        let x = zeros(&shape)?;
        let (names, pieces) = match shape {
            [8, 3] => ("n, k", [dim("n"), dim("k")]),
            [3, 5] => ("k, m", [dim("k"), dim("m")]),
            _ => ("m, n", [dim("m"), dim("n")]),
        };
        let call = format!("shapes.enforce(x of {}, [{names}])", tuple(shape));
        let call = walk.paint.cyan(&call);
        walk.line(&format!("    {call}"))?;
        match shapes.enforce(&x, pieces) {
            Ok((_, dims)) => walk.line(&format!("      dims {dims}"))?,
            Err(error) => {
                for line in error.to_string().lines() {
                    let line = walk.paint.yellow(line);
                    walk.line(&format!("      {line}"))?;
                }
            }
        }
    }
    Ok(())
}

/// The recipe for functions that want two axes: reduce, work, restore.
pub(crate) fn reduce_and_restore(walk: &mut Walk) -> Result<(), Failure> {
    walk.say(
        "With the pair of ... a function that wants two axes serves any number of them: colours \
         last, whatever the images' shape.",
    )?;
    walk.line("")?;
    let images = zeros(&[2, 4, 5, 3])?;
    let (images, dims) = images.enforce_shape(pattern![.., 3])?;
    let (pixels, colours) = (dims.size(0).unwrap_or(0), dims.size(1).unwrap_or(0));
    let flat = images.reshape(Sizes::from(&[pixels, colours][..]))?;
    let mut whole = dims.axes().to_vec();
    whole.push(colours);
    let restored = flat.reshape(Sizes::from(&whole[..]))?;
    for (text, x) in [
        ("enforce_shape([..., 3])", &images),
        ("reshape(n_elements, 3)", &flat),
        ("reshape(axes + (3,))", &restored),
    ] {
        let how = How::of(std::slice::from_ref(x), &[&images], false).shown(walk.paint, 0);
        let call = walk.paint.cyan(&format!("{text:<26}"));
        walk.line(&format!("    {call} {:<14} {how}", tuple(x.shape())))?;
    }
    Ok(())
}

/// Gradients of a few operators, for a gradient of ones.
pub(crate) fn gradients(walk: &mut Walk) -> Result<(), Failure> {
    walk.say(
        "For ones coming back: a repeated element gets as many, one that nobody reads gets 0.",
    )?;
    walk.line("")?;
    let x = Tensor::from_vec(vec![1.0, 2.0, 3.0], &[3])?;
    let index = Tensor::from_vec(vec![0i64, 2, 2], &[3])?;
    type Way<'a> = &'a dyn Fn(&Var<Cpu>) -> Result<Var<Cpu>, Error>;
    let ways: [(&str, Way<'_>); 4] = [
        ("expand(4, 3)", &|x| x.expand([4, 3])),
        ("repeat(2)", &|x| x.repeat([2])),
        ("take([0, 2, 2])", &|x| {
            let index = Tape::over(Cpu).constant(index.clone());
            x.take(&index, None, Mode::Raise)
        }),
        ("slice(1:)", &|x| x.slice(index![1..])),
    ];
    walk.line("    x is float64 (3,)")?;
    for (text, way) in ways {
        let (y, back) = vjp(|xs| way(&xs[0]), &[&x])?;
        let ones = make::ones(&Cpu, Sizes::from(y.shape()), DType::F64)?;
        let dx = back.pull(&ones)?;
        let call = walk.paint.cyan(&format!("{text:<18}"));
        let numbers = dx[0].to_vec::<f64>()?;
        walk.line(&format!(
            "    {call} {:<8} gradient {numbers:?}",
            tuple(y.shape())
        ))?;
    }
    Ok(())
}

fn printed(walk: &mut Walk, text: &str) -> Result<(), Failure> {
    for line in text.lines() {
        let line = match line.trim_start().starts_with("guard") {
            true => walk.paint.yellow(line),
            false => line.to_string(),
        };
        walk.line(&format!("    {line}"))?;
    }
    Ok(())
}

/// A graph with symbols, what it does, and what it refuses.
pub(crate) fn graph(walk: &mut Walk) -> Result<(), Failure> {
    let graph = Graph::new();
    let x = graph.input("x", DType::F32, "[B, N]".parse()?)?;
    let y = x
        .unflatten(1, [-1, 4])?
        .permute([1, 0, 2])?
        .repeat([1, 2, 1])?;
    let program = graph.finish(&[&y])?;
    printed(walk, &program.to_string())?;
    for shape in [[2, 12], [5, 10]] {
        walk.line("")?;
        let call = walk.paint.cyan(&format!("run with x of {}", tuple(shape)));
        walk.line(&format!("    {call}"))?;
        let x = zeros(&shape)?;
        match program.run(std::slice::from_ref(&x)) {
            Ok(results) => {
                for step in program.steps(&[x])? {
                    for line in lines(&step, 72) {
                        walk.line(&format!("      {line}"))?;
                    }
                }
                walk.line(&format!("      gives {}", tuple(results[0].shape())))?;
            }
            Err(error) => {
                // What went wrong; the rest is as for any call.
                let text = error.to_string();
                for line in lines(text.lines().next().unwrap_or_default(), 72) {
                    let line = walk.paint.yellow(&line);
                    walk.line(&format!("      {line}"))?;
                }
            }
        }
    }
    Ok(())
}

/// The recipe of `enforce_shape`, for tensors of any rank.
pub(crate) fn graph_of_any_rank(walk: &mut Walk) -> Result<(), Failure> {
    walk.say("Not even the rank has to be known: reduce to two axes, work, restore.")?;
    walk.line("")?;
    let graph = Graph::new();
    let x = graph.input("x", DType::F32, "[*any]".parse()?)?;
    let (x, dims) = x.enforce_shape(pattern![.., 3])?;
    let flat: Vec<_> = [dims.size(0), dims.size(1)].into_iter().flatten().collect();
    let whole: Vec<_> = dims.axes().iter().cloned().chain(dims.size(1)).collect();
    let sizes = |dims: Vec<Dim>| dims.into_iter().map(Extent::Is).collect::<Sizes<Dim>>();
    let y = x.reshape(sizes(flat))?.flip(1)?.reshape(sizes(whole))?;
    let program = graph.finish(&[&y])?;
    printed(walk, &program.to_string())?;
    walk.line("")?;
    for shape in [&[3][..], &[2, 4, 5, 3]] {
        let results = program.run(&[zeros(shape)?])?;
        walk.line(&format!(
            "    x of {:<13} gives {}",
            tuple(shape),
            tuple(results[0].shape())
        ))?;
    }
    Ok(())
}
