//! Byte layouts of MADs against the headers of Debian's libopensm-dev: a C program prints offsets and sizes of its
//! structures, the same are measured here.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::process::Command;

use fabdeck_fabric::{Lane, LinkSpeed, LinkWidth, PhysicalState, PortState, ServiceLevel, Sl2Vl};
use fabdeck_mad::*;

type Offsets = BTreeMap<String, usize>;

/// The fields to compare: ours first, then the header's.
macro_rules! layout {
    ($($ours:ident = $theirs:ident { $($field:ident = $name:literal),* $(,)? })*) => {{
        let mut here = Offsets::new();
        let mut program = String::from("#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/iba/ib_types.h>\nint main(void) {\n");
        $(
            here.insert(format!("sizeof {}", stringify!($theirs)), size_of::<$ours>());
            program += &format!("printf(\"sizeof {0} %zu\\n\", sizeof({0}));\n", stringify!($theirs));
            $(
                here.insert(format!("{} {}", stringify!($theirs), $name), offset_of!($ours, $field));
                program += &format!("printf(\"{0} {1} %zu\\n\", offsetof({0}, {1}));\n", stringify!($theirs), $name);
            )*
        )*
        program += "return 0; }\n";
        (here, program)
    }};
}

fn compiled(program: &str) -> Offsets {
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("offsets.c"), folder.path().join("offsets"));
    std::fs::write(&source, program).unwrap();
    let built = Command::new("cc")
        .arg("-I/usr/include/infiniband")
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()
        .expect("cc (Debian: gcc)");
    let talk = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "headers of libopensm-dev are needed: {talk}");
    let said = Command::new(&binary).output().unwrap();
    let line = |line: &str| line.rsplit_once(' ').map(|(name, at)| (name.to_owned(), at.parse().unwrap()));
    String::from_utf8(said.stdout).unwrap().lines().filter_map(line).collect()
}

