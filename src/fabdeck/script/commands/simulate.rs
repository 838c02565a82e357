//! `simulate --serve`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use super::traffic;
use super::traffic::TrafficArgs;
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::script::answer::{json_answer, write_object};
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::context::Context;
use crate::script::json::ObjectHead;
use crate::script::json_schema::JsonSchema;
use crate::system::access::ServeReport;
use fabdeck_mad::Method;
use fabdeck_mad::access::MadTraffic;

pub const SIMULATE: CommandEntry = CommandEntry::new(
    "simulate",
    "Simulate traffic, or serve a simulated fabric to other processes",
    "With --pattern packets flow over virtual lanes with credits, under the tables in force, assumed tables, \
     or those of --engine. The output has throughput (total, by host, by flow), latency, the share of each \
     lane, and the ports that wait. Lanes come from SL2VL tables and path records as for `check`; arbitration \
     tables count. A deadlock (buffers that wait for each other) is named and ends with exit code 2; \
     congestion does not. The same seed gives the same run. With --serve the fabric answers other processes \
     behind a Unix socket, until Ctrl-C. `--source sim:./SOCKET` is that fabric, `sim:./SOCKET,at=NODE` the \
     same seen from a node. All clients share one fabric, and a client that ends or hangs disturbs no other. \
     At the end the number of clients and their requests by method are printed.",
)
.needs_fabric()
.danger(Danger::OpensSocket)
.examples(&[
    "fabdeck --source sim:demo simulate --pattern uniform --for 200us",
    "fabdeck --source sim:torus,dims=6 simulate --pattern uniform --engine dfsssp --for 100us",
    "fabdeck --source sim:demo simulate --pattern hotspot --share 20% --slow-level 1 --for 200us",
    "fabdeck --source sim:mport,m=4,n=3 simulate --pattern centric --engine mlid --lanes-spread 2 --output-buffer 1 --for 50us",
    "fabdeck --source sim:kary,k=2,n=3 simulate --pattern uniform --engine sftree --switch-load 100% --every 50us --for 200us",
    "fabdeck --source sim:switch648 simulate --serve fabric.sock",
])
.runs(&CommandFunction(run))
.at(OptionUse::UsedWith(|matches| !matches.contains_id("serve")))
.assume(OptionUse::UsedWith(|matches| !matches.contains_id("serve")))
.json(&[JsonSchema::answer::<ServeAnswer<'_>>("simulate").titled("simulate --serve SOCKET"), JsonSchema::answer::<traffic::ThroughputAnswer<'_>>("throughput").titled("simulate --pattern PATTERN")]);

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Run the fabric for other processes, behind a Unix socket at this path
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["pattern", "time_ns", "until_steady", "engine", "lanes",
        "lanes_in_force", "fail", "fail_random", "seed", "load", "host_limit", "payload", "buffer", "output_buffer", "lanes_spread", "flight", "forwarding", "spots", "share", "slow_level",
        "message", "among", "beside", "switch_load", "switch_level", "every", "top", "dimension_ports", "tables", "levels", "torus", "spread_lanes", "plain_search"])]
    pub serve: Option<PathBuf>,
    /// Run traffic: uniform, shift, hotspot, centric, permutation, ring, pingpong, or flows=FILE with a flow 'SRC DST' on each
    /// line
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<String>,
    #[command(flatten)]
    pub traffic: TrafficArgs,
}

fn run(context: &mut Context<'_, '_>, args: &SimulateArgs) -> Result<Exit, Failure> {
    let source = context.env().named_source()?.to_owned();
    let Some(socket) = args.serve.as_deref() else {
        return traffic::run(context, args.pattern.as_deref(), &args.traffic);
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
        let answer = ServeAnswer {
            clients: *clients,
            datagrams: &datagrams,
            writes: traffic.write_count(),
            dropped: *dropped,
            ratio_asked: behind.map(|[asked, _]| asked),
            ratio_held: behind.map(|[_, held]| held),
        };
        return Ok(write_object(context.output.out, &head, answer)?);
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

json_answer! {
    struct ServeAnswer<'a> {
        clients: u64,
        datagrams: &'a BTreeMap<String, u64>,
        writes: u64,
        dropped: u64,
        ratio_asked: Option<u64>,
        ratio_held: Option<u64>,
    }
}
