//! What the languages look like: enough to colour a line, and no more.

/// One language, or several that look alike.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// Ends of names, without the dot, or whole names.
    pub names: &'static [&'static str],
    pub keywords: &'static str,
    /// From here to the end of the line.
    pub line_comments: &'static [&'static str],
    /// From the first to the second, over lines.
    pub block_comment: Option<(&'static str, &'static str)>,
    /// Each begins and ends a text within a line.
    pub quotes: &'static [&'static str],
    /// Each begins and ends a text over lines.
    pub long_quotes: &'static [&'static str],
    /// A single quote may begin a name (a lifetime, a label) instead of a text.
    pub has_ticks: bool,
    pub ignores_case: bool,
}

const PLAIN: Language = Language {
    names: &[],
    keywords: "",
    line_comments: &[],
    block_comment: None,
    quotes: &["\"", "'"],
    long_quotes: &[],
    has_ticks: false,
    ignores_case: false,
};

const C_COMMENT: Option<(&str, &str)> = Some(("/*", "*/"));

/// Returns how a file is read, by its name; nothing for one that is only text.
pub(super) fn of(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or(name, |(_, end)| end).to_ascii_lowercase();
    LANGUAGES.iter().find(|language| language.names.iter().any(|own| *own == name || *own == end))
}

