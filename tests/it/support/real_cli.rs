//! How each real agent CLI is set up so that it talks to the scripted model on this machine.

use std::fs;
use std::path::Path;

/// How one CLI is set up so that it talks to the scripted model and to nobody else.
pub(crate) struct Cli {
    pub(crate) name: &'static str,
    /// The name of its program.
    pub(crate) program: &'static str,
    pub(crate) arguments: &'static [&'static str],
    /// Variables; `{url}` stands for the model's address and `{home}` for the home.
    variables: &'static [(&'static str, &'static str)],
    /// Files below the home, in the same way.
    files: &'static [(&'static str, &'static str)],
    /// How its first dialogs are answered.
    pub(crate) dialogs: &'static [&'static str],
    /// How it is told yes and no when it wants to run a command; nothing if it asks nobody.
    pub(crate) grants: Option<&'static str>,
    pub(crate) denies: &'static str,
    /// It has a tool that asks a person to choose.
    pub(crate) chooses: bool,
}

pub(crate) const CLAUDE: Cli = Cli {
    name: "claude",
    program: "claude",
    arguments: &["--permission-mode", "default"],
    variables: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
        ("CLAUDE_CONFIG_DIR", "{home}/.claude"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
    ],
    files: &[(".claude/.claude.json", r#"{"hasCompletedOnboarding": true}"#)],
    dialogs: &["Yes, I trust", "Yes"],
    grants: Some("Yes"),
    denies: "No",
    chooses: true,
};

pub(crate) const CODEX: Cli = Cli {
    name: "codex",
    program: "codex",
    arguments: &[
        "--no-daemon",
        "-a",
        "on-request",
        "-s",
        "read-only",
        "--enable",
        "default_mode_request_user_input",
    ],
    variables: &[("MODEL_KEY", "dummy"), ("CODEX_HOME", "{home}/.codex")],
    files: &[(
        ".codex/config.toml",
        "model = \"gpt-5-codex\"\nmodel_provider = \"scripted\"\n\
         check_for_update_on_startup = false\n[analytics]\nenabled = false\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n",
    )],
    dialogs: &[],
    grants: Some("Yes"),
    denies: "No",
    chooses: true,
};

pub(crate) const GEMINI: Cli = Cli {
    name: "gemini",
    program: "gemini",
    arguments: &[],
    variables: &[("GOOGLE_GEMINI_BASE_URL", "{url}"), ("GEMINI_API_KEY", "dummy")],
    files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}"#,
    )],
    dialogs: &["Trust folder"],
    grants: Some("Allow once"),
    denies: "No",
    chooses: true,
};

pub(crate) const OPENCODE: Cli = Cli {
    name: "opencode",
    program: "opencode",
    arguments: &[],
    variables: &[
        ("OPENCODE_CONFIG", "{home}/opencode.json"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        // It asks npm how it was installed.
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ],
    files: &[(
        "opencode.json",
        r#"{"model": "scripted/fake-1", "autoupdate": false,
            "permission": {"bash": "ask", "edit": "ask"},
            "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
                "options": {"baseURL": "{url}/v1", "apiKey": "dummy"},
                "models": {"fake-1": {"name": "Fake 1"}}}}}"#,
    )],
    dialogs: &[],
    grants: Some("Allow once"),
    denies: "Reject",
    chooses: true,
};

/// The same wherever a program takes an OpenAI-compatible server.
const OPENAI: &[(&str, &str)] =
    &[("OPENAI_API_KEY", "dummy"), ("OPENAI_BASE_URL", "{url}/v1"), ("OPENAI_MODEL", "fake-1")];

pub(crate) const QWEN: Cli = Cli {
    name: "qwen",
    program: "qwen",
    arguments: &["--approval-mode", "default"],
    variables: OPENAI,
    files: &[(
        ".qwen/settings.json",
        r#"{"security": {"auth": {"selectedType": "openai"}}, "telemetry": {"enabled": false},
            "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}"#,
    )],
    dialogs: &[],
    grants: Some("Yes, allow once"),
    denies: "No",
    chooses: true,
};

pub(crate) const COPILOT: Cli = Cli {
    name: "copilot",
    program: "copilot",
    arguments: &[],
    variables: &[
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
        ("COPILOT_PROVIDER_API_KEY", "dummy"),
        ("COPILOT_MODEL", "fake-1"),
        ("COPILOT_HOME", "{home}/.copilot"),
    ],
    files: &[],
    dialogs: &["Yes"],
    grants: Some("Yes"),
    denies: "No",
    chooses: true,
};

pub(crate) const PI: Cli = Cli {
    name: "pi",
    program: "pi",
    arguments: &["--offline"],
    variables: &[("PI_OFFLINE", "1")],
    files: &[
        (
            ".pi/agent/models.json",
            r#"{"providers": {"scripted": {"baseUrl": "{url}/v1", "api": "openai-completions",
                "apiKey": "dummy", "models": [{"id": "fake-1"}]}}}"#,
        ),
        (".pi/agent/settings.json", r#"{"defaultProvider": "scripted", "defaultModel": "fake-1"}"#),
    ],
    dialogs: &[],
    grants: None,
    denies: "",
    chooses: false,
};

pub(crate) const CONTINUE: Cli = Cli {
    name: "continue",
    program: "cn",
    arguments: &["--config", "{home}/config.yaml"],
    variables: &[("CONTINUE_GLOBAL_DIR", "{home}/.continue"), ("CONTINUE_TELEMETRY_ENABLED", "0")],
    files: &[(
        "config.yaml",
        "name: scripted\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: fake-1\n    provider: openai\n    \
         model: fake-1\n    apiBase: {url}/v1\n    apiKey: dummy\n    roles: [chat]\n    \
         capabilities: [tool_use]\n",
    )],
    dialogs: &[],
    grants: Some("Continue"),
    denies: "No",
    chooses: true,
};

pub(crate) const AIDER: Cli = Cli {
    name: "aider",
    program: "aider",
    arguments: &[
        "--model",
        "openai/fake-1",
        "--no-check-update",
        "--no-show-model-warnings",
        "--no-show-release-notes",
        "--analytics-disable",
        "--no-git",
        "--edit-format",
        "ask",
    ],
    variables: &[("OPENAI_API_KEY", "dummy"), ("OPENAI_API_BASE", "{url}/plain/v1")],
    files: &[],
    dialogs: &[],
    grants: None,
    denies: "",
    chooses: false,
};

/// All that there are.
pub(crate) const ALL: &[&Cli] =
    &[&CLAUDE, &CODEX, &GEMINI, &OPENCODE, &AIDER, &QWEN, &COPILOT, &PI, &CONTINUE];

impl Cli {
    /// Writes the CLI's own settings into a home, and returns ours for it.
    pub(crate) fn settle(&self, arguments: &[&str], home: &Path, url: &str) -> String {
        let filled =
            |text: &str| text.replace("{url}", url).replace("{home}", home.to_str().unwrap());
        for (name, text) in self.files {
            let file = home.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, filled(text)).unwrap();
        }
        let arguments = arguments.iter().map(|word| filled(word));
        let command: Vec<String> = [self.program.to_owned()].into_iter().chain(arguments).collect();
        let command = serde_json::to_string(&command).unwrap();
        let variable = |(name, value): &(&str, &str)| format!("{name} = \"{}\"", filled(value));
        let variables: Vec<String> = self.variables.iter().map(variable).collect();
        let variables = variables.join(", ");
        format!("[cli.{}]\ncommand = {command}\nenv = {{ {variables} }}\n", self.name)
    }
}
