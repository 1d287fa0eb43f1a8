//! The engine-neutral suite on global tensors: on a world of one rank, where they have storage and strides like any
//! other, and on several, where tensors are split however they can be.

use stridewise_core::{Layout, Result};
use stridewise_cpu::{Cpu, Tensor};
use stridewise_spread::{Global, Mesh, Sbp, Spread, World};
use stridewise_suite::{Input, Observed, Runner};

fn made(spec: &Input) -> Tensor {
    let width = spec.dtype.width();
    let (dims, strides) = (spec.shape.as_slice(), spec.strides.as_slice());
    Layout::new(width, dims, strides, spec.offset)
        .and_then(|layout| {
            let cells = spec.storage.len() / width;
            Tensor::from_bytes(spec.dtype, &[cells], &spec.storage)?.with_layout(layout)
        })
        .unwrap_or_else(|error| panic!("{spec:?} cannot be made: {error}"))
}

/// One rank.
struct Alone(Spread<Cpu>);

impl Default for Alone {
    fn default() -> Alone {
        let mesh = Mesh::new(&[1]).expect("a mesh");
        Alone(Spread::new(Cpu, World::alone(), mesh).expect("an engine"))
    }
}

impl Runner for Alone {
    type Engine = Spread<Cpu>;

    const HOLDS_DATA: bool = true;

    fn engine(&self) -> Spread<Cpu> {
        self.0.clone()
    }

    fn input(&self, spec: &Input) -> Global<Cpu> {
        let held = match spec.shape.is_empty() {
            true => Sbp::Broadcast,
            false => Sbp::Split(0),
        };
        self.0
            .assemble(made(spec), &spec.shape, &[held])
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn observe(&self, x: &Global<Cpu>) -> Result<Observed> {
        let local = x.to_local();
        // What is one value everywhere is one element in memory.
        let one = local.strides().iter().all(|stride| *stride == 0);
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: (!one).then(|| local.strides().to_vec()),
            storage: Some(local.storage_ptr().addr()),
            elements: Some(local.to_bytes()?),
        })
    }
}

use stridewise_suite::coverage::{self, Kind};
use stridewise_suite::{cases, contract, large, mistakes, random, typed};

#[test]
fn every_operator_has_cases_of_every_kind() {
    coverage::check(&Alone::default());
}

#[test]
fn literal_cases_give_what_they_say() {
    cases::check(&Alone::default());
    cases::repeat::check_plans(&Alone::default());
    cases::enforce_shape::check_pixels(&Alone::default());
}

#[test]
fn random_calls_agree_with_the_oracle() {
    for kind in [Kind::View, Kind::ViewOrCopy, Kind::Copy, Kind::Make] {
        random::check(&Alone::default(), kind);
    }
}

#[test]
fn large_tensors_agree_with_the_oracle() {
    large::check(&Alone::default());
}

#[test]
fn bad_input_is_answered_with_the_recorded_texts() {
    mistakes::check(&Alone::default());
}

#[test]
fn views_share_storage_and_copies_do_not_under_every_layout() {
    contract::check(&Alone::default());
}

#[test]
fn typed_calls_scopes_and_layers_work_as_on_any_engine() {
    typed::check_conversions(&Alone::default());
    typed::check_scopes(&Alone::default());
    typed::check_layers(&Alone::default());
}

/// One of several ranks. Integers may be indices, which only the rank that has a wrong one can refuse: they lie on all.
struct Several(Spread<Cpu>);

impl Runner for Several {
    type Engine = Spread<Cpu>;

    const HOLDS_DATA: bool = true;

    fn engine(&self) -> Spread<Cpu> {
        self.0.clone()
    }

    fn input(&self, spec: &Input) -> Global<Cpu> {
        let held = match spec.shape.len() {
            0 => Sbp::Broadcast,
            _ if spec.dtype.is_integer() => Sbp::Broadcast,
            // Another axis for other shapes.
            rank => Sbp::Split(spec.shape.iter().sum::<usize>() % rank),
        };
        self.0
            .from_whole(made(spec), &[held])
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn observe(&self, x: &Global<Cpu>) -> Result<Observed> {
        let all = x.gather()?;
        Ok(Observed {
            dtype: x.dtype(),
            shape: x.shape().to_vec(),
            strides: None,
            storage: None,
            elements: Some(all.to_bytes()?),
        })
    }
}

#[test]
fn literal_cases_give_what_they_say_on_several_ranks() {
    for ranks in [2, 3] {
        let told = World::threads(ranks).run(|world| {
            let spread = Spread::new(Cpu, world, Mesh::new(&[ranks])?)?;
            // Parts have strides, a global tensor has none: nothing needs a copy to be viewed.
            stridewise_suite::cases::check_those(&Several(spread), |call| call.operator != "view");
            Ok(())
        });
        told.unwrap_or_else(|error| panic!("{error}"));
    }
}