const LANGUAGES: &[Language] = &[
    Language {
        names: &["rs"],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if \
            impl in let loop match mod move mut pub ref return self Self static struct super trait \
            true type union unsafe use where while",
        line_comments: &["//"],
        block_comment: C_COMMENT,
        quotes: &[],
        long_quotes: &["\""],
        has_ticks: true,
        ..PLAIN
    },
    Language {
        names: &["py", "pyi", "SConstruct"],
        keywords: "and as assert async await break case class continue def del elif else except \
            False finally for from global if import in is lambda match None nonlocal not or pass \
            raise return self True try while with yield",
        line_comments: &["#"],
        long_quotes: &["\"\"\"", "'''"],
        ..PLAIN
    },
    Language {
        names: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        keywords: "abstract any as async await boolean break case catch class const continue \
            declare default delete do else enum export extends false finally for from function get \
            if implements import in instanceof interface keyof let namespace never new null number \
            of private protected public readonly return set static string super switch this throw \
            true try type typeof undefined unknown var void while with yield",
        line_comments: &["//"],
        block_comment: C_COMMENT,
        long_quotes: &["`"],
        ..PLAIN
    },
    Language {
        names: &["go"],
        keywords: "any bool break byte case chan const continue default defer else error fallthrough \
            false for func go goto if import int interface map nil package range return rune select \
            string struct switch true type var",
        line_comments: &["//"],
        block_comment: C_COMMENT,
        long_quotes: &["`"],
        ..PLAIN
    },
    Language {
        names: &["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "ino", "m", "mm", "cu"],
        keywords: "alignas auto bool break case catch char class const constexpr continue default \
            delete do double else enum explicit extern false float for friend goto if inline int \
            long mutable namespace new noexcept nullptr operator override private protected public \
            register return short signed sizeof static struct switch template this throw true try \
            typedef typename union unsigned using virtual void volatile while #define #else #endif \
            #if #ifdef #ifndef #include #pragma",
        line_comments: &["//"],
        block_comment: C_COMMENT,
        ..PLAIN
    },
    Language {
        names: &["java", "kt", "kts", "scala", "groovy", "gradle", "cs", "swift", "dart"],
        keywords: "abstract as async await boolean break byte case catch char class const continue \
            data def default do double else enum extends extension false final finally float for \
            func fun guard if implements import in init instanceof int interface internal is lateinit \
            let long namespace new null nil object open override package private protected protocol \
            public readonly return sealed self short static string struct super switch this throw \
            throws true try typealias using val var virtual void when where while yield",
        line_comments: &["//"],
        block_comment: C_COMMENT,
        long_quotes: &["\"\"\""],
        ..PLAIN
    },
    Language {
        names: &["php"],
        keywords: "abstract and array as break case catch class clone const continue declare default \
            do echo else elseif extends false final finally fn for foreach function global if \
            implements instanceof interface match namespace new null or private protected public \
            readonly require require_once return static switch this throw trait true try use var \
            while yield",
        line_comments: &["//", "#"],
        block_comment: C_COMMENT,
        ..PLAIN
    },
    Language {
        names: &["rb", "rake", "Gemfile", "Rakefile", "ex", "exs", "cr"],
        keywords: "alias and attr_accessor attr_reader begin break case class def defmodule defp do \
            else elsif end ensure false fn for if import in include module next nil not or private \
            raise require rescue return self super then true unless until use when while yield",
        line_comments: &["#"],
        ..PLAIN
    },
    Language {
        names: &[
            "sh",
            "bash",
            "zsh",
            "fish",
            "bats",
            "ksh",
            "Dockerfile",
            "dockerfile",
            "Makefile",
            "makefile",
            "mk",
            "just",
            "justfile",
        ],
        keywords: "alias break case continue declare do done echo elif else end esac exit export fi \
            for function if in local read readonly return set shift source then trap unset until \
            while ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN USER VOLUME WORKDIR",
        line_comments: &["#"],
        ..PLAIN
    },
    Language {
        names: &["toml", "ini", "cfg", "conf", "properties", "editorconfig", "env", "gitconfig"],
        keywords: "true false",
        line_comments: &["#", ";"],
        long_quotes: &["\"\"\"", "'''"],
        ..PLAIN
    },
    Language {
        names: &["yaml", "yml"],
        keywords: "true false null yes no on off",
        line_comments: &["#"],
        ..PLAIN
    },
    Language {
        names: &["json", "jsonc", "json5", "ipynb"],
        keywords: "true false null",
        line_comments: &["//"],
        ..PLAIN
    },
    Language {
        names: &["html", "htm", "xml", "svg", "xhtml", "plist"],
        block_comment: Some(("<!--", "-->")),
        ..PLAIN
    },
    Language {
        names: &["css", "scss", "sass", "less"],
        keywords: "!important @import @media @keyframes @supports @use @include @mixin @extend",
        block_comment: C_COMMENT,
        ..PLAIN
    },
    Language {
        names: &["sql", "psql"],
        keywords: "add all alter and as asc begin between by case cascade check column commit \
            constraint create default delete desc distinct drop else end exists foreign from full \
            group having if in index inner insert into is join key left like limit not null offset \
            on or order outer primary references returning right rollback select set table then \
            transaction union unique update using values view when where with",
        line_comments: &["--"],
        block_comment: C_COMMENT,
        ignores_case: true,
        ..PLAIN
    },
    Language {
        names: &["lua"],
        keywords: "and break do else elseif end false for function goto if in local nil not or \
            repeat return then true until while",
        line_comments: &["--"],
        ..PLAIN
    },
    Language {
        names: &["hs", "elm", "purs"],
        keywords: "case class data deriving do else if import in infix infixl infixr instance let \
            module newtype of then type where",
        line_comments: &["--"],
        block_comment: Some(("{-", "-}")),
        quotes: &["\""],
        ..PLAIN
    },
    Language {
        names: &["clj", "cljs", "el", "lisp", "scm", "edn"],
        keywords: "def defmacro defn defun do fn if lambda let loop nil ns recur require setq when",
        line_comments: &[";"],
        quotes: &[],
        long_quotes: &["\""],
        ..PLAIN
    },
    Language {
        names: &["zig"],
        keywords: "and break catch comptime const continue defer else enum error errdefer export \
            extern false fn for if inline null orelse or packed pub return struct switch test true \
            try undefined union unreachable usingnamespace var volatile while",
        line_comments: &["//"],
        ..PLAIN
    },
    Language {
        names: &["nix", "tf", "hcl"],
        keywords: "assert data else false for if in inherit let locals module null or output \
            provider rec resource terraform then true variable with",
        line_comments: &["#", "//"],
        block_comment: C_COMMENT,
        quotes: &["\""],
        ..PLAIN
    },
    Language {
        names: &["proto", "graphql", "gql", "thrift"],
        keywords: "bool bytes double enum extend false float fragment import input int32 int64 \
            interface message mutation oneof option package query repeated required returns rpc \
            scalar service string syntax true type uint32 uint64 union",
        line_comments: &["//", "#"],
        block_comment: C_COMMENT,
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_file_is_known_by_its_end_or_its_whole_name() {
        assert!(of("src/main.rs").is_some_and(|language| language.has_ticks));
        assert_eq!(of("a/Dockerfile"), of("x.sh"));
        assert_eq!(of("A.PY"), of("b.pyi"));
        assert!(of("README").is_none() && of("notes.txt").is_none() && of("").is_none());
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut seen = BTreeSet::new();
        for name in LANGUAGES.iter().flat_map(|language| language.names) {
            assert!(seen.insert(name), "{name}");
        }
    }
}
