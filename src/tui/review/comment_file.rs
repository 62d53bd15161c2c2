//! Comments that outlive the dashboard in which they were written: a file in the project's state.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::comment::{Anchor, Comment, CommentState, Review};
use crate::model::AgentName;
use crate::tui::prompt::TextEditor;

/// What is said of the changes of each agent.
pub(crate) type Reviews = BTreeMap<AgentName, Review>;

/// A review as it is written down.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    comments: Vec<Comment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draft: Option<(Anchor, String)>,
}

/// Returns what was kept; a file that cannot be read holds nothing.
pub(crate) fn load(path: &Path) -> Reviews {
    let review = |(agent, kept): (AgentName, Kept)| {
        let mut comments = kept.comments;
        // Nobody is left who would hear what became of it.
        for comment in comments.iter_mut().filter(|comment| comment.post == CommentState::Asked) {
            comment.post = CommentState::Kept;
        }
        let draft = kept.draft.map(|(anchor, text)| (anchor, TextEditor::new(&text)));
        (agent, Review { comments, draft })
    };
    read(path).into_iter().map(review).collect()
}

/// Writes down what has changed since; what another dashboard keeps of other agents stays.
pub(crate) fn keep(path: &Path, before: &Reviews, now: &Reviews) -> io::Result<()> {
    let mut all = read(path);
    let agents = before.keys().chain(now.keys());
    for agent in agents.filter(|agent| before.get(*agent) != now.get(*agent)) {
        let review = now.get(agent).filter(|review| **review != Review::default());
        match review {
            Some(review) => {
                let draft = review.draft.clone();
                let draft = draft.map(|(anchor, editor)| (anchor, editor.text().to_owned()));
                let kept = Kept { comments: review.comments.clone(), draft };
                all.insert(agent.clone(), kept);
            }
            None => drop(all.remove(agent)),
        }
    }
    let draft = path.with_extension("new");
    let mut file =
        OpenOptions::new().mode(0o600).write(true).create(true).truncate(true).open(&draft)?;
    file.write_all(&serde_json::to_vec(&all)?)?;
    fs::rename(&draft, path)
}

fn read(path: &Path) -> BTreeMap<AgentName, Kept> {
    let text = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DiffLine, ReceiptId};

    fn comment(text: &str, post: CommentState) -> Comment {
        let line = DiffLine { new: Some(7), text: "let a = 1;".to_owned(), ..DiffLine::default() };
        Comment { anchor: Anchor::of("src/a.rs", &line), text: text.to_owned(), post }
    }

    #[test]
    fn comments_and_what_was_being_written_are_there_in_the_next_dashboard() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("reviews");
        assert!(load(&path).is_empty());
        let posts = [CommentState::Kept, CommentState::Asked, CommentState::Sent(ReceiptId(3))];
        let comments: Vec<Comment> = posts.map(|post| comment("Name it.", post)).into();
        let draft = Some((comments[0].anchor.clone(), TextEditor::new("And")));
        let one: AgentName = "one".parse().unwrap();
        let now: Reviews = [(one.clone(), Review { comments, draft })].into();
        keep(&path, &Reviews::new(), &now).unwrap();
        let back = load(&path);
        let posts: Vec<CommentState> =
            back[&one].comments.iter().map(|comment| comment.post).collect();
        assert_eq!(
            posts,
            [CommentState::Kept, CommentState::Kept, CommentState::Sent(ReceiptId(3))]
        );
        assert_eq!(back[&one].comments[0], now[&one].comments[0]);
        assert_eq!(back[&one].draft.as_ref().unwrap().1.text(), "And");

        // Another dashboard, which knows nothing of them, comments on someone else.
        let other = Review { comments: vec![comment("Why?", CommentState::Kept)], draft: None };
        let others: Reviews = [("two".parse().unwrap(), other)].into();
        keep(&path, &Reviews::new(), &others).unwrap();
        assert_eq!(load(&path).len(), 2);
        // What was taken is gone.
        keep(&path, &now, &Reviews::new()).unwrap();
        assert_eq!(
            load(&path).into_keys().map(|name| name.to_string()).collect::<Vec<_>>(),
            ["two"]
        );
        fs::write(&path, "nonsense").unwrap();
        assert!(load(&path).is_empty());
    }
}
