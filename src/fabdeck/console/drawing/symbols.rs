//! Characters of the console: Unicode, or ASCII if the terminal or the operator needs that.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbols {
    pub cursor: &'static str,
    pub marked: &'static str,
    pub selected: &'static str,
    pub marked_selected: &'static str,
    pub crumb: &'static str,
    pub up: &'static str,
    pub down: &'static str,
    pub more: &'static str,
    pub rule: &'static str,
    pub beside: &'static str,
    /// A switch on the map: healthy, degraded, down, marked.
    pub map: [&'static str; 4],
    pub bar: [&'static str; 2],
    /// Levels of a history or load, the unknown level, and the scale in short.
    pub levels: [&'static str; 8],
    pub untold: &'static str,
    /// A cable that is not as planned.
    pub miscabled: &'static str,
    pub scale: &'static str,
    /// Corners of a pane: upper left, upper right, lower left, lower right.
    pub corners: [&'static str; 4],
    /// A branch of a tree that others follow, and the last one.
    pub branches: [&'static str; 2],
    /// Where a cable begins at a box: above it and below it.
    pub ticks: [&'static str; 2],
    /// The pane that has the keys.
    pub focus: &'static str,
    /// A gauge: its filled part and the rest.
    pub gauge: [&'static str; 2],
    /// The scale of a chart: a labelled row, another row, the corner below, an event, and the grid.
    pub chart: [&'static str; 5],
    /// Severities: critical, warning, well, no answer.
    pub severity: [&'static str; 4],
    /// A preview or a proposal: what is not settled yet.
    pub preview: &'static str,
    /// What is proven or confirmed.
    pub proven: &'static str,
    /// A note and a bookmark in time.
    pub note: &'static str,
    pub bookmark: &'static str,
    /// The bar at the left of a card.
    pub card: &'static str,
    /// Whether lines and areas are drawn as braille.
    pub braille: bool,
}

impl Symbols {
    pub const UNICODE: Self = Self {
        cursor: "▶",
        marked: "✗",
        selected: "●",
        marked_selected: "⊗",
        crumb: "›",
        up: "▲",
        down: "▼",
        more: "…",
        rule: "─",
        beside: "│",
        map: ["■", "◪", "□", "✗"],
        bar: ["█", "░"],
        levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
        untold: "·",
        miscabled: "≠",
        scale: "▁▄█",
        corners: ["╭", "╮", "╰", "╯"],
        branches: ["├", "└"],
        ticks: ["┴", "┬"],
        focus: "▸",
        gauge: ["━", "╌"],
        chart: ["┤", "│", "╰", "┊", "·"],
        severity: ["◆", "▲", "●", "○"],
        preview: "◇",
        proven: "✓",
        note: "i",
        bookmark: "⚑",
        card: "▌",
        braille: true,
    };

    pub const ASCII: Self = Self {
        cursor: ">",
        marked: "x",
        selected: "+",
        marked_selected: "X",
        crumb: ">",
        up: "^",
        down: "v",
        more: "~",
        rule: "-",
        beside: "|",
        // No sign of a level, which legends show beside these, and none of a severity.
        map: ["@", "&", "D", "x"],
        bar: ["#", "."],
        levels: ["_", "-", ":", "=", "+", "*", "%", "#"],
        untold: ".",
        miscabled: "%",
        scale: "_=#",
        corners: ["+", "+", "+", "+"],
        branches: ["+", "+"],
        ticks: ["+", "+"],
        focus: ">",
        gauge: ["=", "-"],
        chart: ["+", "|", "+", ":", "."],
        severity: ["!", "^", "o", "?"],
        preview: "*",
        proven: "+",
        note: "i",
        bookmark: "P",
        card: "|",
        braille: false,
    };
}
