//! Builds the arguments of `notify-send`, so that it shows an agent's words and obeys none of them.

/// Returns the text of a notification.
///
/// Desktops read it as markup. Before that `notify-send` itself replaces what follows a backslash: an
/// octal number would become a bracket of markup behind our back, or a byte that is no text, which
/// ends it before anything is shown.
pub fn desktop_body(body: &str) -> String {
    let markup = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    markup.replace('\\', "\\\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_is_markup_or_becomes_it() {
        assert_eq!(desktop_body("<b> & \\074b\\076"), "&lt;b&gt; &amp; \\\\074b\\\\076");
        assert_eq!(desktop_body("waiting - May I?"), "waiting - May I?");
    }
}
