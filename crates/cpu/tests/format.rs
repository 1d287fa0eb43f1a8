//! Printed tensors, held against NumPy: `data/format.txt` is what NumPy prints, written by
//! `data/make_format.py` beside it. What NumPy has not (bfloat16, ranks and sizes past its own) is told here.

use std::fs;

use half::bf16;
use stridewise_core::DType;
use stridewise_core::operators::Methods;
use stridewise_cpu::Tensor;

struct Case {
    name: String,
    tensor: Tensor,
    display: String,
    debug: String,
}

impl Case {
    fn read(text: &str) -> Case {
        let (name, printed) = text.split_once('\n').expect("a first line");
        let (display, debug) = printed.split_once("\n---\n").expect("two parts");
        let mut words = name.split(' ');
        let mut word = || words.next().expect("three words");
        let dtype: DType = word().parse().expect("a dtype");
        let shape: Vec<usize> = word()
            .split('x')
            .filter(|size| *size != "-")
            .map(|size| size.parse().expect("a size"))
            .collect();
        Case {
            name: name.to_string(),
            tensor: tensor(dtype, &shape, word()),
            display: display.to_string(),
            debug: debug.trim_end_matches('\n').to_string(),
        }
    }
}

/// The elements again and again, until the shape is full.
fn tensor(dtype: DType, shape: &[usize], hex: &str) -> Tensor {
    let mut bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
        .collect();
    if cfg!(target_endian = "big") {
        let number = match dtype {
            DType::C64 | DType::C128 => dtype.width() / 2,
            _ => dtype.width(),
        };
        bytes.chunks_mut(number).for_each(<[u8]>::reverse);
    }
    let count = shape.iter().product::<usize>() * dtype.width();
    let bytes: Vec<u8> = bytes.iter().copied().cycle().take(count).collect();
    Tensor::from_bytes(dtype, shape, &bytes).expect("a tensor")
}

fn bf16s(values: &[f32]) -> Tensor {
    let values: Vec<bf16> = values.iter().map(|x| bf16::from_f32(*x)).collect();
    let shape = [values.len()];
    Tensor::from_vec(values, &shape).expect("a tensor")
}

#[test]
fn tensors_print_as_numpy_prints_arrays() {
    // A larger table can be named by hand; see `make_format.py`.
    let path = std::env::var("FORMAT_CASES")
        .unwrap_or_else(|_| format!("{}/tests/data/format.txt", env!("CARGO_MANIFEST_DIR")));
    let text = fs::read_to_string(path).expect("the table");
    let cases: Vec<Case> = text
        .trim_start_matches("=== ")
        .split("\n=== ")
        .map(Case::read)
        .collect();
    let mut differ = 0;
    for case in &cases {
        let printed = [
            (case.tensor.to_string(), &case.display),
            (format!("{:?}", case.tensor), &case.debug),
        ];
        for (ours, theirs) in printed {
            if ours != *theirs {
                differ += 1;
                if differ <= 10 {
                    eprintln!("{}\nours:\n{ours}\nNumPy:\n{theirs}\n", case.name);
                }
            }
        }
    }
    println!("{} cases", cases.len());
    assert!(cases.len() >= 300, "only {} cases", cases.len());
    assert_eq!(differ, 0, "of {} cases printed twice", cases.len());
}

#[test]
fn bfloat16_prints_the_digits_it_needs_by_the_rules_of_the_other_floats() {
    let cases: [(&[f32], &str); 9] = [
        (&[1.0, 0.1, -2.5], "[ 1. ,  0.1, -2.5]"),
        (&[1.0 / 3.0, 3.140625], "[0.334, 3.14 ]"),
        (&[f32::NAN, 1.0, f32::NEG_INFINITY], "[ nan,   1., -inf]"),
        // A thousand is where powers start, as for float16.
        (&[1024.0, 4.0], "[1.024e+03, 4.000e+00]"),
        (&[100.0, 1.0], "[100.,   1.]"),
        (&[0.3, 1.0e-5], "[3.e-01, 1.e-05]"),
        // 0.3 is 0.30078125: it shows its own digits, not zeros, where another number needs more.
        (&[0.3, 1.17e-5], "[3.01e-01, 1.17e-05]"),
        (&[3.39e38], "[3.39e+38]"),
        (&[], "[]"),
    ];
    for (values, printed) in cases {
        assert_eq!(bf16s(values).to_string(), printed, "{values:?}");
    }
    assert_eq!(
        format!("{:?}", bf16s(&[0.5])),
        "tensor([0.5], dtype=bfloat16)"
    );
    for (value, printed) in [(0.1, "0.1"), (99.0, "99.0"), (256.0, "256.0")] {
        let x = Tensor::from_vec(vec![bf16::from_f32(value)], &[]).expect("a tensor");
        assert_eq!(x.to_string(), printed);
    }
}

#[test]
fn a_tensor_far_larger_than_memory_prints_at_once() {
    let x = Tensor::from_vec(vec![0f64], &[1, 1]).expect("a tensor");
    let x = x.expand([10, 1isize << 40]).expect("a view");
    let row = "[0., 0., 0., ..., 0., 0., 0.]";
    let half = format!("{row},\n        {row},\n        {row},\n        ");
    let printed = format!(
        "tensor([{half}...,\n        {}], shape=(10, 1099511627776))",
        half.trim_end().trim_end_matches(',')
    );
    assert_eq!(format!("{x:?}"), printed);
}

#[test]
fn what_fills_no_page_is_only_described() {
    let x = Tensor::from_vec(vec![7u8], &[]).expect("a tensor");
    for rank in [65, 4000, 65536] {
        let x = x.reshape(vec![1isize; rank]).expect("a view");
        let printed = format!("<tensor of rank {rank}, dtype uint8>");
        assert_eq!(x.to_string(), printed);
        assert_eq!(format!("{x:?}"), printed);
    }
    let x = x.expand([2isize; 40]).expect("a view");
    let shape = ["2"; 40].join(", ");
    assert_eq!(
        x.to_string(),
        format!("<tensor of shape ({shape}), dtype uint8>")
    );
}
