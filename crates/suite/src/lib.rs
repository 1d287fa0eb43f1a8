//! Cases that every engine must pass, as data: an engine is a [`Runner`] and one line, [`run_all!`].
//!
//! - [`cases`]: literal examples, those of the design documents first, and every rule that fits in one line.
//! - [`random`]: calls drawn at random, good and bad, against the index-by-index [`oracle`].
//! - [`large`]: the same oracle on tensors large enough for threads and tiles.
//! - [`mistakes`]: bad input, with the text of the error.
//! - [`contract`]: which results share the input's storage, for every pattern of strides.
//! - [`extremes`]: sizes, axes, steps and indices at the ends of what a machine can count.
//!
//! All but `large` and `extremes` are held to the operator table: an operator without a case fails a test.
#![forbid(unsafe_code)]

pub mod call;
pub mod cases;
pub mod contract;
pub mod coverage;
pub mod extremes;
pub mod input;
pub mod large;
pub mod mistakes;
pub mod number;
pub mod oracle;
pub mod random;
pub mod reference;
pub mod runner;
pub mod typed;

pub use call::{Argument, Call};
pub use input::Input;
pub use number::Number;
pub use random::Choices;
pub use runner::{Entry, Family, Observation, Observed, Runner};

/// Every group of cases as a test of its own, on the given runner.
///
/// ```text
/// stridewise_suite::run_all!(CpuRunner);
/// ```
#[macro_export]
macro_rules! run_all {
    ($runner:expr) => {
        #[test]
        fn every_operator_has_cases_of_every_kind() {
            $crate::coverage::check(&$runner);
        }

        #[test]
        fn literal_cases_give_what_they_say() {
            $crate::cases::check(&$runner);
        }

        #[test]
        fn repeat_equals_its_decomposition_into_reshape_expand_reshape() {
            $crate::cases::repeat::check_plans(&$runner);
        }

        #[test]
        fn pixels_survive_the_way_to_two_axes_and_back() {
            $crate::cases::enforce_shape::check_pixels(&$runner);
        }

        #[test]
        fn random_views_agree_with_the_oracle() {
            $crate::random::check(&$runner, $crate::coverage::Kind::View);
        }

        #[test]
        fn random_views_or_copies_agree_with_the_oracle() {
            $crate::random::check(&$runner, $crate::coverage::Kind::ViewOrCopy);
        }

        #[test]
        fn random_copies_agree_with_the_oracle() {
            $crate::random::check(&$runner, $crate::coverage::Kind::Copy);
        }

        #[test]
        fn random_new_tensors_agree_with_the_oracle() {
            $crate::random::check(&$runner, $crate::coverage::Kind::Make);
        }

        #[test]
        fn large_tensors_agree_with_the_oracle() {
            $crate::large::check(&$runner);
        }

        #[test]
        fn bad_input_is_answered_with_the_recorded_texts() {
            $crate::mistakes::check(&$runner);
        }

        #[test]
        fn views_share_storage_and_copies_do_not_under_every_layout() {
            $crate::contract::check(&$runner);
        }

        #[test]
        fn extreme_numbers_are_errors_or_right_answers() {
            $crate::extremes::check(&$runner);
        }

        #[test]
        fn typed_calls_take_arrays_slices_ranges_and_macros() {
            $crate::typed::check_conversions(&$runner);
        }

        #[test]
        fn scopes_share_symbols_between_checks() {
            $crate::typed::check_scopes(&$runner);
        }

        #[test]
        fn layers_apply_alone_and_in_a_row() {
            $crate::typed::check_layers(&$runner);
        }
    };
}
