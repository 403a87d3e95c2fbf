//! Turns the error of a body's last expression into a `Failure`, so that a body may end in a call of any error type.
//!
//! The error type of a body is pinned to `Failure` for `?`. A last expression `Ok(..)` says nothing of its error and is
//! left alone; `Err(..)` has its value turned; any other has its result turned. Blocks, `if` and `match` are looked into.

use super::call::at;
use crate::expand::located;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Block, Expr, ExprCall, ExprMacro, ExprMethodCall, ExprPath, Macro, PathArguments, Stmt, spanned::Spanned};

/// How the last expression of a body is turned.
pub(super) struct Tail<'a> {
    /// The crate's hidden module.
    pub(super) private: &'a TokenStream,
    /// The fn of that module that takes the result.
    pub(super) by: &'a str,
}

/// Macros that never give a value.
const DIVERGING: &[&str] = &["panic", "todo", "unimplemented", "unreachable", "bail"];

impl Tail<'_> {
    /// A block with its last expression turned.
    pub(super) fn block(&self, mut block: Block) -> Block {
        if let Some(last) = block.stmts.last_mut() {
            match last {
                Stmt::Expr(expr, None) => self.turn(expr),
                Stmt::Macro(stmt) if stmt.semi_token.is_none() && !diverges(&stmt.mac) => {
                    let turned = self.result(&stmt);
                    *last = Stmt::Expr(turned, None);
                }
                _ => {}
            }
        }
        block
    }

    /// An expression, turned.
    pub(super) fn expr(&self, mut expr: Expr) -> Expr {
        self.turn(&mut expr);
        expr
    }

    fn turn(&self, expr: &mut Expr) {
        match expr {
            Expr::Paren(inner) => self.turn(&mut inner.expr),
            Expr::Group(inner) => self.turn(&mut inner.expr),
            Expr::Block(inner) if inner.label.is_none() => self.turn_block(&mut inner.block),
            Expr::Unsafe(inner) => self.turn_block(&mut inner.block),
            Expr::If(inner) => {
                if let Some((_, otherwise)) = &mut inner.else_branch {
                    self.turn_block(&mut inner.then_branch);
                    self.turn(otherwise);
                }
            }
            Expr::Match(inner) => inner.arms.iter_mut().for_each(|arm| self.turn(&mut arm.body)),
            Expr::Call(call) if is_variant(call, "Ok") => {}
            Expr::Call(call) if is_variant(call, "Err") => {
                if let Some(error) = call.args.first_mut()
                    && !converts_itself(error)
                {
                    *error = self.error(error);
                }
            }
            Expr::Macro(ExprMacro { mac, .. }) if diverges(mac) => {}
            Expr::Block(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_)
            | Expr::Assign(_)
            | Expr::Verbatim(_) => {}
            _ => *expr = self.result(&expr),
        }
    }

    fn turn_block(&self, block: &mut Block) {
        let taken = Block { brace_token: block.brace_token, stmts: std::mem::take(&mut block.stmts) };
        *block = self.block(taken);
    }

    /// `by(result, |error| failure!(error))`
    fn result(&self, result: &impl ToTokens) -> Expr {
        let (private, by) = (at(self.private, result.span()), format_ident!("{}", self.by));
        let span = located(result.span());
        Expr::Verbatim(quote_spanned!(span=> #private::#by(#result, |error| #private::failure!(error))))
    }

    /// `{ let error = …; failure!(error) }`
    fn error(&self, error: &Expr) -> Expr {
        let private = at(self.private, error.span());
        Expr::Verbatim(quote_spanned!(located(error.span())=> { let error = #error; #private::failure!(error) }))
    }
}

/// `Ok(..)`, also by path, but not `Ok::<_, E>(..)`, which names its error.
fn is_variant(call: &ExprCall, variant: &str) -> bool {
    match &*call.func {
        Expr::Path(ExprPath { path, qself: None, .. }) => {
            path.segments.last().is_some_and(|last| last.ident == variant)
                && path.segments.iter().all(|segment| matches!(segment.arguments, PathArguments::None))
        }
        _ => false,
    }
}

/// `error.into()` and `From::from(error)`: their type is what they are asked for.
fn converts_itself(error: &Expr) -> bool {
    match error {
        Expr::MethodCall(ExprMethodCall { method, args, .. }) => method == "into" && args.is_empty(),
        Expr::Call(ExprCall { func, .. }) => match &**func {
            Expr::Path(ExprPath { path, qself: None, .. }) => {
                let words: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
                matches!(words.as_slice(), [.., of, from] if *of == "From" && *from == "from")
            }
            _ => false,
        },
        _ => false,
    }
}

fn diverges(mac: &Macro) -> bool {
    mac.path.segments.last().is_some_and(|last| DIVERGING.iter().any(|name| last.ident == name))
}

/// A future whose body is one expression, its error turned.
pub(super) fn of_future(private: &TokenStream, by: &str, future: &Expr) -> TokenStream {
    let tail = Tail { private, by };
    let awaited = quote_spanned!(located(future.span())=> (#future).await);
    let turned = tail.result(&awaited);
    quote!(async { #turned })
}
