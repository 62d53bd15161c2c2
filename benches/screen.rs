//! Measures how fast output goes through the door of the emulator.

fn main() {
    divan::main();
}
