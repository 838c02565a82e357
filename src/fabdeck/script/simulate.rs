//! `simulate --serve`.

use std::collections::BTreeMap;

use super::args::SimulateArgs;
use super::context::Context;
use super::json::{Object, ObjectHead};
use super::traffic;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::system::access::ServeReport;
use fabdeck_mad::Method;
use fabdeck_mad::access::MadTraffic;

pub fn run(context: &mut Context<'_, '_>, args: &SimulateArgs) -> Result<Exit, Failure> {
    context.refuse_filter("simulate")?;
    let source = context.env().named_source()?.to_owned();
    let Some(socket) = args.serve.as_deref() else {
        return traffic::run(context, args);
    };
    let outside = context.outside;
    let reach = context.options.reach.clone();
    let served = outside.serve(&source, &reach, socket, &mut |line| context.output.print_message(&line))?;
    report(context, &source, &served)?;
    Ok(Exit::Done)
}

fn report(context: &mut Context<'_, '_>, source: &str, served: &ServeReport) -> Result<(), Failure> {
    let ServeReport { clients, dropped, traffic, behind, notes } = served;
    let datagrams = count_by_method(traffic);
    if context.output.json {
        let head = ObjectHead {
            schema: "simulate",
            source: Some(source),
            time: None,
            assumed: None,
            partial: false,
            notes,
        };
        let mut object = Object::begin(context.output.out, &head)?;
        object.field("clients", clients)?;
        object.field("datagrams", &datagrams)?;
        object.field("writes", &traffic.write_count())?;
        object.field("dropped", dropped)?;
        object.field("ratio_asked", &behind.map(|[asked, _]| asked))?;
        object.field("ratio_held", &behind.map(|[_, held]| held))?;
        object.end()?;
        return Ok(());
    }
    context.output.print_notes(notes);
    if let Some([asked, held]) = behind {
        context.output.print_message(&format!(
            "packets moved at a time ratio of 1:{held}, not at the requested 1:{asked}"
        ));
    }
    let methods: Vec<String> = datagrams.iter().map(|(method, count)| format!("{method}: {count}")).collect();
    let methods = if methods.is_empty() { String::new() } else { format!(" ({})", methods.join(", ")) };
    let clients = count_words(*clients as usize, "client", "clients");
    let sent = count_words(traffic.total_sent() as usize, "datagram", "datagrams");
    let writes =
        count_words(traffic.write_count() as usize, "of them able to write", "of them able to write");
    let dropped = count_words(*dropped as usize, "answer", "answers");
    context
        .output
        .print_message(&format!("{clients} served: {sent} received{methods}, {writes}; {dropped} dropped"));
    Ok(())
}

/// Numbers of datagrams from clients, by the names of methods in the specification.
fn count_by_method(traffic: &MadTraffic) -> BTreeMap<String, u64> {
    let name = |method: u8| match Method(method) {
        Method::GET => "Get".to_owned(),
        Method::SET => "Set".to_owned(),
        Method::SEND => "Send".to_owned(),
        Method::TRAP => "Trap".to_owned(),
        Method::REPORT => "Report".to_owned(),
        Method::TRAP_REPRESS => "TrapRepress".to_owned(),
        Method::GET_TABLE => "GetTable".to_owned(),
        Method::GET_RESPONSE => "GetResp".to_owned(),
        Method::REPORT_RESPONSE => "ReportResp".to_owned(),
        Method::GET_TABLE_RESPONSE => "GetTableResp".to_owned(),
        Method(other) => format!("0x{other:02x}"),
    };
    traffic.sent.iter().map(|(method, count)| (name(*method), *count)).collect()
}
