//! Tells which tokens of a body run more than once: the body of a `for` or a `loop`, the head and the body of a `while`.

use proc_macro2::{Delimiter, TokenTree};

/// The loop whose head the tokens of one level are in.
#[derive(Default)]
pub(super) struct Loops {
    head: Option<Head>,
    /// Whether an `impl … for …` is open: its `for` is no loop.
    in_impl: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// Runs once: `for item in items`, `loop`.
    Once,
    /// Runs before each round: `while more()`.
    EachRound,
}

impl Loops {
    /// Whether the token, which follows those passed, runs once a round.
    pub(super) fn repeats(&self, token: &TokenTree) -> bool {
        match self.head {
            Some(Head::EachRound) => true,
            Some(Head::Once) => is_block(token),
            None => false,
        }
    }

    /// Takes the token into account for those that follow.
    pub(super) fn pass(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Ident(word) if word == "impl" => self.in_impl = true,
            TokenTree::Ident(word) if word == "while" => self.head = Some(Head::EachRound),
            TokenTree::Ident(word) if word == "loop" || (word == "for" && !self.in_impl) => {
                self.head = Some(Head::Once);
            }
            TokenTree::Punct(end) if end.as_char() == ';' => *self = Self::default(),
            token if is_block(token) => *self = Self::default(),
            _ => {}
        }
    }
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
