//! A diff as it is read: what code is made of, which words changed, which rows there are, and what
//! the reader has to say about them.

mod comment;
mod glyph;
mod kept;
mod language;
mod page;
mod syntax;
mod words;

pub(super) use comment::{Anchor, Comment, Post, Review, as_prompt};
pub(super) use glyph::{Glyph, glyphs};
pub(super) use kept::{Reviews, keep as keep_reviews, load as load_reviews};
pub(super) use page::{Matter, Page, PageRow};
