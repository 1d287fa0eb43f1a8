//! What reaches the local operator: the sizes of a rank's part, never the logical ones.

use stridewise_core::dtype::DType;
use stridewise_core::operators::Methods;
use stridewise_dry::Dry;
use stridewise_spread::{Imagined, Mesh, Sbp, Spread};

/// The design document's example: (4, 3, 1, 2) split along its last axis on two ranks, expanded to (2, 4, 3, 4, 2).
#[test]
fn an_expand_of_a_split_tensor_runs_on_the_sizes_of_its_part() {
    for rank in 0..2 {
        let mesh = Mesh::new(&[2]).expect("a mesh");
        let spread = Spread::new(Dry::new(), Imagined::new(rank, 2), mesh).expect("an engine");
        let whole = spread.inner().tensor(DType::F32, &[4, 3, 1, 2]);
        let x = spread
            .from_whole(whole.expect("a tensor"), &[Sbp::Split(3)])
            .expect("a global tensor");
        assert_eq!(x.to_local().shape(), [4, 3, 1, 1]);
        assert_eq!(x.to_local().strides(), [3, 1, 1, 1]);
        spread.take_moved();
        let y = x.expand([2, 4, 3, 4, 2]).expect("an expand");
        assert_eq!(y.shape(), [2, 4, 3, 4, 2]);
        assert_eq!(y.sbp(), [Sbp::Split(4)]);
        assert_eq!(y.to_local().shape(), [2, 4, 3, 4, 1]);
        assert_eq!(y.to_local().strides(), [0, 3, 1, 0, 1]);
        assert_eq!(spread.take_moved(), []);
    }
}