#[test]
fn structures_lie_as_the_headers_of_opensm_have_them() {
    let (here, program) = layout! {
        MadHeader = ib_mad_t { class = "mgmt_class", method = "method", status = "status", class_specific = "class_spec",
            transaction = "trans_id", attribute = "attr_id", modifier = "attr_mod" }
        NodeInfo = ib_node_info_t { node_type = "node_type", port_count = "num_ports", system_image_guid = "sys_guid",
            node_guid = "node_guid", port_guid = "port_guid", partition_capacity = "partition_cap",
            device_id = "device_id", revision = "revision", local_port = "port_num_vendor_id" }
        SwitchInfo = ib_switch_info_t { linear_capacity = "lin_cap", linear_top = "lin_top", default_port = "def_port",
            life_state = "life_state", lids_per_port = "lids_per_port",
            partition_enforcement_capacity = "enforce_cap", flags = "flags", multicast_top = "mcast_top" }
        PortInfo = ib_port_info_t { m_key = "m_key", base_lid = "base_lid", master_sm_lid = "master_sm_base_lid",
            capability_mask = "capability_mask", local_port = "local_port_num", width_enabled = "link_width_enabled",
            width_active = "link_width_active", speed_supported_state = "state_info1",
            physical_down_default = "state_info2", protect_lmc = "mkey_lmc", speed_active_enabled = "link_speed",
            lanes_init_type = "vl_cap", lanes_high_limit = "vl_high_limit", operational_lanes_enforce = "vl_enforce",
            m_key_violations = "m_key_violations", max_credit_hint = "max_credit_hint",
            capability_mask2 = "capability_mask2", speed_ext_active_supported = "link_speed_ext",
            speed_ext_enabled = "link_speed_ext_enabled" }
        SmInfo = ib_sm_info_t { guid = "guid", sm_key = "sm_key", activity = "act_count", priority_state = "pri_state" }
        PKeyBlock = ib_pkey_table_t { entries = "pkey_entry" }
        SlToVl = ib_slvl_table_t { pairs = "raw_vl_by_sl" }
        VlArbitrationBlock = ib_vl_arb_table_t { entries = "vl_entry" }
        ClassPortInfo = ib_class_port_info_t { capability_mask = "cap_mask",
            capability_mask2_response = "cap_mask2_resp_time", redirect = "redir_gid", trap = "trap_gid" }
        PortCounters = ib_port_counters_t { port_select = "port_select", symbol_errors = "symbol_err_cnt",
            link_downed = "link_downed", transmit_discards = "xmit_discards",
            integrity_overrun = "link_int_buffer_overrun", vl15_dropped = "vl15_dropped",
            transmit_data = "xmit_data", receive_packets = "rcv_pkts", transmit_wait = "xmit_wait" }
        PortCountersExtended = ib_port_counters_ext_t { port_select = "port_select", transmit_data = "xmit_data",
            multicast_receive_packets = "multicast_rcv_pkts", symbol_errors = "symbol_err_cnt",
            transmit_discards = "xmit_discards", transmit_wait = "xmit_wait", qp1_dropped = "qp1_dropped" }
        PortSamplesControl = ib_port_samples_control_t { tick = "tick", counter_width = "counter_width",
            option_mask = "option_mask", sample_start = "sample_start", tag = "tag",
            counter_select = "counter_select0" }
        PathRecord = ib_path_rec_t { destination_gid = "dgid", destination_lid = "dlid", source_lid = "slid",
            hop_flow_raw = "hop_flow_raw", partition_key = "pkey", qos_class_sl = "qos_class_sl", rate = "rate" }
        McMemberRecord = ib_member_rec_t { mgid = "mgid", port_gid = "port_gid", queue_key = "qkey", mlid = "mlid",
            mtu = "mtu", traffic_class = "tclass", partition_key = "pkey", rate = "rate", packet_life = "pkt_life",
            level_flow_hop = "sl_flow_hop", scope_state = "scope_state" }
        NodeRecord = ib_node_record_t { lid = "lid", info = "node_info", description = "node_desc" }
        InformInfo = ib_inform_info_t { lid_begin = "lid_range_begin", is_generic = "is_generic",
            subscribe = "subscribe", trap_type = "trap_type", trap_number = "g_or_v.generic.trap_num",
            qpn_response_time = "g_or_v.generic.qpn_resp_time_val" }
        InformInfoRecord = ib_inform_info_record_t { subscriber_gid = "subscriber_gid",
            subscriber_enum = "subscriber_enum", inform = "inform_info" }
        ServiceRecord = ib_service_record_t { service_gid = "service_gid", partition_key = "service_pkey",
            lease = "service_lease", key = "service_key", name = "service_name", data8 = "service_data8",
            data16 = "service_data16", data32 = "service_data32", data64 = "service_data64" }
        Notice = ib_mad_notice_attr_t { generic_type = "generic_type", producer_type = "g_or_v.generic.prod_type_msb",
            trap_number = "g_or_v.generic.trap_num", issuer_lid = "issuer_lid", toggle_count = "toggle_count",
            details = "data_details", issuer_gid = "issuer_gid" }
    };
    let there = compiled(&program);
    let wrong: Vec<_> = here.iter().filter(|(name, at)| there.get(*name) != Some(at)).collect();
    assert!(wrong.is_empty() && here.len() == there.len(), "{wrong:?} here, by the headers: {there:?}");
}

