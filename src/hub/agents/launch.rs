//! Begins runs: afresh, with a first prompt, or with the conversation that came before.

use std::fs::File;
use std::io::{self, Read};

use super::plan::Launches;
use crate::api::Fault;
use crate::config::Loaded;
use crate::engine::Engine;
use crate::model::{AgentName, Launch, Letter, Member, Opening, Sessions};
use crate::protocol::skill;
use crate::template::Prompt;

/// Lets each begin a conversation of its own, with what its team tells it first.
pub(in crate::hub) fn begin_afresh(
    loaded: &Loaded,
    mut crew: Launches,
    mut fill: impl FnMut(AgentName, &Prompt) -> Result<Letter, Fault>,
) -> Result<Launches, Fault> {
    for (member, launch) in &mut crew {
        let sessions = sessions(loaded, member);
        if !sessions.start.is_empty() && !names_one(&sessions, &launch.argv) {
            let id = new_id().map_err(|error| {
                Fault::new(format!("An id for a conversation cannot be made: {error}"))
            })?;
            launch.argv.extend(filled(&sessions.start, &id));
            member.opening.conversation = Some(id);
        }
        let team = loaded.settings.team(&member.team);
        let agent = team.and_then(|team| team.agents.iter().find(|one| one.name == member.name));
        let Some(agent) = agent else { continue };
        let skill = agent.skill.then(|| skill(agent.role));
        member.opening.letter = match (&agent.prompt, skill) {
            (Some(prompt), skill) => {
                let mut letter = fill(member.name.clone(), prompt)?;
                if let Some(skill) = skill {
                    letter.text = format!("{}\n\n{}", skill.trim_end(), letter.text);
                }
                Some(letter)
            }
            (None, Some(skill)) => {
                let text = format!("{skill}\nYour first task comes as the next prompt.");
                Some(Letter { agent: member.name.clone(), text, tag: None })
            }
            (None, None) => None,
        };
    }
    Ok(crew)
}

/// Lets an agent take its last conversation up again.
pub(in crate::hub) fn resume(
    engine: &Engine,
    loaded: &Loaded,
    member: Member,
    mut launch: Launch,
) -> Result<(Member, Launch), Fault> {
    let (name, cli) = (&member.name, &member.cli);
    let refused = |message: String| {
        let hint = format!(
            "Start a new conversation with `wheelhouse agent restart {name}`, or one with a summary of its work with `wheelhouse agent resume {name} --brief`"
        );
        Err(Fault::new(message).with_hint(hint))
    };
    let sessions = sessions(loaded, &member);
    if sessions.resume.is_empty() {
        return refused(format!("The CLI `{cli}` of agent `{name}` cannot resume a conversation"));
    }
    if names_one(&sessions, &launch.argv) {
        return refused(format!("The command of agent `{name}` names a conversation itself"));
    }
    let before = engine.seat(name).map(|seat| &seat.member);
    let id = before.filter(|before| before.cli == *cli).and_then(|one| one.conversation.as_ref());
    let Some(id) = id else {
        return refused(format!("Agent `{name}` has no conversation to resume"));
    };
    launch.argv.extend(filled(&sessions.resume, id));
    let opening = Opening { is_resumed: true, ..Opening::default() };
    Ok((Member { opening, ..member }, launch))
}

/// Returns how a member's cli names conversations; not at all where it runs another command.
fn sessions(loaded: &Loaded, member: &Member) -> Sessions {
    let is_own = member.added.as_ref().is_none_or(|added| added.command.is_empty());
    let cli = loaded.settings.cli(&member.cli).filter(|_| is_own);
    cli.map(|cli| cli.manifest.sessions.clone()).unwrap_or_default()
}

/// Says whether a command names a conversation already.
fn names_one(sessions: &Sessions, argv: &[String]) -> bool {
    let known = [&sessions.start, &sessions.resume, &sessions.resume_latest];
    let mut words = known.into_iter().filter_map(|words| words.first());
    words.any(|word| argv.contains(word))
}

fn filled(words: &[String], id: &str) -> Vec<String> {
    words.iter().map(|word| word.replace("{id}", id)).collect()
}

/// Returns a random UUID (version 4).
fn new_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let number = u128::from_be_bytes(bytes);
    let digits = format!("{number:032x}");
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Ok(parts.join("-"))
}
