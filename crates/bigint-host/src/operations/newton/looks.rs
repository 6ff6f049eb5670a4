//! Looks at a few limbs of each of several batches.

use crate::device::gather;
use crate::{Batch, Engine, Error};
use bigint_core::{Layout, Limb};
use std::ops::Range;

impl Engine {
    /// These limbs of each number of these batches, number after number. From the memory of one device they come together, as the
    /// host waits for each copy.
    pub(super) fn look_at(
        &self,
        windows: &[(&Batch, Range<usize>)],
    ) -> Result<Vec<Vec<Limb>>, Error> {
        let known = windows.iter();
        let known = known.map(|(batch, window)| of_host(batch, window.clone()));
        let mut looks: Vec<Option<Vec<Limb>>> = known.collect();
        let rest: Vec<_> = (0..windows.len()).filter(|&i| looks[i].is_none()).collect();
        let nodes = rest
            .iter()
            .map(|&i| (&**windows[i].0.node(), windows[i].1.clone()));
        let nodes: Vec<_> = nodes.collect();
        let device = self.inner.device();
        // What fails here fails again where it is made good.
        let brought = device.and_then(|device| gather::brought(device, &nodes).ok()?);
        let brought = match brought {
            Some(brought) => brought,
            None => {
                let batches = rest.iter().map(|&i| {
                    let (batch, window) = &windows[i];
                    self.limbs_from(batch, window.start, window.len())
                });
                let batches = batches.collect::<Result<Vec<_>, _>>()?;
                let rows = batches.iter().map(|batch| Ok(batch.rows()?.into_owned()));
                rows.collect::<Result<Vec<_>, Error>>()?
            }
        };
        for (i, brought) in rest.into_iter().zip(brought) {
            looks[i] = Some(brought);
        }
        Ok(looks.into_iter().flatten().collect())
    }
}

/// These limbs of each number of a batch, number after number, where the host has them without gaps.
pub(super) fn of_host(batch: &Batch, window: Range<usize>) -> Option<Vec<Limb>> {
    let limbs = batch.node().host.get()?;
    let is_contiguous = batch.shape().layout == Layout::Contiguous;
    let rows = limbs.chunks_exact(batch.width());
    is_contiguous.then(|| rows.flat_map(|row| &row[window.clone()]).copied().collect())
}
