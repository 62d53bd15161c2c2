//! A manifest with its patterns compiled, once for all panes that run the cli.

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::model::{AgentState, BlockKind, DialogKind, Manifest, Per, Region, Usage};

/// A cheap sign that a row may begin a report.
const KEYWORD: &str = r"(?i)(?:status|progress|build|need|contract|artifact)[*_`~]*\s*[:：(]";
/// What the patterns of one manifest may cost together.
const PATTERN_BYTES_MAX: usize = 8 << 20;

/// Says which pattern of a manifest is none.
#[derive(Debug, thiserror::Error)]
#[error("The pattern of `{name}` is not a regular expression")]
pub struct RuleError {
    pub name: String,
    #[source]
    source: regex::Error,
}

/// The compiled rules of a cli.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of an interface by itself")]
pub struct Rules {
    pub(super) cli: String,
    pub(super) banner: Option<Regex>,
    pub(super) composer: Option<Regex>,
    pub(super) message_row: Option<Regex>,
    pub(super) option: Option<Regex>,
    pub(super) placeholder: Option<Regex>,
    pub(super) compacted: Option<Regex>,
    pub(super) usage: Option<UsageRule>,
    pub(super) states: Vec<StateRule>,
    pub(super) titles: Vec<(Regex, AgentState)>,
    pub(super) asks: Vec<AskRule>,
    pub(super) block_starts: RegexSet,
    pub(super) blocks: Vec<(BlockKind, bool)>,
    pub(super) rest: BlockKind,
    pub(super) echo_is_shaded: bool,
    pub(super) code_is_colored: bool,
    pub(super) selected_is_shaded: bool,
    pub(super) settle_ms: Option<u32>,
    /// Its title tells that it starts itself anew.
    pub(super) starts_anew: bool,
    /// Found in every row that may hold a report.
    pub(super) keyword: Regex,
    pub(super) output_means_working: bool,
    /// Nothing is known of how its conversation looks.
    pub(super) is_general: bool,
}

/// Where to look for how much is used.
#[derive(Debug)]
pub(super) struct UsageRule {
    pub(super) region: Region,
    pub(super) pattern: Regex,
    pub(super) is_per_turn: bool,
}

#[derive(Debug)]
pub(super) struct StateRule {
    /// With the cli before it: `claude.spinner`.
    pub(super) name: String,
    pub(super) state: AgentState,
    pub(super) kind: Option<DialogKind>,
    pub(super) region: Region,
    pub(super) pattern: Regex,
    pub(super) unless: Option<Regex>,
}

/// How a dialog says what it asks permission for, and the option that says yes to that, once.
#[derive(Debug)]
pub(super) struct AskRule {
    pub(super) pattern: Regex,
    pub(super) yes: Regex,
    /// How the dialog repeats the beginning of the command in an option.
    pub(super) again: Option<Regex>,
    pub(super) has_blank_rows: bool,
    /// It counts only as the program told it.
    pub(super) needs_told: bool,
}

impl Rules {
    /// Compiles a manifest; its rules are named after the cli.
    pub fn new(cli: &str, manifest: &Manifest) -> Result<Self, RuleError> {
        let screen = &manifest.screen;
        let optional = |name: &str, pattern: &Option<String>| {
            pattern.as_ref().map(|pattern| compile(name, pattern)).transpose()
        };
        let mut states = Vec::new();
        for rule in &manifest.rules {
            let name = format!("{cli}.{}", rule.name);
            states.push(StateRule {
                state: rule.state,
                kind: rule.kind,
                region: rule.region,
                pattern: compile(&name, &rule.pattern)?,
                unless: optional(&name, &rule.unless)?,
                name,
            });
        }
        let asks = manifest.asks.iter().map(|ask| {
            let name = format!("{cli}.{}", ask.name);
            Ok(AskRule {
                pattern: compile(&name, &ask.pattern)?,
                yes: compile(&name, &ask.yes)?,
                again: optional(&name, &ask.again)?,
                has_blank_rows: ask.has_blank_rows,
                needs_told: ask.needs_told,
            })
        });
        let usage = |usage: &Usage| {
            let (region, is_per_turn) = (usage.region, usage.per == Per::Turn);
            Ok(UsageRule { region, pattern: compile("usage", &usage.pattern)?, is_per_turn })
        };
        let title =
            |title: &crate::model::TitleRule| Ok((compile("titles", &title.pattern)?, title.state));
        let starts = RegexSetBuilder::new(manifest.blocks.iter().map(|block| &block.pattern))
            .size_limit(PATTERN_BYTES_MAX)
            .build()
            .map_err(|source| RuleError { name: "blocks".into(), source })?;
        Ok(Self {
            cli: cli.to_owned(),
            banner: optional("banner", &screen.banner)?,
            composer: optional("composer", &screen.composer)?,
            message_row: optional("message_row", &screen.message_row)?,
            option: optional("option", &screen.option)?,
            compacted: optional("compacted", &screen.compacted)?,
            usage: manifest.usage.as_ref().map(usage).transpose()?,
            placeholder: optional("placeholder", &manifest.submit.placeholder)?,
            starts_anew: manifest.titles.iter().any(|one| one.state == AgentState::Starting),
            states,
            titles: manifest.titles.iter().map(title).collect::<Result<_, RuleError>>()?,
            asks: asks.collect::<Result<_, RuleError>>()?,
            block_starts: starts,
            blocks: manifest.blocks.iter().map(|block| (block.kind, block.single)).collect(),
            rest: screen.rest.unwrap_or(BlockKind::Chrome),
            echo_is_shaded: screen.echo_is_shaded,
            code_is_colored: screen.code_is_colored,
            selected_is_shaded: screen.selected_is_shaded,
            settle_ms: screen.settle_ms,
            keyword: compile("keyword", KEYWORD)?,
            output_means_working: screen.output_means_working,
            is_general: screen.is_general,
        })
    }
}

pub(super) fn compile(name: &str, pattern: &str) -> Result<Regex, RuleError> {
    RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|source| RuleError { name: name.to_owned(), source })
}
