//! Reads the record, from any process and at any time.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, ToSql};
use serde_json::Value;

use super::batch::{Rows, Ticket};
use super::error::{Place, StoreError};
use super::prune::{self, Base};
use super::schema::{self, MIGRATIONS};
use super::{examine, fold};
use crate::model::{Entry, Moment, RowChange};

/// What one look returns at most; the next begins after the last entry of this one.
const ENTRIES_MAX: usize = 10_000;

/// The record, open for reading. It makes and changes nothing, and keeps nobody from writing.
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    path: PathBuf,
}

/// Which entries are wanted; all that is given must hold.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only those after this one.
    pub after: u64,
    /// Only those up to this one, and with it.
    pub up_to: Option<u64>,
    /// Only what happened from this moment on, and up to this one.
    pub since: Option<Moment>,
    pub until: Option<Moment>,
    /// At most so many.
    pub limit: usize,
    /// The newest rather than the oldest; the order stays.
    pub newest: bool,
    pub agent: Option<String>,
    pub task: Option<String>,
    /// What the kind begins with.
    pub kind: Option<String>,
}

/// A row as it was from a batch on.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub ticket: Ticket,
    pub at: Moment,
    pub change: RowChange,
}

/// What the journal last said of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct LastRow {
    pub value: Value,
    /// It is no longer among the rows.
    pub is_gone: bool,
}

/// An entry as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The first ever is 1, and there are no gaps.
    pub id: u64,
    pub ticket: Ticket,
    pub at: Moment,
    pub entry: Entry,
}

