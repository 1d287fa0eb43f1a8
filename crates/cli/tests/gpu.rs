//! The command on a GPU, in a build with the feature `gpu`. Without a GPU these fail.

mod binary;

use std::path::Path;

use binary::{prints, run, run_in};
use stridewise::{Tensor, files};

#[test]
fn devices_tells_which_gpu_there_is() {
    let text = prints(&["devices"]);
    let gpu = text.lines().find_map(|line| line.strip_prefix("gpu  "));
    let gpu = gpu.unwrap_or_else(|| panic!("{text}"));
    assert!(!gpu.starts_with("none"), "{text}");
}

#[test]
fn the_tour_ends_there() {
    let chapter = prints(&["tour", "GPU"]);
    assert!(chapter.contains("0 launched, 0 B read"), "{chapter}");
    assert!(chapter.contains("0 launched, 192 B read"), "{chapter}");
    assert!(
        chapter.lines().all(|line| line.chars().count() <= 80),
        "{chapter}"
    );
}

fn saved(folder: &Path, name: &str, x: &Tensor) -> String {
    let path = folder.join(name);
    files::save(&path, x).unwrap_or_else(|error| panic!("{error}"));
    name.to_string()
}

#[test]
fn a_program_gives_what_the_cpu_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let numbers = (0..24).map(|i| (i * 7 % 11) as f32 / 3.0);
    let x = Tensor::from_vec(numbers.collect::<Vec<_>>(), &[4, 6]).expect("a tensor");
    let x = saved(folder.path(), "x.npy", &x);
    let at = saved(
        folder.path(),
        "at.npy",
        &Tensor::from_vec(vec![0i64, -1, 2], &[3]).expect("a tensor"),
    );
    for program in [
        "unflatten(1, [2, -1])[..., ::-1].repeat(2, 1, 1).sum(0)",
        "take($2, axis=0, mode=\"clip\").transpose().contiguous().cast(f16)",
        "concat($1, axis=1).unstack(0)",
        "enforce_shape([\"n\", 6])",
        "",
    ] {
        let on = |device: &str, output: &str| {
            let ran = run_in(
                folder.path(),
                &["run", program, &x, &at, "--device", device],
            );
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{program}");
            let args = ["run", program, &x, &at, "--device", device, "-o", output];
            assert_eq!(run_in(folder.path(), &args).code, Some(0), "{program}");
            let bytes = std::fs::read(folder.path().join(output)).expect("a file");
            (ran.stdout, bytes)
        };
        let wanted = on("cpu", "a.safetensors");
        assert_eq!(on("gpu", "b.safetensors"), wanted, "{program}");
    }
}

#[test]
fn a_mistake_points_at_its_place_though_it_is_found_at_the_end() {
    let wrong = "arange(6).take([0, 9]).repeat(2)";
    let ran = run(&["run", wrong, "--device", "gpu"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(ran.stderr, run(&["run", wrong]).stderr);
    let wrong = "arange(6).reshape(4)";
    let ran = run(&["run", wrong, "--device", "gpu"]);
    assert_eq!(ran.stderr, run(&["run", wrong]).stderr);
}
