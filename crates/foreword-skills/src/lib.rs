//! Skills an agent may write, and nobody has to fear: formats, names, stores, proposals.
//!
//! Every mutation goes through the audit log; there is no way around it.
