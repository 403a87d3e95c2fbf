//! Checks the rules that span several options, or options and body.

use crate::{
    args::{Args, Tenant},
    errors::Errors,
    outline::{self, Construct},
};
use proc_macro2::Span;
use syn::{Expr, ExprLit, Lit, spanned::Spanned};

/// Says every rule that is broken.
pub(crate) fn validate(args: &mut Args, outline: &[Construct], errors: &mut Errors) {
    if args.tenant.is_none() {
        errors.at(
            Span::call_site(),
            "`#[job]` needs to know whose the job is: add `tenant = input.field`, an expression over the input, or \
             `tenant = none` for a job of no tenant",
        );
        args.tenant = Some(Tenant::Unclear);
    }
    match (&args.version, &args.upgrade) {
        (Some(version), None) if !is_one(version) => errors.at(
            version.span(),
            "a later `version` needs `upgrade = a_fn`, which maps the stored inputs of the versions before it: \
             `fn a_fn(from: u16, input: serde_json::Value) -> Result<serde_json::Value, E>`",
        ),
        (None, Some(upgrade)) => errors.at(
            upgrade.span(),
            "`upgrade` maps inputs of earlier versions: say the current one by `version = 2` or higher",
        ),
        _ => {}
    }
    outline::check(outline, errors);
}

fn is_one(version: &Expr) -> bool {
    matches!(version, Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.base10_digits() == "1")
}
