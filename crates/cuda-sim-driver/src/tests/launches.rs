//! Launches: what they compute, what they refuse, what a fault does to a context.

use super::api;
use super::program;

/// `scale(out, in, count, factor)`: out[i] = in[i] * factor for i < count, 32-bit
/// words; parameters are 64 bits wide each.
/// `crash()`: a trap. `stray(address)`: a word stored there. `spin()`: no end.
const KERNELS: &str = "
.version 7.0
.target sm_75
.address_size 64

.visible .entry scale(.param .u64 out, .param .u64 in, .param .u64 count, .param .u64 factor)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<9>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [in];
    ld.param.u64 %d3, [count];
    ld.param.u32 %r5, [factor];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    cvt.u64.u32 %d4, %r1;
    setp.ge.u64 %p, %d4, %d3;
    @%p ret;
    shl.b64 %d5, %d4, 2;
    add.u64 %d6, %d2, %d5;
    add.u64 %d7, %d1, %d5;
    ld.global.u32 %r4, [%d6];
    mul.lo.u32 %r4, %r4, %r5;
    st.global.u32 [%d7], %r4;
    ret;
}

.visible .entry crash()
{
    trap;
    ret;
}

.visible .entry stray(.param .u64 address)
{
    .reg .b32 %r1;
    .reg .b64 %d1;
    ld.param.u64 %d1, [address];
    mov.u32 %r1, 1;
    st.global.u32 [%d1], %r1;
    ret;
}

.visible .entry spin()
{
again:
    bra again;
}

.visible .entry small()
.maxntid 64, 1, 1
{
    ret;
}

.visible .entry exact()
.reqntid 32, 2, 1
{
    ret;
}
";

const ONE: [u32; 3] = [1, 1, 1];
const WARP: [u32; 3] = [32, 1, 1];

/// The context with the module, and a way to its kernels.
struct Kernels(usize);

impl Kernels {
    fn start() -> Kernels {
        api::start();
        Kernels(api::load(KERNELS).expect("the kernels load"))
    }

    fn get(&self, name: &str) -> usize {
        api::function(self.0, name).expect("a kernel of the module")
    }
}

#[test]
fn a_launch_can_be_made_to_fail() {
    program(&[("CUDA_SIM_FAULT", "cuLaunchKernel:2=719")], || {
        let kernels = Kernels::start();
        let small = kernels.get("small");
        let scale = kernels.get("scale");
        assert_eq!(api::launch_with_buffer(scale, &[1, 2, 3]), Err(1));
        assert_eq!(api::launch(small, ONE, WARP, 0, 0, &[]), Err(719));
        assert_eq!(api::synchronize(), Err(719));
        assert_eq!(api::module_unload(kernels.0), Err(719));
        api::stop();
    });
}
