//! What values and symbols are called in the text. A graph numbers its values and its nameless symbols as they
//! come, inside operators too; a reader sees them numbered in the order in which they are met.

use std::collections::{HashMap, HashSet};

use stridewise_core::dim::{Dim, Leaf, Outline};
use stridewise_core::params::Symbol;

use crate::node::Id;
use crate::symbols::{anonymous, as_spread};

/// Stands in front of a name that is no symbol's, so that quotes around it can be told from a symbol's own.
const MARK: char = '\u{1}';
const QUOTED: &str = "'\u{1}";

/// The names of one text.
#[derive(Default)]
pub(super) struct Names {
    values: HashMap<Id, String>,
    symbols: HashMap<Symbol, String>,
    taken: HashSet<String>,
    next: usize,
    /// Whether symbols keep the names they have in the graph.
    as_they_are: bool,
}

impl Names {
    /// Names by which the graph itself knows things.
    pub(super) fn as_they_are() -> Names {
        Names {
            as_they_are: true,
            ..Names::default()
        }
    }

    /// Calls a value by that name.
    pub(super) fn set_value(&mut self, id: Id, name: &str) {
        self.values.insert(id, name.to_string());
    }

    /// The name of a value.
    pub(super) fn value(&self, id: Id) -> String {
        let name = self.values.get(&id).cloned();
        name.unwrap_or_else(|| format!("%{id}"))
    }

    /// Calls a nameless symbol by that name.
    pub(super) fn set_symbol(&mut self, symbol: &Symbol, name: &str) {
        self.taken.insert(name.to_string());
        self.symbols.insert(symbol.clone(), name.to_string());
    }

    /// Whether a nameless symbol has been met.
    pub(super) fn has_met(&self, symbol: &Symbol) -> bool {
        self.symbols.contains_key(symbol)
    }

    /// Numbers whatever nameless symbols a size holds, the older ones first.
    fn meet(&mut self, dim: &Dim) {
        for symbol in nameless(dim) {
            self.number(&symbol);
        }
    }

    /// The name of a nameless symbol.
    fn number(&mut self, symbol: &Symbol) -> String {
        if self.as_they_are {
            return symbol.to_string();
        }
        if let Some(name) = self.symbols.get(symbol) {
            return name.clone();
        }
        loop {
            let name = format!("_{}", self.next);
            self.next += 1;
            if !self.taken.contains(&name) {
                self.set_symbol(symbol, &name);
                return name;
            }
        }
    }

    /// A symbol's name, without quotes; marked where it says what is read from a tensor.
    fn plain(&mut self, name: &str) -> String {
        if let Some(tuple) = name.strip_prefix('*') {
            return match read_from(tuple) {
                Some((id, _)) => format!("{MARK}*{}[:]", self.value(id)),
                None => format!("*{}", self.plain(tuple)),
            };
        }
        if let Some((id, at)) = read_from(name) {
            let at = if at.is_empty() { "[:]" } else { at };
            return format!("{MARK}{}{at}", self.value(id));
        }
        let symbol = Symbol::new(name);
        match anonymous(&symbol) {
            Some(_) => self.number(&symbol),
            None => symbol.to_string(),
        }
    }

    /// A size.
    pub(super) fn dim(&mut self, dim: &Dim) -> String {
        self.meet(dim);
        if let Some(tuple) = as_spread(dim) {
            return self.tuple(&tuple);
        }
        let mut named = HashMap::new();
        for leaf in dim.symbols() {
            let name = self.plain(leaf.symbol().name());
            named.insert(leaf.symbol().clone(), name);
        }
        let renamed = dim.substitute(|leaf| {
            let name = named.get(leaf.symbol())?;
            Some(match leaf {
                Leaf::Size(_) => Dim::symbol(name),
                Leaf::Product(_) => Dim::product_of(&Symbol::new(name)),
            })
        });
        unmarked(&renamed.as_ref().unwrap_or(dim).to_string())
    }

    /// A tuple symbol among sizes.
    pub(super) fn tuple(&mut self, tuple: &Symbol) -> String {
        let name = self.plain(tuple.name());
        format!("*{}", unmarked(&Dim::symbol(name).to_string()))
    }

    /// A shape.
    pub(super) fn outline(&mut self, outline: &Outline) -> String {
        let mut items: Vec<String> = outline.front().iter().map(|dim| self.dim(dim)).collect();
        if let Some(rest) = outline.rest() {
            items.push(self.tuple(rest));
        }
        items.extend(outline.back().iter().map(|dim| self.dim(dim)));
        format!("[{}]", items.join(", "))
    }
}

/// The nameless symbols of a size, the older ones first.
pub(super) fn nameless(dim: &Dim) -> Vec<Symbol> {
    let leaves = dim.symbols().into_iter().filter_map(|leaf| {
        let name = leaf.symbol().name();
        let symbol = Symbol::new(name.strip_prefix('*').unwrap_or(name));
        anonymous(&symbol).map(|number| (number, symbol))
    });
    let mut all: Vec<(usize, Symbol)> = leaves.collect();
    all.sort();
    all.dedup();
    all.into_iter().map(|(_, symbol)| symbol).collect()
}

/// The value that a symbol says is read, and what of it.
fn read_from(name: &str) -> Option<(Id, &str)> {
    let rest = name.strip_prefix('%')?;
    let end = rest.find('[').unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// The text without the quotes around what is marked.
fn unmarked(text: &str) -> String {
    let mut parts = text.split(QUOTED);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str(&part.replacen('\'', "", 1));
    }
    out
}
