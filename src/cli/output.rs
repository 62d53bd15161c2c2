//! Standard output, whose reader may have had enough before all is said: `wheelhouse events | head -1`.

use std::fmt;
use std::io::{self, Write};

/// Where commands print.
///
/// When nobody reads on, a command still does what it was asked for and ends with the code that tells what
/// came of it: `wheelhouse config approval … | true` must not end as if it had said yes. Only what would go on
/// for ever ends: for that the error can be told from every other broken pipe, such as that of a hub which
/// has just died.
pub(super) struct Output<W> {
    to: W,
    ends_unread: bool,
    is_unread: bool,
}

impl Output<io::Stdout> {
    pub(super) fn standard() -> Self {
        Self { to: io::stdout(), ends_unread: false, is_unread: false }
    }

    /// Returns one for what goes on only as long as somebody reads it.
    pub(super) fn for_a_reader() -> Self {
        Self { ends_unread: true, ..Self::standard() }
    }
}

impl<W: Write> Output<W> {
    /// Takes a failure to write for what it is.
    fn judge<T>(&mut self, written: io::Result<T>, passed_over: T) -> io::Result<T> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_unread = true;
                let gone = || io::Error::new(error.kind(), ReaderGone);
                if self.ends_unread { Err(gone()) } else { Ok(passed_over) }
            }
            written => written,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.is_unread { Ok(bytes.len()) } else { self.to.write(bytes) };
        self.judge(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = if self.is_unread { Ok(()) } else { self.to.flush() };
        self.judge(flushed, ())
    }
}

/// The error inside of the one that says that nobody reads on.
#[derive(Debug)]
struct ReaderGone;

impl fmt::Display for ReaderGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nobody reads the output any more")
    }
}

impl std::error::Error for ReaderGone {}

/// Says whether a command ended only because whoever read its output has had enough.
pub(super) fn is_reader_gone(error: &anyhow::Error) -> bool {
    let is_marked =
        |cause: &io::Error| matches!(cause.get_ref(), Some(mark) if mark.is::<ReaderGone>());
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_marked))
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;
    use crate::client::ClientError;

    struct Closed(io::ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    fn printed(kind: io::ErrorKind, ends_unread: bool) -> anyhow::Result<()> {
        let mut output = Output { to: Closed(kind), ends_unread, is_unread: false };
        writeln!(output, "x").and_then(|()| output.flush()).context("printing")
    }

    #[test]
    fn only_the_readers_going_is_no_failure() {
        let is_gone = |kind| is_reader_gone(&printed(kind, true).unwrap_err());
        assert!(is_gone(io::ErrorKind::BrokenPipe));
        assert!(!is_gone(io::ErrorKind::StorageFull));
        // A hub that died while it was asked: what was typed has not been done.
        let lost = ClientError::Lost(io::ErrorKind::BrokenPipe.into());
        assert!(!is_reader_gone(&anyhow::Error::new(lost)));
    }

    #[test]
    fn what_comes_to_an_end_by_itself_does_so_unread() {
        assert!(printed(io::ErrorKind::BrokenPipe, false).is_ok());
        assert!(printed(io::ErrorKind::StorageFull, false).is_err());
    }
}
