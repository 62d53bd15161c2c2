//! `wheelhouse lock take|release|list`: what one at a time may hold.

use std::io::Write;
use std::process::ExitCode;

use super::args::{Format, LockVerb};
use super::context::Context;
use super::table::Table;
use crate::api::{LockRequest, LockStatus, Request, Response};
use crate::client::ClientError;
use crate::config::plain;

/// Someone else holds it, and whoever asked waits for it in order.
const EXIT_WAITS: u8 = 3;

pub(super) fn lock(context: &mut Context, verb: LockVerb) -> anyhow::Result<ExitCode> {
    match verb {
        LockVerb::Take { name, limit, wait, format } => {
            let limit_ms = limit.map(|seconds| seconds.saturating_mul(1000));
            let mut lock = ask(context, LockRequest::Take { name: name.clone(), limit_ms })?;
            let mine = super::context::own_name();
            let has_it =
                |lock: &Option<LockStatus>| lock.as_ref().is_some_and(|lock| lock.holder == mine);
            if wait && !has_it(&lock) {
                lock = ask(context, LockRequest::Await { name: name.clone() })?;
            }
            let is_mine = has_it(&lock);
            match lock {
                Some(lock) if format.json => context.print_json(&lock)?,
                Some(_) if is_mine => writeln!(context.out, "You have the lock {}", plain(&name))?,
                Some(lock) => {
                    let who = plain(lock.holder.as_deref().unwrap_or("a person"));
                    writeln!(context.out, "{} is held by {who}; you are queued", plain(&name))?;
                }
                None => {}
            }
            Ok(if is_mine { ExitCode::SUCCESS } else { ExitCode::from(EXIT_WAITS) })
        }
        LockVerb::Release { name, format } => {
            let next = ask(context, LockRequest::Release { name: name.clone() })?;
            if format.json {
                context.print_json(&next)?;
            } else {
                writeln!(context.out, "Released {}", plain(&name))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        LockVerb::List { format } => list(context, format),
    }
}

fn ask(context: &Context, ask: LockRequest) -> anyhow::Result<Option<LockStatus>> {
    let Response::Done(done) = context.ask_as_agent(Request::Lock { ask })? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(done.locks.first().map(LockStatus::from))
}

fn list(context: &mut Context, format: Format) -> anyhow::Result<ExitCode> {
    let response = context.ask_as_agent(Request::Lock { ask: LockRequest::List })?;
    let Response::Locks { locks } = response else { return Err(ClientError::Unexpected.into()) };
    if format.json {
        context.print_json(&locks)?;
        return Ok(ExitCode::SUCCESS);
    }
    if locks.is_empty() {
        writeln!(context.out, "No locks are held")?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = |who: Option<&str>| plain(who.unwrap_or("a person"));
    let mut table = Table::new(["LOCK", "HOLDER", "TASK", "UNTIL", "WAITING"]);
    for lock in &locks {
        let waiting: Vec<String> = lock.waiting.iter().map(|who| name(who.as_deref())).collect();
        table.push([
            plain(&lock.name),
            name(lock.holder.as_deref()),
            lock.task.clone().unwrap_or_default(),
            lock.until.clone(),
            waiting.join(", "),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(ExitCode::SUCCESS)
}
