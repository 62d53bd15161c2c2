//! A diff as it is read: what code is made of, which words changed, which rows there are, and what
//! the reader has to say about them.

mod changed_words;
mod comment;
mod comment_file;
mod glyph;
mod language;
mod page;
mod syntax;

pub(super) use comment::{Anchor, Comment, CommentState, Review, as_prompt};
pub(super) use comment_file::{Reviews, keep as keep_reviews, load as load_reviews};
pub(super) use glyph::{Glyph, glyphs};
pub(super) use page::{DiffPage, DiffRow, PageContents};
