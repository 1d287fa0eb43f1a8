//! The adjoint of a view: a sum over the axes it made, then the axes back where they came from, then zeros where a
//! slice had not looked.

use stridewise_core::axis::Axis;
use stridewise_core::dtype::DType;
use stridewise_core::engine::{Along, Engine};
use stridewise_core::error::{Error, Result};
use stridewise_core::params::{Mode, Scalar};
use stridewise_core::size::{Size, Truth};

/// The gradient of a view's input, given that of its output.
pub(crate) fn view<G: Engine>(
    engine: &G,
    axes: &[Axis<G::Size>],
    shape: &[G::Size],
    g: &G::Value,
) -> Result<G::Value> {
    let unsettled = |axis: &&Axis<_>| matches!(axis, Axis::Stretch { .. } | Axis::Range { .. });
    if let Some(axis) = axes.iter().find(unsettled) {
        return Err(Error::too_early(format!(
            "what a gradient goes back through is not known yet: {axis:?}"
        )));
    }
    let fresh: Vec<usize> = places(axes, |axis| matches!(axis, Axis::Fresh(_)));
    let kept: Vec<&Axis<G::Size>> = axes
        .iter()
        .filter(|a| !matches!(a, Axis::Fresh(_)))
        .collect();
    let mut g = match fresh.is_empty() {
        true => g.clone(),
        false => engine.sum(g, &fresh, engine.dtype(g))?,
    };
    g = ordered(engine, &kept, shape, &g)?;
    for axis in kept {
        if let Axis::Slice {
            of,
            start,
            len,
            step,
        } = axis
        {
            g = padded(engine, &g, *of, &shape[*of], (start, len, *step))?;
        }
    }
    Ok(g)
}

fn places<S>(axes: &[Axis<S>], such: impl Fn(&Axis<S>) -> bool) -> Vec<usize> {
    (0..axes.len()).filter(|at| such(&axes[*at])).collect()
}

/// Puts the axes in the input's order: factors merged again, merged axes split again, dropped ones of size 1 back.
fn ordered<G: Engine>(
    engine: &G,
    kept: &[&Axis<G::Size>],
    shape: &[G::Size],
    g: &G::Value,
) -> Result<G::Value> {
    // The output axes that tell of each input axis, the outermost first, and the place of each in their order.
    let mut order: Vec<usize> = Vec::with_capacity(kept.len());
    let mut sources: Vec<Axis<G::Size>> = Vec::with_capacity(shape.len());
    let mut input = 0;
    while input < shape.len() {
        let first = order.len();
        let merged = kept.iter().position(
            |axis| matches!(axis, Axis::Merge(run) if run.start == input && !run.is_empty()),
        );
        if let Some(place) = merged
            && let Axis::Merge(run) = kept[place]
        {
            order.push(place);
            for axis in run.clone() {
                let inner = G::Size::product(&shape[axis + 1..run.end]).ok_or_else(too_large)?;
                let len = shape[axis].clone();
                sources.push(Axis::Split {
                    of: first,
                    len,
                    inner,
                });
            }
            input = run.end;
            continue;
        }
        let whole = |axis: &Axis<G::Size>| match axis {
            Axis::Of(of) | Axis::Slice { of, .. } => *of == input,
            _ => false,
        };
        if let Some(place) = kept.iter().position(|axis| whole(axis)) {
            order.push(place);
            sources.push(Axis::Of(first));
        } else {
            order.extend(factors(kept, input));
            sources.push(match order.len() - first {
                0 => Axis::Fresh(G::Size::from(1)),
                1 => match kept[order[first]] {
                    // Of another size only where there are no elements at all.
                    Axis::Split { len, .. } if len.same(&shape[input]) != Truth::Yes => {
                        Axis::Split {
                            of: first,
                            len: shape[input].clone(),
                            inner: 1.into(),
                        }
                    }
                    _ => Axis::Of(first),
                },
                _ => Axis::Merge(first..order.len()),
            });
        }
        input += 1;
    }
    let sorted = order.iter().enumerate().all(|(at, place)| at == *place);
    let g = match sorted && order.len() == kept.len() {
        true => g.clone(),
        false => engine.view(g, order.len(), |out| Axis::Of(order[out]))?,
    };
    let same = sources.len() == order.len()
        && (sources.iter().enumerate()).all(|(at, axis)| matches!(axis, Axis::Of(of) if *of == at));
    match same {
        true => Ok(g),
        false => engine.view(&g, sources.len(), |out| sources[out].clone()),
    }
}

