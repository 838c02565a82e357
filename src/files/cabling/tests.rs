use super::plan_reader::BAD_LINE;
use super::*;
use crate::text::Input;
use fabdeck_fabric::{LinkSpeed, LinkWidth};
use proptest::prelude::*;

fn plan(text: &str) -> CablingPlan {
    read(Input::new("f", text.as_bytes())).unwrap()
}

/// Line, both ends and rate of each cable.
fn shown(plan: &CablingPlan) -> Vec<String> {
    let line = |cable: &PlanCable| cable.line.unwrap_or(0);
    let cables = plan.cables.iter();
    cables
        .map(|cable| {
            let [a, b] = &cable.ends;
            format!("{}:{} {} {}", line(cable), a.name(), b.name(), cable.rate.words()).trim_end().to_owned()
        })
        .collect()
}

fn bad_lines(plan: &CablingPlan) -> Vec<(Option<u64>, u64)> {
    plan.notes.iter().filter(|note| note.code == BAD_LINE).map(|note| (note.first.line, note.count)).collect()
}

#[test]
fn a_topology_file_has_systems_and_their_cables() {
    let text = "# plan\nMQM8700 sw01 CFG: leaf1=LEAF\n   P2 -4x-50G-> HCA_3 host4 mlx5_0/P1 # first\n\tP3 -> MQM8700 sw02 P3\n\
        \n   P4 -2.5G-> MQM8700 sw02 P4\nGNU l1\n\n M/P5 -12x-> MQM8700 sw02 P5\n";
    let plan = plan(text);
    assert_eq!(plan.form, PlanForm::Topo);
    assert_eq!(
        shown(&plan),
        [
            "3:sw01[2] host4[mlx5_0/P1] 4x HDR",
            "4:sw01[3] sw02[3]",
            "6:sw01[4] sw02[4] SDR",
            "9:l1[M/P5] sw02[5] 12x",
        ]
    );
    assert!(plan.notes.iter().next().is_none());
}

#[test]
fn a_bad_line_of_a_topology_file_takes_no_other() {
    let text = "SW36 a\n P1 -4x-> SW36 b P1\n P2 -4x- SW36 b P2\n P3 -5x-> SW36 b P3\n P4\nbroken\n P5 -> SW36 b P5\n\
        SW36 c\n P6 -> SW36 b P6\n";
    let plan = plan(text);
    assert_eq!(shown(&plan), ["2:a[1] b[1] 4x", "9:c[6] b[6]"]);
    assert_eq!(bad_lines(&plan), [(Some(3), 5)]);
}

#[test]
fn sheets_are_recognised_by_their_headings() {
    let rows = ["2:leaf3[21] dir1[Blade 16_Port 2/20] 200 Gb/s", "3:leaf3[1/2/1] h1[mlx5_0/P1]"];
    for (text, form) in [
        (
            "#StartDevice,StartPort,EndDevice,EndPort,LinkType,Speed\n\
             leaf3,Port 21,dir1,Blade 16_Port 2/20,Data,200000\nleaf3,1/2/1,h1,mlx5_0,Data,-\n",
            PlanForm::Ndt,
        ),
        (
            "\u{feff}A-Node Name;A-Type;A-Port;Z-Node Name;Z-Type;Z-Port;Speed\r\n\
             leaf3;SW;21;dir1;SW;Blade 16_Port 2/20;200G\r\nleaf3;SW;1/2/1;h1;HCA;mlx5_0/P1;TBD\r\n",
            PlanForm::PointToPoint,
        ),
        (
            "Rack\tU\tName\tHCA/Port\tRack\tU\tName\tPort\tbandwidth\n\
             R1\t3\tleaf3\tP21\tR2\t4\tdir1\tblade 16 port 2/20\t200 Gb/s\nR1\t3\tleaf3\t1/2/1\tR2\t5\th1\tmlx5_0\t\n",
            PlanForm::PointToPoint,
        ),
        (
            "speed,to_port,from_port,to device,from device\n\
             200,Blade 16_Port 2/20,swp21,dir1,leaf3\n,mlx5_0,1/2/1,h1,leaf3\n",
            PlanForm::Table,
        ),
    ] {
        let plan = plan(text);
        assert_eq!((plan.form, shown(&plan)), (form, rows.map(str::to_owned).to_vec()), "{text}");
        assert_eq!(plan.notes.iter().count(), 0, "{text}");
    }
}

#[test]
fn places_belong_to_their_end_and_lines_above_the_heading_are_none() {
    let text = "Cabling of hall 2,,,,,,,,,\n,From,,,,To,,,,\n\
        rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,U height,Cable Length\n\
        R7,U41,a,Port 1,loc1,b,Port 2,loc2,U25,10\n\
        ,,,,,,,,,\n";
    let plan = plan(text);
    let [cable] = plan.cables.as_slice() else { panic!("{:?}", plan.cables) };
    assert_eq!(cable.ends.each_ref().map(|end| end.place.text()), ["rack R7, U U41", "rack loc2, U U25"]);
    assert_eq!((cable.length.as_deref(), cable.line), (Some("10"), Some(4)));
}

