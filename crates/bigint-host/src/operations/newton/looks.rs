//! Looks at a few limbs of each of several batches.

use crate::device::gather;
use crate::{Batch, Engine, Error};
use bigint_core::Limb;
use std::ops::Range;

impl Engine {
    /// These limbs of each number of these batches, number after number. From the memory of one device they come together, as the
    /// host waits for each copy.
    pub(super) fn look_at(
        &self,
        windows: &[(&Batch, Range<usize>)],
    ) -> Result<Vec<Vec<Limb>>, Error> {
        let nodes = windows.iter();
        let nodes = nodes.map(|(batch, window)| (&**batch.node(), window.clone()));
        let nodes: Vec<_> = nodes.collect();
        let device = self.inner.device();
        // What fails here fails again where it is made good.
        let brought = device.and_then(|device| gather::brought(device, &nodes).ok()?);
        if let Some(brought) = brought {
            return Ok(brought);
        }
        let batches = windows
            .iter()
            .map(|(batch, window)| self.limbs_from(batch, window.start, window.len()));
        let batches = batches.collect::<Result<Vec<_>, _>>()?;
        let rows = batches.iter().map(|batch| Ok(batch.rows()?.into_owned()));
        rows.collect()
    }
}
