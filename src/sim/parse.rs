//! Reads the text of a script: its settings, its blocks, and which lines belong to which.

use super::script::{Condition, Reaction, Script, Settings, Step, Steps};
use super::steps::{self, Shape};
use super::words::{Fault, ScriptError, Words, unknown};

/// A script is written by hand; a longer file is not a script.
const LINES_MAX: usize = 10_000;
/// Blocks within blocks; keeps the reader's own stack small.
const DEPTH_MAX: usize = 16;
/// A hundred times faster than written is as good as no waiting.
const SPEED_MAX: f64 = 100.0;

/// The words that may stand at the left edge.
const TOP: &[&str] = &["speed", "seed", "title", "report", "quirk", "at", "on"];

impl Script {
    /// Reads a script, or says which line is wrong and why.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut source = Source::of(text)?;
        let mut script =
            Self { settings: Settings::default(), start: Steps::from([]), reactions: Vec::new() };
        while let Some(line) = source.next(0)? {
            let mut words = Words::of(line.number, line.text)?;
            match words.step() {
                "at" => {
                    words.choice("a moment", &[("start", ())])?;
                    words.end()?;
                    script.start = source.block(&words, line.indent, 1)?;
                }
                "on" => script.reactions.push(reaction(&mut source, &mut words, line.indent)?),
                _ => setting(&mut script.settings, &mut words)?,
            }
        }
        Ok(script)
    }
}

fn reaction(
    source: &mut Source<'_>,
    words: &mut Words,
    indent: usize,
) -> Result<Reaction, ScriptError> {
    let is_once = words.choice("an occasion", &[("prompt", false), ("first", true)])?;
    if is_once {
        words.choice("an occasion", &[("prompt", ())])?;
    }
    let containing = words.takes("containing").then(|| words.text("a text")).transpose()?;
    words.end()?;
    Ok(Reaction { is_once, containing, steps: source.block(words, indent, 1)? })
}

fn setting(settings: &mut Settings, words: &mut Words) -> Result<(), ScriptError> {
    match words.step() {
        "speed" => {
            let speed: f64 = words.number("a speed", "1.0")?;
            if !(0.0..=SPEED_MAX).contains(&speed) {
                let what = "a speed from 0 to 100";
                let word = speed.to_string();
                return Err(words.error(Fault::Invalid { word, what, example: "1.0" }));
            }
            settings.speed = speed;
        }
        "seed" => settings.seed = words.number("a whole number", "7")?,
        "title" => settings.title = Some(words.text("a title")?),
        "report" => {
            words.choice("a channel", &[("osc", ())])?;
            settings.reports_state = true;
        }
        "quirk" => {
            words.choice("a quirk", &[("paste-enter", ())])?;
            settings.fears_pastes = true;
        }
        word if steps::NAMES.contains(&word) => {
            let word = word.to_owned();
            let instead = "Indent it below `on prompt` or `at start`";
            return Err(words.error(Fault::Place { word, place: "at the left edge", instead }));
        }
        word => return Err(words.error(unknown(word.to_owned(), "a setting or a block", TOP))),
    }
    words.end()
}

/// One line that says something.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

