//! An index as a step, `[1:3, ::-1, None]`: a call of `slice` in Python's notation.

use crate::program::parser::{Parser, operator};
use crate::program::{Argument, Kind, Mistake, Step};

impl Parser<'_> {
    /// `[items]`: a call of `slice`.
    pub(crate) fn index(&mut self) -> Result<Step, Mistake> {
        let open = self.eat('[').unwrap_or_default();
        let entry = operator("slice", &open)?;
        let (args, close) = self.arguments(&open, ']')?;
        let span = open.start..close.end;
        if args.is_empty() {
            return Err(Mistake::new(span, "an index needs at least one item")
                .label("nothing is asked for")
                .help("`[...]` is the whole tensor"));
        }
        if let Some((name, at)) = args.iter().find_map(|arg| arg.name.as_ref()) {
            let message = format!("`{name}=` cannot stand in an index");
            return Err(Mistake::new(at.clone(), message).label("an index has no keywords"));
        }
        let picks = |arg: &Argument| matches!(arg.value.kind, Kind::List(_) | Kind::Input(_));
        if let Some(at) = args.iter().position(picks) {
            return Err(self.picking(&args, at));
        }
        Ok(Step {
            entry,
            span,
            args,
            names_all: false,
        })
    }

    /// A list or a tensor as an item of an index, and the call of `take` that does what is meant.
    fn picking(&self, args: &[Argument], at: usize) -> Mistake {
        let is = |arg: &Argument, kind: Kind| arg.value.kind == kind;
        let axes = |args: &[Argument]| args.iter().filter(|arg| !is(arg, Kind::None)).count();
        let axis = match args[..at].iter().any(|arg| is(arg, Kind::Rest)) {
            true => format!("-{}", axes(&args[at..])),
            false => axes(&args[..at]).to_string(),
        };
        let value = &args[at].value;
        let (what, message) = match value.kind {
            Kind::List(_) => ("list", "an index holds no lists"),
            _ => ("tensor", "an index holds no tensors"),
        };
        let text = self.source.get(value.span.clone()).unwrap_or_default();
        // The list may be written over lines, without spaces, or as a tuple.
        let text = match &value.kind {
            Kind::List(items) if items.iter().all(|item| matches!(item.kind, Kind::Int(_))) => {
                let items: Vec<&str> = items
                    .iter()
                    .map(|item| self.source.get(item.span.clone()).unwrap_or_default())
                    .collect();
                format!("[{}]", items.join(", "))
            }
            _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        Mistake::new(value.span.clone(), message)
            .label(format!("this is a {what}"))
            .help(format!("a {what} picks slices: use `take({text}, {axis})`"))
    }
}
