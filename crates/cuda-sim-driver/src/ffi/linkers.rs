//! The linker.

use super::call;
use super::entries::entries;
use super::images::{Log, read_file, read_image, text};
use super::raw::{HostPointer, Out, Text, Values};
use crate::error::{Code, Result};
use crate::state::driver::Driver;
use crate::state::handle::Handle;
use crate::state::linker::Linker;
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
        Log::read(count, &options, values)?.close(Ok(()))?;
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
        match kind {
            PTX | FAT_BINARY => add(&linker, read_file(path)?),
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
    let source = text(source).map_err(|(code, why)| code.because(why))?;
    linker.sources().add(source);
    Ok(())
}
