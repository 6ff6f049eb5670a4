//! Modules, JIT logs, functions.

use super::api;
use super::program;

/// A module with one kernel that does nothing.
pub const EMPTY: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry empty()
{
    ret;
}
";

#[test]
fn an_image_is_ptx_or_is_refused_with_the_right_code() {
    program(&[("CUDA_SIM_DEVICES", "sm_75")], || {
        api::start();
        assert_eq!(api::load(""), Err(200));
        assert_eq!(api::load("hello"), Err(200));
        assert_eq!(api::load_image(b"\x7fELF\x02\0"), Err(209));
        assert_eq!(api::load(&EMPTY.replace("ret;", "ret")), Err(218));
        assert_eq!(api::load(&EMPTY.replace("sm_75", "sm_90")), Err(209));
        assert_eq!(api::load(&EMPTY.replace("7.0", "99.0")), Err(222));
        let module = api::load(EMPTY).expect("loads");
        api::module_unload(module).expect("unloads");
        assert_eq!(api::module_unload(module), Err(400));
        api::stop();
    });
}

#[test]
fn a_driver_refuses_ptx_that_is_newer_than_itself() {
    program(&[("CUDA_SIM_DRIVER_VERSION", "10.2")], || {
        api::start();
        let (answer, log, _) = api::load_with_log(EMPTY, 200);
        assert_eq!(answer, Err(222));
        assert!(log.contains("7.0") && log.contains("6.5"), "{log}");
        let module = api::load(&EMPTY.replace("7.0", "6.5")).expect("loads");
        api::module_unload(module).expect("unloads");
        api::stop();
    });
}

#[test]
fn the_log_says_what_is_wrong_in_which_line() {
    let stderr = program(&[], || {
        api::start();
        let wrong = EMPTY.replace("ret;", "bra nowhere;");
        let (answer, log, used) = api::load_with_log(&wrong, 1000);
        assert_eq!(answer, Err(218));
        assert!(log.contains("line 7") && log.contains("nowhere"), "{log}");
        assert_eq!(used, log.len());
        // Cut to the room there is.
        let (_, cut, used) = api::load_with_log(&wrong, 10);
        assert_eq!((cut.as_str(), used), (&log[..9], 9));
        let (answer, log, used) = api::load_with_log(EMPTY, 1000);
        assert_eq!((log.as_str(), used), ("", 0));
        api::module_unload(answer.expect("loads")).expect("unloads");
        // Without a log the message goes to stderr.
        assert_eq!(api::load(&wrong), Err(218));
        api::stop();
    });
    assert!(stderr.contains("line 7"), "{stderr}");
}

#[test]
fn functions_have_attributes() {
    program(&[("CUDA_SIM_DEVICES", "sm_80")], || {
        api::start();
        let module = api::load(EMPTY).expect("loads");
        assert_eq!(api::function(module, "full"), Err(500));
        assert_eq!(api::function(module + 1, "empty"), Err(400));
        let empty = api::function(module, "empty").expect("a kernel");
        let attributes = [0, 1, 5, 6, 8].map(|a| api::function_attribute(a, empty));
        assert_eq!(attributes, [1024, 0, 75, 80, 48 << 10].map(Ok));
        assert_eq!(api::function_attribute(99, empty), Err(1));
        api::function_set(empty, 8, 163 << 10).expect("opts in");
        assert_eq!(api::function_set(empty, 8, (163 << 10) + 1), Err(1));
        assert_eq!(api::function_set(empty, 8, -1), Err(1));
        assert_eq!(api::function_set(empty, 0, 1), Err(1));
        assert_eq!(api::function_attribute(8, empty), Ok(163 << 10));
        assert_eq!(api::active_blocks(empty, 128, 0), Ok(16));
        assert_eq!(api::active_blocks(empty, 0, 0), Err(1));
        assert_eq!(api::active_blocks(empty, 2048, 0), Ok(0));
        assert_eq!(api::best_block(empty, 0, false), Ok((216, 1024)));
        assert_eq!(api::best_block(empty, 64, false), Ok((32 * 108, 64)));
        assert_eq!(api::best_block(empty, 0, true), Ok((108, 160)));
        assert_eq!(api::available_shared(empty, 3, 128), Ok(54912));
        assert_eq!(api::available_shared(empty, 3, 1024), Err(1));
        api::module_unload(module).expect("unloads");
        assert_eq!(api::function_attribute(0, empty), Err(400));
        api::stop();
    });
}

#[test]
fn variables_are_memory_of_their_module() {
    program(&[], || {
        api::start();
        let ptx = EMPTY.replace(
            ".visible .entry",
            ".visible .global .align 4 .u32 table[4] = {1, 2, 3, 4};\n.visible .entry",
        );
        let free = api::memory_info().0;
        let module = api::load(&ptx).expect("loads");
        let (table, bytes) = api::global(module, "table").expect("a variable");
        assert_eq!((bytes, api::read(table, 4)), (16, Ok(vec![1, 2, 3, 4])));
        assert_eq!(api::global(module, "table"), Ok((table, 16)));
        assert_eq!(api::global(module, "chair"), Err(500));
        api::write(table + 4, &[22]).expect("writable");
        assert_eq!(api::read(table, 4), Ok(vec![1, 22, 3, 4]));
        assert_eq!(api::free(table), Err(1));
        api::module_unload(module).expect("unloads");
        assert_eq!(api::read(table, 4), Err(1));
        assert_eq!(api::memory_info().0, free);
        api::stop();
    });
}
