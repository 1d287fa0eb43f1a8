//! Writes a model with a node of every kind that a writer has: `cargo run -p stridewise-onnx --example every_node
//! FILE`. `tests/check_every_node.py` holds it to ONNX's checker and to ONNX Runtime.

use stridewise_core::{DType, Error, Result};
use stridewise_onnx::{Data, DeclaredSize, Writer};

fn main() -> Result<()> {
    let file = std::env::args()
        .nth(1)
        .ok_or_else(|| Error::argument("name the file to write"))?;
    let failed = |error| Error::file(format!("{file} cannot be written: {error}"));
    std::fs::write(&file, every_node()?.to_bytes()).map_err(failed)
}

/// Every output says what it is for an `x` of shape (n, 3): `x` itself, sums of its rows, or numbers up to n.
fn every_node() -> Result<Writer> {
    let mut g = Writer::new("every node");
    let n = || DeclaredSize::from("n");
    let x = g.input("x", DType::F32, [n(), 3.into()])?;
    let (nothing, first, second) = (g.integers(&[]), g.integers(&[0]), g.integers(&[1]));
    let (zero, one) = (g.integer(0), g.integer(1));

    g.on_behalf_of("count");
    let rows = g.shape_between(&x, 0, 1);
    let rows = g.squeeze(&rows, Some(&first));
    let up = g.range(&zero, &rows, &one);
    let sum = g.add(&up, &rows);
    let up = g.modulo(&sum, &rows);
    let up = g.clip(&up, Some(&zero), None);
    let up = g.mul(&up, &one);
    let up = g.div(&up, &one);
    let up = g.sub(&up, &zero);
    let up = g.min(&up, &rows);
    let up = g.max(&up, &zero);
    g.output("up", &up, DType::I64, [n()])?;
    let running = g.cum_sum(&up, &zero);
    g.output("running", &running, DType::I64, [n()])?;

    g.on_behalf_of("choose");
    let inside = g.less(&up, &rows);
    let above = g.greater_or_equal(&up, &zero);
    let both = g.and(&inside, &above);
    let other = g.not(&both);
    let either = g.or(&both, &other);
    let index = g.where_(&either, &up, &rows);

    g.on_behalf_of("");
    let shape = g.shape(&x);
    let nil = Data {
        dtype: DType::F32,
        shape: Vec::new(),
        bytes: vec![0; 4],
    };
    let zeros = g.constant_of_shape(&shape, &nil);
    let column = g.unsqueeze(&index, &second);
    let spread = g.expand(&column, &shape);
    let once = g.scatter_elements_add(&zeros, &spread, &x, 0);
    let twice = g.scatter_nd_add(&once, &column, &x);
    let gathered = g.gather(&twice, &index, 0);
    let gathered = g.gather_elements(&gathered, &spread, 0);
    let sums = g.reduce_sum(&gathered, &second, true);
    let sums = g.squeeze(&sums, Some(&second));
    g.output("twice_the_sums", &sums, DType::F32, [n()])?;

    let turned = g.transpose(&x, &[1, 0]);
    let counts = g.integers(&[1, 2]);
    let tiled = g.tile(&turned, &counts);
    let wide = g.concat(&[&tiled, &turned], 1);
    let (back, far) = (g.integers(&[-1]), g.integers(&[i64::MIN]));
    let reversed = g.slice(&wide, &back, &far, None, Some(&back));
    let small = g.cast(&reversed, DType::BF16);
    let small = g.cast(&small, DType::F16);
    let any = [3.into(), DeclaredSize::Any];
    g.output("thrice_turned", &small, DType::F16, any)?;

    let size = g.size(&x);
    let product = g.reduce_prod_all(&shape);
    let same = g.equal(&size, &product);
    g.output("same", &same, DType::Bool, [])?;

    let scalar = g.input("scalar", DType::F32, [])?;
    let still = g.transpose(&scalar, &[]);
    let still = g.reduce_sum(&still, &nothing, false);
    let still = g.reshape(&still, &nothing);
    g.output("still", &still, DType::F32, [])?;
    let copied = g.integers(&[0, -1]);
    let same = g.reshape_copying(&x, &copied);
    let same = g.identity(&same);
    g.output("same_x", &same, DType::F32, [n(), 3.into()])?;
    Ok(g)
}
