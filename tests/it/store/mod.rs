//! The record that survives, held against crashes, power cuts, full disks and damage.

mod basics;
mod crash;
mod damage;
mod failing;
mod fixture;
mod power;
mod scale;
mod trace;
