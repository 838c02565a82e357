//! The overlays, which Esc closes: help, the log, details, the tour, and dialogs.

use super::scroll::Scroll;
use crate::console::features::changes::dialogue::Dialogue;

/// The help, filtered by the search text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Help {
    pub search: String,
    pub scroll: Scroll,
}

#[derive(Clone, Debug)]
pub enum Overlay {
    Help(Help),
    Log(Scroll),
    /// The details of the element at the cursor.
    Details(Scroll),
    /// A page of the tour, which scrolls on a small screen.
    Tour {
        page: usize,
        scroll: Scroll,
    },
    /// The questions before an action on the fabric.
    Dialogue(Box<Dialogue>),
}

/// The tour: for each page, a heading and a text.
pub const TOUR: &[(&str, &str)] = &[
    (
        "The fabric on the screens",
        "The line at the top says which fabric this is, how large it is, who manages it, and whether anything \
         can be written to it. The line at the bottom shows the keys that work on this screen. ? shows all of them.",
    ),
    (
        "Move through the fabric",
        "1 to 9 are the screens. Enter goes in, Esc goes out, Tab switches between views: tree, \
         switches, hosts, map. / narrows a list: leaf, hosts>10, width<4x, or ~spn for letters in this order. Space \
         selects rows.",
    ),
    (
        "Ask what a failure would cost",
        "Put the cursor on a switch or a cable and press f. It is marked as failed, in this session and nowhere else. \
         Screen 3 says how many pairs of hosts lose their path until the fabric is rerouted, and how many for good.",
    ),
    (
        "Compare reroutes",
        "On screen 3, p runs every engine on the fabric without the marked elements. Each proposal has a certificate that does not trust the \
         engine: whether every pair has a path, whether there is a credit loop. Enter shows it.",
    ),
    (
        "Go back in time",
        "A capture of fabdeck record is played: [ and ] step through it, n goes to the next event, @ to a time, and screen 9, \
         the Timeline, shows all of it. On a live fabric Space there pauses and goes back; L returns to live.",
    ),
    (
        "Write a plan",
        "w writes the plan of the engine under the cursor to a file: every block that would change, with its present \
         content. Nothing is sent to any switch. c shows the command line that does the same.",
    ),
    (
        "Apply it, and roll it back",
        "Where the line at the top says writable, a on What-if asks whether to apply the proposal of the engine: its \
         writes, the worst state between them, its rollback. The change is rolled back by itself unless it is confirmed in \
         time: Health shows it first, and charts have its mark. y shows what became of it and asks whether to keep it; u \
         rolls it back at once, e gives it ten minutes more. Changes lists all of them; u there undoes a confirmed one.",
    ),
];
