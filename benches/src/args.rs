//! Reads the command line. Downstream: `main`.

/// What to measure, and where the figures go.
pub(crate) struct Args {
    pub(crate) names: Vec<String>,
    pub(crate) json: Option<String>,
}

impl Args {
    /// The arguments, or the message that ends the program.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>, known: &[(&str, &str)]) -> Result<Self, String> {
        let mut args = Self { names: Vec::new(), json: None };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--json" => args.json = Some(arguments.next().ok_or("--json needs a file")?),
                "--help" | "-h" => return Err(help(known)),
                name if known.iter().any(|(known, _)| *known == name) => args.names.push(argument),
                other => return Err(format!("no benchmark is called {other}\n\n{}", help(known))),
            }
        }
        if args.names.is_empty() {
            args.names = known.iter().map(|(name, _)| (*name).to_owned()).collect();
        }
        Ok(args)
    }
}

fn help(known: &[(&str, &str)]) -> String {
    let list: String = known.iter().map(|(name, what)| format!("  {name:14} {what}\n")).collect();
    format!("./dev bench [NAME..] [--json FILE]\n\n{list}")
}
