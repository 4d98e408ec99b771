//! The rules that look at one row, through the public surface.

mod cases;
mod fixture;
mod groups;
mod robust;
