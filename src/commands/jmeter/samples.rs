//! The samples of a load from agents, for `-l`: each agent keeps its own in a file and sends them after the load, and
//! the coordinator writes all of them in the order in which they ended.
//!
//! A sample is its start (ms since 1970), its time (ms), its success (1 byte), and the bytes of its line after their
//! number, all numbers little-endian.

use crate::exit::Failure;
use plimsoll_jmeter::SampleSink;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Longest line, bytes: that of a sample with its data as XML.
const LINE_MAX: u32 = 1 << 30;

/// The samples of this part of a load.
pub struct OwnSamples(Mutex<(BufWriter<File>, Option<std::io::Error>)>);

impl OwnSamples {
    /// Creates the file next to the part's record.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn create(record: &Path) -> Result<OwnSamples, Failure> {
        let path = record.with_extension("samples");
        let created = File::options().read(true).write(true).create_new(true).open(&path);
        let file =
            created.map_err(|e| Failure::machine(format!("cannot write `{}`: {e}", path.display()), None))?;
        Ok(OwnSamples(Mutex::new((BufWriter::new(file), None))))
    }

    /// Returns the samples from their beginning.
    ///
    /// # Errors
    /// Returns the first error of writing them.
    pub fn finish(&self) -> std::io::Result<File> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(e) = state.1.take() {
            return Err(e);
        }
        state.0.flush()?;
        let mut file = state.0.get_ref().try_clone()?;
        file.rewind()?;
        Ok(file)
    }
}

impl SampleSink for OwnSamples {
    fn sample(&self, line: &str, begin_ms: u64, elapsed_ms: u64, is_success: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.1.is_some() {
            return;
        }
        let mut head = Vec::with_capacity(21);
        head.extend(begin_ms.to_le_bytes());
        head.extend(elapsed_ms.to_le_bytes());
        head.push(u8::from(is_success));
        head.extend((line.len() as u32).to_le_bytes());
        // Reported at the end: the load continues as without the file.
        state.1 = state.0.write_all(&head).and_then(|()| state.0.write_all(line.as_bytes())).err();
    }
}

/// A sample of an agent.
struct Sample {
    begin_ms: u64,
    elapsed_ms: u64,
    is_success: bool,
    line: String,
}

/// Gives the samples of all agents to `to`, by the time of their end.
///
/// # Errors
/// Returns an error if they cannot be read.
pub fn join(files: &[Arc<File>], to: &dyn SampleSink) -> Result<(), Failure> {
    let failed =
        |e: std::io::Error| Failure::machine(format!("cannot read the samples of an agent: {e}"), None);
    let mut readers: Vec<_> = files.iter().map(|file| BufReader::new(&**file)).collect();
    let mut heads = Vec::new();
    for reader in &mut readers {
        heads.push(next(reader).map_err(failed)?);
    }
    let end_ms = |sample: &Sample| sample.begin_ms.saturating_add(sample.elapsed_ms);
    loop {
        let ends = heads.iter().enumerate().filter_map(|(at, head)| Some((end_ms(head.as_ref()?), at)));
        let Some((_, at)) = ends.min() else { return Ok(()) };
        if let Some(Sample { begin_ms, elapsed_ms, is_success, line }) = heads[at].take() {
            to.sample(&line, begin_ms, elapsed_ms, is_success);
        }
        heads[at] = next(&mut readers[at]).map_err(failed)?;
    }
}

/// Returns the next sample, or `None` at the end. The last one of a lost agent may be cut off.
fn next(from: &mut impl Read) -> std::io::Result<Option<Sample>> {
    let mut head = [0; 21];
    if !is_whole(from.read_exact(&mut head))? {
        return Ok(None);
    }
    let [b0, b1, b2, b3, b4, b5, b6, b7, e0, e1, e2, e3, e4, e5, e6, e7, success, l0, l1, l2, l3] = head;
    let length = u32::from_le_bytes([l0, l1, l2, l3]);
    if length > LINE_MAX {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "a sample of an unknown version"));
    }
    let mut line = vec![0; length as usize];
    if !is_whole(from.read_exact(&mut line))? {
        return Ok(None);
    }
    Ok(Some(Sample {
        begin_ms: u64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7]),
        elapsed_ms: u64::from_le_bytes([e0, e1, e2, e3, e4, e5, e6, e7]),
        is_success: success == 1,
        line: String::from_utf8_lossy(&line).into_owned(),
    }))
}

fn is_whole(read: std::io::Result<()>) -> std::io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl SampleSink for Lines {
        fn sample(&self, line: &str, _: u64, _: u64, _: bool) {
            self.0.lock().unwrap().push(line.to_owned());
        }
    }

    #[test]
    fn samples_of_all_agents_are_joined_by_their_ends_and_a_cut_one_is_left_out() {
        let folder = std::env::temp_dir().join(format!("plimsoll-samples-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let part = |name: &str, samples: &[(&str, u64, u64)]| {
            let own = OwnSamples::create(&folder.join(name)).unwrap();
            samples
                .iter()
                .for_each(|(line, begin_ms, elapsed_ms)| own.sample(line, *begin_ms, *elapsed_ms, true));
            Arc::new(own.finish().unwrap())
        };
        let first = part("1.plim", &[("a", 0, 10), ("c,\"two\nlines\"", 12, 10)]);
        let second = part("2.plim", &[("b", 0, 20), ("d", 20, 10), ("cut", 20, 20)]);
        second.set_len(second.metadata().unwrap().len() - 1).unwrap();
        let lines = Lines::default();
        join(&[first, second], &lines).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(*lines.0.lock().unwrap(), ["a", "b", "c,\"two\nlines\"", "d"]);
    }
}
