//! What cudarc computes on the simulated driver: sums of products on two streams, once
//! launched and once from a graph, compared with the host's.

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

/// `out[i] += a * x[i]` for i below n.
const PTX: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_product(.param .u64 out, .param .u64 x, .param .u32 a, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r1, [n];
    setp.ge.u32 %p, %r0, %r1;
    @%p bra END;
    ld.param.u64 %d0, [out];
    ld.param.u64 %d1, [x];
    ld.param.u32 %r3, [a];
    mul.wide.u32 %d2, %r0, 4;
    add.u64 %d0, %d0, %d2;
    add.u64 %d1, %d1, %d2;
    ld.global.u32 %r4, [%d1];
    ld.global.u32 %r5, [%d0];
    mad.lo.u32 %r5, %r4, %r3, %r5;
    st.global.u32 [%d0], %r5;
END:
    ret;
}
";

fn main() -> Result<(), DriverError> {
    const N: u32 = 1000;
    let x: Vec<u32> = (0..N).map(|i| i * i + 7).collect();
    let context = CudaContext::new(0)?;
    println!("{}", context.name()?);
    let module = context.load_module(Ptx::from_src(PTX))?;
    let add_product = module.load_function("add_product")?;
    let stream = context.new_stream()?;
    let on_device = stream.memcpy_stod(&x)?;
    let mut out = stream.alloc_zeros::<u32>(N as usize)?;
    for a in [3_u32, 5] {
        let mut launch = stream.launch_builder(&add_product);
        launch.arg(&mut out).arg(&on_device).arg(&a).arg(&N);
        // SAFETY: the kernel keeps to the first N words of both.
        unsafe { launch.launch(LaunchConfig::for_num_elems(N)) }?;
    }
    let sums = stream.memcpy_dtov(&out)?;
    let right = sums.iter().zip(&x).all(|(sum, x)| *sum == 8 * x);
    println!("launched: {right}");

    // cudarc orders streams by events, which a capture must not wait for.
    // SAFETY: everything is on one stream from here on.
    unsafe { context.disable_event_tracking() };
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    stream.memset_zeros(&mut out)?;
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags)?.expect("a graph");
    graph.launch()?;
    let zeros = stream.memcpy_dtov(&out)?;
    println!("from a graph: {}", zeros == vec![0; N as usize]);

    let missing = module.load_function("nothing");
    println!("{:?}", missing.err().map(|error| error.0));
    Ok(())
}
