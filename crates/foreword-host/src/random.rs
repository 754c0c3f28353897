//! Random tokens, names and canaries.

use foreword_guard::Canary;

use crate::error::HostError;

pub(crate) fn new_canary() -> Result<Canary, HostError> {
    Ok(Canary::from_random(random::<16>()?))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], HostError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        HostError::io("get random bytes", std::io::Error::other(error.to_string()))
    })?;
    Ok(bytes)
}

pub(crate) fn random_hex<const N: usize>() -> Result<String, HostError> {
    Ok(random::<N>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
