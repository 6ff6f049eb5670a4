//! The linker.

use super::entries;
use super::modules::{Log, read_file, read_image};
use super::raw::{HostPointer, Out, Text, Values};
use crate::driver::Driver;
use crate::error::{Code, Result};
use crate::handle::Handle;
use crate::linker::Linker;
use std::sync::Arc;

/// `CU_JIT_INPUT_PTX`, `..._FATBINARY`.
const PTX: u32 = 1;
const FAT_BINARY: u32 = 2;

entries! {
    context fn cuLinkCreate_v2(
        count: u32,
        options: Values<u32>,
        values: Values<HostPointer>,
        out: Out<Handle>,
    ) |context| {
        out.check()?;
        // Nothing is ever to be said.
        Log::read(count, &options, values)?.error("")?;
        let handle = Handle::fresh();
        context.driver.linkers.insert(handle, Arc::new(Linker::default()));
        out.set(handle)
    }

    context fn cuLinkAddData_v2(
        linker: Handle,
        kind: u32,
        image: HostPointer,
        bytes: usize,
        _name: Text,
        _count: u32,
        _options: Values<u32>,
        _values: Values<HostPointer>,
    ) |context| {
        let linker = known(context.driver, linker)?;
        let source = match kind {
            PTX => image.span(bytes)?.with_bytes(<[u8]>::to_vec),
            FAT_BINARY => read_image(image.text(), &mut Log::none())?,
            _ => return Err(no_ptx()),
        };
        add(&linker, source)
    }

    context fn cuLinkAddFile_v2(
        linker: Handle,
        kind: u32,
        path: Text,
        _count: u32,
        _options: Values<u32>,
        _values: Values<HostPointer>,
    ) |context| {
        let linker = known(context.driver, linker)?;
        let file = read_file(&path.string()?)?;
        match kind {
            PTX | FAT_BINARY => {
                let source = crate::fatbin::unpack(file);
                add(&linker, source.map_err(|(code, why)| code.because(why))?)
            }
            _ => Err(no_ptx()),
        }
    }

    context fn cuLinkComplete(linker: Handle, image: Out<*const u8>, bytes: Out<usize>) |context| {
        let linker = known(context.driver, linker)?;
        let mut sources = linker.sources();
        let linked = sources.link();
        image.set(linked.as_ptr())?;
        bytes.set_if_asked(linked.len());
        Ok(())
    }

    release fn cuLinkDestroy(linker: Handle) |context| {
        context.driver.linkers.remove(linker).map(|_| ()).ok_or_else(|| no_linker(linker))
    }
}

fn known(driver: &Driver, handle: Handle) -> Result<Arc<Linker>> {
    driver.linkers.get(handle).ok_or_else(|| no_linker(handle))
}

fn no_linker(handle: Handle) -> Code {
    handle.is_no(Code::INVALID_HANDLE, "linker")
}

fn no_ptx() -> Code {
    Code::NOT_SUPPORTED.because("the linker takes PTX and fat binaries alone")
}

fn add(linker: &Linker, source: Vec<u8>) -> Result {
    let source = String::from_utf8(source)
        .map_err(|_| Code::INVALID_IMAGE.because("the image is not text"))?;
    linker
        .sources()
        .add(source.trim_end_matches('\0').to_owned());
    Ok(())
}