impl Journal {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (connection, found) = examine::open(path, MIGRATIONS)?;
        let path = path.to_owned();
        if found < schema::version_of(MIGRATIONS) {
            return Err(StoreError::Older { path, found });
        }
        Ok(Self { connection, path })
    }

    /// Returns entries in the order in which they happened.
    pub fn entries(&self, query: &Query) -> Result<Vec<Recorded>, StoreError> {
        let Query { after, up_to, since, until, limit, newest, agent, task, kind } = query;
        let limit = (*limit).min(ENTRIES_MAX);
        let mut params: Vec<&dyn ToSql> = vec![after, &limit];
        let mut filter = String::new();
        let (since, until) = (since.map(|at| at.0), until.map(|at| at.0));
        for (clause, wanted) in [
            (" AND id <= ?", up_to.as_ref().map(|id| id as &dyn ToSql)),
            (" AND at >= ?", since.as_ref().map(|at| at as &dyn ToSql)),
            (" AND at <= ?", until.as_ref().map(|at| at as &dyn ToSql)),
            (" AND agent = ?", agent.as_ref().map(|agent| agent as &dyn ToSql)),
            (" AND task = ?", task.as_ref().map(|task| task as &dyn ToSql)),
            (" AND substr(kind, 1, length(?)) = ?", kind.as_ref().map(|kind| kind as &dyn ToSql)),
        ] {
            if let Some(wanted) = wanted {
                params.push(wanted);
                filter += &clause.replace('?', &format!("?{}", params.len()));
            }
        }
        let order = if *newest { "DESC" } else { "ASC" };
        let text = format!(
            "SELECT id, batch, at, kind, agent, task, text, data
             FROM entry JOIN batch ON seq = batch
             WHERE id > ?1{filter} ORDER BY id {order} LIMIT ?2"
        );
        let mut found = self.read(|connection| {
            let mut statement = connection.prepare_cached(&text)?;
            let found = statement.query_map(&*params, recorded)?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        if *newest {
            found.reverse();
        }
        Ok(found)
    }

    /// Returns how rows changed after a batch, up to and with another, in their order.
    pub fn changes(&self, after: Ticket, until: Ticket) -> Result<Vec<Changed>, StoreError> {
        let text = r#"SELECT batch, at, "table", key, value FROM change JOIN batch ON seq = batch
                      WHERE batch > ?1 AND batch <= ?2 ORDER BY batch, position"#;
        let rows = self.read(|connection| {
            let mut statement = connection.prepare_cached(text)?;
            let found = statement.query_map([after.0, until.0], |row| {
                let place: (u64, u64) = (row.get(0)?, row.get(1)?);
                Ok((place, row.get(2)?, row.get(3)?, row.get::<_, Option<String>>(4)?))
            })?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let parse = |((ticket, at), table, key, value): ((u64, u64), _, _, Option<String>)| {
            let value = value.map(|text| serde_json::from_str(&text)).transpose()?;
            let change = RowChange { table, key, value };
            Ok(Changed { ticket: Ticket(ticket), at: Moment(at), change })
        };
        let changes = rows.into_iter().map(parse).collect::<serde_json::Result<Vec<_>>>();
        changes.map_err(|error| self.not_json(&error))
    }

    /// Returns the number of the last batch; zero if there is none.
    pub fn last(&self) -> Result<Ticket, StoreError> {
        self.read(fold::last_batch)
    }

    /// Returns the last batch that was made at a moment or before it.
    pub fn last_at(&self, moment: Moment) -> Result<Ticket, StoreError> {
        let text = "SELECT coalesce(max(seq), 0) FROM batch WHERE at <= ?1";
        self.read(|connection| connection.query_row(text, [moment.0], |row| row.get(0)).map(Ticket))
    }

    /// Returns where the journal begins, if something was cut off before that.
    pub fn base(&self) -> Result<Option<Base>, StoreError> {
        Ok(Some(self.read(prune::base)?).filter(|base| *base != Base::default()))
    }

    /// Returns what was last said of a row, unless that was cut off.
    pub fn last_row(&self, table: &str, key: &str) -> Result<Option<LastRow>, StoreError> {
        let found = self.read(|connection| fold::last_row(connection, table, key))?;
        let Some((text, is_gone)) = found else { return Ok(None) };
        let value = serde_json::from_str(&text).map_err(|error| self.not_json(&error))?;
        Ok(Some(LastRow { value, is_gone }))
    }

    /// Returns the rows as they were after a batch.
    pub fn rows_at(&self, ticket: Ticket) -> Result<Rows, StoreError> {
        let folded = self.read(|connection| {
            let base = prune::base(connection)?;
            let is_there = base.ticket <= ticket;
            is_there
                .then(|| fold::fold(connection, ticket))
                .transpose()
                .map(|rows| rows.ok_or(base))
        })?;
        let folded = folded.map_err(|base| StoreError::CutOff { until: base.at.to_rfc3339() })?;
        fold::parse(folded.rows).map_err(|error| self.not_json(&error))
    }

    fn not_json(&self, error: &serde_json::Error) -> StoreError {
        StoreError::damaged(&self.path, format!("a row is not JSON: {error}"))
    }

    /// Looks at every page, and folds the whole journal: it must give the rows that are kept.
    pub fn verify(&self) -> Result<(), StoreError> {
        examine::is_whole(&self.connection, &self.path)?;
        self.read(fold::check_all)?.map_err(|difference| StoreError::Contradiction {
            place: Place::of(&self.path),
            difference,
        })
    }

    /// Reads in one transaction, so that all parts are of the same moment.
    fn read<T>(
        &self,
        look: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let transaction = self.connection.unchecked_transaction();
        transaction
            .and_then(|transaction| look(&transaction))
            .map_err(|error| StoreError::of(&self.path, error))
    }
}

fn recorded(row: &Row<'_>) -> rusqlite::Result<Recorded> {
    let data: Option<String> = row.get("data")?;
    // An entry is for people: one whose data rots is still told.
    let data = data.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    let agent: Option<String> = row.get("agent")?;
    let agent = agent.and_then(|name| name.parse().ok());
    let (kind, task) = (row.get("kind")?, row.get("task")?);
    Ok(Recorded {
        id: row.get("id")?,
        ticket: Ticket(row.get("batch")?),
        at: Moment(row.get("at")?),
        entry: Entry { kind, agent, task, text: row.get("text")?, data },
    })
}
