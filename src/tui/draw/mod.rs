//! Draws the dashboard; reads it and changes nothing.

mod bars;
mod card;
mod cells;
mod picture;
mod tile;

pub(super) use cells::draw_row;
pub(super) use picture::Picture;
