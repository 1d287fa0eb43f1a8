//! The pictures in the documentation are what `explain` draws.

mod binary;

use std::path::Path;

use binary::run_in;

#[test]
fn the_pictures_in_the_documentation_are_what_explain_draws() {
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let drawn = [
        ("expand.svg", "expand(-1, 4)", "3,1"),
        ("repeat.svg", "repeat(2, 2)", "2,3"),
        ("views.svg", "unflatten(0, [2, 3]).permute(1, 0)", "6"),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, program, shape) in drawn {
        let ran = run_in(
            folder.path(),
            &["explain", program, "--shape", shape, "--svg", name],
        );
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        let fresh = std::fs::read_to_string(folder.path().join(name)).expect("the picture");
        let kept = std::fs::read_to_string(pictures.join(name)).unwrap_or_default();
        assert_eq!(
            kept, fresh,
            "draw it again: explain '{program}' --shape {shape} --svg docs/pictures/{name}"
        );
    }
}
