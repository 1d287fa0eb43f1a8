//! Answers a line such as `fill 67108864 2`, with `fill`, `copy` or `read`, bytes and threads, by the nanoseconds it takes.
//! `bench/speed.py` asks in turns with the libraries that it times.

use std::io::{BufRead, Write};

use stridewise_machine::Machine;

fn main() -> std::io::Result<()> {
    let mut machine: Option<Machine> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let asked = match words[..] {
            [work, bytes, threads] => bytes.parse().ok().zip(threads.parse().ok()).map(|(bytes, threads)| (work, bytes, threads)),
            _ => None,
        };
        let took = asked.and_then(|(work, bytes, threads): (_, usize, usize)| {
            if machine.as_ref().is_none_or(|machine| machine.bytes() < bytes) {
                machine = Machine::new(bytes);
            }
            machine.as_mut()?.fastest(work, bytes, threads)
        });
        match took {
            Some(took) => println!("{}", took.as_nanos().max(1)),
            None => println!("`{line}` cannot be done: it takes fill, copy or read, bytes and threads"),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
