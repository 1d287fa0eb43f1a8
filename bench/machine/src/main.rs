//! Answers a line such as `fill 67108864 2`, with `fill`, `copy` or `read`, bytes and threads, by the nanoseconds it takes;
//! or `lines 67108864 2 1000`, which reads so many lines of them at random.
//! `bench/speed.py` asks in turns with the libraries that it times.

use std::io::{BufRead, Write};

use stridewise_machine::Machine;

fn main() -> std::io::Result<()> {
    let mut machine: Option<Machine> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers: Option<Vec<usize>> =
            words.iter().skip(1).map(|word| word.parse().ok()).collect();
        let asked = words.first().zip(numbers.as_deref());
        let took = asked.and_then(|(&work, numbers)| {
            let &[bytes, threads, ref looks @ ..] = numbers else {
                return None;
            };
            let there = machine.take().filter(|machine| machine.bytes() >= bytes);
            let machine = machine.insert(there.or_else(|| Machine::new(bytes))?);
            match (work, looks) {
                ("lines", &[looks]) => machine.at_random(looks, bytes, threads),
                (_, []) => machine.fastest(work, bytes, threads),
                _ => None,
            }
        });
        match took {
            Some(took) => println!("{}", took.as_nanos().max(1)),
            None => {
                println!(
                    "`{line}` cannot be done: it takes fill, copy or read, bytes and threads, or lines, those and how many"
                )
            }
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
