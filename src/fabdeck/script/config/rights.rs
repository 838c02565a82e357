//! `[rights]`: requests to guards that users other than the owner of the state folder may send.

use fabdeck_change::{Grantee, Rights};

pub(super) const RIGHTS_HINT: &str = "[rights] has lists such as confirm = [\"ada\", \"@operators\", \"1001\"]; the rights are \
                                      list, confirm, extend, rollback; \"*\" means all users";

pub(super) fn rights(value: &toml::Value) -> Result<Rights, String> {
    let table = value.as_table().ok_or("FD-7116: 'rights' is no table: write [rights]")?;
    let mut rights = Rights::default();
    for (key, value) in table {
        let granted = match key.as_str() {
            "list" => &mut rights.list,
            "confirm" => &mut rights.confirm,
            "extend" => &mut rights.extend,
            "rollback" => &mut rights.roll_back,
            _ => return Err(format!("FD-7116: [rights] {key}: it is no right")),
        };
        *granted =
            grantees(value).ok_or_else(|| format!("FD-7116: [rights] {key}: it is no list of users"))?;
    }
    Ok(rights)
}

fn grantees(value: &toml::Value) -> Option<Vec<Grantee>> {
    value.as_array()?.iter().map(|item| Grantee::parse(item.as_str()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_lists_of_users() {
        let parse = |text: &str| rights(&toml::Value::Table(text.parse().unwrap()));
        let read = parse("list = [\"*\"]\nrollback = [\"ada\", \"@operators\"]").unwrap();
        assert_eq!(read.list, [Grantee::Everyone]);
        assert_eq!(read.roll_back.len(), 2);
        assert!(read.confirm.is_empty() && read.extend.is_empty());
        for wrong in ["apply = [\"ada\"]", "confirm = \"ada\"", "confirm = [1]", "confirm = [\"\"]"] {
            assert!(parse(wrong).unwrap_err().contains("FD-7116"), "{wrong}");
        }
    }
}
