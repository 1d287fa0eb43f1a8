//! A mistake in a program is shown under the very column, with the operator's signature, and ends with code 2.

mod binary;

use binary::run;

macro_rules! mistakes {
    ($($name:ident: $program:expr;)*) => {$(
        #[test]
        fn $name() {
            let ran = run(&["plan", $program, "--shape", "4,6,16", "--shape", "2,3", "--dtype", "f32", "--dtype", "i64"]);
            assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.stdout, "");
            insta::assert_snapshot!(stringify!($name), ran.stderr);
        }
    )*};
}

mistakes! {
    a_bracket_is_never_closed: "unflatten(1, [2, -1]).expand(-1, 5";
    a_bracket_is_closed_by_another: "take([0, 1), axis=0)";
    an_operator_is_misspelt: "flip(0).unflaten(1, [2, -1])";
    a_character_has_no_meaning: "flip(0); flip(1)";
    a_string_is_never_closed: "take([0], mode=\"wrap)";
    a_step_has_no_dot: "flip(0) flip(1)";
    a_call_stands_in_an_argument: "take(arange(3))";
    there_is_an_argument_too_many: "unflatten(1, [2, -1], 3)";
    a_keyword_is_unknown: "take([0, 1], axes=0)";
    an_argument_is_given_twice: "take([0, 1], 0, axis=1)";
    an_argument_is_missing: "unflatten(1)";
    a_size_is_a_float: "expand(-1, 6.0, 16)";
    an_axis_is_longer_than_one: "expand(2, 4, 7, 16)";
    two_sizes_are_open: "unflatten(2, [-1, 2, -1])";
    an_axis_is_out_of_range: "flip(0).permute(0, 1, 3)";
    a_mode_is_unknown: "take([0, 1], axis=0, mode=\"wrp\")";
    an_index_is_out_of_range: "[0, ..., 16]";
    a_pattern_does_not_fit: "enforce_shape([\"n\", ..., \"n\"])";
    a_list_stands_in_an_index: "[:, [0,1]]";
    a_list_has_the_chain_s_own_tensor_in_front: "flip(0).concat([$2], axis=1)";
    a_keyword_is_from_elsewhere: "take([0, 1], dim=0)";
    an_operator_is_from_elsewhere: "x.T";
    sizes_are_given_one_by_one: "zeros(2, 3)";
    a_dtype_is_from_elsewhere: "cast(float)";
    axes_are_too_few: "permute(1, 0)";
    shapes_do_not_match: "concat($2, axis=1)";
    an_input_was_not_given: "concat($3)";
    a_tensor_is_made_too_late: "flip(0).zeros(3)";
    a_program_runs_over_lines: "unflatten(1,\n          [2, -1])\n.expand(3)";
}
