//! Holding the agents of one message to the limits.
//!
//! Before a model call, [`TurnBudget::admit`] reserves what it may need at most; afterwards
//! [`TurnBudget::settle`] counts what it used instead. So agents that run at the same time cannot pass
//! a limit together. What other hosts of the workspace spend today is read from the database, which has
//! each call when it has ended: calls of theirs that are under way are not counted yet.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use foreword::Prices;
use foreword_protocol::Usage;
use foreword_store::{SessionId, Spending, SpendingMark, Spent, TurnNumber, start_of_day};

use crate::error::HostError;
use crate::host::Host;
use crate::model::call_policy::CallSize;
use crate::spending::limits::{LimitReached, Limits, Period};

/// What the agents of one message may spend, and have spent.
#[derive(Debug)]
pub(crate) struct TurnBudget {
    limits: Limits,
    prices: Prices,
    /// The session of the message.
    pub(crate) root: SessionId,
    before: SpentBefore,
    began: Instant,
    amounts: Mutex<Amounts>,
    reached: OnceLock<LimitReached>,
}

/// What was spent before a message came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpentBefore {
    session: Spent,
    /// Today, by all hosts.
    day: Spent,
}

#[derive(Clone, Copy, Debug, Default)]
struct Amounts {
    used: Spent,
    /// The most that calls under way may use.
    reserved: Spent,
}

/// What has been spent today.
#[derive(Debug, Default)]
pub(crate) struct DaySpending {
    /// When the day began, in milliseconds since 1970.
    began: i64,
    /// By this host.
    amounts: Amounts,
    /// By other hosts, up to a row of the database.
    others: Spent,
    others_until: SpendingMark,
}

/// What is set aside for a model call until it is settled.
#[derive(Debug)]
#[must_use]
pub(crate) struct Reservation(Spent);

/// A model call that has ended.
pub(crate) struct EndedCall<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) turn: Option<TurnNumber>,
    pub(crate) model: &'a str,
    pub(crate) usage: Usage,
}

impl Amounts {
    fn all(self) -> Spent {
        self.used.and(self.reserved)
    }

    fn settle(&mut self, reserved: Spent, used: Spent) {
        self.reserved = self.reserved.without(reserved);
        self.used = self.used.and(used);
    }
}

impl DaySpending {
    /// Begins a new day if it is one.
    fn at(&mut self, now: i64) -> &mut Self {
        let began = start_of_day(now);
        if began != self.began {
            let reserved = self.amounts.reserved;
            *self = Self {
                began,
                amounts: Amounts { reserved, ..Amounts::default() },
                ..Self::default()
            };
        }
        self
    }

    /// What all hosts have spent and reserved; reads what others added since the last time.
    fn by_all(&mut self, host: &Host) -> Result<Spent, HostError> {
        let (added, until) = host.reader.spent_since(self.began, &host.owner, self.others_until)?;
        self.others = self.others.and(added);
        self.others_until = until;
        Ok(self.others.and(self.amounts.all()))
    }
}

impl TurnBudget {
    pub(crate) fn new(
        limits: Limits,
        prices: Prices,
        root: SessionId,
        before: SpentBefore,
    ) -> Self {
        Self {
            limits,
            prices,
            root,
            before,
            began: Instant::now(),
            amounts: Mutex::default(),
            reached: OnceLock::new(),
        }
    }

    /// Sets aside what a call may need, or says which limit it would pass.
    pub(crate) fn admit(
        &self,
        host: &Host,
        model: &str,
        size: CallSize,
    ) -> Result<Reservation, HostError> {
        if let Some(reached) = self.reached() {
            return Err(reached.clone().into());
        }
        let usage = Usage {
            input_tokens: size.prompt_tokens,
            output_tokens: size.output_tokens,
            ..Usage::default()
        };
        let needed = self.spent(model, usage);
        let mut day = host.day();
        let day = day.at(host.now());
        let today = day.by_all(host)?.and(self.time());
        let mut amounts = self.amounts();
        let turn = amounts.all().and(self.time());
        self.limits
            .check(Period::Turn, turn, needed)
            .and_then(|()| {
                self.limits.check(Period::Session, self.before.session.and(turn), needed)
            })
            .and_then(|()| self.limits.check(Period::Day, today, needed))?;
        amounts.reserved = amounts.reserved.and(needed);
        day.amounts.reserved = day.amounts.reserved.and(needed);
        Ok(Reservation(needed))
    }

