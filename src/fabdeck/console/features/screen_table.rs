//! The table of screens, in the order of their keys: variant, folder, type of its state, number key, title and purpose.
//! A new screen is a folder and a line here. Each place that needs all screens expands the table by a macro of its own.

macro_rules! screen_table {
    ($define:ident) => {
        $define! {
            Fabric fabric FabricScreen 1 "Fabric" "switches and hosts as a tree, as tables and as a map";
            Links links LinksScreen 2 "Links" "every cable with its state, its speed and the paths over it";
            Whatif whatif WhatifScreen 3 "What-if" "elements marked as failed, their cost, and the routes that engines propose";
            Paths paths PathsScreen 4 "Paths" "from any port to any port, hop by hop, in force and as proposed";
            Hotspots hotspots HotspotsScreen 5 "Hot-spots" "ports that wait or have errors, the reasons, and the rates of every port";
            Lanes lanes LanesScreen 6 "Lanes" "flows on the slow lane, flows that would move there, and the tables on their paths";
            Jobs jobs JobsScreen 7 "Jobs" "the running jobs, the channels that their paths load, and what sar would gain";
            Changes changes ChangesScreen 8 "Changes" "applied changes with their results, and those that wait to be confirmed";
            Timeline timeline TimelineScreen 9 "Timeline" "the events in time, and the moment that all screens show";
        }
    };
}

pub(crate) use screen_table;
