//! Words that are sizes: the symbols of the inputs' shapes, and what can be computed from them.

use stridewise::Symbolic;
use stridewise_core::dim::{Dim, Leaf};
use stridewise_core::params::Symbol;
use stridewise_graph::spread;

use crate::program::{Mistake, Span};

/// The symbols of the inputs.
pub(super) struct Words {
    sizes: Vec<Symbol>,
    /// Those that stand for any number of axes.
    tuples: Vec<Symbol>,
}

impl Words {
    pub(super) fn of(inputs: &[Symbolic]) -> Words {
        let (mut sizes, mut tuples) = (Vec::new(), Vec::new());
        for x in inputs {
            let dims = x.shape().front().iter().chain(x.shape().back());
            for leaf in dims.flat_map(Dim::symbols) {
                match leaf {
                    Leaf::Size(symbol) => sizes.push(symbol),
                    Leaf::Product(symbol) => tuples.push(symbol),
                }
            }
            tuples.extend(x.shape().rest().cloned());
        }
        for list in [&mut sizes, &mut tuples] {
            list.sort_by(|a, b| a.name().cmp(b.name()));
            list.dedup();
        }
        Words { sizes, tuples }
    }

    /// The size that a word is: a symbol, all the sizes of a tuple symbol, or a sum, product or quotient in quotes.
    /// None for what does not read as a size at all.
    pub(super) fn size(&self, word: &str, span: &Span) -> Result<Option<Dim>, Mistake> {
        let tuple = |symbol: &&Symbol| symbol.name() == word.trim_start_matches('*');
        if let Some(tuple) = self.tuples.iter().find(tuple) {
            return Ok(Some(spread(tuple)));
        }
        let Ok(size) = word.parse::<Dim>() else {
            return Ok(None);
        };
        let unknown = |leaf: &Leaf| match leaf {
            Leaf::Size(symbol) => !self.sizes.contains(symbol),
            Leaf::Product(symbol) => !self.tuples.contains(symbol),
        };
        match size.symbols().into_iter().find(unknown) {
            None => Ok(Some(size)),
            Some(leaf) => Err(self.undeclared(leaf.symbol(), span)),
        }
    }

    fn undeclared(&self, symbol: &Symbol, span: &Span) -> Mistake {
        let all = self.sizes.iter().chain(&self.tuples);
        let all: Vec<&str> = all.map(Symbol::name).collect();
        let help = match all.as_slice() {
            [] => "no shape has a symbol; give one such as --shape B,4".to_string(),
            [one] => format!("the only symbol of the shapes is {one}"),
            _ => format!("the symbols of the shapes are {}", all.join(", ")),
        };
        Mistake::new(span.clone(), format!("`{symbol}` stands for no size"))
            .label("in no input's shape")
            .help(help)
    }
}