    /// Counts what a call used; returns its cost, if its price is known.
    pub(crate) fn settle(
        &self,
        host: &Host,
        Reservation(reserved): Reservation,
        call: &EndedCall<'_>,
    ) -> Option<u64> {
        let cost = self.prices.of(call.model).map(|price| price.cost(call.usage));
        self.count(
            host,
            reserved,
            Spending {
                session: call.session.clone(),
                root: self.root.clone(),
                turn: call.turn,
                owner: host.owner.clone(),
                model: call.model.to_owned(),
                tokens: total(call.usage),
                cost,
                millis: 0,
                at: host.now(),
            },
        );
        cost
    }

    /// Counts the time of the turn, when it has ended.
    pub(crate) fn end(&self, host: &Host, turn: TurnNumber) {
        self.count(
            host,
            Spent::default(),
            Spending {
                session: self.root.clone(),
                root: self.root.clone(),
                turn: Some(turn),
                owner: host.owner.clone(),
                model: String::new(),
                tokens: 0,
                cost: Some(0),
                millis: self.time().millis,
                at: host.now(),
            },
        );
    }

    fn count(&self, host: &Host, reserved: Spent, spending: Spending) {
        let used = Spent::from(&spending);
        host.day().at(spending.at).amounts.settle(reserved, used);
        self.amounts().settle(reserved, used);
        if spending.tokens == 0 && spending.millis == 0 {
            return;
        }
        let written = host.writer.submit(spending.at, move |write| write.spending_add(&spending));
        if let Err(error) = written {
            tracing::error!("cannot record what was spent: {error}");
        }
    }

    /// Fails when the time is up.
    pub(crate) fn check_time(&self) -> Result<(), LimitReached> {
        let time = self.time();
        let none = Spent::default();
        let only_time = |spent: Spent| Spent { millis: spent.millis, ..none }.and(time);
        self.limits.check(Period::Turn, time, none)?;
        self.limits.check(Period::Session, only_time(self.before.session), none)?;
        self.limits.check(Period::Day, only_time(self.before.day), none)
    }

    /// Notes that a limit ends the turn; whether it is the first one.
    pub(crate) fn reach(&self, limit: &LimitReached) -> bool {
        self.reached.set(limit.clone()).is_ok()
    }

    /// The limit that ends the turn.
    pub(crate) fn reached(&self) -> Option<&LimitReached> {
        self.reached.get()
    }

    /// What the agents of this message have used so far.
    pub(crate) fn used(&self) -> Spent {
        self.amounts().used
    }

    fn spent(&self, model: &str, usage: Usage) -> Spent {
        let cost = self.prices.of(model).map(|price| price.cost(usage));
        let tokens = total(usage);
        Spent {
            tokens,
            cost: cost.unwrap_or_default(),
            unpriced_tokens: if cost.is_none() { tokens } else { 0 },
            millis: 0,
        }
    }

    fn time(&self) -> Spent {
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Spent { millis, ..Spent::default() }
    }

    fn amounts(&self) -> MutexGuard<'_, Amounts> {
        self.amounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    /// What was spent before a message to this session; fails if that reaches a limit already.
    pub(crate) fn spent_before(
        &self,
        limits: &Limits,
        session: Option<&SessionId>,
    ) -> Result<SpentBefore, HostError> {
        let spent = session.map(|session| self.reader.spent_in_session(session)).transpose()?;
        let before = SpentBefore { session: spent.unwrap_or_default(), day: self.spent_today()? };
        limits.check(Period::Session, before.session, Spent::default())?;
        limits.check(Period::Day, before.day, Spent::default())?;
        Ok(before)
    }

    /// What was spent today in this workspace.
    fn spent_today(&self) -> Result<Spent, HostError> {
        self.day().at(self.now()).by_all(self)
    }

    fn day(&self) -> MutexGuard<'_, DaySpending> {
        self.day_spending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn total(usage: Usage) -> u64 {
    [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
        .into_iter()
        .fold(0, u64::saturating_add)
}
