//! The table of screens, in the order of their keys: variant, folder, type of its state, number key, title, title on a
//! narrow screen and purpose.
//! A new screen is a folder and a line here. Each place that needs all screens expands the table by a macro of its own.

macro_rules! screen_table {
    ($define:ident) => {
        $define! {
            Health health HealthScreen 1 "Health" "Health" "what is wrong, who is hit, why, and what can safely be done next";
            Map map MapScreen 2 "Map" "Map" "the fabric drawn, as a tree, and its switches and hosts as tables";
            Links links LinksScreen 3 "Links" "Links" "every cable with its state, its speed and the paths over it";
            Hotspots hotspots HotspotsScreen 4 "Hot-spots" "Hot" "ports that wait or have errors, the reasons, and the rates of every port";
            Paths paths PathsScreen 5 "Paths" "Paths" "from any port to any port, hop by hop, in force and as proposed";
            Whatif whatif WhatifScreen 6 "What-if" "Whatif" "elements marked as failed, their cost, and the routes that engines propose";
            Lanes lanes LanesScreen 7 "Lanes" "Lanes" "flows on the slow lane, flows that would move there, and the tables on their paths";
            Jobs jobs JobsScreen 8 "Jobs" "Jobs" "the running jobs, the channels that their paths load, and what sar would gain";
            Changes changes ChangesScreen 9 "Changes" "Changes" "applied changes with their results, and those that wait to be confirmed";
            Timeline timeline TimelineScreen 0 "Timeline" "Time" "the events in time, and the moment that all screens show";
        }
    };
}

pub(crate) use screen_table;
