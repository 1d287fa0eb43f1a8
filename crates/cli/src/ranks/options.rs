//! `--mesh`, `--ranks` and `--sbp`.

use clap::Args;
use stridewise::Mesh;
use stridewise::spread::{NdSbp, sbp};

use crate::failure::Failure;
use crate::terminal::count;

/// Which ranks there are, and how the inputs lie on them.
#[derive(Args, Debug)]
pub(crate) struct Ranks {
    /// Spread the tensors over a mesh of ranks: 4, 2x2, 64x8.
    #[arg(long, value_name = "SIZES", value_parser = mesh)]
    mesh: Option<Mesh>,

    /// The same for a mesh of one axis: so many ranks.
    #[arg(long, value_name = "N", value_parser = ranks, conflicts_with = "mesh")]
    ranks: Option<Mesh>,

    /// How the inputs lie: S(axis), split, B, all of it on every rank, or P, a sum over the ranks; one for each mesh
    /// axis, as in 'S(0),B'. Given once it is for all inputs, otherwise once for each.
    #[arg(long, value_name = "LAYOUT", value_parser = layout)]
    sbp: Vec<NdSbp>,
}

/// A mesh, and how each input lies on it.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) mesh: Mesh,
    pub(crate) sbp: Vec<NdSbp>,
}

/// A mesh of more axes is no machine; every further one multiplies the layouts that are weighed against each other.
const AXES: usize = 4;

/// More ranks than any machine has.
const RANKS: usize = 1 << 20;

fn mesh(text: &str) -> Result<Mesh, String> {
    const HELP: &str = "write how many ranks there are along each mesh axis, as in 4, 2x2 or 64x8";
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    let sizes: Option<Vec<usize>> = inner
        .trim_end_matches(',')
        .split(['x', '×', ','])
        .map(|size| size.trim().parse().ok())
        .collect();
    let sizes = sizes.ok_or_else(|| format!("this is no mesh; {HELP}"))?;
    if sizes.len() > AXES {
        let axes = sizes.len();
        return Err(format!(
            "a mesh has at most {AXES} axes here, not {axes}; {HELP}"
        ));
    }
    few_enough(Mesh::new(&sizes).map_err(|error| format!("{}; {HELP}", error.report().message()))?)
}

fn few_enough(mesh: Mesh) -> Result<Mesh, String> {
    match mesh.ranks() {
        ranks if ranks > RANKS => Err(format!("these are {ranks} ranks; give at most {RANKS}")),
        _ => Ok(mesh),
    }
}

fn ranks(text: &str) -> Result<Mesh, String> {
    match text.trim().parse() {
        Ok(n) if n > 0 => {
            few_enough(Mesh::new(&[n]).map_err(|error| error.report().message().to_string())?)
        }
        _ => Err("write how many ranks there are, at least 1; a grid of them is --mesh 2x2".into()),
    }
}

fn layout(text: &str) -> Result<NdSbp, String> {
    sbp::parse(text).map_err(|error| {
        let report = error.report();
        match report.fix() {
            Some(fix) => format!("{}; {fix}", report.message()),
            None => report.message().to_string(),
        }
    })
}

impl Ranks {
    /// The mesh; none where everything is to lie on one machine.
    pub(crate) fn mesh(&self) -> Result<Option<&Mesh>, Failure> {
        match self.mesh.as_ref().or(self.ranks.as_ref()) {
            None if !self.sbp.is_empty() => Err(Failure::Usage(
                "--sbp says how the inputs lie on ranks, but there are none\n  help: give --ranks 4 or --mesh 2x2 as well".to_string(),
            )),
            mesh => Ok(mesh),
        }
    }

    /// How so many inputs lie on a mesh.
    pub(crate) fn given(&self, mesh: &Mesh, inputs: usize) -> Result<Given, Failure> {
        let sbp = match (self.sbp.as_slice(), inputs) {
            ([], 1..) => {
                let all: Vec<&str> = std::iter::once("S(0)")
                    .chain(std::iter::repeat("B"))
                    .take(mesh.rank())
                    .collect();
                return Err(Failure::Usage(format!(
                    "nothing says how the inputs lie on the {mesh} ranks\n  help: give --sbp '{}', for instance: one of S(axis), B or P for each mesh axis",
                    all.join(",")
                )));
            }
            ([one], _) => vec![one.clone(); inputs],
            (each, _) if each.len() == inputs => each.to_vec(),
            (each, _) => {
                return Err(Failure::Usage(format!(
                    "--sbp is given {} times for {}\n  help: give it once for all of them, or once for each",
                    each.len(),
                    count(inputs, "input")
                )));
            }
        };
        let mesh = mesh.clone();
        Ok(Given { mesh, sbp })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_are_read_as_shapes_are() {
        for text in ["64x8", "64,8", "(64, 8)", "64×8"] {
            assert_eq!(mesh(text).unwrap().sizes(), [64, 8], "{text}");
        }
        assert_eq!(mesh("4").unwrap().sizes(), [4]);
        assert_eq!(mesh("(4,)").unwrap().sizes(), [4]);
        for text in [
            "",
            "0",
            "4x",
            "4x0",
            "-2",
            "2x2x2x2x2",
            "a",
            "99999999999x99999999999",
            "1025x1024",
        ] {
            assert!(mesh(text).is_err(), "{text}");
        }
        assert_eq!(ranks("3").unwrap().sizes(), [3]);
        assert!(ranks("0").is_err() && ranks("2x2").is_err());
    }
}
