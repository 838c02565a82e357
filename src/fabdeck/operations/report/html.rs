//! Writes HTML and SVG. Text and values of attributes are escaped here and nowhere else, so no name of a node and no note of
//! an operator can become markup. Tags and names of attributes are constants of the program.

use fabdeck_fabric::observe::escape_unprintable;

/// A page that is being written.
#[derive(Debug, Default)]
pub struct HtmlWriter {
    text: String,
    open: Vec<&'static str>,
}

/// Elements without content, which have no end tag.
const VOID: &[&str] = &["meta", "br"];

impl HtmlWriter {
    /// Writes what is no text: the doctype, or a style sheet of the program.
    pub fn constant(&mut self, markup: &'static str) {
        self.text.push_str(markup);
    }

    /// Begins an element, which `close` ends.
    pub fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.begin(tag, attributes);
        if !VOID.contains(&tag) {
            self.open.push(tag);
        }
    }

    fn begin(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.escaped(value);
            self.text.push('"');
        }
        self.text.push('>');
    }

    /// Ends the element that was begun last.
    pub fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.text.push_str("</");
            self.text.push_str(tag);
            self.text.push('>');
            if !matches!(tag, "span" | "b" | "i" | "a" | "td" | "th" | "title" | "code") {
                self.text.push('\n');
            }
        }
    }

    /// Writes an element with nothing but text.
    pub fn element(&mut self, tag: &'static str, attributes: &[(&'static str, &str)], text: &str) {
        self.open(tag, attributes);
        self.text(text);
        self.close();
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) {
        self.escaped(text);
    }

    /// Writes text whose line breaks stay, as in `pre`.
    pub fn lines(&mut self, text: &str) {
        for (at, line) in text.lines().enumerate() {
            if at > 0 {
                self.text.push('\n');
            }
            self.escaped(line);
        }
    }

    fn escaped(&mut self, text: &str) {
        for sign in escape_unprintable(text).chars() {
            match sign {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                sign => self.text.push(sign),
            }
        }
    }

    /// The page, with every element ended.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }
}

/// A number of a drawing with one decimal at most.
pub fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 { format!("{rounded:.0}") } else { format!("{rounded:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_never_become_markup() {
        let mut page = HtmlWriter::default();
        page.open("p", &[("title", "\"><script>alert(1)</script>")]);
        page.text("a<b>&\u{1b}[31m\u{202e}'");
        let text = page.finish();
        assert_eq!(
            text,
            "<p title=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\">a&lt;b&gt;&amp;\\u{1b}[31m\\u{202e}&#39;</p>\n"
        );
    }
}
