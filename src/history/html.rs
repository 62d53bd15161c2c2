//! Writes a run's history as one HTML page without scripts.

use std::fmt::Write as _;

use super::fit::{clock, span};
use super::outline::{OutlineBlock, OutlineCard, OutlineLine, OutlineSection, sections, summary};
use super::run_history::RunHistory;
use super::svg;
use super::timeline::{Axis, bars};
use crate::model::plain;

const STYLE: &str = include_str!("page.css");

/// Says among others what the page may load and run: nothing but the styles in it.
const HEAD: &str = include_str!("head.html");

/// Lines of a quotation from which on it is folded.
const FOLDED_LINES: usize = 8;

/// Writes a history.
pub fn html(story: &RunHistory) -> String {
    let title = escape(&format!("Run {}", story.run.id));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n{HEAD}<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    for line in summary(story) {
        let _ = writeln!(out, "<p class=\"summary\">{}</p>", escape(&line));
    }
    for section in sections(story) {
        tell(&mut out, story, &section);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn tell(out: &mut String, story: &RunHistory, section: &OutlineSection) {
    let _ = writeln!(out, "<section>\n<h2>{}</h2>", section.heading);
    match &section.block {
        OutlineBlock::Graph => {
            let _ = writeln!(out, "<div class=\"wide\">{}</div>", svg::graph(&story.tasks));
        }
        OutlineBlock::Timeline => timeline(out, story),
        OutlineBlock::Table { head, rows } => table(out, head, rows),
        OutlineBlock::Cards(cards) => cards.iter().for_each(|one| card(out, one)),
        OutlineBlock::Log { head, rows, remark } => {
            let count = rows.len();
            let _ = writeln!(out, "<details>\n<summary>{count} entries</summary>");
            if let Some(remark) = remark {
                let _ = writeln!(out, "<p>{}</p>", escape(remark));
            }
            table(out, head, rows);
            out.push_str("</details>\n");
        }
    }
    out.push_str("</section>\n");
}

fn timeline(out: &mut String, story: &RunHistory) {
    let axis = Axis::of(story);
    for agent in &story.agents {
        let time = &agent.time;
        let mut told = vec![format!("working {}", span(time.working))];
        for (word, time) in
            [("waiting", time.waiting), ("stuck", time.stuck), ("unseen", time.unseen)]
        {
            if !time.is_zero() {
                told.push(format!("{word} {}", span(time)));
            }
        }
        let _ = writeln!(
            out,
            "<div class=\"agent\"><p><b>{}</b> <span class=\"dim\">{}</span></p>{}</div>",
            escape(agent.name.as_str()),
            escape(&told.join(" · ")),
            svg::lane(agent, &bars(story, agent, axis), axis),
        );
    }
    let (from, to) = (clock(axis.from), clock(axis.to));
    let _ = writeln!(out, "<p class=\"axis dim\"><span>{from}</span><span>{to}</span></p>");
    let key = |(class, word): &(&str, &str)| format!("<li><i class=\"{class}\"></i>{word}</li>");
    let keys: String = svg::KEYS.iter().map(key).collect();
    let _ = writeln!(out, "<ul class=\"key\">{keys}</ul>");
}

fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    out.push_str("<table>\n<thead><tr>");
    for cell in head {
        let _ = write!(out, "<th>{cell}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (cell, head) in row.iter().zip(head) {
            // On a phone each cell stands on a line of its own, with its heading.
            let empty = if cell.is_empty() { " class=\"empty\"" } else { "" };
            let _ = write!(out, "<td data-head=\"{head}\"{empty}>{}</td>", escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
}

fn card(out: &mut String, card: &OutlineCard) {
    let (title, badge) = (escape(&card.title), badge(&card.state));
    let _ = writeln!(out, "<article>\n<h3>{title} {badge}</h3>");
    for line in &card.lines {
        match line {
            OutlineLine::Head { text, state } => {
                let _ = writeln!(out, "<h4>{} {}</h4>", escape(text), self::badge(state));
            }
            OutlineLine::Words(words) => {
                let _ = writeln!(out, "<p>{}</p>", escape(words));
            }
            OutlineLine::Quote { about, text } => quote(out, about, text),
        }
    }
    out.push_str("</article>\n");
}

fn badge(state: &str) -> String {
    let class: String = state.chars().filter(char::is_ascii_alphabetic).collect();
    format!("<span class=\"badge b-{class}\">{}</span>", escape(state))
}

fn quote(out: &mut String, about: &str, text: &str) {
    let lines: Vec<String> = text.lines().map(escape).collect();
    let is_long = lines.len() > FOLDED_LINES;
    let whole = lines.join("\n");
    if is_long {
        let count = lines.len();
        let _ = writeln!(
            out,
            "<details><summary>{about}: {count} lines</summary><pre>{whole}</pre></details>"
        );
    } else {
        let _ = writeln!(out, "<p class=\"dim\">{about}:</p><pre>{whole}</pre>");
    }
}

/// Returns the text so that a page shows it as it is.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
