//! `bigint completions` and `bigint man`: what the options are, for shells and readers.

use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::Failure;
use crate::output;

/// Print a shell's completions of this command
///
/// For bash: bigint completions bash > ~/.local/share/bash-completion/completions/bigint
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Prints the completions.
///
/// # Errors
/// [`Failure::Running`], [`Failure::ReaderGone`].
pub fn complete(arguments: &Completions, mut command: clap::Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "bigint", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

/// Print a manual page, for man to show
///
/// To read it: bigint man calc | man -l -
#[derive(Debug, clap::Args)]
pub struct Page {
    /// The subcommand that it is about; the command itself if there is none
    subcommand: Option<String>,
}

/// Prints a manual page.
///
/// # Errors
/// [`Failure::Usage`] where there is no such subcommand; [`Failure::Running`],
/// [`Failure::ReaderGone`].
pub fn print(arguments: &Page, mut command: clap::Command) -> Result<(), Failure> {
    command.build();
    let page = match &arguments.subcommand {
        None => &command,
        Some(name) => command
            .find_subcommand(name)
            .ok_or_else(|| Failure::Usage(format!("man: there is no subcommand {name:?}")))?,
    };
    let mut text = Vec::new();
    let rendered = Man::new(page.clone()).render(&mut text);
    rendered.map_err(|error| Failure::Running(error.to_string()))?;
    output::print(&String::from_utf8_lossy(&text))
}
