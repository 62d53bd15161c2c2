//! What must hold for any bytes at all; the fuzz targets and the tests of their seeds share it.

use std::fmt::Debug;
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wheelhouse::api::{Ask, FrameReader, FromHub, SCHEMA, encode_frame};
use wheelhouse::detect::ReporterCall;
use wheelhouse::keeper::{Decoder, FromKeeper, ToKeeper};
use wheelhouse::model::{Moment, Row, Size};
use wheelhouse::screen::{HistoryLimit, Screen};

use super::mangle::{Choices, mangle};
use super::samples::samples;

const LIMIT: HistoryLimit = HistoryLimit { lines: 100, bytes: 32 << 10 };

/// Does to a screen what the bytes say: each step is a byte and what it asks for.
pub(crate) fn screen(mut data: &[u8]) {
    let mut screen = Screen::new(Size { rows: 6, cols: 20 }, LIMIT);
    let mut now = 0;
    while let [step, rest @ ..] = data {
        now += 10;
        data = match (*step, rest) {
            (0, [rows, cols, rest @ ..]) => {
                screen.resize(Size { rows: u16::from(*rows % 32), cols: u16::from(*cols % 64) });
                rest
            }
            (1, rest) => {
                look(&screen);
                rest
            }
            (2, rest) => {
                screen = restored(&screen, Moment(now));
                rest
            }
            (length, rest) => {
                let (bytes, rest) = rest.split_at(rest.len().min(usize::from(length)));
                let fed = screen.feed(bytes, Moment(now));
                assert!(fed.answers.len() <= 64 << 10 && !fed.rebuilt);
                rest
            }
        };
    }
    look(&screen);
    look(&restored(&screen, Moment(now)));
}

/// Returns a screen that was rebuilt from what this one tells of itself.
fn restored(screen: &Screen, now: Moment) -> Screen {
    let mut other = Screen::new(screen.size(), LIMIT);
    let fed = other.feed(&screen.restore_stream(), now);
    assert!(fed.answers.is_empty() && !fed.rebuilt);
    other.set_committed(screen.committed());
    other
}

fn look(screen: &Screen) {
    let size = screen.size();
    let cursor = screen.cursor();
    assert!(cursor.row < size.rows && cursor.col < size.cols);
    for index in 0..size.rows {
        let row = screen.row(index);
        let columns: u16 = row.runs.iter().map(|run| run.columns).sum();
        assert!(columns <= size.cols, "{row:?}");
        assert_harmless(&row);
    }
    let range = screen.history_range();
    assert!(range.end - range.start <= 100 && range.end <= screen.committed());
    for number in range {
        assert_harmless(&screen.history_row(number).unwrap());
    }
    assert!(!screen.title().chars().any(char::is_control));
    assert!(screen.memory_bytes() < 1 << 20, "{}", screen.memory_bytes());
    assert_eq!(screen.rebuilds(), 0);
}

fn assert_harmless(row: &Row) {
    assert!(!row.text().chars().any(char::is_control), "{row:?}");
}

/// Reads bytes as frames of each kind, cut as the first of them says.
pub(crate) fn frames(data: &[u8]) {
    let [cut, stream @ ..] = data else { return };
    let cut = usize::from(*cut) + 1;
    read_wire::<Ask>(stream, cut);
    read_wire::<FromHub>(stream, cut);
    let mut decoder = Decoder::<ToKeeper>::default();
    for part in stream.chunks(cut) {
        decoder.feed(part);
        while let Ok(Some(frame)) = decoder.next_frame() {
            assert_same(&frame, |out| frame.encode(out));
        }
    }
    let mut decoder = Decoder::<FromKeeper>::default();
    for part in stream.chunks(cut) {
        decoder.feed(part);
        while let Ok(Some(frame)) = decoder.next_frame() {
            assert_same(&frame, |out| frame.encode(out));
        }
    }
}

/// What was read can be written, and is then read as the same.
fn assert_same<F: wheelhouse::keeper::Frame + PartialEq + Debug>(
    frame: &F,
    encode: impl Fn(&mut Vec<u8>),
) {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    let mut decoder = Decoder::<F>::default();
    decoder.feed(&bytes);
    // Input of no length is no frame, and longer input becomes several.
    if let Some(again) = decoder.next_frame().unwrap()
        && decoder.next_frame().unwrap().is_none()
    {
        assert_eq!(again, *frame);
    }
}

/// Makes a request odd as the bytes say, and does with it what a hub does before it obeys.
pub(crate) fn requests(data: &[u8]) {
    static GOOD: OnceLock<Vec<Value>> = OnceLock::new();
    let good = GOOD.get_or_init(|| {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        samples(&schema["ask"])
    });
    let mut choices = Bytes { data };
    while !choices.data.is_empty() {
        let sample = &good[choices.pick(good.len())];
        let odd = mangle(sample, &mut choices);
        let mut reader = FrameReader::default();
        let Ok(bytes) = encode_frame(&odd) else { continue };
        reader.push(&bytes);
        if let Ok(Some(ask)) = reader.next_frame::<Ask>() {
            let again = encode_frame(&ask).unwrap();
            reader.push(&again);
            let read = reader.next_frame::<Ask>().unwrap().unwrap();
            assert_eq!(read.request.wants_record(), ask.request.wants_record());
        }
        let line = odd.to_string();
        let answer = ReporterCall::read(line.as_bytes()).map_or_else(|error| error, |c| c.accept());
        assert!(answer.to_string().len() < line.len() + 1024);
    }
    // And the bytes as they are, as a line of a reporter.
    drop(ReporterCall::read(data));
}

/// Choices as the input of a fuzzer makes them.
struct Bytes<'d> {
    data: &'d [u8],
}

impl Choices for Bytes<'_> {
    fn pick(&mut self, limit: usize) -> usize {
        let (&[high, low], rest) = self.data.split_first_chunk().unwrap_or((&[0, 0], &[]));
        self.data = rest;
        usize::from(u16::from_be_bytes([high, low])) % limit.max(1)
    }
}

fn read_wire<T: Serialize + DeserializeOwned>(stream: &[u8], cut: usize) {
    let mut reader = FrameReader::default();
    for part in stream.chunks(cut) {
        reader.push(part);
        while let Ok(Some(value)) = reader.next_frame::<T>() {
            let bytes = encode_frame(&value).unwrap();
            let mut again = FrameReader::default();
            again.push(&bytes);
            assert!(again.next_frame::<T>().unwrap().is_some());
        }
    }
}
