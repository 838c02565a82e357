//! The rights of users other than the owner of a state folder: what the owner's configuration grants, and nothing else.
//! The kernel identifies the caller (`SO_PEERCRED`); a name in the request gives no right.

use std::os::unix::net::UnixStream;
use std::str::FromStr;

use rustix::net::sockopt;

use super::protocol::GuardRequest;
use crate::user_names;

/// The process at the other end of a guard's socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    pub uid: u32,
    pub gid: u32,
    pub name: String,
}

/// Users to whom a right is granted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Grantee {
    Everyone,
    Uid(u32),
    User(String),
    Group(String),
}

/// The rights that the configuration grants. The owner of the state folder and root have all of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rights {
    pub list: Vec<Grantee>,
    pub confirm: Vec<Grantee>,
    pub extend: Vec<Grantee>,
    pub roll_back: Vec<Grantee>,
}

impl Caller {
    pub fn of(stream: &UnixStream) -> std::io::Result<Self> {
        let peer = sockopt::socket_peercred(stream)?;
        let (uid, gid) = (peer.uid.as_raw(), peer.gid.as_raw());
        Ok(Self { uid, gid, name: user_names::user_label(uid) })
    }

    /// The name for journal and trail. A caller may only add to its name (`root (sudo by ada)`).
    pub fn signature<'a>(&'a self, claimed: &'a str) -> &'a str {
        let adds = claimed.strip_prefix(&self.name).is_some_and(|more| more.starts_with(" ("));
        if adds { claimed } else { &self.name }
    }

    fn matches(&self, grantee: &Grantee) -> bool {
        match grantee {
            Grantee::Everyone => true,
            Grantee::Uid(uid) => *uid == self.uid,
            Grantee::User(name) => *name == self.name,
            Grantee::Group(group) => user_names::is_in_group(&self.name, self.gid, group),
        }
    }
}

impl FromStr for Grantee {
    type Err = &'static str;

    /// Parses `*`, `ada`, `1001` or `@fabric`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix('@') {
            _ if matches!(text, "" | "@") => Err("an empty name is no user"),
            Some(group) => Ok(Self::Group(group.to_owned())),
            None if text == "*" => Ok(Self::Everyone),
            None => Ok(text.parse().map_or_else(|_| Self::User(text.to_owned()), Self::Uid)),
        }
    }
}

impl Rights {
    /// Whether a caller may send this request to a guard that runs as `owner`.
    pub fn is_allowed(&self, ask: &GuardRequest, caller: &Caller, owner: u32) -> bool {
        let nobody = Vec::new();
        let granted = match ask {
            // The guard sends signals to that process with its own rights.
            GuardRequest::NameOpensm { .. } => &nobody,
            GuardRequest::Status => &self.list,
            GuardRequest::Confirm { .. } | GuardRequest::GoOn { .. } => &self.confirm,
            GuardRequest::Extend { .. } => &self.extend,
            GuardRequest::RollBack { .. } => &self.roll_back,
        };
        caller.uid == owner || caller.uid == 0 || granted.iter().any(|grantee| caller.matches(grantee))
    }
}

/// Why a guard refuses a caller.
pub(crate) fn refusal(ask: &GuardRequest, caller: &Caller) -> String {
    if matches!(ask, GuardRequest::NameOpensm { .. }) {
        return format!(
            "FD-5665: {} cannot name OpenSM's process here: only the owner of the change and root can",
            caller.name
        );
    }
    let (name, right) = (&caller.name, right_name(ask));
    format!(
        "FD-5665: {name} has no right to {right} changes here: their owner grants it in the configuration, for later changes, below \
         [rights]: {right} = [\"{name}\"]"
    )
}

fn right_name(ask: &GuardRequest) -> &'static str {
    match ask {
        GuardRequest::Status => "list",
        GuardRequest::Confirm { .. } | GuardRequest::GoOn { .. } => "confirm",
        GuardRequest::Extend { .. } => "extend",
        GuardRequest::RollBack { .. } => "rollback",
        GuardRequest::NameOpensm { .. } => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_those_of_the_configuration_and_no_more() {
        let caller = |uid, name: &str| Caller { uid, gid: uid, name: name.to_owned() };
        let rights = Rights {
            list: vec![Grantee::Everyone],
            confirm: vec![Grantee::User("ada".to_owned()), Grantee::Uid(1007)],
            ..Rights::default()
        };
        let confirm = GuardRequest::Confirm { user: "ada".to_owned() };
        let back = GuardRequest::RollBack { user: String::new(), anyway: false };
        let named = GuardRequest::NameOpensm { user: String::new(), process: "1".to_owned() };
        for (caller, ask, allowed) in [
            (caller(0, "root"), &back, true),
            (caller(1000, "owner"), &back, true),
            (caller(1001, "ada"), &GuardRequest::Status, true),
            (caller(1001, "ada"), &confirm, true),
            (caller(1001, "ada"), &back, false),
            (caller(1001, "ada"), &named, false),
            (caller(1000, "owner"), &named, true),
            (caller(1007, "uid 1007"), &confirm, true),
            // A name in the request gives no right.
            (caller(1002, "bo"), &confirm, false),
        ] {
            assert_eq!(rights.is_allowed(ask, &caller, 1000), allowed, "{caller:?} {ask:?}");
        }
    }

    #[test]
    fn a_claim_adds_to_the_name_and_does_not_replace_it() {
        let root = Caller { uid: 0, gid: 0, name: "root".to_owned() };
        assert_eq!(root.signature("root (sudo by ada)"), "root (sudo by ada)");
        assert_eq!(root.signature("ada"), "root");
        assert_eq!(root.signature("rooted (x)"), "root");
    }

    #[test]
    fn grantees_are_names_numbers_groups_or_all() {
        assert_eq!("*".parse(), Ok(Grantee::Everyone));
        assert_eq!("1001".parse(), Ok(Grantee::Uid(1001)));
        assert_eq!("ada".parse(), Ok(Grantee::User("ada".to_owned())));
        assert_eq!("@fabric".parse(), Ok(Grantee::Group("fabric".to_owned())));
        assert!(["", "@"].iter().all(|text| text.parse::<Grantee>().is_err()));
    }

    #[test]
    fn a_refusal_names_the_right_and_the_line_that_grants_it() {
        let caller = Caller { uid: 1002, gid: 1002, name: "bo".to_owned() };
        let user = || "bo".to_owned();
        for (ask, right) in [
            (GuardRequest::Status, "list"),
            (GuardRequest::Confirm { user: user() }, "confirm"),
            (GuardRequest::GoOn { user: user() }, "confirm"),
            (GuardRequest::Extend { user: user(), seconds: 60 }, "extend"),
            (GuardRequest::RollBack { user: user(), anyway: false }, "rollback"),
        ] {
            let said = refusal(&ask, &caller);
            assert!(said.contains(&format!("bo has no right to {right} changes here")), "{said}");
            assert!(said.ends_with(&format!("[rights]: {right} = [\"bo\"]")), "{said}");
        }
    }
}
