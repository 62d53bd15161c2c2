//! Feeds output, resizes and looks through the door of the emulator.
#![no_main]

#[path = "../../tests/it/support/fuzz.rs"]
#[allow(dead_code, reason = "each target uses one of them")]
mod fuzz;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::screen(data));
