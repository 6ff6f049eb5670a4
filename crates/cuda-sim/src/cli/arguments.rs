//! What the command line says about buffers and kernel arguments.

use anyhow::{Context, Result, bail, ensure};
use cuda_sim::Device;
use cuda_sim::ptx::Kernel;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Sizes along x, y and z; those left out are one.
#[derive(Clone, Copy)]
pub struct Dimensions(pub [u32; 3]);

impl FromStr for Dimensions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err("at most three sizes".to_owned());
        }
        for (size, part) in sizes.iter_mut().zip(parts) {
            *size = part
                .trim()
                .parse()
                .map_err(|_| format!("`{part}` is not a size"))?;
        }
        Ok(Dimensions(sizes))
    }
}

/// An integer in decimal or hexadecimal, negative ones in two's complement.
fn integer(text: &str) -> Result<u64> {
    let (negative, digits) = match text.trim().strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.trim()),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let value = value.with_context(|| format!("`{text}` is not an integer"))?;
    Ok(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// The bytes of a value of a type.
fn scalar(ty: &str, text: &str) -> Result<Vec<u8>> {
    let bits: u32 = ty
        .get(1..)
        .and_then(|bits| bits.parse().ok())
        .with_context(|| format!("`{ty}` is not a type"))?;
    let bytes = (bits / 8) as usize;
    match (&ty[..1], bits) {
        ("f", 32) => Ok(text.trim().parse::<f32>()?.to_le_bytes().to_vec()),
        ("f", 64) => Ok(text.trim().parse::<f64>()?.to_le_bytes().to_vec()),
        ("u" | "s", 8 | 16 | 32 | 64) => {
            let value = integer(text)?;
            let extended = value as i64 >> (bits - 1);
            let fits = bits == 64 || value >> bits == 0 || extended == -1;
            ensure!(fits, "`{text}` does not fit {ty}");
            Ok(value.to_le_bytes()[..bytes].to_vec())
        }
        _ => bail!("`{ty}` is not a type"),
    }
}

/// How the bytes of a value read as text.
type Show = fn(&[u8]) -> String;

/// The named buffers of a run.
pub struct Buffers(BTreeMap<String, (u64, u64)>);

impl Buffers {
    pub fn new(device: &Device, specifications: &[String]) -> Result<Self> {
        let mut buffers = BTreeMap::new();
        for text in specifications {
            let (name, contents) = text
                .split_once('=')
                .with_context(|| format!("`{text}` is not NAME=CONTENTS"))?;
            let place = make(device, contents).with_context(|| format!("buffer `{name}`"))?;
            let before = buffers.insert(name.to_owned(), place);
            ensure!(before.is_none(), "buffer `{name}` is there twice");
        }
        Ok(Buffers(buffers))
    }

    fn find(&self, name: &str) -> Result<(u64, u64)> {
        self.0
            .get(name)
            .copied()
            .with_context(|| format!("no buffer `{name}`"))
    }

    /// The parameter buffer of a launch.
    pub fn params(&self, kernel: &Kernel, args: &[String]) -> Result<Vec<u8>> {
        ensure!(
            args.len() == kernel.params.len(),
            "kernel `{}` takes {} arguments, {} given",
            kernel.name,
            kernel.params.len(),
            args.len()
        );
        let mut bytes = vec![0; kernel.param_bytes as usize];
        for (param, arg) in kernel.params.iter().zip(args) {
            let value = self
                .value(arg)
                .with_context(|| format!("argument `{arg}`"))?;
            ensure!(
                value.len() == param.size as usize,
                "argument `{arg}` has {} bytes where `{}` takes {}",
                value.len(),
                param.name,
                param.size
            );
            let start = param.offset as usize;
            bytes[start..start + value.len()].copy_from_slice(&value);
        }
        Ok(bytes)
    }

    fn value(&self, arg: &str) -> Result<Vec<u8>> {
        let arg = arg.trim();
        if let Some(fields) = arg.strip_prefix('{').and_then(|a| a.strip_suffix('}')) {
            let mut bytes = Vec::new();
            let mut most = 1;
            for field in fields.split(';') {
                let value = self.value(field)?;
                // Fields lie as in a C struct.
                bytes.resize(bytes.len().next_multiple_of(value.len().max(1)), 0);
                most = most.max(value.len());
                bytes.extend(value);
            }
            bytes.resize(bytes.len().next_multiple_of(most), 0);
            return Ok(bytes);
        }
        if let Some(place) = arg.strip_prefix('@') {
            let (name, offset) = match place.split_once('+') {
                Some((name, offset)) => (name, integer(offset)?),
                None => (place, 0),
            };
            let (address, _) = self.find(name)?;
            return Ok(address.wrapping_add(offset).to_le_bytes().to_vec());
        }
        let (ty, text) = arg.split_once(':').context("not TYPE:VALUE or @NAME")?;
        scalar(ty, text)
    }

    fn bytes(&self, device: &Device, name: &str) -> Result<Vec<u8>> {
        let (address, len) = self.find(name)?;
        if let Some(unwritten) = device.first_unwritten(address, len)? {
            let at = unwritten - address;
            eprintln!("warning: nothing wrote byte {at} of `{name}`, and perhaps others");
        }
        let mut bytes = vec![0; usize::try_from(len)?];
        device.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// A buffer as text: `NAME` in bytes, `NAME:TYPE` in values.
    pub fn show(&self, device: &Device, request: &str) -> Result<String> {
        let (name, ty) = request.split_once(':').unwrap_or((request, "u8"));
        let bytes = self.bytes(device, name)?;
        let (size, per_line, show): (usize, usize, Show) = match ty {
            "u8" => (1, 32, |b| format!("{:02x}", b[0])),
            "u32" => (4, 8, |b| format!("{:#010x}", number(b))),
            "u64" => (8, 4, |b| format!("{:#018x}", number(b))),
            "s32" => (4, 8, |b| format!("{}", number(b) as i32)),
            "s64" => (8, 4, |b| format!("{}", number(b) as i64)),
            "f32" => (4, 8, |b| format!("{:e}", f32::from_bits(number(b) as u32))),
            "f64" => (8, 4, |b| format!("{:e}", f64::from_bits(number(b)))),
            _ => bail!("`{ty}` is not a type that buffers are shown in"),
        };
        let mut text = format!("{name}:\n");
        for (i, line) in bytes.chunks(size * per_line).enumerate() {
            let values: Vec<String> = line.chunks_exact(size).map(show).collect();
            text += &format!("{:#8x}: {}\n", i * size * per_line, values.join(" "));
        }
        Ok(text)
    }

    /// Writes a buffer to a file: `NAME=PATH`.
    pub fn save(&self, device: &Device, request: &str) -> Result<()> {
        let (name, path) = request
            .split_once('=')
            .with_context(|| format!("`{request}` is not NAME=PATH"))?;
        let bytes = self.bytes(device, name)?;
        std::fs::write(path, bytes).with_context(|| format!("cannot write {path}"))
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Takes device memory and fills it: address and length.
fn make(device: &Device, contents: &str) -> Result<(u64, u64)> {
    let (kind, rest) = contents
        .split_once(':')
        .context("contents are KIND:VALUE")?;
    if let "zero" | "unset" = kind {
        let len = integer(rest)?;
        let address = device.alloc(len)?;
        if kind == "zero" {
            device.fill(address, &[0], len)?;
        }
        return Ok((address, len));
    }
    let bytes = if kind == "file" {
        std::fs::read(rest).with_context(|| format!("cannot read {rest}"))?
    } else {
        let mut bytes = Vec::new();
        for text in rest.split(',') {
            bytes.extend(scalar(kind, text)?);
        }
        bytes
    };
    let address = device.alloc(bytes.len() as u64)?;
    device.write(address, &bytes)?;
    Ok((address, bytes.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_sim::DeviceConfig;
    use cuda_sim::ptx::Module;

    #[test]
    fn scalars_have_the_bytes_of_their_type() {
        assert_eq!(scalar("u16", "0x1234").unwrap(), [0x34, 0x12]);
        assert_eq!(scalar("s32", "-2").unwrap(), (-2i32).to_le_bytes());
        assert_eq!(scalar("f64", "1.5").unwrap(), 1.5f64.to_le_bytes());
        for (ty, text) in [
            ("u8", "256"),
            ("x8", "1"),
            ("u24", "1"),
            ("u32", "1.5"),
            ("", "1"),
        ] {
            assert!(scalar(ty, text).is_err(), "{ty}:{text}");
        }
    }

    #[test]
    fn structs_lie_as_in_c() {
        let device = Device::new(DeviceConfig::default());
        let buffers = Buffers::new(&device, &["a=u32:1,2,3".to_owned()]).unwrap();
        let value = buffers.value("{u8:1;@a+4;u32:7}").unwrap();
        assert_eq!(value.len(), 24);
        let (address, len) = buffers.find("a").unwrap();
        assert_eq!(len, 12);
        assert_eq!(value[8..16], (address + 4).to_le_bytes());
        assert_eq!(value[16], 7);
    }

    #[test]
    fn arguments_must_fit_the_kernel() {
        let source = ".version 7.0 .target sm_75 .address_size 64
            .visible .entry k(.param .u64 p, .param .u32 n) { ret; }";
        let module = Module::parse(source).unwrap();
        let kernel = module.kernel("k").unwrap();
        let device = Device::new(DeviceConfig::default());
        let buffers = Buffers::new(&device, &["p=zero:8".to_owned()]).unwrap();
        let params = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
            buffers.params(kernel, &args)
        };
        assert_eq!(params(&["@p", "u32:5"]).unwrap().len(), 12);
        assert!(params(&["@p"]).is_err());
        assert!(params(&["@p", "u64:5"]).is_err());
        assert!(params(&["@q", "u32:5"]).is_err());
    }

    #[test]
    fn buffers_are_shown_in_rows() {
        let device = Device::new(DeviceConfig::default());
        let contents = "a=u32:1,2,3,4,5,6,7,8,0xffffffff".to_owned();
        let buffers = Buffers::new(&device, &[contents]).unwrap();
        let text = buffers.show(&device, "a:s32").unwrap();
        assert_eq!(text, "a:\n     0x0: 1 2 3 4 5 6 7 8\n    0x20: -1\n");
        assert!(buffers.show(&device, "a:x").is_err());
    }
}