/// The lines that are still to be read.
struct Source<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Source<'a> {
    fn of(text: &'a str) -> Result<Self, ScriptError> {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > LINES_MAX {
            return Err(ScriptError { line: LINES_MAX + 1, fault: Fault::Long(LINES_MAX) });
        }
        Ok(Self { lines, at: 0 })
    }

    /// Returns the next line that says something, without taking it.
    fn peek(&mut self) -> Result<Option<Line<'a>>, ScriptError> {
        while let Some(raw) = self.lines.get(self.at) {
            let text = raw.trim();
            if text.is_empty() || text.starts_with('#') {
                self.at += 1;
                continue;
            }
            let number = self.at + 1;
            let indent = raw.len() - raw.trim_start().len();
            if raw[..indent].contains('\t') {
                return Err(ScriptError { line: number, fault: Fault::Tab });
            }
            return Ok(Some(Line { number, indent, text }));
        }
        Ok(None)
    }

    /// Takes the next line if it stands at this indentation.
    fn next(&mut self, indent: usize) -> Result<Option<Line<'a>>, ScriptError> {
        let Some(line) = self.peek()?.filter(|line| line.indent >= indent) else {
            return Ok(None);
        };
        if line.indent > indent {
            let word = line.text.split_whitespace().next().unwrap_or_default().to_owned();
            return Err(ScriptError { line: line.number, fault: Fault::Depth { word } });
        }
        self.at += 1;
        Ok(Some(line))
    }

    /// Reads the steps below a line; there must be some.
    fn block(&mut self, head: &Words, above: usize, depth: usize) -> Result<Steps, ScriptError> {
        if depth > DEPTH_MAX {
            return Err(head.error(Fault::Deep(DEPTH_MAX)));
        }
        let Some(first) = self.peek()?.filter(|line| line.indent > above) else {
            return Err(head.error(Fault::NoBlock { step: head.step().to_owned() }));
        };
        let mut found = Vec::new();
        while let Some(line) = self.next(first.indent)? {
            found.push(self.step(line, depth)?);
        }
        Ok(found.into())
    }

    fn step(&mut self, line: Line<'a>, depth: usize) -> Result<Step, ScriptError> {
        let mut words = match line.text.split_once(char::is_whitespace) {
            // A command has quotes and number signs of its own.
            Some(("run", command)) => return Ok(steps::run(command)),
            _ => Words::of(line.number, line.text)?,
        };
        let shape = steps::shape(&mut words)?;
        words.end()?;
        Ok(match shape {
            Shape::Whole(step) => step,
            Shape::Texted(finish) => finish(self.body(&words, line.indent)?),
            Shape::Repeated(times) => {
                Step::Repeat { times, steps: self.block(&words, line.indent, depth + 1)? }
            }
            Shape::Conditional(condition) => self.branches(&words, condition, line, depth)?,
        })
    }

    fn branches(
        &mut self,
        head: &Words,
        condition: Condition,
        line: Line<'a>,
        depth: usize,
    ) -> Result<Step, ScriptError> {
        let then = self.block(head, line.indent, depth + 1)?;
        let mut otherwise = Steps::from([]);
        if let Some(next) = self.peek()?
            && next.indent == line.indent
            && next.text.split_whitespace().next() == Some("else")
        {
            self.at += 1;
            let mut words = Words::of(next.number, next.text)?;
            words.end()?;
            otherwise = self.block(&words, line.indent, depth + 1)?;
        }
        Ok(Step::If { condition, then, otherwise })
    }

    /// Takes the deeper lines below as they are, without their common indentation.
    fn body(&mut self, head: &Words, above: usize) -> Result<String, ScriptError> {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let belongs = |line: &&&str| line.trim().is_empty() || depth(line) > above;
        let rest = &self.lines[self.at..];
        let mut body: Vec<&str> = rest.iter().take_while(belongs).copied().collect();
        while body.last().is_some_and(|line| line.trim().is_empty()) {
            body.pop();
        }
        let solid = body.iter().filter(|line| !line.trim().is_empty());
        let Some(common) = solid.map(|line| depth(line)).min() else {
            return Err(head.error(Fault::NoBlock { step: head.step().to_owned() }));
        };
        self.at += body.len();
        let cut: Vec<&str> = body.iter().map(|line| line.get(common..).unwrap_or("")).collect();
        Ok(cut.join("\n") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::sim::script::{Act, Report};

    #[test]
    fn an_unknown_step_is_named_with_its_line_and_the_nearest() {
        let error = Script::parse("on prompt\n  # fine\n  thnik 2s\n").unwrap_err();
        assert_eq!(error.to_string(), "Line 3 of the script: `thnik` is not a step");
        assert_eq!(error.hint(), "Did you mean `think`?");
    }

    #[test]
    fn every_kind_of_fault_says_what_to_type() {
        let faults = [
            ("sped 1", "`sped` is not a setting or a block", "Did you mean `speed`?"),
            ("say \"x\"", "`say` does not belong at the left edge", "Indent it below `on prompt`"),
            ("on prompt", "`on` has no lines below it", "two blanks deeper"),
            ("on prompt\n  think soon", "`soon` is not a time", "`1.5s`"),
            ("on prompt\n  say a b", "`b` is one word too many for `say`", "double quotes"),
            ("on prompt\n  say", "`say` lacks a text", "docs/sim.md"),
            ("on prompt\n  say \"a", "A quote is never closed", "Close it"),
            ("on prompt\n  build ok", "`ok` is not a result", "Write one of: pass, fail"),
            ("on prompt\n  say a\n    say b", "`say` stands deeper", "same indentation"),
            ("on prompt\n\tsay a", "indented with a tab", "blanks"),
            ("on prompt\n  else", "`else` does not belong", "`if`"),
            ("on prompt\n  flood lines 9G", "`9G` is not", "`10M`"),
        ];
        for (text, says, hints) in faults {
            let error = Script::parse(text).unwrap_err();
            assert!(error.to_string().contains(says), "{text:?}: {error}");
            assert!(error.hint().contains(hints), "{text:?}: {}", error.hint());
        }
    }

    #[test]
    fn deeper_lines_are_a_body_or_a_block() {
        let text = "
at start
  write a.rs
    fn main() {
        # not a comment

    }
  repeat 2
    wait 1s
  run echo \"# kept\"
";
        let steps = Script::parse(text).unwrap().start;
        let written = "fn main() {\n    # not a comment\n\n}\n".to_owned();
        assert_eq!(steps[0], Step::Act(Act::Write { path: "a.rs".into(), text: written }));
        let wait = Step::Wait(Duration::from_secs(1));
        assert_eq!(steps[1], Step::Repeat { times: Some(2), steps: [wait].into() });
        assert_eq!(steps[2], Step::Act(Act::Run("echo \"# kept\"".into())));
    }

    #[test]
    fn both_branches_of_an_if_are_read() {
        let text = "on prompt\n  if answer 1\n    build pass\n  else\n    stop\n  stop\n";
        let steps = Script::parse(text).unwrap().reactions[0].steps.clone();
        let pass = Step::Report(Report::Build { failure: None });
        let condition = Condition::Answer("1".into());
        let both = Step::If { condition, then: [pass].into(), otherwise: [Step::Stop].into() };
        assert_eq!(*steps, [both, Step::Stop]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "((on prompt|at start|say|if|write|think|\\PC|[ \"\\\\#2])*\n){0,8}") {
            if let Err(error) = Script::parse(&text) {
                prop_assert!(error.line >= 1 && !error.hint().is_empty());
            }
        }
    }

    #[test]
    fn reactions_are_told_apart_by_the_prompt() {
        let text = "on first prompt containing \"review\"\n  stop\non prompt\n  exit 3\n";
        let script = Script::parse(text).unwrap();
        assert!(script.reactions[0].is_once && !script.reactions[1].is_once);
        assert_eq!(script.reactions[0].containing.as_deref(), Some("review"));
        assert_eq!(*script.reactions[1].steps, [Step::Exit(3)]);
    }
}
