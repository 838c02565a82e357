//! The details of a member of a partition or of a multicast group.

use crate::catalogue::field::Listing;
use crate::catalogue::summary::count_words;
use crate::catalogue::views::groups::GroupMember;
use crate::catalogue::views::partitions::PartitionRow;
use crate::console::model::detail_page::{DetailLine, DetailPage};
use crate::console::model::fabric_model::Model;
use crate::operations::rowset::Rowset;

/// The page of a row; `None` for rows of other lists.
pub fn member_page(rows: &Rowset, row: usize, known: &Model) -> Option<DetailPage> {
    let look = known.look.as_deref()?;
    let (title, mut pairs) = match rows {
        Rowset::Partitions(members) => {
            let member = members.get(row)?;
            let title = match member.key() {
                Some(key) => format!("partition {key}: {}", look.port_name(member.port())),
                None => look.port_name(member.port()),
            };
            (title, partition_lines(members, member))
        }
        Rowset::Groups(members) => {
            let member = members.get(row)?;
            let group = member.group(look);
            let name = group.name().unwrap_or_else(|| group.mgid.to_string());
            let port = member.port_words(look).map_or_else(String::new, |port| format!(": {port}"));
            (format!("group {name}{port}"), group_lines(members, row, &group.mgid.to_string()))
        }
        _ => return None,
    };
    pairs.extend(field_lines(&*rows.listing(look), row));
    Some(DetailPage { title, pairs, ports: Vec::new() })
}

/// Number of members of the partition of a row.
fn partition_lines(members: &[PartitionRow], of: &PartitionRow) -> Vec<DetailLine> {
    let Some(number) = of.key().map(|key| key.number()) else { return Vec::new() };
    // Rows are sorted by partition.
    let first = members.partition_point(|row| row.key().is_some_and(|key| key.number() < number));
    let same = members[first..].iter().map_while(|row| row.key().filter(|key| key.number() == number));
    let (all, full) = same.fold((0, 0), |(all, full), key| (all + 1, full + usize::from(key.is_full())));
    vec![(
        "partition",
        format!("{}, {full} full and {} limited", count_words(all, "member", "members"), all - full),
    )]
}

/// Number of members of the group of a row, and how many of them its tree reaches.
fn group_lines(members: &[GroupMember], row: usize, mgid: &str) -> Vec<DetailLine> {
    let mut lines = vec![("MGID", mgid.to_owned())];
    let is_same = |member: &&GroupMember| member.is_of_group(&members[row]);
    let before = members[..row].iter().rev().take_while(is_same);
    let all = before.chain(members[row..].iter().take_while(is_same)).filter(|member| member.has_port());
    let (count, known, reached) = all.fold((0, 0, 0), |(count, known, reached), member| {
        let in_tree = member.in_tree();
        (count + 1, known + usize::from(in_tree.is_some()), reached + usize::from(in_tree == Some(true)))
    });
    let tree = match known {
        0 => "its tree is not known".to_owned(),
        _ => format!("its tree leads to {reached} of {known}"),
    };
    lines.push(("group", format!("{}; {tree}", count_words(count, "member", "members"))));
    lines
}

/// The values of the row, with the columns that the list leaves out.
fn field_lines(listing: &dyn Listing, row: usize) -> Vec<DetailLine> {
    let skipped = ["mgid", "group", "node_guid"];
    let columns = (0..listing.column_count()).filter(|at| !skipped.contains(&&*listing.column(*at).id));
    let line = |at: usize| {
        let label = match &*listing.column(at).id {
            "pkey" => "P_Key",
            "node" => "node",
            "port" => "port",
            "member" => "member",
            "at_switch" => "at switch",
            "enforced" => "enforced",
            "mlid" => "MLID",
            "level" => "SL",
            "state" => "state",
            _ => "in tree",
        };
        let value = listing.cell(row, at);
        (!value.is_missing()).then(|| (label, value.to_string()))
    };
    columns.filter_map(line).collect()
}
