//! Work that starts on its own: the heartbeat and the times of schedules.

pub(crate) mod heartbeat;

pub(crate) mod cron;
