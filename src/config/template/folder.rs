//! Reads the templates of a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::super::problem::Problems;
use super::super::source_file::{SourceFile, whole_file};
use super::super::team::well_named;
use super::super::{Hash, Problem};
use super::embedded::EMBEDDED;
use super::front_matter::read_template;
use crate::template::{Template, Templates};

/// More were not written by hand.
const TEMPLATES_MAX: usize = 256;

/// Returns the templates that are there without any file.
pub(in super::super) fn built_in_templates() -> Templates {
    let mut templates = Templates::default();
    for (name, text) in EMBEDDED {
        let file = Path::new("templates").join(format!("{name}.md"));
        let mut problems = Problems::new(&file, text);
        let template = read_template(name, &file, text, &mut problems);
        debug_assert!(problems.errors.is_empty(), "{:?}", problems.errors);
        if let Some(template) = template {
            templates.insert(template);
        }
    }
    templates
}

/// A template of the project, which counts only if exactly these bytes are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTemplate {
    pub template: Template,
    /// With links followed: the path under which it is trusted.
    pub path: PathBuf,
    pub hash: Hash,
    pub is_trusted: bool,
}

/// What a directory of templates holds.
#[derive(Default)]
pub(in super::super) struct Folder {
    /// The good ones, none of them trusted.
    pub(in super::super) templates: Vec<ProjectTemplate>,
    pub(in super::super) errors: Vec<Problem>,
}

impl Folder {
    /// Reads every `*.md` of the directory; one that is not there holds nothing.
    pub(in super::super) fn read(directory: &Path) -> Self {
        let mut folder = Self::default();
        match paths(directory) {
            Ok(paths) if paths.len() > TEMPLATES_MAX => {
                let text = format!("{} templates are too many", paths.len());
                let text = format!("{text}\nhint: Keep at most {TEMPLATES_MAX}");
                folder.errors.push(whole_file(directory, &text));
            }
            Ok(paths) => paths.iter().for_each(|path| folder.add(path)),
            Err(error) => {
                folder.errors.push(whole_file(directory, &format!("Failed to read it: {error}")));
            }
        }
        folder
    }

    fn add(&mut self, path: &Path) {
        let file = match SourceFile::read(path) {
            Ok(Some(file)) => file,
            Ok(None) => return,
            Err(problem) => return self.errors.push(problem),
        };
        let text = file.text.replace("\r\n", "\n");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut problems = Problems::new(path, &text);
        let is_name = well_named("template", &Spanned::new(0..0, name.clone()), &mut problems);
        let template = is_name.then(|| read_template(&name, path, &text, &mut problems)).flatten();
        problems.errors.sort_by_key(|problem| (problem.line, problem.column));
        self.errors.extend(problems.errors);
        self.templates.extend(template.map(|template| ProjectTemplate {
            template,
            path: file.canonical,
            hash: file.hash,
            is_trusted: false,
        }));
    }
}

/// Returns the directory's templates in the order of their names.
fn paths(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
