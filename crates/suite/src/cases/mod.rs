//! Literal cases: the tables, lists and examples of the design documents, and every rule of an operator that
//! can be said as one call and its answer. One file for each family of operators.

pub mod atleast;
pub mod axes;
pub mod by_name;
pub mod elements;
pub mod enforce_shape;
pub mod expand;
pub mod joining;
pub mod making;
pub mod repeat;
pub mod reshape;
pub mod slice;
pub mod take;
pub mod unflatten;

use stridewise_core::dtype::DType;

use crate::call::Call;
use crate::number::Number;
use crate::runner::{Entry, Family, Observation, Observed, Runner, family, run};

/// A call and what it must give.
#[derive(Clone, Debug)]
pub struct Case {
    /// A sentence about the rule.
    pub name: &'static str,
    /// The call.
    pub call: Call,
    /// The answer.
    pub wanted: Wanted,
    /// The answer of an engine without data, where that differs.
    pub without_data: Option<Wanted>,
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Tensors; one for most operators.
    Tensors(Vec<Tensor>, Option<Vec<Entry>>),
    /// An error of this family.
    Error(Family),
}

/// What is wanted of a tensor. What is `None` may be anything.
#[derive(Clone, Debug, Default)]
pub struct Tensor {
    shape: Vec<usize>,
    dtype: Option<DType>,
    strides: Option<Vec<isize>>,
    values: Option<Vec<Number>>,
}

/// A case; what it gives is still to be said.
pub fn case(name: &'static str, call: Call) -> Unfinished {
    Unfinished(name, call)
}

