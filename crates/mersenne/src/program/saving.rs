//! Saves of work that goes on, and its pauses.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Folder, Save};

use super::output::{log, note};
use super::stop::Stop;
use super::{Common, Failure};

/// Saves of work that goes on.
pub struct Saving<'a> {
    name: &'a str,
    folder: &'a Folder,
    every: Duration,
    stop: &'a Stop,
    last: Instant,
    others: Others<'a>,
}

impl<'a> Saving<'a> {
    pub fn new(name: &'a str, folder: &'a Folder, common: &'a Common, stop: &'a Stop) -> Self {
        Saving {
            name,
            folder,
            every: common.save_every,
            stop,
            last: Instant::now(),
            others: Others {
                names: &common.pause_while,
                looked: Instant::now(),
            },
        }
    }

    /// Whether it is time for a save, or a signal or another program asks for one.
    pub fn is_due(&mut self) -> bool {
        self.stop.wants_save() || self.last.elapsed() >= self.every || self.others.have_come()
    }

    /// Saves the work, and ends or pauses it if a signal asks for that, or pauses it while another program
    /// runs.
    pub fn save<T: Save>(&mut self, work: &T) -> Result<(), Failure> {
        let residue = work.res64();
        let residue = residue.map_or(String::new(), |res64| format!(", residue {res64:016X}"));
        let saved = format!(
            "{} saved at {} {}{residue}",
            self.name,
            T::UNIT,
            work.done()
        );
        if let Some(signal) = self.stop.signal() {
            self.folder.save(work)?;
            note!("{saved}");
            return Err(Failure::Interrupted(signal));
        }
        self.save_or_tell(work);
        log!("{saved}");
        self.stop.pause();
        self.others.wait(self.name, self.stop)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Saves work that goes on where that fails: the next save may succeed.
    pub fn save_or_tell(&self, work: &impl Save) {
        if let Err(error) = self.folder.save(work) {
            note!("warning: {error}; {} is not saved, and goes on", self.name);
        }
    }
}

/// Programs that want the machine for themselves.
struct Others<'a> {
    names: &'a [String],
    /// When they were last looked for.
    looked: Instant,
}

impl Others<'_> {
    /// The time from one look to the next.
    const LOOK: Duration = Duration::from_secs(1);

    /// Whether one of them runs, if it is time for a look.
    fn have_come(&mut self) -> bool {
        if self.names.is_empty() || self.looked.elapsed() < Self::LOOK {
            return false;
        }
        self.looked = Instant::now();
        self.running().is_some()
    }

    /// One that runs: a process with its name, as the system keeps it, in 15 bytes.
    fn running(&self) -> Option<&str> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut names = processes.filter_map(|process| fs::read(process.path().join("comm")).ok());
        names.find_map(|name| {
            let name = name.trim_ascii_end();
            let is_it = |other: &&String| other.as_bytes().iter().take(15).eq(name);
            self.names.iter().find(is_it).map(String::as_str)
        })
    }

    /// Waits while one of them runs.
    fn wait(&mut self, name: &str, stop: &Stop) -> Result<(), Failure> {
        if self.names.is_empty() {
            return Ok(());
        }
        let mut is_told = false;
        while let Some(other) = self.running() {
            if !is_told {
                note!("{name} pauses while {other} runs");
                is_told = true;
            }
            sleep(Self::LOOK / 4);
            stop.check()?;
        }
        if is_told {
            note!("{name} goes on");
        }
        Ok(())
    }
}