#[test]
fn a_directed_packet_lies_as_the_header_of_opensm_has_it() {
    let mut smp = Smp::directed(Method::GET, attribute::NODE_INFO, 7, &[1, 9, 3]).unwrap();
    smp.set_m_key(0x1122_3344_5566_7788);
    smp.set_hop_pointer(2);
    smp.return_path_mut()[1] = 5;
    smp.data_mut::<LftBlock>().ports[63] = 42;
    let offsets = compiled(
        "#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/iba/ib_types.h>\n#define P(f) printf(#f \" %zu\\n\", offsetof(ib_smp_t, f));\nint main(void) { P(hop_ptr) P(hop_count) P(m_key) P(dr_slid) P(dr_dlid) P(data) P(initial_path) P(return_path) return 0; }\n",
    );
    let bytes = &smp.0.0;
    assert_eq!(bytes[offsets["hop_ptr"]], 2);
    assert_eq!(bytes[offsets["hop_count"]], 3);
    assert_eq!(bytes[offsets["m_key"]..][..8], [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
    assert_eq!(bytes[offsets["dr_slid"]..][..2], [0xFF, 0xFF]);
    assert_eq!(bytes[offsets["dr_dlid"]..][..2], [0xFF, 0xFF]);
    assert_eq!(bytes[offsets["data"] + 63], 42);
    assert_eq!(bytes[offsets["initial_path"]..][..4], [0, 1, 9, 3]);
    assert_eq!(bytes[offsets["return_path"] + 1], 5);
    assert_eq!(smp.route(), Some(&[1u8, 9, 3][..]));
}

#[test]
fn entries_of_a_p_key_table_lie_in_order_with_membership_in_the_upper_bit() {
    let mut smp = Smp::by_lid(Method::GET, attribute::P_KEY_TABLE, PKeyBlock::modifier(Some(5), 2));
    assert_eq!((attribute::P_KEY_TABLE, smp.0.header().modifier.get()), (0x16, 0x0005_0002));
    assert_eq!(PKeyBlock::modifier(None, 3), 3);
    // Full and limited members, an empty entry, and one with the bit of membership alone.
    let mut bytes = [0u8; SMP_DATA];
    bytes[..10].copy_from_slice(&[0xFF, 0xFF, 0x00, 0x10, 0x00, 0x00, 0x80, 0x00, 0x80, 0x01]);
    *smp.data_mut::<[u8; SMP_DATA]>() = bytes;
    let block = *smp.data::<PKeyBlock>();
    let keys: Vec<_> = block.keys().map(|key| (key.number(), key.is_full(), key.to_string())).collect();
    let key = |number, full, text: &str| (number, full, text.to_owned());
    assert_eq!(keys, [key(0x7FFF, true, "0x7fff"), key(0x10, false, "0x0010"), key(1, true, "0x0001")]);
    let mut packed = [0u8; SMP_DATA];
    packed[..6].copy_from_slice(&[0xFF, 0xFF, 0x00, 0x10, 0x80, 0x01]);
    *smp.data_mut::<PKeyBlock>() = PKeyBlock::of_keys(block.keys());
    assert_eq!(*smp.data::<[u8; SMP_DATA]>(), packed);

    // Byte 43 of PortInfo: lanes in the upper half, then inbound and outbound.
    let mut port = *smp.data::<PortInfo>();
    port.set_lanes(8, 4);
    port.operational_lanes_enforce |= 0x03;
    for (inbound, outbound, byte) in
        [(true, false, 0x3B), (false, true, 0x37), (true, true, 0x3F), (false, false, 0x33)]
    {
        port.set_partition_enforcement(inbound, outbound);
        *smp.data_mut() = port;
        assert_eq!(smp.data::<[u8; SMP_DATA]>()[43], byte);
        assert_eq!(port.enforces_partitions(), (inbound, outbound));
    }
}

/// Vectors made by hand: no Debian header has these structures.
#[test]
fn what_nvidia_switches_say_of_adaptive_routing_lies_where_they_put_it() {
    let mut smp = Smp::by_lid(Method::GET, attribute::GENERAL_INFO, GeneralInfo::CAPABILITIES);
    let bits = [0usize, 2, 4, 9, 10, 12, 13, 44, 52];
    *smp.data_mut::<[u8; 8]>() = [0x00, 0x00, 0x36, 0x15, 0x00, 0x10, 0x10, 0x00];
    let info = *smp.data::<GeneralInfo>();
    assert_eq!(size_of::<GeneralInfo>(), 16);
    assert_eq!((0..200).filter(|bit| info.has(*bit)).collect::<Vec<_>>(), bits);
    assert_eq!(bits.iter().fold(GeneralInfo::default(), |info, bit| info.with(*bit)), info);
    assert!(info.has_adaptive_routing() && GeneralInfo::default().with(1).has_adaptive_routing());
    assert!(!GeneralInfo::default().with(0).with(12).with(34).has_adaptive_routing());

    // Adaptive routing and SHIELD for SLs 0 to 7, top group 255 of 2,048, remote notifications on.
    let said = [
        0x18, 0x01, 0x11, 0x1F, 0x01, 0x0F, 0xF8, 0x00, 0x00, 0xFF, 0x01, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0x02,
        0, 0x10, 0, 0xA0, 0, 0x0F, 0x01,
    ];
    *smp.data_mut::<[u8; 28]>() = said;
    let info = smp.data::<AdaptiveRoutingInfo>();
    assert_eq!((size_of::<AdaptiveRoutingInfo>(), info.is_on()), (28, true));
    assert_eq!((info.groups.get() >> 12 & 0xFFF, info.groups.get() & 0xFFF), (255, 2048));
    assert_eq!((info.service_levels.get(), info.sub_groups_supported, info.versions), (0xFF, 1, 0x12));
    assert_eq!((info.hash_supported, info.hash_state), (0x02, 0x10));
    assert_eq!((info.weights, info.hash_service_levels.get()), (0xA0, 0x0F01));

    // Of byte 3 what is supported is not what is on; a hash picks ports too, by SL or by weights (byte 22).
    for (at, byte, on) in [(3, 0x0E, false), (3, 0x01, true), (3, 0x10, true), (3, 0x2E, false)]
        .into_iter()
        .chain([(22, 0x10, false), (22, 0x20, false), (22, 0x40, true), (22, 0x80, true), (20, 0xFF, false)])
    {
        let mut data = [0u8; 28];
        data[at] = byte;
        *smp.data_mut() = data;
        assert_eq!(smp.data::<AdaptiveRoutingInfo>().is_on(), on, "byte {at}: {byte:#x}");
    }
    for (vendor, known) in
        [(0x2C9, true), (0x8F1, true), (0x119F, true), (0, false), (0x66A, false), (0x1175, false)]
    {
        assert_eq!(has_vendor_attributes(vendor), known, "{vendor:#x}");
    }
}

#[test]
fn routes_are_bounded_both_ways() {
    assert_eq!(Smp::directed(Method::GET, 0x11, 0, &[1; 64]), Err(RouteError(64)));
    let mut smp = Smp::directed(Method::GET, 0x11, 0, &[1; 63]).unwrap();
    assert_eq!(smp.route().map(<[u8]>::len), Some(63));
    smp.0.0[7] = 200;
    assert_eq!(smp.route(), None, "a packet may claim anything");
}

#[test]
fn no_key_is_ever_shown() {
    let mut smp = Smp::directed(Method::GET, attribute::PORT_INFO, 0, &[1]).unwrap();
    smp.set_m_key(0xFEED_FACE_CAFE_BEEF);
    smp.data_mut::<PortInfo>().m_key = 0xFEED_FACE_CAFE_BEEF.into();
    let shown = format!("{smp:?} {:?} {:?}", smp.0, smp.data::<PortInfo>()).to_lowercase();
    for secret in ["feed", "cafe", &0xFEED_FACE_CAFE_BEEF_u64.to_string()] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn port_info_reads_shared_bytes() {
    let mut smp = Smp::by_lid(Method::GET_RESPONSE, attribute::PORT_INFO, 1);
    let info = smp.data_mut::<PortInfo>();
    info.speed_supported_state = 0x74;
    info.physical_down_default = 0x52;
    info.protect_lmc = 0x83;
    info.width_active = 2;
    info.width_supported = 0x13;
    info.speed_active_enabled = 0x47;
    info.lanes_init_type = 0x40;
    info.operational_lanes_enforce = 0x30;
    assert_eq!(info.state(), Some(PortState::Active));
    assert_eq!((info.lmc().value(), info.protect_bits()), (3, ProtectBits::Silent));
    assert_eq!((info.width(), info.width_best()), (Some(LinkWidth::X4), Some(LinkWidth::X4)));
    assert_eq!((info.speed(None), info.speed_best(None)), (Some(LinkSpeed::Qdr), Some(LinkSpeed::Qdr)));
    assert_eq!((info.lanes_supported(), info.operational_lanes()), (Some(8), Some(4)));
    info.speed_ext_active_supported = 0x2F;
    assert_eq!((info.speed(None), info.speed_best(None)), (Some(LinkSpeed::Edr), Some(LinkSpeed::Ndr)));
}

#[test]
fn xdr_counts_where_the_masks_say_that_its_byte_means_something() {
    // Bytes of a PortInfo: XDR active, supported and enabled, after 15.5 us of round trip; both masks; NDR supported.
    let mut data = [0u8; SMP_DATA];
    data[20..24].copy_from_slice(&[0, 0, 0xC0, 0]);
    data[31..36].copy_from_slice(&[2, 0x74, 0x52, 0, 0x47]);
    data[56..64].copy_from_slice(&[0x29, 0x00, 0x0F, 0x23, 0x1C, 0x3A, 0x0F, 0x0F]);
    let mut smp = Smp::by_lid(Method::GET_RESPONSE, attribute::PORT_INFO, 1);
    *smp.data_mut() = data;
    let info = *smp.data::<PortInfo>();
    let known = info.capabilities();
    assert_eq!((known.mask, known.mask2, info.round_trip()), (0xC000, 0x1C3A, 0xF23));
    assert!(known.has_width_2x() && known.has_port_info_extended() && known.has_switch_port_states());
    assert!(known.has_extended_speeds() && known.has_extended_speeds2() && !known.is_sm_disabled());
    let both = |known| (info.speed(known), info.speed_best(known));
    assert_eq!(both(Some(known)), (Some(LinkSpeed::Xdr), Some(LinkSpeed::Xdr)));
    // Without the mask of port 0 the speed is not known; QDR would be wrong.
    assert_eq!(both(None), (None, None));
    for mask in [PortCapabilities { mask: 0x4000, ..known }, PortCapabilities { mask2: 0x143A, ..known }] {
        assert_eq!(both(Some(mask)), (Some(LinkSpeed::Qdr), Some(LinkSpeed::Ndr)), "{mask:?}");
    }
    // The same bytes by the encoder.
    let mut made = *Smp::by_lid(Method::GET_RESPONSE, attribute::PORT_INFO, 1).data::<PortInfo>();
    made.set_speed(LinkSpeed::Xdr, LinkSpeed::Xdr);
    assert_eq!(
        (made.speed_ext2, made.speed_ext_active_supported, made.speed_active_enabled),
        (0x29, 0x0F, 0x47)
    );
    assert_eq!(made.with_physical_state(PhysicalState::Polling).speed_ext2, 0x28);
    for speed in LinkSpeed::ALL.iter().copied().filter(|speed| *speed != LinkSpeed::Fdr10) {
        made.set_speed(speed, LinkSpeed::Xdr);
        assert_eq!(
            (made.speed(Some(known)), made.speed_best(Some(known))),
            (Some(speed), Some(LinkSpeed::Xdr))
        );
    }
    for width in LinkWidth::ALL {
        made.set_width(*width, *width);
        assert_eq!((made.width(), made.width_best()), (Some(*width), Some(*width)));
    }
}

#[test]
fn fdr10_is_a_bit_of_the_extended_port_info() {
    let mut smp = Smp::by_lid(Method::GET_RESPONSE, ExtendedPortInfo::ATTRIBUTE, 1);
    *smp.data_mut() = ExtendedPortInfo::new(true, true);
    let data = *smp.data::<[u8; 20]>();
    let set: Vec<usize> = (0..20).filter(|at| data[*at] != 0).collect();
    assert_eq!((set, data[7], data[11], data[15]), (vec![7, 11, 15], 1, 1, 1));
    for (active, fdr10) in [(0, false), (1, true), (2, false), (3, true)] {
        smp.data_mut::<[u8; 20]>()[15] = active;
        assert_eq!(smp.data::<ExtendedPortInfo>().is_fdr10(), fdr10, "{active}");
    }
}

#[test]
fn a_set_of_the_physical_state_changes_nothing_else() {
    let mut smp = Smp::by_lid(Method::GET_RESPONSE, attribute::PORT_INFO, 1);
    let info = smp.data_mut::<PortInfo>();
    info.speed_supported_state = 0x74;
    info.physical_down_default = 0x52;
    (info.width_enabled, info.width_supported, info.width_active) = (3, 0x13, 2);
    (info.speed_active_enabled, info.speed_ext_enabled, info.protect_lmc) = (0x47, 2, 0x83);
    let set = info.with_physical_state(PhysicalState::Polling);
    // 0 in the state, the default of a port that is down, the width and the speed: no change.
    assert_eq!((set.speed_supported_state, set.physical_down_default), (0x70, 0x20));
    assert_eq!((set.width_enabled, set.speed_active_enabled, set.speed_ext_enabled), (0, 0x40, 0));
    assert_eq!((set.width_supported, set.width_active, set.protect_lmc), (0x13, 2, 0x83));
}

#[test]
fn packets_by_cast_are_counted_by_devices_with_all_wide_counters() {
    let can = |mask: u16| {
        let mut mad = Mad::performance(Method::GET_RESPONSE, attribute::CLASS_PORT_INFO, 0);
        mad.performance_data_mut::<ClassPortInfo>().capability_mask = mask.into();
        let info = *mad.performance_data::<ClassPortInfo>();
        (info.has_extended_counters(), info.has_cast_counters())
    };
    assert_eq!(
        [0, 0x0200, 0x0400, 0x0600].map(can),
        [(false, false), (true, true), (true, false), (true, true)]
    );
}

#[test]
fn lanes_and_multicast_masks_survive_the_wire() {
    let mut table = Sl2Vl::default();
    for sl in 0..16 {
        table.set(ServiceLevel::new(sl).unwrap(), Lane::new((sl * 7) % 16).unwrap());
    }
    assert_eq!(SlToVl::from_table(table).table(), table);
    assert_eq!(SlToVl::from_table(table).pairs[0], 0x07, "the even level lies in the upper half");
    let mut block = MftBlock { masks: [0.into(); 32] };
    block.masks[3] = 0x8001.into();
    let ports: Vec<u8> = block.ports(3, 2).map(|p| p.value()).collect();
    assert_eq!(ports, [32, 47]);
    assert_eq!(MftBlock::modifier(5, 2), 0x2000_0005);
}

#[test]
fn descriptions_are_cut_at_a_character() {
    assert_eq!(NodeDescription::new("leaf0").as_text(), "leaf0");
    let long = "ä".repeat(40);
    assert_eq!(NodeDescription::new(&long).as_text(), "ä".repeat(32));
    let odd = format!("a{}", "ä".repeat(40));
    assert_eq!(NodeDescription::new(&odd).as_text().len(), 63);
}

#[test]
fn the_direction_bit_is_no_error() {
    let mut smp = Smp::directed(Method::GET_RESPONSE, attribute::NODE_INFO, 0, &[]).unwrap();
    smp.0.header_mut().status = 0x8000.into();
    assert!(smp.0.status().is_ok());
    smp.0.header_mut().status = 0x801C.into();
    assert_eq!(smp.0.status().to_string(), "invalid field in attribute or modifier (status 0x001c)");
}
