//! The environment of the site's programs: hooks of agents and programs of runbooks. They get the listed variables and
//! nothing else, so that the session in which fabdeck starts does not affect them.

use std::process::Command;

/// The variables that are passed on, if set. docs/agent.md and docs/runbooks.md have the list.
const PASSED_VARIABLES: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_RUNTIME_DIR"];

/// Restricts a command to the listed variables. Variables that are added after this call stay.
pub fn set_listed_environment(command: &mut Command) {
    command.env_clear();
    command.envs(PASSED_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cargo sets variables of its own for every test.
    #[test]
    fn a_program_of_the_site_gets_the_listed_variables_alone() {
        assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
        let mut command = Command::new("env");
        set_listed_environment(&mut command);
        command.env("FABDECK_LID", "7");
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let names: Vec<&str> = said.lines().filter_map(|line| line.split('=').next()).collect();
        assert!(names.contains(&"PATH") && names.contains(&"FABDECK_LID"), "{names:?}");
        let listed = |name: &&str| PASSED_VARIABLES.contains(name) || *name == "FABDECK_LID";
        assert!(names.iter().all(listed), "{names:?}");
    }
}
