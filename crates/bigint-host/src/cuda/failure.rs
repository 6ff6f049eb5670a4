//! The meaning of the driver's error codes.

use crate::DeviceErrorKind;
use cust::error::{CudaError, CudaResult};

/// The code's name and number.
///
/// Not its `Display`, which asks the driver for words and panics where the driver
/// has none.
pub(super) fn name(error: CudaError) -> String {
    match error {
        CudaError::UnknownError => "an unknown CUDA error".to_owned(),
        error => format!("CUDA error {}, {error:?}", error as u32),
    }
}

/// The kind of an error; an error of memory says that `bytes` bytes were needed.
pub(super) fn kind(error: CudaError, bytes: usize) -> DeviceErrorKind {
    match error {
        CudaError::OutOfMemory => DeviceErrorKind::OutOfMemory { bytes },
        // The driver is always started first, so it was in another process.
        CudaError::NotInitialized => DeviceErrorKind::Forked,
        error if ends_the_context(error) => DeviceErrorKind::Lost(name(error)),
        error => DeviceErrorKind::Driver(name(error)),
    }
}

/// The kind of an error that occurred while a device was opened.
pub(super) fn kind_at_opening(error: CudaError) -> DeviceErrorKind {
    match error {
        // Nothing is lost where nothing was there. The commonest cause has a code
        // younger than `cust`.
        CudaError::UnknownError => DeviceErrorKind::Driver(
            "the driver refuses the device: another process may have it for itself \
             (nvidia-smi shows its compute mode)"
                .to_owned(),
        ),
        error => kind(error, 0),
    }
}

/// Whether every later call will fail too.
///
/// These are the errors of which the CUDA driver API's manual says that they leave
/// the process in an inconsistent state, and those of a context that is gone.
/// Codes younger than `cust` come as `UnknownError`; they count as such, too, since
/// going on after one could only repeat it.
fn ends_the_context(error: CudaError) -> bool {
    ENDING.contains(&error)
}

const ENDING: [CudaError; 15] = [
    CudaError::Deinitialized,
    CudaError::InvalidContext,
    CudaError::EccUncorrectable,
    CudaError::NvlinkUncorrectable,
    CudaError::IllegalAddress,
    CudaError::LaunchTimeout,
    CudaError::ContextIsDestroyed,
    CudaError::AssertError,
    CudaError::HardwareStackError,
    CudaError::IllegalInstruction,
    CudaError::MisalignedAddress,
    CudaError::InvalidAddressSpace,
    CudaError::InvalidProgramCounter,
    CudaError::LaunchFailed,
    CudaError::UnknownError,
];

/// Errors that the device survives.
const SURVIVED: [CudaError; 4] = [
    CudaError::InvalidValue,
    CudaError::OutOfMemory,
    CudaError::LaunchOutOfResources,
    CudaError::NotSupported,
];

/// The result of a call that `cust` does not have, from its code.
pub(super) fn answered(code: u32) -> CudaResult<()> {
    let mut known = SURVIVED.into_iter().chain(ENDING);
    match code {
        0 => Ok(()),
        _ => Err(known
            .find(|error| *error as u32 == code)
            .unwrap_or(CudaError::UnknownError)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_ran_out_is_told_with_its_size() {
        let kind = kind(CudaError::OutOfMemory, 12);
        assert!(matches!(kind, DeviceErrorKind::OutOfMemory { bytes: 12 }));
    }

    #[test]
    fn codes_are_the_errors_of_cust() {
        assert_eq!(answered(0), Ok(()));
        for error in SURVIVED.into_iter().chain(ENDING) {
            assert_eq!(answered(error as u32), Err(error));
        }
        assert_eq!(answered(54_321), Err(CudaError::UnknownError));
    }

    #[test]
    fn a_trap_in_a_kernel_loses_the_device_and_a_bad_argument_does_not() {
        let trap = kind(CudaError::IllegalInstruction, 0);
        assert!(matches!(&trap, DeviceErrorKind::Lost(said) if said.contains("715")));
        let argument = kind(CudaError::InvalidValue, 0);
        assert!(
            matches!(&argument, DeviceErrorKind::Driver(said) if said.contains("InvalidValue"))
        );
    }
}
