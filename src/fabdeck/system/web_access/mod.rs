//! Who may read the pages of a service: TLS and passwords, by the web configuration file that exporters share.

pub mod access_rules;
pub mod certificates;
mod password_gate;
pub mod secret_file;
mod web_config;
