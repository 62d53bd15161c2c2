//! Small probes of the door, each named after the ability it shows.

mod answers;
mod colors;
mod hardening;
mod moving;
mod printing;
mod resizing;
mod restoring;
mod support;
