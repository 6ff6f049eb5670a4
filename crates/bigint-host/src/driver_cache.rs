//! The folder in which the driver keeps the kernels that it has compiled.

use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fs};

/// Whether the driver will have to compile whatever it is asked for: its cache is switched off, or
/// has nothing. Whether a cache that has something has a certain kernel, only the driver knows.
pub(crate) fn is_empty() -> bool {
    folder(|name| env::var_os(name)).is_none_or(|folder| {
        let entries = fs::read_dir(folder);
        entries.map_or(true, |mut entries| entries.next().is_none())
    })
}

/// Where it is, by the variables that NVIDIA's driver obeys.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    if set("CUDA_CACHE_DISABLE").is_some_and(|value| value == "1") {
        return None;
    }
    let home = || Some(PathBuf::from(set("HOME")?).join(".nv/ComputeCache"));
    set("CUDA_CACHE_PATH").map(PathBuf::from).or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_variables_say() {
        let of = |set: &[(&str, &str)]| {
            let set = set.to_vec();
            let value = |name: &str| set.iter().find(|(known, _)| *known == name);
            folder(|name| value(name).map(|(_, value)| OsString::from(value)))
        };
        let (home, path) = (("HOME", "/home/a"), ("CUDA_CACHE_PATH", "/b"));
        assert_eq!(of(&[home]), Some("/home/a/.nv/ComputeCache".into()));
        assert_eq!(of(&[home, path]), Some("/b".into()));
        assert_eq!(of(&[home, path, ("CUDA_CACHE_DISABLE", "1")]), None);
        assert_eq!(of(&[path, ("CUDA_CACHE_DISABLE", "0")]), Some("/b".into()));
        assert_eq!(of(&[]), None);
    }
}
