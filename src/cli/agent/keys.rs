//! `wheelhouse agent keys NAME KEY…`: presses keys and types text.

use crate::api::{KeyInput, Request};
use crate::cli::context::Context;
use crate::cli::failure::Hinted;
use crate::model::Key;

const KEYS_HINT: &str = "Keys are `enter`, `esc`, `tab`, `ctrl-c`, `up`, `f1`, `shift-enter`, `x`; text goes in with `--text STRING`";

pub(crate) fn keys(context: &mut Context, agent: String, words: &[String]) -> anyhow::Result<()> {
    let keys = parse(words)?;
    context.ask(Request::Keys { agent, keys })?;
    Ok(())
}

fn parse(words: &[String]) -> anyhow::Result<Vec<KeyInput>> {
    let mut words = words.iter();
    let mut keys = Vec::new();
    while let Some(word) = words.next() {
        if word == "--text" {
            let missing = || Hinted::error("`--text` needs a text after it", KEYS_HINT);
            keys.push(KeyInput::Text(words.next().ok_or_else(missing)?.clone()));
        } else if let Some(text) = word.strip_prefix("--text=") {
            keys.push(KeyInput::Text(text.to_owned()));
        } else {
            let key: Key =
                word.parse().map_err(|error| Hinted::error(format!("{error}"), KEYS_HINT))?;
            keys.push(KeyInput::Key(key));
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn keys_and_text_keep_their_order() {
        let typed = parse(&words(&["esc", "--text", "ls -l", "--text=x", "enter"])).unwrap();
        let key = |name: &str| KeyInput::Key(name.parse().unwrap());
        let text = |text: &str| KeyInput::Text(text.to_owned());
        assert_eq!(typed, [key("esc"), text("ls -l"), text("x"), key("enter")]);
    }

    #[test]
    fn what_is_not_a_key_is_named() {
        assert_eq!(parse(&words(&["entr"])).unwrap_err().to_string(), "`entr` is not a key");
        assert!(parse(&words(&["--text"])).is_err());
    }
}