#[test]
fn a_bad_line_of_a_sheet_takes_no_other() {
    let text = "StartDevice,StartPort,EndDevice,EndPort,Speed,LinkType,Speed\na,1,b,1,HDR,Data,\n,2,b,2,,,\na,,b,3,,,\n\
        \"a,4,b,4,,,\na,5,b,5,fast,,\na,6,oob,1,,Management,\na,7,b,7,,,\n";
    let plan = plan(text);
    assert_eq!(shown(&plan), ["2:a[1] b[1] HDR", "6:a[5] b[5]", "8:a[7] b[7]"]);
    let notes: Vec<_> = plan.notes.iter().map(|note| (note.code, note.first.line, note.count)).collect();
    assert_eq!(notes, [("FN-466", Some(3), 4), ("FN-467", Some(1), 1), ("FN-468", Some(7), 1)]);
}

#[test]
fn other_text_is_no_plan() {
    for text in [
        "",
        "device,port,label\nleaf1,1,a\n",
        "Switch 8 \"leaf0\"\n[1] \"h0\"[1]\n",
        "0xa1 \"leaf1\"\n",
        "StartDevice,StartPort,EndDevice\n",
    ] {
        assert!(!looks_like(text), "{text}");
        assert_eq!(read(Input::new("f", text.as_bytes())).unwrap_err().code, "FD-2422", "{text}");
    }
    let empty = read(Input::new("f", b"a_device,a_port,b_device,b_port\nx,,y,1\n")).unwrap_err();
    assert_eq!((empty.code, empty.place.line), ("FD-2423", Some(2)));
    assert!(empty.what.contains("the first end has no port"), "{}", empty.what);
}

#[test]
fn a_rate_is_below_its_plan_in_lanes_or_in_speed() {
    let rate = |text: &str| PlannedRate::parse(text).unwrap();
    let (x4, x1, x2) = (Some(LinkWidth::X4), Some(LinkWidth::X1), Some(LinkWidth::X2));
    let (hdr, edr, ndr) = (Some(LinkSpeed::Hdr), Some(LinkSpeed::Edr), Some(LinkSpeed::Ndr));
    for (planned, found, narrower, slower) in [
        ("200G", (x4, hdr), false, false),
        ("200000", (x4, edr), false, true),
        ("200", (x1, hdr), true, false),
        // Half of a split NDR port carries as much as HDR.
        ("200G", (x2, ndr), false, false),
        ("4x HDR", (x4, ndr), false, false),
        ("4x-HDR", (x1, edr), true, true),
        ("HDR", (x1, hdr), false, false),
        ("400 Gb/s", (None, None), false, false),
    ] {
        let rate = rate(planned);
        let (width, speed) = found;
        let judged = (rate.is_narrower(width, speed), rate.is_slower(width, speed));
        assert_eq!(judged, (narrower, slower), "{planned} {found:?}");
    }
    for text in ["fast", "G", "0"] {
        assert_eq!(PlannedRate::parse(text), None, "{text}");
    }
}

#[test]
fn ports_are_written_in_many_ways() {
    let part = |part: &str, port| PortText::Part(part.to_owned(), port);
    let label = |text: &str| PortText::Label(text.to_owned());
    for (text, port) in [
        ("21", PortText::Number(21)),
        ("P21", PortText::Number(21)),
        ("Port 21", PortText::Number(21)),
        ("port_21", PortText::Number(21)),
        ("swp3", PortText::Number(3)),
        ("IB Port 3", PortText::Number(3)),
        ("1/2/1", label("1/2/1")),
        ("12/1", label("12/1")),
        ("0", label("0")),
        ("300", label("300")),
        ("mlx5_0", part("mlx5_0", 1)),
        ("HCA-2", part("HCA-2", 1)),
        ("mlx5_0/P2", part("mlx5_0", 2)),
        ("L1/U2/P3", part("L1/U2", 3)),
        ("Blade 16_Port 2/20", PortText::Board { board: 16, chip: 2, port: 20 }),
        ("Leaf 3 Port 7", PortText::Board { board: 3, chip: 1, port: 7 }),
        ("", label("")),
    ] {
        assert_eq!(PortText::parse(text), port, "{text}");
        assert_eq!(PortText::parse(&port.to_string()), port, "{text}: written and read");
    }
}

#[test]
fn a_topology_file_names_switches_without_their_model_and_chips_of_one_director_not_at_all() {
    let text = "a_guid,a_kind,a_device,a_port,b_guid,b_kind,b_device,b_port\n\
        0x1,switch,MF0;Leaf3:MQM9700/U1,3,0x4,host,node1 mlx5_0,1\n\
        0x1,switch,MF0;Leaf3:MQM9700/U1,4,0x2,switch,MF0;dir1:CS8500/L1/U1,20\n\
        0x1,switch,MF0;Leaf3:MQM9700/U1,5,0x3,switch,MF0;dir1:CS8500/L1/U2,20\n";
    let written = write_topo(&plan(text));
    assert_eq!(written.text, "SW3 Leaf3\n   P3 -> HCA1 node1 mlx5_0/P1\n\n");
    assert_eq!((written.cables, written.left_out.len()), (1, 2));
    assert!(written.left_out[0].contains("several devices are called"), "{:?}", written.left_out);
}

proptest! {
    #[test]
    fn no_sheet_panics(body in "[aP1,;\t\"\n/-]{0,80}") {
        let _ = read(Input::new("f", format!("StartDevice,StartPort,EndDevice,EndPort,Speed\n{body}").as_bytes()));
    }

    #[test]
    fn no_topology_file_panics(body in "[aP1 >#\n/x-]{0,80}") {
        let _ = read(Input::new("f", format!("SW a\n P1 -> SW b P1\n{body}").as_bytes()));
    }
}
