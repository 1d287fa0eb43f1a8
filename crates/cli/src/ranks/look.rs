//! Which ranks of a mesh a plan looks at.

use stridewise::Mesh;

/// On a mesh of at most so many ranks a plan looks at all of them.
pub(super) const FEW: usize = 1024;
/// Of a larger one it looks at so many at most: the more ranks there are, the longer each takes.
const SOME: usize = 64;

/// The ranks to look at: all of them where there are few, or where every one is wanted. Otherwise: the first and the last along each mesh axis, whose parts are the largest and
/// the smallest there are, and some between them, spread evenly.
pub(super) fn looked_at(mesh: &Mesh, every: bool) -> Vec<usize> {
    if every || mesh.ranks() <= FEW {
        return (0..mesh.ranks()).collect();
    }
    // How many along each mesh axis.
    let mut each: Vec<usize> = mesh.sizes().iter().map(|n| (*n).min(2)).collect();
    loop {
        let before = each.clone();
        for axis in 0..each.len() {
            let others: usize = each.iter().product::<usize>() / each[axis];
            if each[axis] < mesh.sizes()[axis] && others * (each[axis] + 1) <= SOME {
                each[axis] += 1;
            }
        }
        if each == before {
            break;
        }
    }
    let mut ranks = vec![0];
    for (&size, &some) in mesh.sizes().iter().zip(&each) {
        let places = (0..some).map(|at| match some {
            1 => 0,
            _ => at * (size - 1) / (some - 1),
        });
        let places: Vec<usize> = places.collect();
        ranks = ranks
            .iter()
            .flat_map(|rank| places.iter().map(move |place| rank * size + place))
            .collect();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_always_looked_at_and_small_meshes_as_a_whole() {
        for sizes in [
            &[3][..],
            &[8, 8],
            &[64, 8],
            &[512],
            &[100_000],
            &[2, 3, 200],
            &[7, 1, 11, 13],
            &[1 << 20, 1 << 20, 4],
        ] {
            let mesh = Mesh::new(sizes).unwrap();
            let ranks = looked_at(&mesh, false);
            assert!(ranks.is_sorted_by(|a, b| a < b), "{sizes:?}");
            assert!(mesh.ranks() <= FEW || ranks.len() <= SOME, "{sizes:?}");
            assert!(mesh.ranks() > FEW || ranks.len() == mesh.ranks());
            assert!(mesh.ranks() < SOME || ranks.len() > SOME / 2, "{sizes:?}");
            for corner in 0..1 << sizes.len() {
                let rank = sizes.iter().enumerate().fold(0, |rank, (axis, size)| {
                    rank * size + if corner >> axis & 1 == 1 { size - 1 } else { 0 }
                });
                assert!(ranks.contains(&rank), "{sizes:?}: {rank}");
            }
        }
    }
}
