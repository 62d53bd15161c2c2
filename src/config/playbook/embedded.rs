//! The playbooks that the program brings along.

/// The texts, as they lie in `assets/playbooks/`, by name.
pub(super) const EMBEDDED: &[(&str, &str)] = &[
    ("bug-triage-swarm", include_str!("../../../assets/playbooks/bug-triage-swarm.toml")),
    ("competitive-analysis", include_str!("../../../assets/playbooks/competitive-analysis.toml")),
    ("content-sprint", include_str!("../../../assets/playbooks/content-sprint.toml")),
    ("feature-build", include_str!("../../../assets/playbooks/feature-build.toml")),
    ("product-launch", include_str!("../../../assets/playbooks/product-launch.toml")),
    ("research-deep-dive", include_str!("../../../assets/playbooks/research-deep-dive.toml")),
];
