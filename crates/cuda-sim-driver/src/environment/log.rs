//! The log: stderr, or the file `CUDA_SIM_LOG`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Writes one message, each of its lines marked. A message is one write, so that
/// several threads or processes do not interleave within it.
pub fn say(file: Option<&Path>, message: &str) {
    let mut text = String::new();
    for line in message.lines() {
        text.push_str("cuda-sim: ");
        text.push_str(line);
        text.push('\n');
    }
    if let Some(path) = file {
        match append(path, &text) {
            Ok(()) => return,
            Err(why) => text.push_str(&format!(
                "cuda-sim: cannot write CUDA_SIM_LOG={}: {why}\n",
                path.display()
            )),
        }
    }
    // Nobody reads it when stderr is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Appends `text` to a file in one write, creating it if need be.
pub fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())
}
