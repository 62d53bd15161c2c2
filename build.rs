//! Links the program at a fixed address: docs/decisions/0015 says what that saves and what it costs.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if is_linux {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
