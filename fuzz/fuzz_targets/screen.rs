//! Feeds output, resizes and looks through the door of the emulator.
#![no_main]

#[path = "../../tests/it/support"]
#[allow(dead_code, reason = "each target uses one of them")]
mod support {
    pub(crate) mod fuzz;
    pub(crate) mod mangle;
    pub(crate) mod samples;
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| support::fuzz::screen(data));