/// The output axes that are factors of an input axis, the outermost first. In a view they stand in that order.
fn factors<S: Size>(kept: &[&Axis<S>], input: usize) -> Vec<usize> {
    let factor = |place: &usize| matches!(kept[*place], Axis::Split { of, .. } if *of == input);
    (0..kept.len()).filter(factor).collect()
}

/// The gradient of a slice: zeros where it had not looked.
fn padded<G: Engine>(
    engine: &G,
    g: &G::Value,
    axis: usize,
    size: &G::Size,
    (start, len, step): (&G::Size, &G::Size, isize),
) -> Result<G::Value> {
    let mut sizes = engine.shape(g)?;
    let dtype = engine.dtype(g);
    if let (Some(size), Some(start), Some(len), 1 | -1) =
        (size.known(), start.known(), len.known(), step)
    {
        // One run of the axis: zeros before and behind it, and nothing is read twice.
        let first = if step > 0 || len == 0 {
            start
        } else {
            start + 1 - len
        };
        let turned = match step {
            1 => g.clone(),
            _ => reversed(engine, g, axis, len)?,
        };
        let mut zeros = |n: usize| {
            sizes[axis] = n.into();
            engine.full(dtype, Scalar::Int(0), &sizes)
        };
        let (before, behind) = (zeros(first)?, zeros(size - first - len)?);
        let parts = [
            (&before, first),
            (&turned, len),
            (&behind, size - first - len),
        ];
        let parts: Vec<&G::Value> = parts.iter().filter(|p| p.1 > 0).map(|p| p.0).collect();
        return match parts.as_slice() {
            [] => Ok(turned),
            [only] => Ok((*only).clone()),
            _ => engine.concat(&parts, axis),
        };
    }
    let Some(first) = start.known() else {
        return Err(Error::too_early("where a slice begins is not known yet"));
    };
    sizes[axis] = size.clone();
    let zeros = engine.full(dtype, Scalar::Int(0), &sizes)?;
    let (from, by) = (Scalar::Int(first as i128), Scalar::Int(step as i128));
    let index = engine.range(DType::I64, from, by, len.clone())?;
    engine.scatter_add(&zeros, &index, g, &Along::Run(axis..axis + 1), Mode::Raise)
}

fn reversed<G: Engine>(engine: &G, g: &G::Value, axis: usize, len: usize) -> Result<G::Value> {
    let back = Axis::Slice {
        of: axis,
        start: len.saturating_sub(1).into(),
        len: len.into(),
        step: -1,
    };
    engine.view(g, engine.rank(g)?, |out| {
        if out == axis {
            back.clone()
        } else {
            Axis::Of(out)
        }
    })
}

/// `len` indices of an axis, from `start` on.
pub(crate) fn cut<G: Engine>(
    engine: &G,
    g: &G::Value,
    axis: usize,
    start: &G::Size,
    len: &G::Size,
) -> Result<G::Value> {
    engine.view(g, engine.rank(g)?, |out| match out == axis {
        true => Axis::Slice {
            of: axis,
            start: start.clone(),
            len: len.clone(),
            step: 1,
        },
        false => Axis::Of(out),
    })
}

fn too_large() -> Error {
    Error::overflow("the product of the sizes is too large")
}