/// A case without its answer.
pub struct Unfinished(&'static str, Call);

impl Unfinished {
    /// The answer is a tensor of this shape.
    pub fn gives(self, shape: &[usize]) -> Case {
        self.gives_many(&[shape])
    }

    /// The answer is tensors of these shapes.
    pub fn gives_many(self, shapes: &[&[usize]]) -> Case {
        let tensor = |shape: &&[usize]| Tensor {
            shape: shape.to_vec(),
            ..Tensor::default()
        };
        self.finish(Wanted::Tensors(shapes.iter().map(tensor).collect(), None))
    }

    /// The answer is an error of this family.
    pub fn fails(self, family: Family) -> Case {
        self.finish(Wanted::Error(family))
    }

    fn finish(self, wanted: Wanted) -> Case {
        Case {
            name: self.0,
            call: self.1,
            wanted,
            without_data: None,
        }
    }
}

impl Case {
    fn tensors(&mut self) -> &mut Vec<Tensor> {
        match &mut self.wanted {
            Wanted::Tensors(tensors, _) => tensors,
            Wanted::Error(_) => panic!("{}: an error has no tensors", self.name),
        }
    }

    /// The one tensor has these strides.
    pub fn strides(mut self, strides: &[isize]) -> Case {
        self.tensors()[0].strides = Some(strides.to_vec());
        self
    }

    /// The one tensor has this dtype.
    pub fn dtype(mut self, dtype: DType) -> Case {
        self.tensors()[0].dtype = Some(dtype);
        self
    }

    /// The one tensor has these values.
    pub fn values<N: Into<Number> + Copy>(mut self, values: &[N]) -> Case {
        self.tensors()[0].values = Some(values.iter().map(|&n| n.into()).collect());
        self
    }

    /// Each tensor has these values.
    pub fn values_of_each<N: Into<Number> + Copy>(mut self, values: &[&[N]]) -> Case {
        for (tensor, values) in self.tensors().iter_mut().zip(values) {
            tensor.values = Some(values.iter().map(|&n| n.into()).collect());
        }
        self
    }

    /// The dims found are these.
    pub fn dims(mut self, wanted: &[Entry]) -> Case {
        match &mut self.wanted {
            Wanted::Tensors(_, dims) => *dims = Some(wanted.to_vec()),
            Wanted::Error(_) => panic!("{}: an error has no dims", self.name),
        }
        self
    }

    /// An engine without data cannot know yet.
    pub fn too_early_without_data(mut self) -> Case {
        self.without_data = Some(Wanted::Error(Family::TooEarly));
        self
    }

    /// An engine without data does not see the mistake and gives this shape.
    pub fn gives_without_data(mut self, shape: &[usize]) -> Case {
        let tensor = Tensor {
            shape: shape.to_vec(),
            ..Tensor::default()
        };
        self.without_data = Some(Wanted::Tensors(vec![tensor], None));
        self
    }
}

/// All literal cases.
pub fn all() -> Vec<Case> {
    [
        atleast::cases(),
        axes::cases(),
        by_name::cases(),
        elements::cases(),
        enforce_shape::cases(),
        expand::cases(),
        joining::cases(),
        making::cases(),
        repeat::cases(),
        reshape::cases(),
        slice::cases(),
        take::cases(),
        unflatten::cases(),
    ]
    .concat()
}

/// Runs every literal case; all that differ are reported together.
pub fn check<R: Runner>(runner: &R) {
    check_those(runner, |_| true);
}

/// Runs the literal cases for which a call is `meant`.
pub fn check_those<R: Runner>(runner: &R, meant: impl Fn(&Call) -> bool) {
    let mut all = all();
    all.retain(|case| meant(&case.call));
    let different: Vec<String> = all
        .iter()
        .filter_map(|case| {
            let error = differs(runner, case)?;
            Some(format!("{}\n  {}\n  {error}", case.name, case.call))
        })
        .collect();
    let (count, total) = (different.len(), all.len());
    assert!(
        count == 0,
        "{count} of {total} cases differ:\n\n{}",
        different.join("\n\n")
    );
}

fn differs<R: Runner>(runner: &R, case: &Case) -> Option<String> {
    let wanted = match &case.without_data {
        Some(wanted) if !R::HOLDS_DATA => wanted,
        _ => &case.wanted,
    };
    match (run(runner, &case.call).outcome, wanted) {
        (Err(error), Wanted::Error(wanted)) => {
            let got = family(&error);
            (got != *wanted).then(|| format!("wanted an error, {wanted:?}; got {got:?}: {error}"))
        }
        (Err(error), Wanted::Tensors(tensors, _)) => Some(format!(
            "wanted {:?}, got {:?}: {error}",
            tensors,
            family(&error)
        )),
        (Ok(seen), Wanted::Error(wanted)) => {
            Some(format!("wanted an error, {wanted:?}; got {seen:?}"))
        }
        (Ok(seen), Wanted::Tensors(tensors, dims)) => {
            if let (Observation::Checked(_, seen), Some(wanted)) = (&seen, dims)
                && seen != wanted
            {
                return Some(format!("wanted dims {wanted:?}, got {seen:?}"));
            }
            let seen = seen.tensors();
            if seen.len() != tensors.len() {
                return Some(format!(
                    "wanted {} tensors, got {}",
                    tensors.len(),
                    seen.len()
                ));
            }
            seen.iter()
                .zip(tensors)
                .find_map(|(seen, wanted)| tensor_differs(seen, wanted))
        }
    }
}

fn tensor_differs(seen: &Observed, wanted: &Tensor) -> Option<String> {
    if seen.shape != wanted.shape {
        return Some(format!(
            "wanted shape {:?}, got {:?}",
            wanted.shape, seen.shape
        ));
    }
    if let Some(dtype) = wanted.dtype
        && seen.dtype != dtype
    {
        return Some(format!("wanted {dtype}, got {}", seen.dtype));
    }
    if let (Some(seen), Some(wanted)) = (&seen.strides, &wanted.strides)
        && seen != wanted
    {
        return Some(format!("wanted strides {wanted:?}, got {seen:?}"));
    }
    let (Some(bytes), Some(wanted)) = (&seen.elements, &wanted.values) else {
        return None;
    };
    let expected: Vec<u8> = wanted
        .iter()
        .flat_map(|n| {
            n.cast(seen.dtype)
                .encode(seen.dtype)
                .into_iter()
                .take(seen.dtype.width())
        })
        .collect();
    (*bytes != expected).then(|| format!("wanted {wanted:?}, got the bytes {bytes:?}"))
}
