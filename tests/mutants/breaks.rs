//! Finds what can be broken in a source file.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Expr, ReturnType, Type, UnOp};

/// One possible break.
#[derive(Clone, Debug)]
pub struct Break {
    /// The bytes of the file that it replaces.
    pub start: usize,
    pub end: usize,
    /// Line, function and what changes, for people.
    pub label: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Another expression in place of this one.
    Expression(String),
    /// A function that returns this at once.
    Return(String),
}

impl Break {
    /// The text in place of the replaced bytes.
    pub fn text(&self, source: &str, number: usize) -> String {
        let active = format!("crate::mutant_switch::is_active({number})");
        match &self.kind {
            Kind::Expression(broken) => {
                format!("(if {active} {{ {broken} }} else {{ {} }})", &source[self.start..self.end])
            }
            Kind::Return(value) => format!("if {active} {{ return {value}; }}"),
        }
    }
}

/// All possible breaks of a file, outside of its tests.
pub fn find_breaks(source: &str) -> Result<Vec<Break>, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut finder = Finder { source, function: String::new(), found: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'s> {
    source: &'s str,
    /// The function that is visited, with its type.
    function: String,
    found: Vec<Break>,
}

impl<'s> Finder<'s> {
    fn add(&mut self, (start, end): (usize, usize), span: Span, what: &str, kind: Kind) {
        let label = format!("{}: {}: {what}", span.start().line, self.function);
        self.found.push(Break { start, end, label, kind });
    }

    fn text(&self, node: &impl Spanned) -> &'s str {
        &self.source[node.span().byte_range()]
    }

    fn visit_function(&mut self, signature: &syn::Signature, block: &syn::Block, visit: impl FnOnce(&mut Self)) {
        if signature.constness.is_some() || signature.asyncness.is_some() {
            return;
        }
        let outer = std::mem::take(&mut self.function);
        let name = signature.ident.to_string();
        self.function = match outer.rsplit_once("::") {
            Some((of, _)) => format!("{of}::{name}"),
            None => name.clone(),
        };
        let body = self.text(block).trim_matches(['{', '}', ' ', '\n']).to_owned();
        if name != "fmt" && !body.is_empty() {
            let start = block.brace_token.span.open().byte_range().end;
            let is_default = body.ends_with("::default()") && !body.contains([';', '\n']);
            for value in values_of(&signature.output) {
                if value != body && !(is_default && value == "Default::default()") {
                    let what = format!("returns {}", if value.is_empty() { "()" } else { &value });
                    self.add((start, start), block.brace_token.span.open(), &what, Kind::Return(value));
                }
            }
        }
        visit(self);
        self.function = outer;
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.visit_function(&item.sig, &item.block, |finder| visit::visit_item_fn(finder, item));
        }
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let of = format!("{}::", self.text(&*item.self_ty));
        let outer = std::mem::replace(&mut self.function, of);
        visit::visit_item_impl(self, item);
        self.function = outer;
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.visit_function(&item.sig, &item.block, |finder| visit::visit_impl_item_fn(finder, item));
    }

    fn visit_item_const(&mut self, _: &'a syn::ItemConst) {}

    fn visit_item_static(&mut self, _: &'a syn::ItemStatic) {}

    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}

    fn visit_type(&mut self, _: &'a Type) {}

    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let range = binary.span().byte_range();
        let (left, right) = (self.text(&*binary.left).to_owned(), self.text(&*binary.right).to_owned());
        if !has_let(&binary.left) && !has_let(&binary.right) {
            for other in others_of(&binary.op) {
                let what = format!("{} for {}", other, self.text(&binary.op));
                let broken = format!("{left} {other} {right}");
                self.add((range.start, range.end), binary.op.span(), &what, Kind::Expression(broken));
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        let range = unary.span().byte_range();
        if matches!(unary.op, UnOp::Not(_)) {
            let operand = self.text(&*unary.expr).to_owned();
            self.add((range.start, range.end), unary.op.span(), "no !", Kind::Expression(operand));
        }
        visit::visit_expr_unary(self, unary);
    }
}

/// Whether an expression is a chain with `let`, which cannot stand in parentheses.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test"))
    })
}

/// The operators that are put in place of this one.
fn others_of(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) => &["+"],
        BinOp::Div(_) => &["*"],
        BinOp::Rem(_) => &["/"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitXor(_) | BinOp::BitOr(_) => &["&"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">"],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Gt(_) => &[">=", "<"],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::AddAssign(_) => &["-="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::BitOrAssign(_) | BinOp::BitXorAssign(_) => &["&="],
        BinOp::BitAndAssign(_) => &["|="],
        _ => &[],
    }
}

/// Values that a function of this type returns at once.
fn values_of(output: &ReturnType) -> Vec<String> {
    let ReturnType::Type(_, output) = output else { return vec![String::new()] };
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match &**output {
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Vec::new() };
            match last.ident.to_string().as_str() {
                "bool" => texts(&["true", "false"]),
                "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
                    texts(&["0", "1"])
                }
                "f32" | "f64" => texts(&["0.0", "1.0"]),
                "Option" => texts(&["None"]),
                "Result" => texts(&["Ok(Default::default())"]),
                _ => texts(&["Default::default()"]),
            }
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => texts(&["\"\""]),
            Type::Slice(_) => texts(&["&[]"]),
            _ => Vec::new(),
        },
        Type::Tuple(_) => texts(&["Default::default()"]),
        _ => Vec::new(),
    }
}
